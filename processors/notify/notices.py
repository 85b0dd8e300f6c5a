"""What was decided about each alert: which route is told, one by one or in a summary. Decided once, and remembered."""

from datetime import datetime, timedelta
from typing import Final

from processors.notify.database import Database, Row, from_stored, to_stored
from processors.notify.message import Mention, Standing
from processors.notify.routing import Route
from schemas.facts import AlertFact

FLOOD_WINDOW: Final = timedelta(minutes=10)
"""ISA-18.2 counts a flood in alarms per ten minutes."""

ELSEWHERE: Final = "elsewhere"
"""Stands for the summary of what another worker told: nothing waits for it, and it floods nobody here."""


def standing_of(alert: AlertFact) -> Standing:
    """Return how the alert stands by its own fields."""
    if alert.retracted:
        return "withdrawn"
    return "corrected" if alert.status == "corrected" else "raised"


def is_news(before: Standing | None, now: Standing) -> bool:
    """Tell whether anybody should hear of the change; a withdrawal of what nobody was told is none."""
    return now != before and not (before is None and now == "withdrawn")


class Notices:
    """The decisions, in the queue's file. Methods raise `OutboxUnavailable` and join an open transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def take(self, alert: AlertFact, now: datetime) -> tuple[Standing | None, Standing] | None:
        """Remember how `alert` stands; return how it stood before (None: new) and stands now.

        None when this revision or a later one has been taken already, as on a second reading after a crash.
        """
        known = self._database.rows("SELECT revision, standing FROM alerts WHERE alert_id = ?", alert.alert_id)
        if known and alert.revision <= known[0][0]:
            return None
        standing = standing_of(alert)
        self._database.change(
            "INSERT OR REPLACE INTO alerts VALUES (?, ?, ?, ?)",
            alert.alert_id,
            alert.revision,
            standing,
            to_stored(now),
        )
        return (known[0][1] if known else None), standing

    def told(self, route: Route, alert: AlertFact) -> bool:
        """Tell whether `route` has been told of the alert, in whatever standing."""
        sql = "SELECT 1 FROM notices WHERE route = ? AND alert_id = ? LIMIT 1"
        return bool(self._database.rows(sql, route.name, alert.alert_id))

    def flooded(self, route: Route, now: datetime) -> bool:
        """Tell whether `route` has had its share of single messages in the ten minutes before `now`."""
        sql = "SELECT count(*) FROM notices WHERE route = ? AND decided_at > ? AND NOT collapsed"
        (singles,) = self._database.one(sql, route.name, to_stored(now - FLOOD_WINDOW))
        return bool(singles >= route.alerts_per_ten_minutes)

    def add(self, route: Route, alert: AlertFact, standing: Standing, now: datetime, *, collapsed: bool) -> None:
        """Record that `route` is told of `alert`: in a message of its own, or in the next summary."""
        self._add(route, alert, standing, now, collapsed=collapsed, summary_id=None)

    def _add(
        self,
        route: Route,
        alert: AlertFact,
        standing: Standing,
        decided_at: datetime,
        *,
        collapsed: bool,
        summary_id: str | None,
    ) -> None:
        self._database.change(
            "INSERT INTO notices (route, alert_id, revision, standing, severity, code, table_id, shoe, round,"
            " occurred_at, decided_at, collapsed, summary_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            *(route.name, alert.alert_id, alert.revision, standing, alert.severity, alert.code, alert.table_id),
            *(alert.shoe, alert.round, to_stored(alert.occurred_at), to_stored(decided_at), collapsed, summary_id),
        )

    def add_told_elsewhere(self, route: Route, alert: AlertFact, standing: Standing, told_at: datetime) -> None:
        """Record that another worker has told `route` of `alert`."""
        self._add(route, alert, standing, told_at, collapsed=True, summary_id=ELSEWHERE)

    def taken_to(self, partition: int) -> int | None:
        """Return up to which offset everything in a partition of the alerts topic is known; None where nothing is."""
        rows = self._database.rows("SELECT next_offset FROM taken WHERE partition = ?", partition)
        return rows[0][0] if rows else None

    def note_taken(self, partition: int, next_offset: int) -> None:
        """Remember up to which offset everything in a partition is known."""
        self._database.change("INSERT OR REPLACE INTO taken VALUES (?, ?)", partition, next_offset)

    def waiting(self) -> dict[str, datetime]:
        """Return each route that owes a summary, and when the first alert for it was set aside."""
        sql = (
            "SELECT route, min(decided_at) FROM notices WHERE collapsed AND summary_id IS NULL GROUP BY route"
            " ORDER BY route"
        )
        return {route: from_stored(first) for route, first in self._database.rows(sql)}

    def collapse(self, route: str) -> tuple[str, list[Mention]]:
        """Put everything that waits for the route's summary into one; return its identity and what it mentions."""
        where = "WHERE route = ? AND collapsed AND summary_id IS NULL"
        (first,) = self._database.one(f"SELECT min(notice_id) FROM notices {where}", route)  # noqa: S608 - constants
        columns = "standing, severity, code, table_id, shoe, round, occurred_at"
        rows = self._database.rows(f"SELECT {columns} FROM notices {where} ORDER BY notice_id", route)  # noqa: S608
        summary_id = f"summary:{route}:{first}"
        self._database.change(f"UPDATE notices SET summary_id = ? {where}", summary_id, route)  # noqa: S608
        return summary_id, [_mention(row) for row in rows]

    def forget(self, before: datetime) -> None:
        """Delete decisions older than `before` that no summary waits for."""
        self._database.change("DELETE FROM alerts WHERE seen_at < ?", to_stored(before))
        self._database.change(
            "DELETE FROM notices WHERE decided_at < ? AND (NOT collapsed OR summary_id IS NOT NULL)", to_stored(before)
        )


def _mention(row: Row) -> Mention:
    standing, severity, code, table_id, shoe, round_, occurred_at = row
    return Mention(standing, severity, code, table_id, shoe, round_, from_stored(occurred_at))
