"""What was decided about each alert: which route is told, one by one or in a summary. Decided once, and remembered."""

from datetime import datetime, timedelta
from typing import Final, NamedTuple

from processors.notify.database import Database, Row, from_stored, to_stored
from processors.notify.message import Mention, Standing
from processors.notify.routing import Route
from schemas.facts import AlertFact

FLOOD_WINDOW: Final = timedelta(minutes=10)
"""ISA-18.2 counts a flood in alarms per ten minutes."""

ELSEWHERE: Final = "elsewhere"
"""Stands for the summary of what another worker told: nothing waits for it, and it floods nobody here."""

_HELD_BACK: Final = "replayed AND summary_id IS NULL"


class Held(NamedTuple):
    """What is held back until a replay ends; `stood` is how its alert stood before, None where there was none."""

    stood: Standing | None


class Waiting(NamedTuple):
    """A summary that a route is owed, of what a replay changed or of all else, and when it was set aside."""

    route: str
    replayed: bool
    first: datetime
    last: datetime


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
        return self.heard(route, alert) is not None

    def heard(self, route: Route, alert: AlertFact) -> Standing | None:
        """Return how `route` was last told that the alert stands; None where it never was."""
        which = f"route = ? AND alert_id = ? AND NOT ({_HELD_BACK}) ORDER BY notice_id DESC LIMIT 1"
        rows = self._database.rows(f"SELECT standing FROM notices WHERE {which}", route.name, alert.alert_id)  # noqa: S608
        return rows[0][0] if rows else None

    def flooded(self, route: Route, now: datetime) -> bool:
        """Tell whether `route` has had its share of single messages in the ten minutes before `now`."""
        sql = "SELECT count(*) FROM notices WHERE route = ? AND decided_at > ? AND NOT collapsed"
        (singles,) = self._database.one(sql, route.name, to_stored(now - FLOOD_WINDOW))
        return bool(singles >= route.alerts_per_ten_minutes)

    def add(self, route: Route, alert: AlertFact, standing: Standing, now: datetime, *, collapsed: bool) -> None:
        """Record that `route` is told of `alert`: in a message of its own, or in the next summary."""
        self._add(route, alert, standing, now, collapsed=collapsed)

    def hold_back(self, route: Route, alert: AlertFact, standing: Standing, now: datetime, held: Held) -> None:
        """Record that `route` is to be told of what a replay made of `alert`, once that has come to its end."""
        self._add(route, alert, standing, now, held_back=held)

    def is_held_back(self, alert: AlertFact) -> bool:
        """Tell whether any route is to hear of the alert once a replay has come to its end."""
        sql = f"SELECT 1 FROM notices WHERE alert_id = ? AND {_HELD_BACK} LIMIT 1"  # noqa: S608 - a constant
        return bool(self._database.rows(sql, alert.alert_id))

    def let_go(self, route: Route, alert: AlertFact) -> Held | None:
        """Hold back from `route` no longer what it was to hear of the alert; return that, or None where nothing was."""
        sql = f"DELETE FROM notices WHERE route = ? AND alert_id = ? AND {_HELD_BACK} RETURNING stood"  # noqa: S608
        rows = self._database.rows(sql, route.name, alert.alert_id)
        return Held(rows[0][0]) if rows else None

    def _add(
        self,
        route: Route,
        alert: AlertFact,
        standing: Standing,
        decided_at: datetime,
        *,
        collapsed: bool = True,
        summary_id: str | None = None,
        held_back: Held | None = None,
    ) -> None:
        self._database.change(
            "INSERT INTO notices (route, alert_id, revision, standing, severity, code, table_id, shoe, round,"
            " occurred_at, decided_at, collapsed, summary_id, replayed, stood)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            *(route.name, alert.alert_id, alert.revision, standing, alert.severity, alert.code, alert.table_id),
            *(alert.shoe, alert.round, to_stored(alert.occurred_at), to_stored(decided_at), collapsed, summary_id),
            *(held_back is not None, None if held_back is None else held_back.stood),
        )

    def add_told_elsewhere(self, route: Route, alert: AlertFact, standing: Standing, told_at: datetime) -> None:
        """Record that another worker has told `route` of `alert`."""
        self._add(route, alert, standing, told_at, summary_id=ELSEWHERE)

    def taken_to(self, partition: int) -> int | None:
        """Return up to which offset everything in a partition of the alerts topic is known; None where nothing is."""
        rows = self._database.rows("SELECT next_offset FROM taken WHERE partition = ?", partition)
        return rows[0][0] if rows else None

    def note_taken(self, partition: int, next_offset: int) -> None:
        """Remember up to which offset everything in a partition is known."""
        self._database.change("INSERT OR REPLACE INTO taken VALUES (?, ?)", partition, next_offset)

    def waiting(self) -> list[Waiting]:
        """Return the summaries that are owed."""
        sql = (
            "SELECT route, replayed, min(decided_at), max(decided_at) FROM notices"
            " WHERE collapsed AND summary_id IS NULL GROUP BY route, replayed ORDER BY route, replayed"
        )
        return [
            Waiting(route, bool(replayed), from_stored(first), from_stored(last))
            for route, replayed, first, last in self._database.rows(sql)
        ]

    def collapse(self, waiting: Waiting) -> tuple[str, list[Mention]]:
        """Put everything that waits for a summary into it; return its identity and what it mentions."""
        where = "WHERE route = ? AND replayed = ? AND collapsed AND summary_id IS NULL"
        which = waiting.route, waiting.replayed
        (first,) = self._database.one(f"SELECT min(notice_id) FROM notices {where}", *which)  # noqa: S608 - constants
        columns = "standing, severity, code, table_id, shoe, round, occurred_at"
        rows = self._database.rows(f"SELECT {columns} FROM notices {where} ORDER BY notice_id", *which)  # noqa: S608
        summary_id = f"summary:{waiting.route}:{first}"
        self._database.change(f"UPDATE notices SET summary_id = ? {where}", summary_id, *which)  # noqa: S608
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
