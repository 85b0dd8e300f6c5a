"""A table controller's outbox: one SQLite file that holds every event until the log has it.

What `add` returned from survives a killed process and a lost power supply. The file belongs to one process at a time,
because two of them would number events twice.
"""

import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from schemas.errors import PitwatchError

FORMAT: Final = 1
"""Version of the file's layout, kept in its `user_version`."""

_LAYOUT: Final = f"""
BEGIN;
CREATE TABLE controller (
    only INTEGER PRIMARY KEY CHECK (only = 1), table_id TEXT NOT NULL,
    epoch INTEGER NOT NULL, last_epoch INTEGER NOT NULL, last_seq INTEGER NOT NULL
);
CREATE TABLE waiting (
    epoch INTEGER, seq INTEGER, event BLOB NOT NULL, PRIMARY KEY (epoch, seq)
) WITHOUT ROWID;
CREATE TABLE refused (
    epoch INTEGER, seq INTEGER, event BLOB NOT NULL, reason TEXT NOT NULL, PRIMARY KEY (epoch, seq)
) WITHOUT ROWID;
PRAGMA user_version = {FORMAT};
COMMIT;
"""

_FORGET: Final = "DELETE FROM waiting WHERE epoch = ? AND seq = ?"


class OutboxError(PitwatchError):
    """Root of what an outbox raises. Nothing was kept or changed."""


class OutboxFull(OutboxError):
    """Raised when an event finds no room; the caller decides whether play goes on unrecorded."""


class OutboxUnusable(OutboxError):
    """Raised when the file can't be read or written now, or isn't this table's."""


class Waiting(NamedTuple):
    """An event not yet delivered, with its number."""

    epoch: int
    seq: int
    event: bytes


class Refused(NamedTuple):
    """An event the gateway would not take, and its reason; kept until somebody discards it."""

    epoch: int
    seq: int
    event: bytes
    reason: str


class Boot(NamedTuple):
    """A start of the controller: its epoch, and the (epoch, seq) of the last event before it, (0, 0) if none."""

    epoch: int
    follows: tuple[int, int]


class Outbox:
    """The durable queue of one table's events, oldest first. Safe for several threads of one process.

    `max_events` bounds waiting and refused events together. `first_epoch` counts for a new file only: where a lost
    outbox is replaced, give a number above the lost one's last epoch, or the old identities would be used again.
    Raises `OutboxUnusable`.
    """

    def __init__(self, path: Path, table_id: str, *, max_events: int = 1_000_000, first_epoch: int = 1) -> None:
        if max_events < 1 or first_epoch < 1:
            raise ValueError("an outbox needs room for one event or more and an epoch of one or more")
        self.path = path
        self.table_id = table_id
        self.max_events = max_events
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        with self._translated():
            self._connection = sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False)
        try:
            self._prepare(first_epoch)
        except OutboxError:
            self._connection.close()
            raise

    def _prepare(self, first_epoch: int) -> None:
        with self._translated():
            for pragma in ("locking_mode = EXCLUSIVE", "journal_mode = WAL", "synchronous = FULL"):
                self._connection.execute(f"PRAGMA {pragma}")
            (version,) = self._connection.execute("PRAGMA user_version").fetchone()
            if version == 0:
                self._connection.executescript(_LAYOUT)
        if version not in (0, FORMAT):
            raise OutboxUnusable(f"{self.path} has layout {version}; this version of Pitwatch knows {FORMAT}")
        with self._transaction() as execute:
            # The epoch of a file nobody booted from is the one before its first.
            execute("INSERT OR IGNORE INTO controller VALUES (1, ?, ?, 0, 0)", (self.table_id, first_epoch - 1))
            ((owner,),) = execute("SELECT table_id FROM controller")
            self._waiting: int = execute("SELECT count(*) FROM waiting").fetchone()[0]
            self._refused: int = execute("SELECT count(*) FROM refused").fetchone()[0]
        if owner != self.table_id:
            raise OutboxUnusable(f"{self.path} is the outbox of table {owner}, not of {self.table_id}")

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            hint = ": another process has it open" if "locked" in str(error) else ""
            raise OutboxUnusable(f"outbox {self.path} of table {self.table_id}: {error}{hint}") from error

    @contextmanager
    def _transaction(self) -> Iterator[Callable[..., sqlite3.Cursor]]:
        with self._lock, self._translated():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection.execute
                self._connection.execute("COMMIT")
            finally:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")

    def begin_epoch(self) -> Boot:
        """Count one start of the controller, durably, and say what went before it. Raises `OutboxUnusable`."""
        with self._transaction() as execute:
            execute("UPDATE controller SET epoch = epoch + 1")
            ((epoch, last_epoch, last_seq),) = execute("SELECT epoch, last_epoch, last_seq FROM controller")
        return Boot(epoch, (last_epoch, last_seq))

    def add(self, events: Sequence[Waiting]) -> None:
        """Keep `events`, all or none; on return they are durable. Raises `OutboxFull`, `OutboxUnusable`."""
        if not events:
            return
        with self._lock:
            if self._waiting + self._refused + len(events) > self.max_events:
                raise OutboxFull(
                    f"the outbox of table {self.table_id} holds {self._waiting} undelivered and {self._refused} "
                    f"refused events and has room for {self.max_events}: restore the way to the log, discard what was "
                    f"refused, or raise max_events"
                )
            with self._transaction() as execute:
                for event in events:
                    execute("INSERT INTO waiting VALUES (?, ?, ?)", event)
                execute("UPDATE controller SET last_epoch = ?, last_seq = ?", (events[-1].epoch, events[-1].seq))
            self._waiting += len(events)
            self._changed.notify_all()

    def oldest(self, max_events: int, max_bytes: int) -> list[Waiting]:
        """Return the oldest waiting events, at least one if there is any, otherwise within both limits."""
        taken: list[Waiting] = []
        size = 0
        with self._lock, self._translated():
            rows = self._connection.execute("SELECT * FROM waiting ORDER BY epoch, seq LIMIT ?", (max_events,))
            for waiting in map(Waiting._make, rows):
                size += len(waiting.event)
                if taken and size > max_bytes:
                    break
                taken.append(waiting)
            rows.close()
        return taken

    def settle(self, delivered: Iterable[Waiting], refused: Iterable[Refused] = ()) -> None:
        """Forget what the log has and set aside what it won't have, in one step. Idempotent."""
        with self._lock:
            set_aside = settled = 0
            with self._transaction() as execute:
                for refusal in refused:
                    set_aside += execute("INSERT OR IGNORE INTO refused VALUES (?, ?, ?, ?)", refusal).rowcount
                    settled += execute(_FORGET, refusal[:2]).rowcount
                for waiting in delivered:
                    settled += execute(_FORGET, waiting[:2]).rowcount
            self._refused += set_aside
            self._waiting -= settled
            self._changed.notify_all()

    def refused(self) -> list[Refused]:
        """Return the refused events, oldest first."""
        with self._transaction() as execute:
            return [Refused._make(row) for row in execute("SELECT * FROM refused ORDER BY epoch, seq")]

    def discard_refused(self) -> int:
        """Forget the refused events, whose reader has dealt with them; return how many."""
        with self._lock:
            with self._transaction() as execute:
                execute("DELETE FROM refused")
            discarded, self._refused = self._refused, 0
            return discarded

    @property
    def waiting_count(self) -> int:
        """How many events wait for delivery."""
        return self._waiting

    @property
    def refused_count(self) -> int:
        """How many events were refused and not discarded."""
        return self._refused

    def wait_for_events(self, unless: Callable[[], bool]) -> bool:
        """Block until an event waits, or `unless` holds after a `wake`; tell whether an event waits."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting > 0 or unless())
            return self._waiting > 0

    def wait_until_delivered(self, timeout_seconds: float | None = None) -> bool:
        """Block until no event waits or the time is over; tell whether none does."""
        with self._changed:
            return self._changed.wait_for(lambda: self._waiting == 0, timeout_seconds)

    def wake(self) -> None:
        """Let every `wait_for_events` under way look at its condition again."""
        with self._changed:
            self._changed.notify_all()

    def close(self) -> None:
        """Release the file. Idempotent."""
        with self._lock:
            self._connection.close()
