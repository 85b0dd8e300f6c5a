"""Both sides of the check: what the simulator did wrong is what the fold finds, once each, and nothing else."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import cast

import pytest

from processors.reconstruct.fold import FoldSettings, TableFold
from producers.simulator import Arrival, Deviations, FloorSettings, Telemetry, mixed_floor, simulate
from schemas.facts import AlertFact, Fact
from schemas.log import Record
from schemas.topics import TABLE_EVENTS
from schemas.wire import encode

START = datetime(2025, 3, 1, 4, 0, tzinfo=UTC)
HARMLESS = Telemetry(duplicated=0.01, disordered=0.02, restarted=0.05)
EVERYTHING = Telemetry(duplicated=0.01, disordered=0.02, restarted=0.05, lost=0.03, skewed=0.03)

# Table, shoe, round, code and status of an alert.
Found = set[tuple[str, int, int, str, str]]


def folded(arrivals: Iterable[Arrival]) -> list[Fact]:
    """Return every fact of a floor, each table folded by itself in order of arrival."""
    folds: dict[str, TableFold] = {}
    facts: list[Fact] = []
    for offset, arrival in enumerate(arrivals):
        table_id = arrival.event.table_id
        fold = folds.setdefault(table_id, TableFold(table_id, FoldSettings()))
        record = Record(TABLE_EVENTS, 0, offset, table_id, encode(arrival.event), arrival.arrives_at)
        facts += fold.apply(record)
    return facts


def alerts_in(facts: list[Fact]) -> Found:
    """Return the alerts that stand in the end."""
    alerts = [cast(AlertFact, fact) for fact in facts if fact.fact == "alert"]
    newest = {alert.alert_id: alert for alert in alerts}
    return {
        (alert.table_id, alert.shoe, alert.round, alert.code, alert.status)
        for alert in newest.values()
        if not alert.retracted
    }


def labelled_in(arrivals: list[Arrival]) -> Found:
    """Return the alerts that the labels ask for: a label's status is that of its first code."""
    return {
        (label.table_id, label.shoe, label.round, code, label.status if place == 0 else "raised")
        for arrival in arrivals
        for label in arrival.labels
        for place, code in enumerate(label.codes)
    }


def clean(telemetry: Telemetry) -> FloorSettings:
    return mixed_floor(seed=21, start=START, hours=1, tables=8, telemetry=telemetry)


@pytest.mark.parametrize("telemetry", [Telemetry(), HARMLESS], ids=["undisturbed", "harmless faults"])
def test_nothing_is_found_where_nothing_is_wrong(telemetry: Telemetry) -> None:
    facts = folded(simulate(clean(telemetry)))
    assert alerts_in(facts) == set()
    assert [fact for fact in facts if fact.fact == "dead_letter"] == []


def test_what_is_wrong_is_found_and_nothing_else() -> None:
    often = Deviations(per_round=0.4, per_shoe=0.8)
    floor = mixed_floor(seed=22, start=START, hours=2, tables=8, dirty=8, deviations=often)
    arrivals = list(simulate(floor))
    assert alerts_in(folded(arrivals)) == labelled_in(arrivals) != set()


def test_faults_on_the_way_hide_nothing_that_can_still_be_told() -> None:
    floor = mixed_floor(seed=23, start=START, hours=1, tables=8, dirty=4, telemetry=EVERYTHING)
    arrivals = list(simulate(floor))
    labelled = labelled_in(arrivals)
    assert {code for *_, code, _ in labelled} >= {"telemetry_gap", "round_incomplete", "clock_skew"}
    assert alerts_in(folded(arrivals)) == labelled
