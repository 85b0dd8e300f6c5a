"""The event log as a port: what a log must do, whichever product keeps it.

Topics are divided into partitions; a partition is an ordered sequence of records, each with an offset. Every record of
one key is in one partition. Offsets of a partition rise but need not be dense, so a reader goes on behind the last
record it got, never at a count of records.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Final, NamedTuple, Protocol

from schemas.errors import PitwatchError

MAX_MESSAGE_BYTES: Final = 1_048_576
"""Limit of a message's value and of a snapshot, in every log, so that what one log takes another does too."""


class Record(NamedTuple):
    """A message in the log. `appended_at` is the log's own clock, which makes waiting for a gap reproducible."""

    topic: str
    partition: int
    offset: int
    key: str
    value: bytes
    appended_at: datetime


class Position(NamedTuple):
    """A place in a topic's partition: of a record, or the offset from which a group goes on reading."""

    topic: str
    partition: int
    offset: int


class LogError(PitwatchError):
    """Root of what a log raises."""


class LogUnavailable(LogError):
    """The log can't be reached or can't write now (disk full, locked, broker away); nothing was appended. Try again.

    Where a broker is lost while it acknowledges, nobody can tell whether it appended. Trying again is right then too:
    events and facts have identities, and a repeat changes nothing.
    """


class LogClosed(LogError):
    """The log was closed by this process while, or before, it was used: the user should have been stopped first."""


class MessageTooLong(LogError, ValueError):
    """A message or snapshot is longer than `MAX_MESSAGE_BYTES`; nothing of its call was taken."""


class Fenced(LogError):
    """Another worker of the group took over, or a broker was away for so long that one may have.

    This worker must drop its state, and `claim` the group to start anew.
    """


class Transaction(Protocol):
    """Everything done through it becomes visible together at the end of the ``with`` block, or not at all.

    It belongs to the thread that opened it and ends with its block. Reads made in the block don't see its outputs.
    Later reads through the same log see all of them; another process may see one partition's before another's.
    """

    def publish(self, topic: str, messages: Sequence[tuple[str, bytes]]) -> None:
        """Add messages (key, value) to `topic`, in order. May block; raises `LogUnavailable`, `MessageTooLong`."""
        ...

    def save_state(self, key: str, state: bytes) -> None:
        """Replace the group's snapshot of `key`; a later call in the same transaction wins. Raises `MessageTooLong`."""
        ...

    def commit(self, position: Position) -> None:
        """Put the group's place in a partition at `position`: the offset behind the last record that it used up."""
        ...


class EventLog(Protocol):
    """An append-only log for the threads of one process.

    Every method may block, may be called from any thread, and may raise `LogUnavailable`, after which the same log
    works again as soon as the cause is gone. Readers see committed records only.
    """

    def append(self, topic: str, messages: Sequence[tuple[str, bytes]]) -> list[Position]:
        """Append messages (key, value) in order; on return they are durable. Not idempotent.

        Returns each message's own place. Raises `MessageTooLong`.
        """
        ...

    def partitions(self, topic: str) -> Sequence[int]:
        """Return the partitions of `topic` that the caller is to work on: all, unless it shares them with others."""
        ...

    def partition_of(self, topic: str, key: str) -> int:
        """Return the partition of `topic` that holds the records of `key`."""
        ...

    def read(self, topic: str, partition: int, offset: int, limit: int) -> list[Record]:
        """Return at most `limit` committed records from `offset` on, in order; an empty list where there are none yet.

        Where the oldest records were dropped, it begins with the first that is left.
        """
        ...

    def read_key(self, topic: str, key: str, offset: int, limit: int) -> list[Record]:
        """Return at most `limit` committed records of one key from `offset` on, in order."""
        ...

    def end(self, topic: str, partition: int) -> int:
        """Return an offset above every committed record's; the next record gets this one or a later one.

        Where offsets have holes it may be above the last record by more than one, until that was read.
        """
        ...

    def ends(self, partitions: Sequence[tuple[str, int]]) -> list[int]:
        """Return the `end` of each of these partitions (topic, partition): at the price of one, not of all."""
        ...

    def wait(self, topic: str, partition: int, offset: int, timeout_seconds: float) -> bool:
        """Block until there is a record at `offset` or behind it, or the time is over; tell whether there is one.

        A record appended through the same log ends the wait at once. Raises `LogClosed` when the log is closed.
        """
        ...

    def wait_any(self, places: Sequence[Position], timeout_seconds: float) -> list[Position]:
        """Do what `wait` does for several partitions; return those of `places` that have a record, none in vain."""
        ...

    def claim(self, group: str) -> None:
        """Take `group` over: whoever worked for it through another log is fenced from now on.

        Read positions and snapshots after this, not before: until now their former owner could still move them.
        """
        ...

    def position(self, group: str, topic: str, partition: int) -> int:
        """Return where `group` goes on reading: 0 where it never committed."""
        ...

    def states(self, group: str) -> Iterator[tuple[str, bytes]]:
        """Yield the group's newest snapshot of every key, as (key, state)."""
        ...

    def state(self, group: str, key: str) -> bytes | None:
        """Return the group's newest snapshot of `key`."""
        ...

    def transaction(self, group: str) -> AbstractContextManager[Transaction]:
        """Open a transaction: outputs, snapshots and positions together or not at all. One thread at a time per group.

        Claims the group if this log never did. At the end of the block raises `LogUnavailable` or `Fenced`: nothing
        happened, or, where a broker was lost over the commit, the log finds out before it answers again. So begin again
        from what `position` and `state` then say. What the block itself raises passes through; nothing happened then.
        """
        ...

    def commit_position(self, group: str, position: Position) -> None:
        """Put the group's place alone, unfenced, for a reader whose writes are idempotent."""
        ...

    def close(self) -> None:
        """Release everything and wake who waits. Idempotent; any other call afterwards raises `LogClosed`."""
        ...
