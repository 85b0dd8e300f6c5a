"""The floor of a demonstration: never in the future, clean and dirty tables by turns, at a speed that fits."""

from datetime import UTC, datetime, timedelta
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pitwatch.demonstration.plan import DISORDER, ENDLESS_SPEED, VIEW_SECONDS, plan_floor
from producers.simulator import simulate

NOW = datetime(2026, 3, 4, 5, 6, 7, 890, tzinfo=UTC)


@settings(max_examples=25)
@given(
    tables=st.integers(1, 4),
    rounds=st.integers(1, 12),
    seed=st.integers(0, 1000),
    now=st.datetimes(datetime(2025, 1, 1), datetime(2035, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001
)
def test_every_table_plays_its_rounds_and_none_of_it_in_the_future(
    tables: int, rounds: int, seed: int, now: datetime
) -> None:
    floor = plan_floor(tables=tables, rounds=rounds, seed=seed, now=now).floor
    opened: dict[str, set[tuple[int, int]]] = {}
    for arrival in simulate(floor):
        assert arrival.arrives_at <= now
        event = arrival.event
        if event.type == "round_opened" and event.kind == "live":  # type: ignore[attr-defined]  # told by its type
            opened.setdefault(event.table_id, set()).add((event.shoe, event.round))  # type: ignore[attr-defined]
    assert {table_id: len(played) for table_id, played in opened.items()} == {
        table.table_id: rounds for table in floor.tables
    }


@pytest.mark.parametrize("rounds", [5, 40, 120])
def test_a_floor_of_known_length_fits_its_time_on_the_screen(rounds: int) -> None:
    plan = plan_floor(tables=8, rounds=rounds, seed=1, now=NOW)
    last = max(arrival.arrives_at for arrival in simulate(plan.floor))
    seconds = (last - plan.floor.start).total_seconds() / plan.speed
    assert 0.4 * VIEW_SECONDS < seconds < 1.3 * VIEW_SECONDS


def test_clean_and_dirty_tables_take_turns_and_one_alone_is_dirty() -> None:
    floor = plan_floor(tables=4, rounds=5, seed=1, now=NOW).floor
    assert [table.deviations is not None for table in floor.tables] == [False, True, False, True]
    alone = plan_floor(tables=1, rounds=5, seed=1, now=NOW).floor
    assert alone.tables[0].deviations is not None


def test_lines_fail_everywhere_but_lose_events_of_some_clean_tables_only_and_no_clock_is_wrong() -> None:
    lossy = 0
    for table in plan_floor(tables=8, rounds=5, seed=1, now=NOW).floor.tables:
        telemetry = table.telemetry
        assert min(telemetry.duplicated, telemetry.disordered, telemetry.restarted) > 0
        assert telemetry.disorder_ms <= DISORDER / timedelta(milliseconds=1)
        assert telemetry.skewed == 0
        assert not (telemetry.lost and table.deviations)
        lossy += telemetry.lost > 0
    assert lossy == 2


def test_a_floor_without_end_begins_a_day_ago_and_goes_on() -> None:
    plan = plan_floor(tables=2, rounds=None, seed=1, now=NOW)
    assert plan.speed == ENDLESS_SPEED
    assert plan.floor.rounds is None
    assert NOW - plan.floor.start >= timedelta(hours=24)
    assert len(list(islice(simulate(plan.floor), 2000))) == 2000
