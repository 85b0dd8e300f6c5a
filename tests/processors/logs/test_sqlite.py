"""What `SqliteLog` does beyond the port, and how it does it."""

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from processors.logs import sqlite, sqlite_tables
from processors.logs.sqlite import SqliteLog
from schemas.log import EventLog, LogClosed, LogError, Position

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)
PATIENCE_SECONDS = 60


class Clock:
    """Tells the time that the test sets, or interrupts who asks for it."""

    def __init__(self) -> None:
        self.now = NOON
        self.interrupts = False

    def __call__(self) -> datetime:
        if self.interrupts:
            raise KeyboardInterrupt
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "log.sqlite"


def values(log: EventLog, topic: str = "events") -> list[bytes]:
    return [record.value for record in log.read(topic, 0, 0, 10_000)]


def numbered(count: int, *, start: int = 0) -> list[tuple[str, bytes]]:
    return [(f"B{number % 10:02d}", b"%d" % number) for number in range(start, start + count)]


def test_it_is_an_event_log(path: Path) -> None:
    log: EventLog = SqliteLog(path)
    log.close()


def test_a_commit_is_on_the_disk_when_it_returns(path: Path) -> None:
    """No test can pull the plug, so this holds the settings that SQLite's promise rests on: WAL, and FULL (2)."""
    with closing(SqliteLog(path)) as log:
        assert log._writer is not None
        execute = log._writer._connection.execute
        assert execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert execute("PRAGMA synchronous").fetchone() == (2,)


# Around the number of rows in one statement.
@pytest.mark.parametrize("count", [1, 199, 200, 201, 400, 1001])
def test_offsets_are_dense_from_zero(path: Path, count: int) -> None:
    with closing(SqliteLog(path)) as log:
        assert log.append("events", numbered(count)) == [Position("events", 0, offset) for offset in range(count)]
        assert log.append("events", numbered(1, start=count)) == [Position("events", 0, count)]
        records = log.read("events", 0, 0, 10_000)
        assert [record.offset for record in records] == list(range(count + 1))
        assert [(record.key, record.value) for record in records] == numbered(count + 1)
        assert log.end("events", 0) == count + 1


def test_a_topic_is_one_partition(path: Path) -> None:
    with closing(SqliteLog(path)) as log:
        assert log.partitions("events") == (0,)
        for use in (log.read, log.wait):
            with pytest.raises(ValueError, match="no partition 1"):
                use("events", 1, 0, 1)


def test_append_time_is_the_clocks(path: Path, clock: Clock) -> None:
    clock.now = NOON + timedelta(microseconds=1)
    with closing(SqliteLog(path, clock=clock)) as log:
        log.append("events", numbered(2))
        clock.now += timedelta(days=1, microseconds=1)
        with log.transaction("group") as transaction:
            transaction.publish("events", numbered(1))
        assert [record.appended_at - NOON for record in log.read("events", 0, 0, 10)] == [
            timedelta(microseconds=1),
            timedelta(microseconds=1),
            timedelta(days=1, microseconds=2),
        ]


def test_append_time_does_not_go_back_with_the_clock(path: Path, clock: Clock) -> None:
    with closing(SqliteLog(path, clock=clock)) as log:
        log.append("events", numbered(1))
    clock.now = NOON - timedelta(hours=1)
    with closing(SqliteLog(path, clock=clock)) as log:
        log.append("events", numbered(1))
        clock.now = NOON + timedelta(seconds=1)
        log.append("events", numbered(1))
        times = [record.appended_at for record in log.read("events", 0, 0, 10)]
        assert times == [NOON, NOON, NOON + timedelta(seconds=1)]


@pytest.mark.parametrize(
    ("statement", "parameters", "plan"),
    [
        (sqlite_tables.READ, (0, 1), "SEARCH messages_1 USING INTEGER PRIMARY KEY (rowid>?)"),
        (sqlite_tables.READ_KEY, ("B01", 0, 1), "SEARCH messages_1 USING INDEX messages_1_by_key (key=? AND rowid>?)"),
    ],
)
def test_reading_searches_and_never_scans_or_sorts(
    path: Path, statement: str, parameters: tuple[str | int, ...], plan: str
) -> None:
    with closing(SqliteLog(path)) as log:
        log.append("events", numbered(10))
        rows = log._topic_rows("events", f"EXPLAIN QUERY PLAN {statement}", parameters)
        assert [row[3] for row in rows] == [plan]


class TestReadOnly:
    def test_it_sees_what_the_writer_commits(self, path: Path) -> None:
        with closing(SqliteLog(path)) as log, closing(SqliteLog(path, read_only=True)) as reader:
            assert values(reader) == []
            log.append("events", numbered(3))
            assert values(reader) == values(log)
            with log.transaction("group") as transaction:
                transaction.save_state("B01", b"state")
            assert list(reader.states("group")) == [("B01", b"state")]

    def test_it_waits_for_what_the_writer_commits(self, path: Path) -> None:
        with (
            ThreadPoolExecutor() as threads,
            closing(SqliteLog(path)) as log,
            closing(SqliteLog(path, read_only=True)) as reader,
        ):
            waiting = threads.submit(reader.wait, "events", 0, 0, PATIENCE_SECONDS)
            log.append("events", numbered(1))
            assert waiting.result(PATIENCE_SECONDS)

    def test_it_reads_a_log_whose_writer_is_gone(self, path: Path) -> None:
        with closing(SqliteLog(path)) as log:
            log.append("events", numbered(3))
        with closing(SqliteLog(path, read_only=True)) as reader:
            assert len(values(reader)) == 3

    @pytest.mark.parametrize(
        "write",
        [
            lambda log: log.append("events", numbered(1)),
            lambda log: log.claim("group"),
            lambda log: log.transaction("group").__enter__(),
            lambda log: log.commit_position("group", Position("events", 0, 1)),
            lambda log: log.drop_before("events", 1),
        ],
        ids=["append", "claim", "transaction", "commit_position", "drop_before"],
    )
    def test_it_refuses_to_write(self, path: Path, write: Callable[[SqliteLog], object]) -> None:
        SqliteLog(path).close()
        with (
            closing(SqliteLog(path, read_only=True)) as reader,
            pytest.raises(LogError, match="opened for reading only"),
        ):
            write(reader)


class Looked(SqliteLog):
    """A log that tells when a waiting thread has looked and found nothing."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.looked = threading.Event()

    def end(self, topic: str, partition: int) -> int:
        end = super().end(topic, partition)
        self.looked.set()
        return end


@pytest.mark.parametrize("how", ["append", "transaction"])
def test_waiting_thread_is_woken_not_left_to_look_again(path: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    monkeypatch.setattr(sqlite, "_WRITER_LOOKS_SECONDS", (PATIENCE_SECONDS * 10, PATIENCE_SECONDS * 10))
    with ThreadPoolExecutor() as threads, closing(Looked(path)) as log:
        waiting = threads.submit(log.wait, "events", 0, 0, PATIENCE_SECONDS * 10)
        assert log.looked.wait(PATIENCE_SECONDS)
        log.append("other", numbered(1))
        if how == "append":
            log.append("events", numbered(1))
        else:
            with log.transaction("group") as transaction:
                transaction.publish("events", numbered(1))
        assert waiting.result(PATIENCE_SECONDS)


def test_close_wakes_a_waiting_thread(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "_WRITER_LOOKS_SECONDS", (PATIENCE_SECONDS * 10, PATIENCE_SECONDS * 10))
    with ThreadPoolExecutor() as threads, closing(Looked(path)) as log:
        waiting = threads.submit(log.wait, "events", 0, 0, PATIENCE_SECONDS * 10)
        assert log.looked.wait(PATIENCE_SECONDS)
        log.close()
        with pytest.raises(LogClosed):
            waiting.result(PATIENCE_SECONDS)


def commits_of(log: SqliteLog) -> list[str]:
    """Return a list that gets an item with each commit from now on."""
    commits: list[str] = []
    assert log._writer is not None
    log._writer._connection.set_trace_callback(
        lambda statement: commits.append(statement) if statement == "COMMIT" else None
    )
    return commits


class Arrivals(deque[Any]):
    """A writer's queue that counts the threads which came to it."""

    def __init__(self) -> None:
        super().__init__()
        self.came = threading.Semaphore(0)

    def append(self, job: object) -> None:
        super().append(job)
        self.came.release()


class TestSharedCommit:
    """Threads whose work is queued while another commits are served together."""

    def queue_up(self, log: SqliteLog, *calls: Callable[[], object]) -> list[BaseException | None]:
        """Make the calls in threads while the writer is busy, so that one of them commits for all; return errors."""
        writer = log._writer
        assert writer is not None
        writer._queue = arrivals = Arrivals()
        with ThreadPoolExecutor(len(calls)) as threads:
            with writer._turn:
                made = [threads.submit(call) for call in calls]
                for _ in calls:
                    assert arrivals.came.acquire(timeout=PATIENCE_SECONDS)
            return [call.exception(PATIENCE_SECONDS) for call in made]

    def test_what_queued_up_is_one_commit(self, path: Path) -> None:
        with closing(SqliteLog(path)) as log:
            log.append("events", numbered(1))
            commits = commits_of(log)
            errors = self.queue_up(log, *[lambda: log.append("events", numbered(1))] * 6)
            assert errors == [None] * 6
            assert len(commits) == 1
            assert log.end("events", 0) == 7

    def test_one_ones_trouble_is_not_the_others(self, path: Path) -> None:
        with closing(SqliteLog(path)) as log:
            log.append("events", numbered(1))
            errors = self.queue_up(
                log,
                lambda: log.append("events", [("B01", b"first")]),
                lambda: log.append("events", [("B01", b"half"), ("\ud800", b"a key that is no text")]),
                lambda: log.append("events", [("B01", b"last")]),
            )
            assert [type(error) for error in errors] == [type(None), UnicodeEncodeError, type(None)]
            assert sorted(values(log)) == [b"0", b"first", b"last"]

    def test_work_that_was_committed_is_told_even_if_the_log_closed_meanwhile(self, path: Path) -> None:
        with closing(SqliteLog(path)) as log, ThreadPoolExecutor() as threads:
            writer = log._writer
            assert writer is not None
            writer._queue = arrivals = Arrivals()
            with writer._turn:
                made = threads.submit(log.append, "events", numbered(1))
                assert arrivals.came.acquire(timeout=PATIENCE_SECONDS)
                writer._do(writer._take_queue())
                writer._closed = True
            assert made.result(PATIENCE_SECONDS) == [Position("events", 0, 0)]

    def test_fenced_transaction_does_not_stop_the_others(self, path: Path) -> None:
        with closing(SqliteLog(path)) as log, closing(SqliteLog(path)) as newer:
            log.claim("group")
            newer.claim("group")

            def transact() -> None:
                with log.transaction("group") as transaction:
                    transaction.publish("events", [("B01", b"stale")])

            errors = self.queue_up(log, transact, lambda: log.append("events", [("B01", b"fine")]))
            assert "taken over" in str(errors[0])
            assert errors[1] is None
            assert values(log) == [b"fine"]


def test_interrupted_writer_leaves_nothing_and_the_log_goes_on(path: Path, clock: Clock) -> None:
    with closing(SqliteLog(path, clock=clock)) as log:
        log.append("events", numbered(1))
        clock.interrupts = True
        with pytest.raises(KeyboardInterrupt):
            log.append("events", numbered(1))
        clock.interrupts = False
        log.append("events", numbered(1))
        assert log.end("events", 0) == 2


class TestRetention:
    def test_dropped_records_are_gone_and_the_rest_keep_their_places(self, path: Path) -> None:
        with closing(SqliteLog(path)) as log:
            log.append("events", numbered(100))
            assert log.drop_before("events", 60) == 60
            assert [record.offset for record in log.read("events", 0, 0, 1_000)] == list(range(60, 100))
            assert [record.offset for record in log.read_key("events", "B05", 0, 100)] == [65, 75, 85, 95]
            assert log.drop_before("events", 60) == 0

    def test_newest_record_stays_so_that_offsets_go_on(self, path: Path) -> None:
        with closing(SqliteLog(path)) as log:
            log.append("events", numbered(100))
            assert log.drop_before("events", 1_000) == 99
        with closing(SqliteLog(path)) as log:
            assert log.end("events", 0) == 100
            assert log.append("events", numbered(1))[0].offset == 100

    def test_many_records_are_dropped_in_steps(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sqlite, "_DROPPED_AT_ONCE", 10)
        with closing(SqliteLog(path)) as log:
            log.append("events", numbered(100))
            commits = commits_of(log)
            assert log.drop_before("events", 95) == 95
            assert len(commits) == 10
            assert log.read("events", 0, 0, 1)[0].offset == 95

    def test_room_is_used_again(self, path: Path) -> None:
        with closing(SqliteLog(path)) as log:
            for topic in ("events", "facts"):
                log.append(topic, [("B01", b"x" * 1_000)] * 500)
                log.drop_before(topic, 500)
        size = path.stat().st_size
        with closing(SqliteLog(path)) as log:
            log.append("rounds", [("B01", b"x" * 1_000)] * 400)
        assert path.stat().st_size == size

    def test_topic_that_nobody_wrote_has_nothing_to_drop(self, path: Path) -> None:
        with closing(SqliteLog(path)) as log:
            assert log.drop_before("events", 5) == 0
            assert log.end("events", 0) == 0

    def test_first_record_since_a_moment(self, path: Path, clock: Clock) -> None:
        with closing(SqliteLog(path, clock=clock)) as log:
            assert log.first_since("events", NOON) == 0
            for _ in range(10):
                log.append("events", numbered(3))
                clock.now += timedelta(minutes=1)
            log.drop_before("events", 4)
            for moment, offset in (
                (NOON - timedelta(days=1), 4),
                (NOON + timedelta(minutes=1), 4),
                (NOON + timedelta(minutes=2), 6),
                (NOON + timedelta(minutes=2, microseconds=1), 9),
                (NOON + timedelta(minutes=9), 27),
                (NOON + timedelta(minutes=10), 30),
            ):
                assert log.first_since("events", moment) == offset
