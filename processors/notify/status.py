"""How the queue stands, for screens and the command line: also from another process while the notifier works."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from processors.notify.database import OutboxUnavailable, Row, from_stored
from processors.notify.outbox import Target


@dataclass(frozen=True, slots=True)
class TargetStatus:
    """One URL's messages, counted as far back as they are kept, and its last trouble (without secrets)."""

    target: Target
    pending: int
    sent: int
    failed: int
    oldest_pending_at: datetime | None
    last_sent_at: datetime | None
    last_error: str
    last_error_at: datetime | None


@dataclass(frozen=True, slots=True)
class FailedSend:
    """A message given up: nobody got it at this URL."""

    target: Target
    alert_id: str
    title: str
    attempts: int
    enqueued_at: datetime
    failed_at: datetime
    error: str


@dataclass(frozen=True, slots=True)
class NotifierStatus:
    """The whole queue. `collapsed` alerts wait for a summary; `unreadable` records of the topic were no alerts."""

    targets: tuple[TargetStatus, ...] = ()
    collapsed: int = 0
    unreadable: int = 0

    @property
    def pending(self) -> int:
        """Messages still to be sent, over all URLs."""
        return sum(target.pending for target in self.targets)

    @property
    def failed(self) -> int:
        """Messages given up, over all URLs."""
        return sum(target.failed for target in self.targets)

    @property
    def sent(self) -> int:
        """Messages sent and still kept, over all URLs."""
        return sum(target.sent for target in self.targets)


_BY_TARGET: Final = """
SELECT route, url_index,
    count(*) FILTER (WHERE state = 'pending'),
    count(*) FILTER (WHERE state = 'sent'),
    count(*) FILTER (WHERE state = 'failed'),
    min(enqueued_at) FILTER (WHERE state = 'pending'),
    max(updated_at) FILTER (WHERE state = 'sent')
FROM sends GROUP BY route, url_index ORDER BY route, url_index
"""

_LAST_ERROR: Final = """
SELECT last_error, last_error_at FROM sends
WHERE route = ? AND url_index = ? AND last_error_at IS NOT NULL ORDER BY last_error_at DESC LIMIT 1
"""

_FAILED: Final = """
SELECT route, url_index, alert_id, title, attempts, enqueued_at, updated_at, last_error FROM sends
WHERE state = 'failed' ORDER BY updated_at DESC, send_id DESC LIMIT ?
"""


def read_status(path: Path) -> NotifierStatus:
    """Return how the queue in `path` stands; an empty status before there is one. Raises `OutboxUnavailable`."""
    if not path.exists():
        return NotifierStatus()
    with _reading(path) as connection:
        targets = [_target_status(connection, row) for row in connection.execute(_BY_TARGET).fetchall()]
        collapsed = connection.execute("SELECT count(*) FROM notices WHERE collapsed AND summary_id IS NULL")
        unreadable = connection.execute("SELECT count(*) FROM unreadable")
        return NotifierStatus(tuple(targets), collapsed.fetchone()[0], unreadable.fetchone()[0])


def read_failed(path: Path, limit: int = 100) -> tuple[FailedSend, ...]:
    """Return the messages given up, the newest first. Raises `OutboxUnavailable`."""
    if not path.exists():
        return ()
    with _reading(path) as connection:
        rows = connection.execute(_FAILED, (limit,)).fetchall()
    return tuple(
        FailedSend(Target(route, url), alert, title, attempts, from_stored(enqueued), from_stored(failed), error)
        for route, url, alert, title, attempts, enqueued, failed, error in rows
    )


def _target_status(connection: sqlite3.Connection, row: Row) -> TargetStatus:
    route, url_index, pending, sent, failed, oldest, last_sent = row
    error, error_at = connection.execute(_LAST_ERROR, (route, url_index)).fetchone() or ("", None)
    return TargetStatus(
        Target(route, url_index),
        pending=pending,
        sent=sent,
        failed=failed,
        oldest_pending_at=_instant(oldest),
        last_sent_at=_instant(last_sent),
        last_error=error,
        last_error_at=_instant(error_at),
    )


def _instant(stored: int | None) -> datetime | None:
    return None if stored is None else from_stored(stored)


@contextmanager
def _reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Open the file to look only, at one moment of it."""
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=5)) as connection:
            connection.execute("BEGIN")
            yield connection
    except sqlite3.Error as error:
        raise OutboxUnavailable(f"{path}: {error}") from error
