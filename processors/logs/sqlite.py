"""The event log of the embedded runtime: one SQLite file, written by one process, each topic one partition."""

import threading
import time
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from sqlite3 import Connection
from typing import Final, TypeVar

from processors.logs import sqlite_tables as tables
from processors.logs.sqlite_file import LogFile
from processors.logs.sqlite_readers import Readers, Row
from processors.logs.sqlite_writer import Writer
from processors.logs.transaction import CollectedTransaction, Messages, check_lengths
from schemas.log import LogError, Position, Record

T = TypeVar("T")

LOG_FILE: Final = "log.sqlite"
"""Its name in a data directory."""

PARTITION: Final = 0
"""The only partition of every topic."""

LOCK_TIMEOUT_SECONDS: Final = 5.0
"""How long a writer waits for another process to end its transaction; ours last milliseconds."""

# How often a waiting thread looks for what another process appended: a reader often, and rarer while nothing comes;
# a writer hardly ever, since it is told of its own process's records, and others seldom write.
_READER_LOOKS_SECONDS: Final = (0.001, 0.05)
_WRITER_LOOKS_SECONDS: Final = (0.25, 0.25)

# Records dropped in one transaction, so that appending threads get their turn in between.
_DROPPED_AT_ONCE: Final = 5_000

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


def utc_now() -> datetime:
    """Return the wall clock's time."""
    return datetime.now(UTC)


class SqliteLog:
    """An `EventLog` in the file `path`; see the port for each method's contract. Offsets are dense: 0, 1, 2, …

    One process writes (`lock_data_directory` sees to that); others may read at the same time with `read_only`.
    """

    def __init__(
        self,
        path: Path,
        *,
        read_only: bool = False,
        lock_timeout_seconds: float = LOCK_TIMEOUT_SECONDS,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        file = LogFile(path, lock_timeout_seconds)
        self._path = path
        self._clock = clock
        self._writer = None if read_only else Writer(file)
        self._readers = Readers(file)
        self._first_look, self._longest_look = _READER_LOOKS_SECONDS if read_only else _WRITER_LOOKS_SECONDS
        self._topic_ids: dict[str, int] = {}
        self._epochs: dict[str, int] = {}
        self._ends: dict[str, int] = {}
        self._appended = threading.Condition()
        self._closed = False
        if read_only:
            self._readers.rows("open the log", "SELECT 1", ())

    def append(self, topic: str, messages: Messages) -> list[Position]:
        """Append messages (key, value), durably; threads that append at the same moment share the wait for the disk."""
        check_lengths(messages)
        if not messages:
            return []

        def work(connection: Connection) -> int:
            return tables.append(connection, topic, messages, self._now())

        first = self._write(f"append to {topic}", work)
        end = first + len(messages)
        self._announce({topic: end})
        return [Position(topic, PARTITION, offset) for offset in range(first, end)]

    def partitions(self, topic: str) -> Sequence[int]:  # noqa: ARG002 - the port's; other logs need it
        """Return the one partition, whether or not the topic was ever used."""
        return (PARTITION,)

    def partition_of(self, topic: str, key: str) -> int:  # noqa: ARG002 - the port's; other logs need them
        """Return the one partition."""
        return PARTITION

    def read(self, topic: str, partition: int, offset: int, limit: int) -> list[Record]:
        """Return at most `limit` records from `offset` on."""
        _check_partition(partition)
        return self._records(topic, tables.READ, (offset, limit))

    def read_key(self, topic: str, key: str, offset: int, limit: int) -> list[Record]:
        """Return at most `limit` records of one key from `offset` on."""
        return self._records(topic, tables.READ_KEY, (key, offset, limit))

    def end(self, topic: str, partition: int) -> int:
        """Return the offset which the next record gets."""
        _check_partition(partition)
        return self._bounds(topic)[1]

    def ends(self, partitions: Sequence[tuple[str, int]]) -> list[int]:
        """Return the offset which the next record gets, of each of these partitions."""
        return [self.end(*place) for place in partitions]

    def wait(self, topic: str, partition: int, offset: int, timeout_seconds: float) -> bool:
        """Block until there is a record at `offset` or the time is over."""
        return bool(self.wait_any([Position(topic, partition, offset)], timeout_seconds))

    def wait_any(self, places: Sequence[Position], timeout_seconds: float) -> list[Position]:
        """Block until one of `places` has a record or the time is over; return those that have."""
        deadline = time.monotonic() + timeout_seconds
        look = self._first_look
        while not (ready := [place for place in places if self.end(place.topic, place.partition) > place.offset]):
            left = deadline - time.monotonic()
            if left <= 0:
                break
            with self._appended:
                self._appended.wait_for(lambda: self._closed or self._announced(places), min(left, look))
            look = min(2 * look, self._longest_look)
        return ready

    def claim(self, group: str) -> None:
        """Take `group` over from whatever other `SqliteLog` on this file worked for it."""
        self._epochs[group] = self._write(f"claim group {group}", lambda connection: tables.claim(connection, group))

    def position(self, group: str, topic: str, partition: int) -> int:
        """Return where `group` goes on reading: 0 where it never committed."""
        rows = self._rows(f"read the position of {group}", tables.POSITION, (group, topic, partition))
        return int(rows[0][0]) if rows else 0

    def states(self, group: str) -> Iterator[tuple[str, bytes]]:
        """Yield the group's newest snapshots, one at a time, for together they may be long."""
        for (key,) in self._rows(f"read the states of {group}", tables.STATE_KEYS, (group,)):
            state = self.state(group, key)
            assert state is not None
            yield key, state

    def state(self, group: str, key: str) -> bytes | None:
        """Return the group's newest snapshot of `key`."""
        rows = self._rows(f"read the state of {key}", tables.STATE, (group, key))
        return bytes(rows[0][0]) if rows else None

    @contextmanager
    def transaction(self, group: str) -> Iterator[CollectedTransaction]:
        """Collect outputs, snapshots and positions during the block; write them together at its end."""
        self._writing()
        if group not in self._epochs:
            self.claim(group)
        outputs = CollectedTransaction()
        try:
            yield outputs
        finally:
            outputs.end()
        epoch = self._epochs[group]

        def work(connection: Connection) -> dict[str, int]:
            tables.check_claim(connection, group, epoch)
            tables.save_states(connection, group, outputs.states.items())
            tables.save_positions(connection, group, outputs.positions)
            now = self._now()
            return {
                topic: tables.append(connection, topic, messages, now) + len(messages)
                for topic, messages in outputs.messages.items()
            }

        self._announce(self._write(f"commit a transaction of {group}", work))

    def commit_position(self, group: str, position: Position) -> None:
        """Put the group's place alone."""
        self._write(
            f"commit the position of {group}",
            lambda connection: tables.save_positions(connection, group, [position]),
        )

    def first_since(self, topic: str, moment: datetime) -> int:
        """Return the offset of the first record appended at `moment` or later; the topic's end where there is none."""
        first, end = self._bounds(topic)
        sought = (moment - _EPOCH) // _MICROSECOND
        return first + bisect_left(range(first, end), sought, key=lambda offset: self._appended_at(topic, offset))

    def drop_before(self, topic: str, offset: int) -> int:
        """Drop the topic's records below `offset`, except the newest of all; return how many those were.

        The file doesn't shrink: what comes next takes the room. The caller sees that every group has read them.
        """
        dropped, step = 0, _DROPPED_AT_ONCE
        while step == _DROPPED_AT_ONCE:
            step = self._write(
                f"drop old records of {topic}",
                lambda connection: tables.drop_before(connection, topic, offset, _DROPPED_AT_ONCE),
            )
            dropped += step
        return dropped

    def start_over(self, topics: Sequence[str], group: str, marker: tuple[str, bytes]) -> None:
        """Empty `topics` and forget where any group read them, and `group`'s positions and snapshots, all at once.

        `marker` is kept as the group's snapshot of its key, so that whoever opens the log knows what was begun.
        """
        self._write(f"start {group} over", lambda connection: tables.start_over(connection, topics, group, marker))
        self._ends.clear()

    def forget_state(self, group: str, key: str) -> None:
        """Drop the group's snapshot of `key`."""
        self._write(f"forget the state of {key}", lambda connection: tables.forget_state(connection, group, key))

    def close(self) -> None:
        """Release the file and wake who waits. Idempotent."""
        with self._appended:
            self._closed = True
            self._appended.notify_all()
        if self._writer is not None:
            self._writer.close()
        self._readers.close()

    def _now(self) -> int:
        return (self._clock() - _EPOCH) // _MICROSECOND

    def _announced(self, places: Sequence[Position]) -> bool:
        return any(self._ends.get(place.topic, 0) > place.offset for place in places)

    def _announce(self, ends: dict[str, int]) -> None:
        """Wake the threads that wait for what was appended."""
        with self._appended:
            for topic, end in ends.items():
                # Threads which shared a commit come here in any order.
                self._ends[topic] = max(end, self._ends.get(topic, 0))
            self._appended.notify_all()

    def _writing(self) -> Writer:
        if self._writer is None:
            raise LogError(f"the log {self._path} was opened for reading only. Write through the process that owns it")
        return self._writer

    def _write(self, doing: str, work: Callable[[Connection], T]) -> T:
        return self._writing().write(doing, work)

    def _rows(self, doing: str, statement: str, parameters: Sequence[str | int]) -> list[Row]:
        return self._readers.rows(doing, statement, parameters)

    def _topic_rows(self, topic: str, statement: str, parameters: Sequence[str | int]) -> list[Row]:
        """Return what `statement` selects of the topic's table: nothing before the topic's first record."""
        topic_id = self._topic_ids.get(topic)
        if topic_id is None:
            found = self._rows(f"find {topic}", tables.FIND_TOPIC, (topic,))
            if not found:
                return []
            topic_id = self._topic_ids[topic] = int(found[0][0])
        return self._rows(f"read {topic}", tables.for_topic(statement, topic_id), parameters)

    def _bounds(self, topic: str) -> tuple[int, int]:
        """Return the offsets of the first record and behind the last."""
        rows = self._topic_rows(topic, tables.BOUNDS, ())
        # A topic that was started over has a table without records.
        return (int(rows[0][0]), int(rows[0][1]) + 1) if rows and rows[0][0] is not None else (0, 0)

    def _appended_at(self, topic: str, offset: int) -> int:
        return int(self._topic_rows(topic, tables.APPENDED_AT, (offset,))[0][0])

    def _records(self, topic: str, statement: str, parameters: Sequence[str | int]) -> list[Record]:
        records = []
        last_at, moment = 0, _EPOCH
        for offset, key, value, appended_at in self._topic_rows(topic, statement, parameters):
            # What was appended together has one time, so it is mostly made once for many records.
            if appended_at != last_at:
                last_at, moment = appended_at, _EPOCH + appended_at * _MICROSECOND
            records.append(Record(topic, PARTITION, offset, key, value, moment))
        return records


def _check_partition(partition: int) -> None:
    if partition != PARTITION:
        raise ValueError(f"there is no partition {partition}: this log keeps each topic in partition {PARTITION}")
