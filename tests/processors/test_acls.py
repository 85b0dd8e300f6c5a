"""Each role may do its work in a cluster that grants nothing else, and no more than that."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from functools import partial

import pytest

from processors.acls import ALERTS, RIGHTS, create_acls, grants
from processors.logs.kafka import KafkaLog
from processors.logs.kafka_clients import Clients
from processors.settings import KafkaSettings
from processors.topics import create_topics, layouts
from schemas.log import EventLog, LogUnavailable, Position
from schemas.topics import FACT_TOPICS, TABLE_EVENTS, TABLE_STATES
from tests.contract.reading import PATIENCE_SECONDS, messages
from tests.kafka.broker import USERS, Cluster
from tests.processors.logs.kafka_logs import once_it_answers

PARTITIONS = 2

ROLES = tuple(user for user in USERS if user != "admin")

OpenLog = Callable[[str], KafkaLog]


@pytest.fixture(scope="module")
def granted(kafka_alone: Cluster) -> Cluster:
    """A cluster with the topics and the rights of every role."""
    clients = Clients(kafka_alone.bootstrap, {}, "tests", 30)
    create_topics(clients, layouts(KafkaSettings(partitions=PARTITIONS), None))
    create_acls(clients, list(grants({role: f"User:{role}" for role in ROLES})))
    # Granting it twice changes nothing.
    create_acls(clients, list(grants({role: f"User:{role}" for role in ROLES})))
    # The brokers hear of rights a moment later.
    for role in ROLES:
        with closing(log_for(kafka_alone, role)) as log:
            once_it_answers(partial(log.partitions, TABLE_EVENTS if role == "gateway" else ALERTS))
    return kafka_alone


def log_for(cluster: Cluster, role: str, password: str = "") -> KafkaLog:
    """Open a role's log, logged in by its password."""
    properties = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": role,
        "sasl.password": password or f"{role}-secret",
    }
    return KafkaLog(cluster.sasl_bootstrap, worker_id=f"{role}-1", properties=properties, timeout_seconds=5)


@pytest.fixture
def log_of(granted: Cluster) -> Iterator[OpenLog]:
    with ExitStack() as opened:
        yield lambda role: opened.enter_context(closing(log_for(granted, role)))


def test_every_role_has_rights_and_a_user_to_test_them() -> None:
    assert set(ROLES) == RIGHTS.keys()
    assert all(RIGHTS.values())


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
            with pytest.raises(LogUnavailable, match="Grant the role's rights: pitwatch topics acls"):
                use(log, topic)


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

    def test_it_works_for_no_other_group(self, log_of: OpenLog) -> None:
        with pytest.raises(LogUnavailable):
            log_of("reconstruct").claim("sink-1")


class TestSink:
    def test_it_reads_events_and_facts_and_keeps_its_places(self, log_of: OpenLog) -> None:
        log = log_of("sink")
        for topic in (TABLE_EVENTS, *FACT_TOPICS.values()):
            read(log, topic)
        log.commit_position("sink-of-a-store", Position(TABLE_EVENTS, 0, 3))
        assert log.position("sink-of-a-store", TABLE_EVENTS, 0) == 3

    def test_it_writes_nothing(self, log_of: OpenLog) -> None:
        with pytest.raises(LogUnavailable):
            append(log_of("sink"), FACT_TOPICS["round"])

    def test_it_moves_no_other_group(self, log_of: OpenLog) -> None:
        with pytest.raises(LogUnavailable, match=r"commit the position of reconstruct.*may not do that"):
            log_of("sink").commit_position("reconstruct", Position(TABLE_EVENTS, 0, 0))


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
        with pytest.raises(LogUnavailable):
            append(log_of("faust"), FACT_TOPICS[kind])

    def test_it_works_for_no_other_group(self, log_of: OpenLog) -> None:
        with pytest.raises(LogUnavailable):
            log_of("faust").claim("reconstruct")


class TestNotifier:
    def test_it_reads_alerts_and_keeps_its_place(self, log_of: OpenLog) -> None:
        log = log_of("notifier")
        read(log, FACT_TOPICS["alert"])
        log.commit_position("notifier", Position(FACT_TOPICS["alert"], 0, 1))

    def test_it_reads_no_bets(self, log_of: OpenLog) -> None:
        with pytest.raises(LogUnavailable):
            read(log_of("notifier"), FACT_TOPICS["bet"])


def test_a_wrong_password_is_told_as_such(granted: Cluster) -> None:
    with (
        closing(log_for(granted, "gateway", "wrong-one")) as log,
        pytest.raises(LogUnavailable, match="uthentication") as told,
    ):
        append(log, TABLE_EVENTS)
    assert "wrong-one" not in str(told.value)
