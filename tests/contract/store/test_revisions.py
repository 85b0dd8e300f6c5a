"""Of all rows with one key the newest holds, in every store, whatever came when."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import permutations
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from processors.store.port import Store
from schemas.facts import FACT_KINDS
from tests.contract.store.asking import in_window, put, seen
from tests.contract.store.stored_facts import MOMENT, SECOND, fact

DAY = timedelta(days=1)


class TestRevisions:
    @pytest.mark.parametrize("order", list(permutations(range(3))))
    def test_newest_revision_holds_whatever_came_last(
        self, store: Store, table_id: str, order: tuple[int, ...]
    ) -> None:
        for revision in order:
            put(store, fact("bet", table_id, revision=revision, stake=100 + revision))
        assert seen(store, "bet", table_id, "revision, stake") == [{"revision": 2, "stake": Decimal("1.02")}]

    def test_newest_revision_holds_within_one_insert(self, store: Store, table_id: str) -> None:
        put(store, *(fact("bet", table_id, revision=revision, stake=100 + revision) for revision in (1, 3, 2)))
        assert seen(store, "bet", table_id, "revision, stake") == [{"revision": 3, "stake": Decimal("1.03")}]

    @pytest.mark.parametrize("kind", FACT_KINDS)
    def test_retracted_fact_is_gone_and_stays_gone(self, store: Store, table_id: str, kind: str) -> None:
        put(store, fact(kind, table_id, revision=1))
        put(store, fact(kind, table_id, revision=2, retracted=True))
        assert seen(store, kind, table_id) == []
        put(store, fact(kind, table_id, revision=1))
        put(store, fact(kind, table_id, revision=0))
        assert seen(store, kind, table_id) == []
        put(store, fact(kind, table_id, revision=3))
        assert [row["revision"] for row in seen(store, kind, table_id)] == [3]

    def test_retraction_may_come_before_what_it_retracts(self, store: Store, table_id: str) -> None:
        put(store, fact("alert", table_id, revision=1, retracted=True))
        put(store, fact("alert", table_id, revision=0))
        assert seen(store, "alert", table_id) == []

    @pytest.mark.parametrize("moved", [SECOND, -SECOND, 40 * DAY, -40 * DAY, 4000 * DAY])
    def test_revision_replaces_what_was_in_another_month(self, store: Store, table_id: str, moved: timedelta) -> None:
        put(store, fact("round", table_id, revision=0, opened_at=MOMENT))
        put(store, fact("round", table_id, revision=1, opened_at=MOMENT + moved))
        assert seen(store, "round", table_id, "revision, opened_at") == [{"revision": 1, "opened_at": MOMENT + moved}]
        window: dict[str, Any] = {"t": table_id, "a": MOMENT, "b": MOMENT + SECOND}
        where = "table_id = {t:String} AND opened_at >= {a:DateTime64(6)} AND opened_at < {b:DateTime64(6)}"
        assert store.rows(f"SELECT revision FROM rounds WHERE {where}", dict, window) == []

    def test_question_asked_before_a_revision_is_answered_anew(self, store: Store, table_id: str) -> None:
        question = f"SELECT count() AS n FROM rounds WHERE table_id = '{table_id}' AND status = 'settled'"
        put(store, fact("round", table_id, revision=0, status="settled"))
        put(store, *(fact("round", table_id, round=100 + number, status="void") for number in range(100)))
        assert [store.rows(question, dict) for _ in range(3)] == [[{"n": 1}]] * 3
        put(store, fact("round", table_id, revision=1, status="incomplete"))
        assert [store.rows(question, dict) for _ in range(3)] == [[{"n": 0}]] * 3

    @pytest.mark.parametrize("first", [7, 9])
    def test_first_copy_of_an_event_holds(self, store: Store, table_id: str, first: int) -> None:
        for offset in (first, 16 - first):
            store.insert("event", [event_row(table_id, offset)])
        assert seen(store, "event", table_id, "src_offset, raw") == [{"src_offset": 7, "raw": "copy 7"}]


def event_row(table_id: str, offset: int) -> bytes:
    """Return an event's row; every offset is another copy of the same event."""
    row = {
        "table_id": table_id, "epoch": 2**62, "seq": 2**62, "event_id": "x", "type": "heartbeat", "shoe": 0, "round": 0,
        "occurred_at": MOMENT.isoformat(), "appended_at": MOMENT.isoformat(), "raw": f"copy {offset}",
        "src_topic": "table-events", "src_partition": 0, "src_offset": offset,
    }  # fmt: skip
    return json.dumps(row).encode()


class TestWindows:
    def test_window_begins_at_since_and_ends_before_until(self, store: Store, table_id: str) -> None:
        for number, moment in enumerate((MOMENT - timedelta(microseconds=1), MOMENT, MOMENT + SECOND), start=1):
            put(store, fact("round", table_id, round=number, opened_at=moment))
        assert in_window(store, table_id, MOMENT, MOMENT + SECOND) == [2]

    @pytest.mark.parametrize("view", ["events", "rounds", "bets", "alerts"])
    def test_window_has_the_columns_of_its_view(self, store: Store, view: str) -> None:
        def columns(source: str) -> list[tuple[str, str]]:
            found = json.loads(store.query(f"SELECT * FROM {source} LIMIT 0", fmt="JSONCompact"))
            return sorted((column["name"], column["type"]) for column in found["meta"])

        assert columns(f"{view}_between(since = '2026-01-01', until = now())") == columns(view)


@dataclass(frozen=True)
class Version:
    """A revision of a round, for the law below. Revisions move a round by hours, as the windows' contract allows."""

    round: int
    revision: int
    retracted: bool
    hours: int


VERSIONS = st.lists(
    st.builds(Version, st.integers(1, 3), st.integers(0, 3), st.booleans(), st.integers(0, 11)),
    unique_by=lambda version: (version.round, version.revision),
    min_size=1,
    max_size=8,
)


TURN = datetime(2026, 3, 31, 18, tzinfo=UTC)
"""Twelve hours from here lie around the turn of a month, so that revisions also move rounds from one to the other."""


def at(hour: int) -> datetime:
    return TURN + hour * 3600 * SECOND


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    versions=VERSIONS,
    again=st.lists(st.integers(0, 7), max_size=4),
    window=st.tuples(st.integers(0, 11), st.integers(0, 12)),
)
def test_newest_versions_hold_in_views_and_windows(
    store: Store, versions: list[Version], again: list[int], window: tuple[int, int]
) -> None:
    """Whatever is inserted in whatever batches, some of it twice, readers see each key's newest version, if any."""
    table_id = f"T-{uuid4().hex[:16]}"
    for batch in [versions, *([versions[number % len(versions)]] for number in again)]:
        rounds = [{"round": v.round, "revision": v.revision, "retracted": v.retracted} for v in batch]
        put(store, *(fact("round", table_id, opened_at=at(v.hours), **r) for v, r in zip(batch, rounds, strict=True)))
    newest = {v.round: v for v in sorted(versions, key=lambda v: v.revision)}
    holding = sorted((v.round, v.revision) for v in newest.values() if not v.retracted)
    found = seen(store, "round", table_id, "round, revision")
    assert [(row["round"], row["revision"]) for row in found] == holding
    since, until = map(at, window)
    expected = [number for number, _ in holding if since <= at(newest[number].hours) < until]
    assert in_window(store, table_id, since, until) == expected
