"""The windows as a worker shows them: its share of the tables, complete or not, and what Prometheus reads."""

from datetime import UTC, datetime, timedelta
from typing import Any

from processors.metrics import REGISTRY
from processors.streams.floor_now import FloorNow
from processors.streams.watchdog import Share
from schemas.log import Record
from schemas.topics import FACT_TOPICS
from tests.contract.store.stored_facts import fact

NOW = datetime(2026, 5, 1, 12, 0, 30, tzinfo=UTC)
ROUNDS, ALERTS = FACT_TOPICS["round"], FACT_TOPICS["alert"]
EVERYTHING = {Share(topic, partition) for topic in (ROUNDS, ALERTS) for partition in (0, 1)}


def put(floor: FloorNow, number: int = 1, partition: int = 0, kind: str = "round", **changes: Any) -> None:  # noqa: ANN401
    """Let a fact come in a partition of its topic."""
    moment = NOW - timedelta(minutes=1)
    fields: dict[str, Any] = {"pit": "PIT-1", "dealer_id": "D-1", "revision": 0}
    if kind == "round":
        fields |= {"round": number, "opened_at": moment, "handle": 10**13 + 1, "house_win": -7}
    else:
        fields |= {"alert_id": str(number), "occurred_at": moment, "code": "overpaid"}
    one = fact(kind, "BAC-01", **fields | changes)
    floor.take(one, Record(FACT_TOPICS[kind], partition, number, "BAC-01", b"", NOW))


def floor_of(*minutes: int, pits: tuple[str, ...] = ()) -> FloorNow:
    floor = FloorNow(minutes or (60, 15), pits, NOW)
    for share in floor.share(EVERYTHING):
        floor.read(share)
    return floor


def window(floor: FloorNow, minutes: int = 15) -> dict[str, Any]:
    rows: Any = floor.page(NOW)["windows"]
    (found,) = [row for row in rows if row["minutes"] == minutes]
    return dict(found)


def test_page_has_every_window_with_the_floor_its_pits_and_its_dealers() -> None:
    floor = floor_of(60, 15, 60)
    put(floor, 1)
    put(floor, 2, kind="alert")
    page = floor.page(NOW)
    assert page["at"] == "2026-05-01T12:00:30+00:00"
    assert page["complete"] is True
    assert page["partitions"] == {ALERTS: [0, 1], ROUNDS: [0, 1]}
    play = {
        "tables": 1,
        "rounds": 1,
        "decisions": 1,
        "table_minutes": 2,
        "decisions_per_table_hour": 30.0,
        "dealer_errors": 1,
        # Whole minor units, exact.
        "money": [{"currency": "HKD", "handle": 10**13 + 1, "house_win": -7}],
    }
    shown = {
        "floor": play,
        "pits": [{"pit": "PIT-1", **play}],
        "dealers": [{"dealer_id": "D-1", "rounds": 1, "errors": 1, "errors_per_100_rounds": 100.0}],
    }
    assert page["windows"] == [{"minutes": 15, **shown}, {"minutes": 60, **shown}]


def test_dealer_whose_rounds_are_elsewhere_has_no_rate() -> None:
    floor = floor_of()
    put(floor, kind="alert")
    assert window(floor)["dealers"][0]["errors_per_100_rounds"] is None


def test_pits_of_the_floor_are_there_before_anybody_plays() -> None:
    assert [pit["pit"] for pit in window(floor_of(pits=("PIT-2", "PIT-1")))["pits"]] == ["PIT-1", "PIT-2"]


# -- shares ----------------------------------------------------------------------------------------------------------


def test_what_was_gained_is_incomplete_until_its_past_was_read() -> None:
    floor = FloorNow([15], [], NOW)
    assert floor.share(EVERYTHING) == EVERYTHING
    assert floor.share(EVERYTHING) == set()
    for share in EVERYTHING:
        assert floor.page(NOW)["complete"] is False
        floor.read(share)
    assert floor.page(NOW)["complete"] is True
    assert floor.longest == timedelta(minutes=15)


def test_what_was_lost_counts_no_longer_and_is_not_waited_for() -> None:
    floor = FloorNow([15], [], NOW)
    floor.share(EVERYTHING)
    put(floor, 1, partition=0)
    put(floor, 2, partition=1)
    kept = {share for share in EVERYTHING if share.partition == 0}
    assert floor.share(kept) == set()
    for share in kept:
        floor.read(share)
    put(floor, 3, partition=1)
    assert floor.page(NOW)["complete"] is True
    assert window(floor)["floor"]["rounds"] == 1


def test_partition_that_comes_back_is_read_again() -> None:
    floor = floor_of()
    put(floor, 1, partition=1)
    floor.share({share for share in EVERYTHING if share.partition == 0})
    assert floor.share(EVERYTHING) == {share for share in EVERYTHING if share.partition == 1}
    put(floor, 1, partition=1)
    assert window(floor)["floor"]["rounds"] == 1


# -- Prometheus ------------------------------------------------------------------------------------------------------


def shown(name: str, pit: str, **labels: str) -> float | None:
    return REGISTRY.get_sample_value(f"pitwatch_window_{name}", {"pit": pit, "minutes": "15", **labels})


def test_prometheus_reads_the_windows_pit_by_pit() -> None:
    floor = floor_of(15, pits=("PIT-S1", "PIT-S2"))
    put(floor, 1, pit="PIT-S1", handle=100)
    put(floor, 2, kind="alert", pit="PIT-S1")
    floor.show(NOW)
    found = {name: shown(name, "PIT-S1") for name in ("tables", "rounds", "decisions", "dealer_errors")}
    assert found == {"tables": 1, "rounds": 1, "decisions": 1, "dealer_errors": 1}
    assert shown("decisions_per_table_hour", "PIT-S1") == 30
    assert shown("handle_minor_units", "PIT-S1", currency="HKD") == 100
    assert shown("house_win_minor_units", "PIT-S1", currency="HKD") == -7
    assert shown("rounds", "PIT-S2") == 0, "a pit that stands still shows 0, and doesn't vanish"


def test_what_is_over_is_shown_no_longer() -> None:
    floor = floor_of(15, pits=("PIT-T1",))
    put(floor, 1, pit="PIT-T1")
    put(floor, 2, pit="PIT-T2")
    floor.show(NOW)
    floor.show(NOW + timedelta(hours=1))
    assert shown("rounds", "PIT-T1") == 0
    assert shown("handle_minor_units", "PIT-T1", currency="HKD") is None
    assert shown("rounds", "PIT-T2") is None


def test_nothing_is_shown_before_it_is_complete() -> None:
    floor = FloorNow([15], ["PIT-U1"], NOW)
    floor.share(EVERYTHING)
    floor.show(NOW)
    assert shown("rounds", "PIT-U1") is None
