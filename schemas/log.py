"""The event log as a port: what a log must do, whichever product keeps it.

Topics are divided into partitions; a partition is an ordered sequence of records, each with an offset. Every record of
one key is in one partition.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import NamedTuple, Protocol

from schemas.errors import PitwatchError


class Record(NamedTuple):
    """A message in the log. `appended_at` is the log's own clock, which makes waiting for a gap reproducible."""

    topic: str
    partition: int
    offset: int
    key: str
    value: bytes
    appended_at: datetime


class Position(NamedTuple):
    """A place in a topic's partition: the offset of the next record to read."""

    topic: str
    partition: int
    offset: int


class LogError(PitwatchError):
    """Root of what a log raises."""


class LogUnavailable(LogError):
    """The log can't be reached or can't write now (disk full, locked, broker away); nothing was appended. Try again."""


class Fenced(LogError):
    """Another worker of the group took over; this one must drop its state and start anew."""


class Transaction(Protocol):
    """Everything done through it becomes visible together at the end of the ``with`` block, or not at all."""

    def publish(self, topic: str, messages: Sequence[tuple[str, bytes]]) -> None:
        """Add messages (key, value) to `topic`, in order. May block; raises `LogUnavailable`, `Fenced`."""
        ...

    def save_state(self, key: str, state: bytes) -> None:
        """Replace the group's snapshot of `key`; a later call in the same transaction wins."""
        ...

    def commit(self, position: Position) -> None:
        """Move the group's place in a partition forward to `position`."""
        ...


class EventLog(Protocol):
    """An append-only log. Every method may block and may raise `LogUnavailable`."""

    def append(self, topic: str, messages: Sequence[tuple[str, bytes]]) -> list[Position]:
        """Append messages (key, value) in order; on return they are durable. Not idempotent.

        Returns each message's own place.
        """
        ...

    def partitions(self, topic: str) -> Sequence[int]:
        """Return the partitions of `topic`."""
        ...

    def read(self, topic: str, partition: int, offset: int, limit: int) -> list[Record]:
        """Return at most `limit` committed records from `offset` on, in order; an empty list where there is none."""
        ...

    def read_key(self, topic: str, key: str, offset: int, limit: int) -> list[Record]:
        """Return at most `limit` committed records of one key from `offset` on, in order."""
        ...

    def end(self, topic: str, partition: int) -> int:
        """Return the offset which the next record will get."""
        ...

    def wait(self, topic: str, partition: int, offset: int, timeout_seconds: float) -> bool:
        """Block until there is a record at `offset` or the time is over; tell whether there is one."""
        ...

    def position(self, group: str, topic: str, partition: int) -> int:
        """Return where `group` goes on reading: 0 where it never committed."""
        ...

    def states(self, group: str) -> Iterator[tuple[str, bytes]]:
        """Yield the group's newest snapshot of every key."""
        ...

    def state(self, group: str, key: str) -> bytes | None:
        """Return the group's newest snapshot of `key`."""
        ...

    def transaction(self, group: str) -> AbstractContextManager[Transaction]:
        """Open a transaction: outputs, snapshots and positions together or not at all. Raises `Fenced`."""
        ...

    def commit_position(self, group: str, position: Position) -> None:
        """Move the group's place alone, for a reader whose writes are idempotent."""
        ...

    def close(self) -> None:
        """Release everything. Idempotent."""
        ...
