"""The send queue's own SQLite file, and the two ways to open it: for work, or only to look."""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from schemas.errors import PitwatchError

FILE_NAME: Final = "notify.sqlite"
"""Where in the data directory the queue is kept."""

_FIRST: Final = """
CREATE TABLE alerts (  -- how each alert stood when it was last read
    alert_id TEXT PRIMARY KEY,
    revision INTEGER NOT NULL,
    standing TEXT NOT NULL,
    seen_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE notices (  -- what each route was to be told: one by one, or collapsed into a summary
    notice_id INTEGER PRIMARY KEY,
    route TEXT NOT NULL,
    alert_id TEXT NOT NULL,
    revision INTEGER NOT NULL,
    standing TEXT NOT NULL,
    severity TEXT NOT NULL,
    code TEXT NOT NULL,
    table_id TEXT NOT NULL,
    shoe INTEGER NOT NULL,
    round INTEGER NOT NULL,
    occurred_at INTEGER NOT NULL,
    decided_at INTEGER NOT NULL,
    collapsed INTEGER NOT NULL,
    summary_id TEXT,
    UNIQUE (route, alert_id, revision)
);
CREATE INDEX notices_by_time ON notices (route, decided_at) WHERE NOT collapsed;
CREATE INDEX notices_waiting ON notices (route, decided_at) WHERE collapsed AND summary_id IS NULL;
CREATE TABLE sends (  -- one message to one URL; alert_id is the summary's identity for a summary
    send_id INTEGER PRIMARY KEY,
    route TEXT NOT NULL,
    url_index INTEGER NOT NULL,
    alert_id TEXT NOT NULL,
    revision INTEGER NOT NULL,
    title TEXT NOT NULL,
    body TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'sent', 'failed')),
    attempts INTEGER NOT NULL DEFAULT 0,
    enqueued_at INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    last_error TEXT NOT NULL DEFAULT '',
    last_error_at INTEGER,
    UNIQUE (alert_id, revision, route, url_index)
);
CREATE INDEX sends_pending ON sends (route, url_index, due_at) WHERE state = 'pending';
CREATE INDEX sends_by_state ON sends (route, url_index, state, updated_at);
CREATE INDEX sends_in_trouble ON sends (route, url_index, last_error_at) WHERE last_error_at IS NOT NULL;
CREATE TABLE unreadable (  -- records of the alerts topic that are no alert
    topic TEXT NOT NULL,
    partition INTEGER NOT NULL,
    log_offset INTEGER NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (topic, partition, log_offset)
) WITHOUT ROWID;
"""

_SECOND: Final = """
CREATE TABLE taken (  -- up to where everything in a partition of the alerts topic was decided, here or elsewhere
    partition INTEGER PRIMARY KEY,
    next_offset INTEGER NOT NULL
);
"""

_THIRD: Final = """
ALTER TABLE sends ADD COLUMN tone TEXT NOT NULL DEFAULT 'info';
"""

_FOURTH: Final = """
ALTER TABLE notices ADD COLUMN replayed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE notices ADD COLUMN stood TEXT;
CREATE INDEX notices_held ON notices (alert_id) WHERE replayed AND summary_id IS NULL;
"""
# `replayed`: a replay told of it; `stood`: how the alert stood before that, where it did.

_STEPS: Final = (_FIRST, _SECOND, _THIRD, _FOURTH)
"""From an empty file to the newest layout."""

SCHEMA_VERSION: Final = len(_STEPS)

Row = tuple[Any, ...]
"""One row of a query; SQLite's columns have no static type."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


class OutboxUnavailable(PitwatchError):
    """The send queue's file can't be read or written now (disk full, locked, damaged, closed)."""


class Database:
    """One connection to the queue's file, shared by every thread of the notifier behind a lock.

    A committed transaction outlives the machine's power (WAL, ``synchronous=FULL``). Raises `OutboxUnavailable`.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.RLock()
        with self._explained():
            self._connection = sqlite3.connect(path, timeout=5, isolation_level=None, check_same_thread=False)
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = FULL")
        with self.transaction():
            self._create()

    def _create(self) -> None:
        (version,) = self.one("PRAGMA user_version")
        if version > SCHEMA_VERSION:
            raise OutboxUnavailable(f"{self._path} was written by a newer Pitwatch (layout {version}): update this one")
        for step in _STEPS[version:]:
            # One statement at a time: `executescript` would commit before it begins.
            for statement in filter(str.strip, step.split(";\n")):
                self._connection.execute(statement)
        self._connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Make everything done inside durable together, or undo it on an error. Not to be nested."""
        with self._lock, self._explained():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                # A commit that fails for want of room may have rolled back already.
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def change(self, sql: str, *values: object) -> int:
        """Run one statement that writes; return how many rows it touched."""
        with self._lock, self._explained():
            return self._connection.execute(sql, values).rowcount

    def rows(self, sql: str, *values: object) -> list[Row]:
        """Run a query; return all its rows."""
        with self._lock, self._explained():
            return self._connection.execute(sql, values).fetchall()

    def one(self, sql: str, *values: object) -> Row:
        """Run a query that always has a row, and return its first."""
        return self.rows(sql, *values)[0]

    def close(self) -> None:
        """Close the file. Idempotent."""
        with self._lock:
            self._connection.close()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise OutboxUnavailable(f"{self._path}: {error}") from error


def to_stored(instant: datetime) -> int:
    """Return a UTC instant as microseconds since 1970, which sorts and compares inside SQLite."""
    return (instant - _EPOCH) // _MICROSECOND


def from_stored(stored: int) -> datetime:
    """Return the instant that `to_stored` wrote."""
    return _EPOCH + stored * _MICROSECOND
