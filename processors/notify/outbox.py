"""The queue of messages to be sent: one row for each message and URL, kept until it is sent or given up."""

from collections.abc import Collection
from datetime import datetime
from typing import Final, NamedTuple

from processors.notify.database import Database, from_stored, to_stored
from processors.notify.port import Message

MAX_ERROR_LENGTH: Final = 300


class Target(NamedTuple):
    """One URL of one route, by its place in the route's list."""

    route: str
    url_index: int


class Send(NamedTuple):
    """A message on its way to one URL; `attempts` counts those that failed."""

    send_id: int
    message: Message
    attempts: int
    enqueued_at: datetime


# A later message about an alert waits for the earlier one: nobody should read "withdrawn" and then "raised".
_READY: Final = """
    route = ? AND url_index = ? AND state = 'pending' AND NOT EXISTS (
        SELECT 1 FROM sends AS earlier
        WHERE earlier.alert_id = sends.alert_id AND earlier.route = sends.route
            AND earlier.url_index = sends.url_index AND earlier.state = 'pending' AND earlier.send_id < sends.send_id
    )"""


class Outbox:
    """The queue, in the notifier's file. Methods raise `OutboxUnavailable` and join an open transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def enqueue(self, target: Target, alert_id: str, revision: int, message: Message, now: datetime) -> None:
        """Queue a message. Idempotent: one of the same alert, revision, route and URL changes nothing."""
        at = to_stored(now)
        self._database.change(
            "INSERT OR IGNORE INTO sends (route, url_index, alert_id, revision, title, body, tone, enqueued_at,"
            " due_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            *(*target, alert_id, revision, *message, at, at, at),
        )

    def next_send(self, target: Target, now: datetime) -> Send | None:
        """Return what `target` is to be sent next, if anything is due: what was never tried comes first."""
        rows = self._database.rows(
            f"SELECT send_id, attempts, enqueued_at, title, body, tone FROM sends WHERE {_READY} AND due_at <= ?"  # noqa: S608 - constants
            " ORDER BY attempts > 0, send_id LIMIT 1",
            *(*target, to_stored(now)),
        )
        for send_id, attempts, enqueued_at, *message in rows:
            return Send(send_id, Message(*message), attempts, from_stored(enqueued_at))
        return None

    def next_due(self, target: Target) -> datetime | None:
        """Return when the next message of `target` falls due; None when none is pending."""
        (due,) = self._database.one(f"SELECT min(due_at) FROM sends WHERE {_READY}", *target)  # noqa: S608 - constants
        return None if due is None else from_stored(due)

    def mark_sent(self, send_id: int, now: datetime) -> None:
        """Record that the service took the message. Idempotent."""
        self._database.change(
            "UPDATE sends SET state = 'sent', attempts = attempts + 1, updated_at = ? WHERE send_id = ?"
            " AND state = 'pending'",
            *(to_stored(now), send_id),
        )

    def mark_failed(self, send_id: int, error: str, due: datetime | None, now: datetime) -> None:
        """Record a failed attempt: tried again at `due`, or given up when that is None."""
        state, due_at = ("failed", None) if due is None else ("pending", to_stored(due))
        self._database.change(
            "UPDATE sends SET state = ?1, due_at = coalesce(?2, due_at), attempts = attempts + 1, updated_at = ?3,"
            " last_error = ?4, last_error_at = ?3 WHERE send_id = ?5 AND state = 'pending'",
            *(state, due_at, to_stored(now), error[:MAX_ERROR_LENGTH], send_id),
        )

    def retire(self, configured: Collection[Target], now: datetime) -> int:
        """Give up what is pending for URLs that are no longer configured; return how many messages that were."""
        pending = self._database.rows("SELECT DISTINCT route, url_index FROM sends WHERE state = 'pending'")
        return sum(
            self._database.change(
                "UPDATE sends SET state = 'failed', updated_at = ?1, last_error = ?2, last_error_at = ?1"
                " WHERE route = ?3 AND url_index = ?4 AND state = 'pending'",
                *(to_stored(now), "the route or its URL is no longer configured", route, url_index),
            )
            for route, url_index in pending
            if Target(route, url_index) not in configured
        )

    def retry_failed(self, now: datetime) -> int:
        """Make every failed message pending again, as if it were new; return how many those were."""
        at = to_stored(now)
        return self._database.change(
            "UPDATE sends SET state = 'pending', attempts = 0, enqueued_at = ?, due_at = ?, updated_at = ?"
            " WHERE state = 'failed'",
            *(at, at, at),
        )

    def forget(self, before: datetime) -> None:
        """Delete messages that were sent or given up before then."""
        self._database.change("DELETE FROM sends WHERE state != 'pending' AND updated_at < ?", to_stored(before))
