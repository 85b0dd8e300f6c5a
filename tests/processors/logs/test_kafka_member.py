"""Workers that share a group: partitions move between them with nothing lost, done twice or written by a stale one."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import NamedTuple
from uuid import uuid4

import pytest

from processors.logs.kafka import KafkaLog
from processors.logs.kafka_member import Change, KafkaMember, Partition
from schemas.log import Fenced, LogClosed, LogError, LogUnavailable, Position
from tests.contract.reading import PATIENCE_SECONDS, TABLES, all_records, by_key, pairs
from tests.kafka.fixtures import need_sessions_of
from tests.kafka.serve import Address
from tests.processors.logs.kafka_logs import OpenKafkaLog, kafka_logs, make_topic, stranger

PARTITIONS = 6

SESSION_MS = 1_000
QUICKLY_GIVEN_UP = {
    "session.timeout.ms": f"{SESSION_MS}",
    "heartbeat.interval.ms": "200",
    "max.poll.interval.ms": f"{SESSION_MS}",
}
"""Properties of a worker whose group doesn't wait for it: it must poll every second."""


@pytest.fixture
def open_log(kafka: Address) -> Iterator[OpenKafkaLog]:
    with kafka_logs(kafka.bootstrap, PARTITIONS) as open_one:
        yield open_one


@pytest.fixture
def topic(kafka: Address) -> str:
    name = f"topic-{uuid4().hex}"
    for made in (name, f"{name}-out"):
        make_topic(kafka.bootstrap, made, PARTITIONS)
    return name


@pytest.fixture
def group() -> str:
    return f"group-{uuid4().hex}"


def poll_until(count: int, member: KafkaMember, *others: KafkaMember, topic: str) -> list[Change]:
    """Poll `member` until it owns that many partitions, and the others beside it; return what changed for `member`."""
    changes = []
    for _ in range(PATIENCE_SECONDS * 20):
        changes.append(member.poll(0.05))
        for other in others:
            other.poll()
        if len(member.partitions(topic)) == count:
            return changes
    raise AssertionError(f"the worker owns {member.partitions(topic)}, not {count} partitions")


class CountingWorker:
    """Counts each table's events: publishes table → n for its n-th, and keeps n as the table's snapshot."""

    def __init__(self, log: KafkaLog, topic: str, group: str) -> None:
        self.log = log
        self.member = log.join(group, [topic])
        self._topic = topic
        self._group = group
        self._offsets: dict[int, int] = {}
        self._counts: dict[str, int] = {}
        self.stop = threading.Event()

    def run(self) -> None:
        """Work until `stop` is set, and then leave the group."""
        while not self.stop.is_set():
            self.step()
        self.log.close()

    def step(self) -> int:
        """Count a few events of every partition owned; return how many."""
        change = self.member.poll(0.01)
        if change.gained or change.lost:
            self._offsets.clear()
            self._counts.clear()
        try:
            return sum(self._count(partition) for partition in self.log.partitions(self._topic))
        except Fenced:
            self.log.claim(self._group)
            self._offsets.clear()
            self._counts.clear()
            return 0

    def _count(self, partition: int) -> int:
        if partition not in self._offsets:
            self._offsets[partition] = self.log.position(self._group, self._topic, partition)
        records = self.log.read(self._topic, partition, self._offsets[partition], 7)
        if not records:
            return 0
        with self.log.transaction(self._group) as transaction:
            for record in records:
                if record.key not in self._counts:
                    self._counts[record.key] = int(self.log.state(self._group, record.key) or 0)
                self._counts[record.key] += 1
                count = b"%d" % self._counts[record.key]
                transaction.publish(f"{self._topic}-out", [(record.key, count)])
                transaction.save_state(record.key, count)
            transaction.commit(Position(self._topic, partition, records[-1].offset + 1))
        self._offsets[partition] = records[-1].offset + 1
        return len(records)


def read_outputs(log: KafkaLog, topic: str, count: int) -> dict[str, list[bytes]]:
    """Return each table's outputs once there are `count` of them in all, or as many as came in time."""
    offsets = dict.fromkeys(range(PARTITIONS), 0)
    got: list[tuple[str, bytes]] = []
    while len(got) < count:
        ready = log.wait_any([Position(f"{topic}-out", *place) for place in offsets.items()], PATIENCE_SECONDS)
        if not ready:
            break
        for place in ready:
            records = log.read(*place, 1_000)
            got += pairs(records)
            offsets[place.partition] = records[-1].offset + 1
    return by_key(got)


def counted(sent: Sequence[tuple[str, bytes]]) -> dict[str, list[bytes]]:
    return {key: [b"%d" % number for number in range(1, len(all_of) + 1)] for key, all_of in by_key([*sent]).items()}


class TestSharing:
    def test_a_worker_alone_owns_everything(self, open_log: OpenKafkaLog, topic: str, group: str) -> None:
        log = open_log()
        assert list(log.partitions(topic)) == list(range(PARTITIONS))
        member = log.join(group, [topic])
        assert list(log.partitions(topic)) == []
        changes = poll_until(PARTITIONS, member, topic=topic)
        assert [place for change in changes for place in change.gained] == [
            Partition(topic, partition) for partition in range(PARTITIONS)
        ]
        assert log.partitions(topic) == list(range(PARTITIONS))
        # Topics that it didn't join for are everybody's.
        assert list(log.partitions(f"{topic}-out")) == list(range(PARTITIONS))

    def test_a_second_worker_takes_half_and_leaves_the_rest_alone(
        self, open_log: OpenKafkaLog, topic: str, group: str
    ) -> None:
        first = open_log().join(group, [topic])
        poll_until(PARTITIONS, first, topic=topic)
        second = open_log().join(group, [topic])
        poll_until(PARTITIONS // 2, second, first, topic=topic)
        poll_until(PARTITIONS // 2, first, second, topic=topic)
        assert sorted(first.partitions(topic) + second.partitions(topic)) == list(range(PARTITIONS))
        second.leave()
        second.leave()
        changes = poll_until(PARTITIONS, first, topic=topic)
        assert not any(change.lost for change in changes)
        with pytest.raises(LogClosed):
            second.poll()

    def test_partitions_move_with_nothing_lost_and_nothing_counted_twice(
        self, open_log: OpenKafkaLog, topic: str, group: str
    ) -> None:
        sent = [(TABLES[number % len(TABLES)], b"%d" % number) for number in range(1_200)]
        writer = open_log()
        workers = [CountingWorker(open_log(), topic, group)]
        threads = [threading.Thread(target=workers[0].run)]
        threads[0].start()
        for start in range(0, len(sent), 100):
            writer.append(topic, sent[start : start + 100])
            if start in {200, 400}:
                workers.append(CountingWorker(open_log(), topic, group))
                threads.append(threading.Thread(target=workers[-1].run))
                threads[-1].start()
            if start == 800:
                workers[0].stop.set()
        got = read_outputs(writer, topic, len(sent))
        for worker in workers:
            worker.stop.set()
        for thread in threads:
            thread.join(PATIENCE_SECONDS)
        assert got == counted(sent)

    def test_a_log_joins_one_group_once(self, open_log: OpenKafkaLog, topic: str, group: str) -> None:
        log = open_log()
        log.join(group, [topic])
        with pytest.raises(LogError, match=f"joined group {group} already"):
            log.join(f"{group}-2", [topic])


class TestSnapshotsWithoutAMark:
    """Kafka marks a transaction off partition by partition: a position may be seen before the snapshots beside it."""

    def test_who_takes_over_waits_for_what_its_predecessor_wrote(self, kafka: Address, topic: str, group: str) -> None:
        states = f"states-{uuid4().hex}"
        make_topic(kafka.bootstrap, states, PARTITIONS, cleanup_policy="compact")
        log = KafkaLog(kafka.bootstrap, worker_id=uuid4().hex, timeout_seconds=5, states_topic=states)
        with closing(log):
            poll_until(PARTITIONS, log.join(group, [topic]), topic=topic)
            former = stranger(kafka.bootstrap)
            former.begin_transaction()
            former.produce(states, b"state", f"{group}/B01", partition=log.partition_of(states, "B01"))
            former.flush(PATIENCE_SECONDS)
            with pytest.raises(LogUnavailable, match=f"a transaction in {states} partition . is neither"):
                list(log.states(group))
            former.commit_transaction(PATIENCE_SECONDS)
            assert list(log.states(group)) == [("B01", b"state")]


class TestRelease:
    def test_what_is_given_up_can_be_written_down_first(self, open_log: OpenKafkaLog, topic: str, group: str) -> None:
        log, released = open_log(), set[Partition]()

        def release(partitions: Sequence[Partition]) -> None:
            released.update(partitions)
            with log.transaction(group) as transaction:
                for place in partitions:
                    transaction.commit(Position(*place, 5))

        member = log.join(group, [topic], on_release=release)
        poll_until(PARTITIONS, member, topic=topic)
        log.append(topic, [(table, b"") for table in TABLES])
        log.close()
        assert released == {Partition(topic, partition) for partition in range(PARTITIONS)}
        assert [open_log().position(group, topic, partition) for partition in range(PARTITIONS)] == [5] * PARTITIONS

    def test_what_goes_wrong_over_it_is_told_once_the_partitions_are_given_up(
        self, open_log: OpenKafkaLog, topic: str, group: str
    ) -> None:
        def release(partitions: Sequence[Partition]) -> None:
            raise ZeroDivisionError

        first = open_log().join(group, [topic], on_release=release)
        poll_until(PARTITIONS, first, topic=topic)
        second = open_log().join(group, [topic])

        def poll_on() -> None:
            poll_until(PARTITIONS // 2, second, first, topic=topic)

        with pytest.raises(ZeroDivisionError):
            poll_on()
        poll_until(PARTITIONS // 2, second, first, topic=topic)
        poll_until(PARTITIONS // 2, first, second, topic=topic)


class Worker(NamedTuple):
    """A log, its membership in a group, and that of the worker which took over."""

    log: KafkaLog
    member: KafkaMember
    newer: KafkaMember


class TestFencing:
    @pytest.fixture
    def worker(self, kafka: Address, open_log: OpenKafkaLog, topic: str, group: str) -> Worker:
        """A worker that owned all partitions and stalled, while another took them over and went on."""
        need_sessions_of(SESSION_MS, kafka)
        log = open_log(properties=QUICKLY_GIVEN_UP)
        member = log.join(group, [topic])
        poll_until(PARTITIONS, member, topic=topic)
        with log.transaction(group) as transaction:
            transaction.save_state("B01", b"old")
            transaction.commit(Position(topic, 0, 1))
        newer = open_log()
        newer_member = newer.join(group, [topic])
        poll_until(PARTITIONS, newer_member, topic=topic)
        with newer.transaction(group) as transaction:
            transaction.save_state("B01", b"new")
            transaction.commit(Position(topic, 0, 2))
        return Worker(log, member, newer_member)

    def test_a_worker_that_stalled_writes_nothing(
        self, worker: Worker, open_log: OpenKafkaLog, topic: str, group: str
    ) -> None:
        def write() -> None:
            with worker.log.transaction(group) as transaction:
                transaction.publish(f"{topic}-out", [("B01", b"stale")])
                transaction.commit(Position(topic, 0, 7))

        with pytest.raises(Fenced, match=group):
            write()
        reader = open_log()
        assert all_records(reader, f"{topic}-out") == []
        assert reader.position(group, topic, 0) == 2

    def test_not_even_snapshots_alone(self, worker: Worker, open_log: OpenKafkaLog, topic: str, group: str) -> None:
        with pytest.raises(Fenced), worker.log.transaction(group) as transaction:
            transaction.save_state("B01", b"stale")
        assert open_log().state(group, "B01") == b"new"

    def test_nor_a_position_alone(self, worker: Worker, open_log: OpenKafkaLog, topic: str, group: str) -> None:
        with pytest.raises(Fenced):
            worker.log.commit_position(group, Position(topic, 0, 7))
        assert open_log().position(group, topic, 0) == 2

    def test_it_works_again_after_a_poll_and_a_claim(
        self, worker: Worker, open_log: OpenKafkaLog, topic: str, group: str
    ) -> None:
        with pytest.raises(Fenced), worker.log.transaction(group) as transaction:
            transaction.commit(Position(topic, 0, 7))
        poll_until(0, worker.member, topic=topic)
        worker.newer.poll()
        poll_until(PARTITIONS // 2, worker.member, worker.newer, topic=topic)
        worker.log.claim(group)
        mine = worker.log.partitions(topic)[0]
        with worker.log.transaction(group) as transaction:
            transaction.commit(Position(topic, mine, 9))
        assert open_log().position(group, topic, mine) == 9

    def test_another_workers_partition_is_not_committed(self, open_log: OpenKafkaLog, topic: str, group: str) -> None:
        first_log, second_log = open_log(), open_log()
        first = first_log.join(group, [topic])
        poll_until(PARTITIONS, first, topic=topic)
        second = second_log.join(group, [topic])
        poll_until(PARTITIONS // 2, second, first, topic=topic)
        poll_until(PARTITIONS // 2, first, second, topic=topic)
        others = second.partitions(topic)[0]
        with pytest.raises(Fenced, match="another worker"), first_log.transaction(group) as transaction:
            transaction.commit(Position(topic, others, 7))
        assert first_log.position(group, topic, others) == 0

    def test_a_member_commits_positions_alone(self, open_log: OpenKafkaLog, topic: str, group: str) -> None:
        log = open_log()
        poll_until(PARTITIONS, log.join(group, [topic]), topic=topic)
        log.commit_position(group, Position(topic, 3, 9))
        assert log.position(group, topic, 3) == 9

    def test_the_same_worker_started_again_fences_its_former_self(
        self, open_log: OpenKafkaLog, topic: str, group: str
    ) -> None:
        first = open_log(worker_id="worker-1")
        poll_until(PARTITIONS, first.join(group, [topic]), topic=topic)
        first.claim(group)
        again = open_log(worker_id="worker-1")
        again.join(group, [topic])
        again.claim(group)
        with pytest.raises(Fenced), first.transaction(group) as transaction:
            transaction.publish(f"{topic}-out", [("B01", b"stale")])
        assert all_records(again, f"{topic}-out") == []


class TestSnapshots:
    def test_a_worker_reads_those_of_its_own_tables(self, open_log: OpenKafkaLog, topic: str, group: str) -> None:
        first_log, second_log = open_log(), open_log()
        first = first_log.join(group, [topic])
        poll_until(PARTITIONS, first, topic=topic)
        with first_log.transaction(group) as transaction:
            for table in TABLES:
                transaction.save_state(table, table.encode())
        assert dict(first_log.states(group)) == {table: table.encode() for table in TABLES}
        second = second_log.join(group, [topic])
        poll_until(PARTITIONS // 2, second, first, topic=topic)
        poll_until(PARTITIONS // 2, first, second, topic=topic)
        shares = [dict(log.states(group)) for log in (first_log, second_log)]
        assert shares[0] | shares[1] == {table: table.encode() for table in TABLES}
        assert not shares[0].keys() & shares[1].keys()
        for log, share in zip((first_log, second_log), shares, strict=True):
            assert {log.partition_of(topic, table) for table in share} <= set(log.partitions(topic))

    def test_snapshots_lie_in_their_tables_partitions(
        self, kafka: Address, open_log: OpenKafkaLog, topic: str, group: str
    ) -> None:
        states = f"states-{uuid4().hex}"
        make_topic(kafka.bootstrap, states, PARTITIONS)
        log = KafkaLog(kafka.bootstrap, worker_id="w", states_topic=states)
        with log.transaction(group) as transaction:
            for table in TABLES:
                transaction.save_state(table, b"")
        for partition in range(PARTITIONS):
            for record in log.read(states, partition, 0, 100):
                assert record.key.startswith(f"{group}/")
                assert log.partition_of(topic, record.key.partition("/")[2]) == partition
        log.close()

    def test_a_topic_of_snapshots_that_is_divided_otherwise_is_refused(
        self, kafka: Address, open_log: OpenKafkaLog, group: str
    ) -> None:
        topic = f"topic-{uuid4().hex}"
        make_topic(kafka.bootstrap, topic, PARTITIONS + 1)
        with pytest.raises(LogError, match=r"7 partitions.* 6: .*pitwatch topics check"):
            open_log().join(group, [topic])
