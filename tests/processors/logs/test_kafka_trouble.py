"""Brokers that die, hang and come back: told within the time limit, nothing half done, and well again afterwards."""

import time
from collections.abc import Callable, Iterator
from uuid import uuid4

import pytest

from processors.logs.kafka import KafkaLog
from schemas.log import Fenced, LogUnavailable, MessageTooLong, Position
from tests.contract.reading import all_records, by_key, messages, pairs, partition_records, values
from tests.kafka.broker import Broker, Cluster
from tests.processors.logs.kafka_logs import OpenKafkaLog, kafka_logs, make_topic, once_it_answers

LIMIT_SECONDS = 3.0


@pytest.fixture
def open_log(kafka_cluster: Cluster) -> Iterator[OpenKafkaLog]:
    with kafka_logs(kafka_cluster.bootstrap) as open_one:
        yield open_one


@pytest.fixture
def log(open_log: OpenKafkaLog) -> KafkaLog:
    return open_log(timeout_seconds=LIMIT_SECONDS)


@pytest.fixture
def topic(kafka_cluster: Cluster) -> str:
    name = f"topic-{uuid4().hex}"
    for made in (name, f"{name}-out"):
        make_topic(kafka_cluster.bootstrap, made, 3)
    return name


@pytest.fixture
def group() -> str:
    return f"group-{uuid4().hex}"


@pytest.fixture
def brokers(kafka_cluster: Cluster) -> Iterator[list[Broker]]:
    """The cluster's brokers; whatever a test did to them, they are all there again for the next one."""
    yield kafka_cluster.brokers
    for broker in kafka_cluster.brokers:
        broker.thaw()
        if not broker.is_running():
            broker.start()
    kafka_cluster.wait_for(len(kafka_cluster.brokers))


def in_the_end(log: KafkaLog, group: str, write: Callable[[], None]) -> None:
    """Write a transaction as a worker does: claiming the group anew where the log can't tell whether it is its own."""

    def attempt() -> None:
        try:
            write()
        except Fenced:
            log.claim(group)
            write()

    once_it_answers(attempt)


class TestOneBrokerLost:
    def test_appends_and_transactions_go_on_elsewhere(
        self, log: KafkaLog, brokers: list[Broker], topic: str, group: str
    ) -> None:
        sent = messages(300)
        log.append(topic, sent[:100])
        log.claim(group)
        brokers[0].kill()
        once_it_answers(lambda: log.append(topic, sent[100:200]))

        def write() -> None:
            with log.transaction(group) as transaction:
                transaction.publish(f"{topic}-out", sent[200:])
                transaction.save_state("B01", b"state")
                transaction.commit(Position(topic, 0, 7))

        in_the_end(log, group, write)
        # A retry after a lost answer repeats; it never reorders a table's first tellings.
        told = {key: list(dict.fromkeys(told)) for key, told in by_key(pairs(all_records(log, topic))).items()}
        assert told == by_key(sent[:200])
        assert by_key(pairs(all_records(log, f"{topic}-out"))) == by_key(sent[200:])
        assert once_it_answers(lambda: log.state(group, "B01")) == b"state"
        assert once_it_answers(lambda: log.position(group, topic, 0)) == 7

    def test_nothing_that_was_told_durable_is_lost_with_it(
        self, log: KafkaLog, open_log: OpenKafkaLog, brokers: list[Broker], topic: str
    ) -> None:
        durable = []
        for number in range(60):
            if number == 30:
                brokers[1].kill()
            message = ("B01", b"%d" % number)
            once_it_answers(lambda message=message: log.append(topic, [message]))  # type: ignore[misc] # bound now
            durable.append(message[1])
        read = once_it_answers(lambda: values(open_log().read_key(topic, "B01", 0, 1_000)))
        assert list(dict.fromkeys(read)) == durable


class TestAllBrokersAway:
    def test_everything_says_so_within_the_limit_and_works_again_when_they_are_back(
        self, log: KafkaLog, brokers: list[Broker], topic: str, group: str
    ) -> None:
        log.append(topic, messages(20))
        with log.transaction(group) as transaction:
            transaction.save_state("B01", b"before")
            transaction.commit(Position(topic, 0, 1))
        assert log.state(group, "B01") == b"before"
        for broker in brokers:
            broker.freeze()

        def write() -> None:
            with log.transaction(group) as transaction:
                transaction.publish(topic, [("B01", b"in doubt")])
                transaction.save_state("B01", b"after")
                transaction.commit(Position(topic, 0, 2))

        for use in (
            lambda: log.append(topic, messages(3)),
            lambda: log.read(topic, 0, 0, 10),
            lambda: log.end(topic, 0),
            lambda: log.position(group, topic, 0),
            lambda: log.wait(topic, 0, 1_000, 60),
            lambda: log.commit_position("another", Position(topic, 0, 1)),
            write,
        ):
            began = time.monotonic()
            with pytest.raises(LogUnavailable):
                use()
            assert time.monotonic() - began < 6 * LIMIT_SECONDS
        for broker in brokers:
            broker.thaw()
        in_the_end(log, group, write)
        assert once_it_answers(lambda: log.state(group, "B01")) == b"after"
        assert once_it_answers(lambda: log.position(group, topic, 0)) == 2
        once_it_answers(lambda: log.append(topic, [("B01", b"last")]))
        assert once_it_answers(lambda: values(log.read_key(topic, "B01", 0, 100)))[-1] == b"last"

    def test_a_worker_that_shares_a_group_is_told_and_can_leave(
        self, kafka_cluster: Cluster, brokers: list[Broker], topic: str, group: str
    ) -> None:
        with kafka_logs(kafka_cluster.bootstrap) as open_log:
            log = open_log(timeout_seconds=LIMIT_SECONDS)
            member = log.join(group, [topic])
            while not member.owned():
                member.poll(0.1)
            log.commit_position(group, Position(topic, 0, 1))
            for broker in brokers:
                broker.freeze()
            began = time.monotonic()
            member.poll(0.1)
            for offset in (2, 3):
                with pytest.raises(LogUnavailable, match="no answer in time"):
                    log.commit_position(group, Position(topic, 0, offset))
            log.close()
            assert time.monotonic() - began < 12 * LIMIT_SECONDS


class TestCommitWithoutAnAnswer:
    def test_it_is_settled_before_the_group_is_told_where_it_stands(
        self, log: KafkaLog, open_log: OpenKafkaLog, brokers: list[Broker], topic: str, group: str
    ) -> None:
        """Whatever became of the commit: what `position` says, the outputs say too."""
        log.append(topic, messages(3))
        log.claim(group)
        done = 0
        for turn in range(6):
            frozen = brokers[turn % 3] if turn % 2 else None
            if frozen is not None:
                frozen.freeze()
            while done <= turn:
                try:
                    with log.transaction(group) as transaction:
                        transaction.publish(f"{topic}-out", [("B01", b"%d" % done)])
                        transaction.commit(Position(topic, 0, done + 1))
                except LogUnavailable:
                    if frozen is not None:
                        frozen.thaw()
                except Fenced:
                    once_it_answers(lambda: log.claim(group))
                done = once_it_answers(lambda: log.position(group, topic, 0))
            if frozen is not None:
                frozen.thaw()
        read = once_it_answers(lambda: values(open_log().read_key(f"{topic}-out", "B01", 0, 100)))
        assert read == [b"%d" % number for number in range(6)]


class TestStart:
    def test_a_log_may_be_opened_before_the_brokers_answer(
        self, open_log: OpenKafkaLog, brokers: list[Broker], topic: str, group: str
    ) -> None:
        for broker in brokers:
            broker.freeze()
        log = open_log(timeout_seconds=1.0)
        with pytest.raises(LogUnavailable, match="no broker answers"):
            log.append(topic, messages(1))
        with pytest.raises(LogUnavailable, match=f"claim group {group}"):
            log.claim(group)
        for broker in brokers:
            broker.thaw()
        once_it_answers(lambda: log.append(topic, messages(1)))
        once_it_answers(lambda: log.claim(group))

    def test_nobody_there_at_all(self) -> None:
        log = KafkaLog("127.0.0.1:1", worker_id="worker", timeout_seconds=0.5)
        with pytest.raises(LogUnavailable, match=r"no broker answers .*Check kafka\.bootstrap"):
            log.partitions("table-events")
        log.close()


class TestTooFewCopies:
    def test_an_append_that_could_be_lost_is_refused_and_works_again_with_the_copies(
        self, kafka_cluster: Cluster, open_log: OpenKafkaLog, brokers: list[Broker]
    ) -> None:
        topic = f"topic-{uuid4().hex}"
        make_topic(kafka_cluster.bootstrap, topic, 1, min_insync_replicas="3")
        log = open_log(timeout_seconds=LIMIT_SECONDS)
        log.append(topic, messages(1))
        brokers[2].kill()
        kafka_cluster.wait_for(2)
        with pytest.raises(LogUnavailable):
            log.append(topic, messages(1, start=1))
        brokers[2].start()
        kafka_cluster.wait_for(3)
        once_it_answers(lambda: log.append(topic, messages(1, start=2)))
        assert values(list(partition_records(log, topic, 0)))[-1] == b"2"


class TestProperties:
    @pytest.mark.parametrize("name", ["acks", "isolation.level", "partitioner", "transactional.id"])
    def test_what_the_log_rests_on_cannot_be_set(self, name: str) -> None:
        with pytest.raises(ValueError, match=f"'{name}' can't be set"):
            KafkaLog("127.0.0.1:1", worker_id="worker", properties={name: "0"})


def test_a_key_that_is_too_long_is_refused(kafka_cluster: Cluster, log: KafkaLog, topic: str, group: str) -> None:
    with pytest.raises(MessageTooLong, match="key so long"):
        log.append(topic, [("B01", b""), ("k" * 1_200_000, b"")])
    assert all_records(log, topic) == []
