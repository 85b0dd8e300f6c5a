"""The pace of a floor: everything once and in order, nothing before its time, and no hole where it is broken off."""

from datetime import datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from pitwatch.demonstration.pacing import MOST_AT_ONCE, Pacer
from pitwatch.demonstration.plan import DISORDER, FAULTY_LINE
from producers.simulator import Arrival, FloorSettings, mixed_floor, simulate
from schemas.events import Heartbeat, RoundClosed, RoundOpened, ShoeLoaded
from schemas.ids import event_id
from tests.pitwatch.floor_facts import NOON, label

LATER = NOON + timedelta(days=1)


def heartbeat(seq: int, at: datetime, table_id: str = "BAC-101") -> Heartbeat:
    return Heartbeat(event_id=event_id(table_id, 1, seq), table_id=table_id, epoch=1, seq=seq, occurred_at=at)


def arrivals(*seconds: float) -> list[Arrival]:
    moments = [NOON + timedelta(seconds=second) for second in seconds]
    return [Arrival(at, 0, heartbeat(number, at)) for number, at in enumerate(moments, start=1)]


def seqs(taken: list[Arrival]) -> list[int]:
    return [arrival.event.seq for arrival in taken]


def test_a_speed_of_sixty_hands_out_a_minute_each_second() -> None:
    pacer = Pacer(arrivals(0, 59, 60, 61, 120), NOON, 60.0)
    assert seqs(pacer.due(0.0, LATER)) == [1]
    assert seqs(pacer.due(1.0, LATER)) == [2, 3]
    assert not pacer.over
    assert seqs(pacer.due(2.0, LATER)) == [4, 5]
    assert pacer.over
    assert pacer.due(9.0, LATER) == []
    assert pacer.handed_out == 5


def test_a_speed_of_nought_hands_out_as_much_as_is_taken_at_once() -> None:
    pacer = Pacer(arrivals(*range(MOST_AT_ONCE + 1)), NOON, 0.0)
    assert len(pacer.due(0.0, LATER)) == MOST_AT_ONCE
    assert len(pacer.due(0.0, LATER)) == 1


def test_a_floor_that_has_caught_up_goes_on_at_the_pace_of_the_present() -> None:
    now = NOON + timedelta(seconds=90)
    pacer = Pacer(arrivals(0, 60, 120), NOON, 1000.0)
    assert seqs(pacer.due(60.0, now)) == [1, 2]
    assert seqs(pacer.due(61.0, now + timedelta(seconds=29))) == []
    assert seqs(pacer.due(90.0, now + timedelta(seconds=30))) == [3]


def test_an_empty_floor_is_over() -> None:
    assert Pacer([], NOON, 1.0).over


def test_labels_come_with_the_events_that_show_them() -> None:
    first, second = arrivals(0, 10)
    pacer = Pacer(
        [first._replace(labels=(label("overpaid"),)), second._replace(labels=(label("late_bet"),))], NOON, 1.0
    )
    pacer.due(5.0, LATER)
    assert [found.codes for found in pacer.labels] == [("overpaid",)]


def test_stragglers_fill_the_holes_and_bring_nothing_new() -> None:
    ordered = arrivals(0, 1, 2, 3, 4)
    late = ordered[1]._replace(arrives_at=NOON + timedelta(seconds=3.5))
    pacer = Pacer([ordered[0], ordered[2], ordered[3], late, ordered[4]], NOON, 1.0)
    assert seqs(pacer.due(3.0, LATER)) == [1, 3, 4]
    assert seqs(pacer.stragglers(timedelta(seconds=2))) == [2]
    assert seqs(pacer.stragglers(timedelta(seconds=2))) == []
    assert pacer.handed_out == 4


def test_rounds_are_unfinished_until_they_close_and_shoes_until_they_have_one() -> None:
    def at(seq: int) -> dict[str, object]:
        return {
            "event_id": event_id("BAC-101", 1, seq),
            "table_id": "BAC-101",
            "epoch": 1,
            "seq": seq,
            "occurred_at": NOON,
        }

    events = [
        ShoeLoaded.model_validate(at(1) | {"shoe": 1, "decks": 8}),
        RoundOpened.model_validate(at(2) | {"shoe": 1, "round": 1}),
        RoundClosed.model_validate(at(3) | {"shoe": 1, "round": 1}),
        RoundOpened.model_validate(at(4) | {"shoe": 1, "round": 2}),
        ShoeLoaded.model_validate(at(5) | {"shoe": 2, "decks": 8}),
    ]
    pacer = Pacer([Arrival(NOON, 0, event) for event in events], NOON, 1.0)
    pacer.due(0.0, LATER)
    assert pacer.unfinished() == {("BAC-101", 1, 2), ("BAC-101", 2, 0)}


def small_floor(seed: int) -> FloorSettings:
    return mixed_floor(seed=seed, start=NOON, hours=0.3, tables=2, dirty=1, telemetry=FAULTY_LINE)


@settings(max_examples=40)
@given(
    seed=st.integers(0, 50), steps=st.lists(st.floats(0, 40), max_size=12), speed=st.sampled_from([10.0, 60.0, 300.0])
)
def test_whenever_a_floor_is_broken_off_nothing_is_missing_in_between(
    seed: int, steps: list[float], speed: float
) -> None:
    everything = list(simulate(small_floor(seed)))
    pacer = Pacer(everything, NOON, speed)
    elapsed = 0.0
    taken: list[Arrival] = []
    for step in steps:
        elapsed += step
        taken += pacer.due(elapsed, LATER)
    assert taken == everything[: len(taken)]
    taken += pacer.stragglers(DISORDER)
    numbers: dict[str, set[tuple[int, int]]] = {}
    for arrival in taken:
        numbers.setdefault(arrival.event.table_id, set()).add((arrival.event.epoch, arrival.event.seq))
    sent = {(arrival.event.table_id, (arrival.event.epoch, arrival.event.seq)) for arrival in everything}
    for table_id, held in numbers.items():
        assert held == {number for table, number in sent if table == table_id and number <= max(held)}
