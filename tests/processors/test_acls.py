"""Each role may do its work in a cluster that grants nothing else, and no more than that.

The rights are granted by `pitwatch topics acls`, and every role logs in through TLS by its password.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, NewTopic

from processors.acls import ALERTS, RIGHTS
from processors.logs.kafka import KafkaLog
from processors.logs.kafka_opening import open_kafka_log
from schemas.log import EventLog, LogUnavailable, Position
from schemas.topics import FACT_TOPICS, TABLE_EVENTS, TABLE_STATES
from tests.contract.reading import PATIENCE_SECONDS, messages
from tests.kafka.broker import USERS
from tests.kafka.secured import PARTITIONS, SecuredCluster
from tests.processors.logs.kafka_logs import SILENT, once_it_answers

ALL_TOPICS = (TABLE_EVENTS, TABLE_STATES, *FACT_TOPICS.values())
REFUSED = "Grant the role's rights: pitwatch topics acls"

ROLES = tuple(user for user in USERS if user != "admin")

OpenLog = Callable[[str], KafkaLog]


@pytest.fixture(scope="module")
def granted(kafka_secured: SecuredCluster) -> SecuredCluster:
    """A cluster with the topics and the rights of every role."""
    assert "table-events: made" in kafka_secured.command("topics", "create").splitlines()
    assert kafka_secured.command("topics", "check") == ""
    principals = [f"--principal={role}=User:{role}" for role in ROLES]
    for _ in range(2):  # Granting it twice changes nothing.
        kafka_secured.command("topics", "acls", "--create", *principals)
    # The brokers hear of rights a moment later.
    for role in ROLES:
        with open_kafka_log(kafka_secured.by_password(role)) as log:
            once_it_answers(partial(log.partitions, TABLE_EVENTS if role == "gateway" else ALERTS))
    return kafka_secured


@pytest.fixture
def log_of(granted: SecuredCluster) -> Iterator[OpenLog]:
    with ExitStack() as opened:
        yield lambda role: opened.enter_context(open_kafka_log(granted.by_password(role)))


@pytest.fixture
def impatient_log_of(granted: SecuredCluster) -> Iterator[OpenLog]:
    """Logs for what librdkafka tries until its time is over, though the broker has refused it at once."""
    with ExitStack() as opened:

        def open_one(role: str) -> KafkaLog:
            settings = granted.by_password(role).model_copy(update={"timeout_seconds": 1})
            return opened.enter_context(open_kafka_log(settings))

        yield open_one


def test_every_role_has_rights_and_a_user_to_test_them() -> None:
    assert set(ROLES) == RIGHTS.keys()
    assert all(RIGHTS.values())


@pytest.mark.parametrize("role", ROLES)
def test_no_role_makes_or_drops_topics(granted: SecuredCluster, role: str) -> None:
    settings = granted.by_password(role)
    admin = AdminClient({"bootstrap.servers": settings.bootstrap, **settings.plain_properties()}, logger=SILENT)
    for futures in (admin.create_topics([NewTopic("mine", 1)]), admin.delete_topics([TABLE_EVENTS])):
        for future in futures.values():
            with pytest.raises(KafkaException, match="AUTHORIZATION_FAILED"):
                future.result()


def append(log: EventLog, topic: str) -> None:
    log.append(topic, messages(4))


def read(log: EventLog, topic: str) -> None:
    for partition in range(PARTITIONS):
        log.read(topic, partition, 0, 10)


class TestGateway:
    def test_it_appends_events_and_reads_them_back(self, log_of: OpenLog) -> None:
        log = log_of("gateway")
        append(log, TABLE_EVENTS)
        read(log, TABLE_EVENTS)

    @pytest.mark.parametrize("topic", [*FACT_TOPICS.values(), TABLE_STATES])
    def test_it_does_nothing_else(self, log_of: OpenLog, topic: str) -> None:
        log = log_of("gateway")
        for use in (append, read):
            with pytest.raises(LogUnavailable, match=REFUSED):
                use(log, topic)

    def test_it_keeps_no_place_and_writes_no_transactions(self, impatient_log_of: OpenLog) -> None:
        log = impatient_log_of("gateway")
        with pytest.raises(LogUnavailable, match=REFUSED):
            log.commit_position("sink-of-a-store", Position(TABLE_EVENTS, 0, 0))
        for group in ("gateway", "reconstruct"):
            with pytest.raises(LogUnavailable, match=REFUSED):
                log.claim(group)


class TestReconstruct:
    def test_it_joins_reads_and_writes_transactions(self, log_of: OpenLog) -> None:
        append(log_of("gateway"), TABLE_EVENTS)
        log = log_of("reconstruct")
        member = log.join("reconstruct", [TABLE_EVENTS])
        for _ in range(PATIENCE_SECONDS * 10):
            member.poll(0.1)
            if member.owned():
                break
        read(log, TABLE_EVENTS)
        append(log, TABLE_EVENTS)
        with log.transaction("reconstruct") as transaction:
            for topic in FACT_TOPICS.values():
                transaction.publish(topic, [("B01", b"fact")])
            transaction.save_state("B01", b"state")
            transaction.commit(Position(TABLE_EVENTS, 0, 1))
        assert log.state("reconstruct", "B01") == b"state"
        assert log.position("reconstruct", TABLE_EVENTS, 0) == 1

    @pytest.mark.parametrize("topic", FACT_TOPICS.values())
    def test_it_reads_no_facts(self, log_of: OpenLog, topic: str) -> None:
        with pytest.raises(LogUnavailable, match=REFUSED):
            read(log_of("reconstruct"), topic)

    def test_it_works_for_no_other_group(self, log_of: OpenLog) -> None:
        with pytest.raises(LogUnavailable, match=REFUSED):
            log_of("reconstruct").claim("sink-1")

    def test_it_begins_replays(self, granted: SecuredCluster) -> None:
        """Though it may not read how topics are set."""
        code, told = granted.run(granted.by_password("reconstruct"), "topics", "check")
        assert (code, "this user may not do that" in told) == (2, True)
        code, told = granted.run(granted.by_password("reconstruct"), "topics", "replay", "--yes")
        assert code == 0, told


class TestSink:
    def test_it_reads_events_and_facts_and_keeps_its_places(self, log_of: OpenLog) -> None:
        log = log_of("sink")
        for topic in (TABLE_EVENTS, *FACT_TOPICS.values()):
            read(log, topic)
        log.commit_position("sink-of-a-store", Position(TABLE_EVENTS, 0, 3))
        assert log.position("sink-of-a-store", TABLE_EVENTS, 0) == 3

    @pytest.mark.parametrize("topic", ALL_TOPICS)
    def test_it_writes_nothing(self, log_of: OpenLog, topic: str) -> None:
        with pytest.raises(LogUnavailable, match=REFUSED):
            append(log_of("sink"), topic)

    def test_it_reads_no_snapshots_and_writes_no_transactions(self, log_of: OpenLog) -> None:
        log = log_of("sink")
        with pytest.raises(LogUnavailable, match=REFUSED):
            read(log, TABLE_STATES)
        with pytest.raises(LogUnavailable, match=REFUSED):
            log.claim("sink-of-a-store")

    def test_it_moves_no_other_group(self, impatient_log_of: OpenLog) -> None:
        log = impatient_log_of("sink")
        for _ in range(2):  # The cluster says why once only.
            with pytest.raises(LogUnavailable, match=r"commit the position of reconstruct.*may not do that"):
                log.commit_position("reconstruct", Position(TABLE_EVENTS, 0, 0))
        with pytest.raises(LogUnavailable, match=r"read the position of reconstruct.*may not do that"):
            log.position("reconstruct", TABLE_EVENTS, 0)


class TestFaust:
    def test_it_follows_facts_watches_tables_and_buries_what_is_no_fact(self, log_of: OpenLog) -> None:
        append(log_of("gateway"), TABLE_EVENTS)
        log = log_of("faust")
        for topic in FACT_TOPICS.values():
            read(log, topic)
        append(log, FACT_TOPICS["dead_letter"])
        log.commit_position("faust-floor", Position(FACT_TOPICS["round"], 0, 1))
        member = log.join("faust-silence", [TABLE_EVENTS])
        for _ in range(PATIENCE_SECONDS * 10):
            member.poll(0.1)
            if member.owned():
                break
        read(log, TABLE_EVENTS)
        with log.transaction("faust-silence") as transaction:
            transaction.publish(TABLE_EVENTS, [("B01", b"silent")])
            transaction.save_state("B01", b"state")
            transaction.commit(Position(TABLE_EVENTS, 0, 1))
        assert log.state("faust-silence", "B01") == b"state"

    @pytest.mark.parametrize("kind", sorted(FACT_TOPICS.keys() - {"dead_letter"}))
    def test_it_writes_no_facts(self, log_of: OpenLog, kind: str) -> None:
        with pytest.raises(LogUnavailable, match=REFUSED):
            append(log_of("faust"), FACT_TOPICS[kind])

    def test_it_works_for_no_other_group(self, log_of: OpenLog) -> None:
        with pytest.raises(LogUnavailable, match=REFUSED):
            log_of("faust").claim("reconstruct")


class TestNotifier:
    def test_it_reads_alerts_and_keeps_its_place(self, log_of: OpenLog) -> None:
        log = log_of("notifier")
        read(log, FACT_TOPICS["alert"])
        log.commit_position("notifier", Position(FACT_TOPICS["alert"], 0, 1))

    @pytest.mark.parametrize("topic", sorted({*ALL_TOPICS} - {ALERTS, TABLE_EVENTS}))
    def test_it_reads_nothing_else(self, log_of: OpenLog, topic: str) -> None:
        with pytest.raises(LogUnavailable, match=REFUSED):
            read(log_of("notifier"), topic)

    @pytest.mark.parametrize("topic", ALL_TOPICS)
    def test_it_writes_nothing(self, log_of: OpenLog, topic: str) -> None:
        with pytest.raises(LogUnavailable, match=REFUSED):
            append(log_of("notifier"), topic)
