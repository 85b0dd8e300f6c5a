"""TLS on a real broker, with passwords and with certificates: our clients get through, and nobody else does."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest
from aiokafka import AIOKafkaConsumer
from aiokafka.errors import KafkaConnectionError
from faust.transport.drivers.aiokafka import credentials_to_aiokafka_auth

from processors.logs.kafka_opening import open_kafka_log
from processors.settings import KafkaSettings
from processors.streams.broker_access import check, credentials
from schemas.log import LogError, LogUnavailable, Position
from schemas.topics import FACT_TOPICS, TABLE_EVENTS
from schemas.wire import encode
from tests.contract.reading import all_records, messages, pairs
from tests.contract.store.stored_facts import fact
from tests.kafka.secured import Certificates, SecuredCluster, as_toml
from tests.processors.logs.kafka_logs import once_it_answers
from tests.processors.streams.workers import WorkerProcess

WAYS = ("password", "certificate")
ROUNDS = FACT_TOPICS["round"]


@pytest.fixture(scope="module")
def cluster(kafka_secured: SecuredCluster) -> SecuredCluster:
    """A cluster in which the holders of a password and of a certificate may reconstruct, and a user may follow."""
    kafka_secured.command("topics", "create")
    for principal in ("User:{}", "User:CN={},OU=floor,O=casino"):
        given = [f"--principal={role}={principal.format(role)}" for role in ("reconstruct", "faust")]
        kafka_secured.command("topics", "acls", "--create", *given)
    for way in WAYS:
        for role in ("reconstruct", "faust"):
            with open_kafka_log(settings_of(kafka_secured, way, role)) as log:
                once_it_answers(lambda log=log: log.partitions(ROUNDS))  # type: ignore[misc] # bound now
    return kafka_secured


@pytest.fixture(scope="module")
def strangers(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    """An authority that the brokers and their clients know nothing of."""
    return Certificates(tmp_path_factory.mktemp("strangers") / "certificates")


def settings_of(cluster: SecuredCluster, way: str, role: str, **changes: str) -> KafkaSettings:
    return cluster.by_password(role, **changes) if way == "password" else cluster.by_certificate(role, **changes)


@pytest.mark.parametrize("way", WAYS)
def test_log_appends_reads_and_writes_transactions(cluster: SecuredCluster, way: str) -> None:
    sent = messages(24, start=1_000 * WAYS.index(way))
    with open_kafka_log(settings_of(cluster, way, "reconstruct")) as log:
        log.append(TABLE_EVENTS, sent)
        assert {*sent} <= {*pairs(all_records(log, TABLE_EVENTS))}
        log.claim("reconstruct")
        with log.transaction("reconstruct") as transaction:
            transaction.publish(ROUNDS, [("B01", b"fact of " + way.encode())])
            transaction.save_state("B01", way.encode())
            transaction.commit(Position(TABLE_EVENTS, 0, 1 + WAYS.index(way)))
        assert log.state("reconstruct", "B01") == way.encode()
        assert log.position("reconstruct", TABLE_EVENTS, 0) == 1 + WAYS.index(way)
    with open_kafka_log(settings_of(cluster, way, "faust")) as log:
        assert ("B01", b"fact of " + way.encode()) in pairs(all_records(log, ROUNDS))


def refused(settings: KafkaSettings) -> str:
    """Return how a log tells that the login failed."""
    impatient = settings.model_copy(update={"timeout_seconds": 1})
    with open_kafka_log(impatient) as log, pytest.raises(LogUnavailable, match="the login failed") as told:
        log.append(TABLE_EVENTS, messages(1))
    assert "Check security.protocol, the certificates, the names in them and the password" in str(told.value)
    return str(told.value)


def test_broker_of_an_unknown_authority_is_not_trusted(cluster: SecuredCluster, strangers: Certificates) -> None:
    trusting = cluster.by_password("reconstruct", ssl_ca_location=str(strangers.authority))
    assert "certificate verify failed" in refused(trusting)


def test_broker_by_another_name_is_not_trusted(cluster: SecuredCluster) -> None:
    settings = cluster.by_password("reconstruct")
    misnamed = settings.model_copy(update={"bootstrap": settings.bootstrap.replace("127.0.0.1", "localhost")})
    assert "certificate verify failed" in refused(misnamed)


def test_wrong_password_is_refused_and_never_shown(cluster: SecuredCluster) -> None:
    told = refused(cluster.by_password("reconstruct", sasl_password="wrong-one"))
    assert "SASL authentication error" in told
    assert "wrong-one" not in told


def test_certificate_of_an_unknown_authority_is_refused(cluster: SecuredCluster, strangers: Certificates) -> None:
    own = {name.replace(".", "_"): value for name, value in strangers.client("reconstruct").items()}
    assert "SSL alert" in refused(cluster.by_certificate("reconstruct", **own))


def test_client_without_a_certificate_is_refused(cluster: SecuredCluster) -> None:
    bare = cluster.by_password("reconstruct", security_protocol="SSL").model_copy(
        update={"bootstrap": cluster.tls_bootstrap}
    )
    assert "SSL alert" in refused(bare)


def test_plain_listener_is_told_from_one_with_tls(cluster: SecuredCluster) -> None:
    settings = cluster.by_password("reconstruct").model_copy(update={"bootstrap": cluster.sasl_bootstrap})
    assert "connecting to a PLAINTEXT broker listener" in refused(settings)


def test_key_that_its_password_does_not_open_is_told_at_once(cluster: SecuredCluster) -> None:
    locked = cluster.by_certificate("reconstruct", ssl_key_password="wrong-one")
    with pytest.raises(LogError, match=r"ssl\.key\.location failed.*Check kafka\.properties") as told:
        open_kafka_log(locked)
    assert "wrong-one" not in str(told.value)


def test_commands_name_what_keeps_them_from_a_cluster(cluster: SecuredCluster, strangers: Certificates) -> None:
    mistrusted, wrong = {"ssl_ca_location": str(strangers.authority)}, {"sasl_password": "wrong-one"}
    for changes, command in ((mistrusted, ["check"]), (wrong, ["acls", "--create"])):
        impatient = cluster.by_password("admin", **changes).model_copy(update={"timeout_seconds": 1})
        code, told = cluster.run(impatient, "topics", *command)
        assert code == 2, told
        assert "the login failed" in told
        assert "wrong-one" not in told


def test_commands_need_an_administrator(cluster: SecuredCluster) -> None:
    code, told = cluster.run(cluster.by_password("reconstruct"), "topics", "acls", "--create")
    assert code == 2
    assert "could not grant the roles' rights: this user may not do that" in told


class TestFaust:
    """Faust reaches the brokers through aiokafka, whose settings are translated from librdkafka's."""

    @pytest.mark.parametrize("way", WAYS)
    def test_its_client_reads_what_is_there(self, cluster: SecuredCluster, way: str) -> None:
        with open_kafka_log(settings_of(cluster, way, "reconstruct")) as log:
            log.append(ROUNDS, [("B09", b"seen through TLS")])
        assert asyncio.run(seen(settings_of(cluster, way, "faust"), b"seen through TLS"))

    @pytest.mark.parametrize("way", WAYS)
    def test_its_client_trusts_no_unknown_authority(
        self, cluster: SecuredCluster, strangers: Certificates, way: str
    ) -> None:
        trusting = settings_of(cluster, way, "faust", ssl_ca_location=str(strangers.authority))
        with pytest.raises(KafkaConnectionError, match="Unable to bootstrap"):
            asyncio.run(seen(trusting, b""))

    def test_worker_follows_the_floor(self, cluster: SecuredCluster, tmp_path: Path) -> None:
        with open_kafka_log(cluster.by_password("reconstruct")) as log:
            one = fact("round", "BAC-01", pit="PIT-TLS", opened_at=datetime.now(UTC))
            log.append(ROUNDS, [("BAC-01", encode(one))])
        config = tmp_path / "pitwatch.toml"
        top = f'data_directory = "{tmp_path / "data"}"\n[monitoring]\nport = 0\n'
        config.write_text(top + as_toml(cluster.by_password("faust")))
        with WorkerProcess(config) as worker:
            worker.wait_for(lambda: "PIT-TLS" in {pit["pit"] for pit in worker.window()["pits"]}, "the round")
            assert worker.get("/healthz").json() == {"status": "well", "troubles": {}}
            assert worker.stop() == 0


async def seen(settings: KafkaSettings, value: bytes) -> bool:
    """Read as Faust does until the value comes."""
    properties = settings.plain_properties()
    check(properties)
    consumer = AIOKafkaConsumer(
        ROUNDS,
        bootstrap_servers=settings.bootstrap,
        group_id="faust-tests",
        auto_offset_reset="earliest",
        **credentials_to_aiokafka_auth(credentials(properties)),
    )
    try:
        await consumer.start()
        async for record in consumer:
            if record.value == value:
                return True
    finally:
        await consumer.stop()
    return False
