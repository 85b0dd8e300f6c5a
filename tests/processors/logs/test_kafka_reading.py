"""Readers of Kafka see what is committed and nothing else, whatever lies between the records."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from uuid import uuid4

import pytest
from aiokafka.partitioner import DefaultPartitioner
from confluent_kafka import TopicPartition

from processors.logs import kafka_reader
from processors.logs.kafka import KafkaLog
from processors.logs.kafka_clients import Clients
from processors.logs.kafka_reader import Reader
from schemas.log import EventLog, LogError, LogUnavailable, Position
from tests.contract.reading import PATIENCE_SECONDS, messages, partition_records, values
from tests.kafka.serve import Address
from tests.processors.logs.kafka_logs import OpenKafkaLog, admin, kafka_logs, make_topic, once_it_answers, stranger


@pytest.fixture
def open_log(kafka: Address) -> Iterator[OpenKafkaLog]:
    with kafka_logs(kafka.bootstrap) as open_one:
        yield open_one


@pytest.fixture
def log(open_log: OpenKafkaLog) -> KafkaLog:
    return open_log()


@pytest.fixture
def topic(kafka: Address) -> str:
    """A topic of one partition, so that a test knows where its messages are."""
    name = f"topic-{uuid4().hex}"
    make_topic(kafka.bootstrap, name)
    return name


def transact(log: EventLog, topic: str, *values: bytes) -> None:
    with log.transaction(f"group-of-{topic}") as transaction:
        transaction.publish(topic, [("B01", value) for value in values])


class TestIsolation:
    def test_an_open_transaction_is_not_read_and_holds_up_what_is_behind_it(
        self, kafka: Address, log: KafkaLog, topic: str
    ) -> None:
        log.append(topic, [("B01", b"before")])
        other = stranger(kafka.bootstrap)
        other.begin_transaction()
        other.produce(topic, b"open", b"B01")
        other.flush(30)
        log.append(topic, [("B01", b"behind")])
        assert values(log.read(topic, 0, 0, 10)) == [b"before"]
        assert not log.wait(topic, 0, 1, 0.2)
        other.commit_transaction(30)
        assert log.wait(topic, 0, 1, PATIENCE_SECONDS)
        assert values(list(partition_records(log, topic, 0))) == [b"before", b"open", b"behind"]

    def test_an_aborted_transaction_is_never_read(self, kafka: Address, log: KafkaLog, topic: str) -> None:
        other = stranger(kafka.bootstrap)
        for value in (b"aborted", b"committed"):
            other.begin_transaction()
            other.produce(topic, value, b"B01")
            other.flush(30)
            if value == b"aborted":
                other.abort_transaction(30)
            else:
                other.commit_transaction(30)
        assert log.wait(topic, 0, 0, PATIENCE_SECONDS)
        assert values(list(partition_records(log, topic, 0))) == [b"committed"]
        assert values(log.read_key(topic, "B01", 0, 10)) == [b"committed"]

    def test_a_partition_of_aborted_transactions_alone_is_empty(
        self, kafka: Address, log: KafkaLog, topic: str
    ) -> None:
        other = stranger(kafka.bootstrap)
        other.begin_transaction()
        other.produce(topic, b"aborted", b"B01")
        other.flush(30)
        other.abort_transaction(30)
        assert log.read(topic, 0, 0, 10) == []
        assert not log.wait(topic, 0, 0, 0.2)


class TestHoles:
    def test_marks_of_transactions_are_stepped_over(self, log: KafkaLog, topic: str) -> None:
        for number in range(5):
            transact(log, topic, b"%d" % number, b"+")
        records = list(partition_records(log, topic, 0, page=2))
        assert values(records) == [b"0", b"+", b"1", b"+", b"2", b"+", b"3", b"+", b"4", b"+"]
        assert [record.offset for record in records] == [0, 1, 3, 4, 6, 7, 9, 10, 12, 13]

    def test_who_read_everything_is_at_the_end(self, log: KafkaLog, topic: str) -> None:
        for number in range(3):
            transact(log, topic, b"%d" % number)
        records = list(partition_records(log, topic, 0))
        behind = records[-1].offset + 1
        assert log.end(topic, 0) == behind
        assert not log.wait(topic, 0, behind, 0)
        assert log.read(topic, 0, behind, 10) == []
        transact(log, topic, b"next")
        assert log.end(topic, 0) > behind
        assert values(log.read(topic, 0, behind, 10)) == [b"next"]

    @pytest.mark.parametrize("offset", [1, 2, 3])
    def test_reading_may_begin_at_a_mark(self, log: KafkaLog, topic: str, offset: int) -> None:
        transact(log, topic, b"first")
        transact(log, topic, b"second")
        expected = [b"second"] if offset <= 2 else []
        assert values(log.read(topic, 0, offset, 10)) == expected
        assert bool(log.wait(topic, 0, offset, 0)) == bool(expected)

    def test_a_place_behind_the_end_is_waited_for(self, log: KafkaLog, topic: str) -> None:
        log.append(topic, messages(2))
        assert log.read(topic, 0, 5, 10) == []
        with ThreadPoolExecutor() as threads:
            waiting = threads.submit(log.wait, topic, 0, 5, PATIENCE_SECONDS)
            log.append(topic, messages(4))
            assert waiting.result(PATIENCE_SECONDS)


class TestRetention:
    def drop(self, kafka: Address, topic: str, offset: int) -> None:
        place = TopicPartition(topic, 0, offset)
        client = admin(kafka.bootstrap)
        client.delete_records([place])[place].result()

    def test_reading_begins_with_the_first_record_that_is_left(self, kafka: Address, log: KafkaLog, topic: str) -> None:
        log.append(topic, [("B01", b"%d" % number) for number in range(10)])
        self.drop(kafka, topic, 6)
        assert values(log.read(topic, 0, 2, 2)) == [b"6", b"7"]
        assert values(log.read(topic, 0, 0, 2)) == [b"6", b"7"]
        assert log.wait(topic, 0, 0, 0)

    def test_a_partition_of_which_nothing_is_left_is_empty(self, kafka: Address, log: KafkaLog, topic: str) -> None:
        log.append(topic, messages(10))
        self.drop(kafka, topic, 10)
        assert log.read(topic, 0, 3, 10) == []
        assert log.end(topic, 0) == 10

    def test_records_that_the_cluster_lost_are_not_passed_over(self, kafka: Address, log: KafkaLog, topic: str) -> None:
        log.append(topic, messages(10))
        assert not log.wait(topic, 0, 10, 0.1)
        client = admin(kafka.bootstrap)
        client.delete_topics([topic])[topic].result()
        make_topic(kafka.bootstrap, topic)
        log.append(topic, messages(2))
        with pytest.raises(LogError, match="ends at offset 2, and was read up to 10: the cluster lost records"):
            once_it_answers(lambda: log.wait(topic, 0, 10, PATIENCE_SECONDS))


class TestManyPartitions:
    def test_a_slow_reader_of_one_partition_loses_nothing_and_holds_up_no_other(
        self, kafka: Address, open_log: OpenKafkaLog, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("processors.logs.kafka_reader._MOST_BYTES", 0)
        monkeypatch.setattr("processors.logs.kafka_reader._LEAST_SHARE_BYTES", 20_000)
        topic, log = f"topic-{uuid4().hex}", open_log()
        make_topic(kafka.bootstrap, topic, 3)
        sent = [(f"B{number % 40}", b"%d" % number + b"x" * 300) for number in range(6_000)]
        for start in range(0, len(sent), 1_000):
            log.append(topic, sent[start : start + 1_000])
        read: dict[int, list[bytes]] = {0: [], 1: [], 2: []}
        offsets = dict.fromkeys(read, 0)
        while sum(map(len, read.values())) < len(sent):
            for partition, limit in ((0, 50), (1, 500), (2, 500)):
                records = log.read(topic, partition, offsets[partition], limit)
                read[partition] += values(records)
                offsets[partition] = records[-1].offset + 1 if records else offsets[partition]
        for partition, got in read.items():
            assert got == [value for key, value in sent if log.partition_of(topic, key) == partition]

    def test_readers_of_one_partition_at_several_places_get_each_what_it_asked_for(
        self, log: KafkaLog, topic: str
    ) -> None:
        log.append(topic, [("B01", b"%d" % number) for number in range(100)])
        places = [0, 40, 80]
        for _ in range(4):
            for index, place in enumerate(places):
                assert values(log.read(topic, 0, place, 5)) == [b"%d" % n for n in range(place, place + 5)]
                places[index] += 5

    def test_a_reader_that_goes_back_and_forth_never_mixes_up_what_it_fetched(
        self, kafka: Address, log: KafkaLog, topic: str
    ) -> None:
        log.append(topic, [("B01", b"%d" % number) for number in range(2_000)])
        with closing(Reader(Clients(kafka.bootstrap, {}, "reader", 30))) as reader:
            for place in (0, 1_500, 700, 699, 701, 1_990, 5, 6, 1_000, 0):
                for start in (place, place + 5):
                    read = reader.read(topic, 0, start, 5)
                    assert values(read) == [b"%d" % number for number in range(start, min(start + 5, 2_000))]


class TestTopics:
    def test_a_missing_topic_is_told_with_the_way_out(self, open_log: OpenKafkaLog) -> None:
        log = open_log(make_topics=False)
        for use in (
            lambda: log.append("nowhere", messages(1)),
            lambda: log.read("nowhere", 0, 0, 1),
            lambda: log.partitions("nowhere"),
            lambda: log.end("nowhere", 0),
        ):
            with pytest.raises(LogUnavailable, match=r"no topic nowhere.*pitwatch topics create"):
                use()

    def test_it_is_there_as_soon_as_somebody_makes_it(self, kafka: Address, open_log: OpenKafkaLog) -> None:
        log, topic = open_log(make_topics=False), f"topic-{uuid4().hex}"
        with pytest.raises(LogUnavailable):
            log.append(topic, messages(1))
        make_topic(kafka.bootstrap, topic)
        log.append(topic, messages(1))
        assert values(log.read(topic, 0, 0, 10)) == [b"0"]

    def test_a_partition_that_is_not_there_is_refused(self, log: KafkaLog, topic: str) -> None:
        with pytest.raises(ValueError, match="no partition 1"):
            log.read(topic, 1, 0, 10)

    def test_a_worker_without_partitions_waits_in_vain(self, log: KafkaLog) -> None:
        assert log.wait_any([], 0.01) == []

    def test_partitions_are_those_that_faust_chooses(self, log: KafkaLog, kafka: Address) -> None:
        topic, keys = f"topic-{uuid4().hex}", ["B01", "B02", "BAC-01", "貴賓廳-1", "k" * 500]
        make_topic(kafka.bootstrap, topic, 12)
        choose = DefaultPartitioner()
        chosen = [choose(key.encode(), list(range(12)), list(range(12))) for key in keys]
        assert [log.partition_of(topic, key) for key in keys] == chosen
        assert [place.partition for place in log.append(topic, [(key, b"") for key in keys])] == chosen


def test_positions_of_a_topic_nobody_made_are_zero(log: KafkaLog) -> None:
    assert log.position("group", "nowhere", 0) == 0
    with pytest.raises(LogUnavailable, match=r"commit the position of group.*pitwatch topics check"):
        log.commit_position("group", Position("nowhere", 0, 3))


def test_what_was_paused_for_its_backlog_is_read_again_from_another_place(
    open_log: OpenKafkaLog, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a worker does that drops a batch: it begins anew before what its reader has waiting."""
    monkeypatch.setattr(kafka_reader, "_MOST_BYTES", 10_000)
    monkeypatch.setattr(kafka_reader, "_LEAST_SHARE_BYTES", 10_000)
    log = open_log(timeout_seconds=5)
    sent = [("B01", b"%05d" % number * 20) for number in range(2_000)]
    log.append(topic, sent)
    # More places than there are readers, so that each has to leave one where much is waiting.
    for place in range(1_000, 0, -100):
        found = log.read(topic, 0, place, 1)
        assert [record.offset for record in found] == [place]
