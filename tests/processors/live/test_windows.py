"""Windows of play: the sums of the newest revisions, whatever order and however often facts come."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from random import Random
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.live.windows import Dealing, Money, Play, Window, Windows
from schemas.facts import Fact
from tests.contract.store.stored_facts import MOMENT, fact

LONGEST = 60
NOW = MOMENT.replace(second=30)


def minutes_ago(minutes: float) -> datetime:
    return NOW - timedelta(minutes=minutes)


def played(number: int = 1, ago: float = 1, table: str = "BAC-01", **changes: object) -> Fact:
    fields = {"opened_at": minutes_ago(ago), "handle": 100, "house_win": 5, "pit": "PIT-1", "dealer_id": "D-1"}
    return fact("round", table, round=number, **fields | {"revision": 0} | changes)


def erred(name: str = "a", ago: float = 1, **changes: object) -> Fact:
    fields = {"occurred_at": minutes_ago(ago), "code": "overpaid", "pit": "PIT-1", "dealer_id": "D-1", "revision": 0}
    return fact("alert", "BAC-01", alert_id=name, **fields | changes)


def windows(*facts: Fact, longest: int = LONGEST) -> Windows:
    counted = Windows(longest, NOW)
    for one in facts:
        counted.take(one, 0, NOW)
    return counted


def floor(*facts: Fact, minutes: int = LONGEST) -> Play:
    return windows(*facts).window(NOW, minutes).floor


def test_nothing_played_is_nothing() -> None:
    assert windows().window(NOW, 15) == Window(15, Play(), {}, ())
    assert Play().pace == 0


def test_rounds_and_their_money_add_up() -> None:
    assert floor(
        played(1), played(2, status="void", handle=0, house_win=0), played(3, handle=7, house_win=-40)
    ) == Play(tables=1, rounds=3, decisions=2, table_minutes=2, money=(Money("HKD", 107, -35),))


def test_rounds_without_stakes_have_no_money() -> None:
    assert floor(played(1, handle=0, house_win=0)).money == ()


def test_each_currency_adds_up_alone() -> None:
    play = floor(played(1), played(2, currency="MOP"), played(3, currency="MOP", handle=1))
    assert play.money == (Money("HKD", 100, 5), Money("MOP", 101, 10))


def test_pits_are_apart_and_the_floor_is_all_of_them() -> None:
    window = windows(played(1), played(1, table="BAC-02", pit="PIT-2"), erred(pit="PIT-2")).window(NOW, 15)
    assert {pit: (play.tables, play.rounds, play.errors) for pit, play in window.pits.items()} == {
        "PIT-1": (1, 1, 0),
        "PIT-2": (1, 1, 1),
    }
    assert (window.floor.tables, window.floor.rounds, window.floor.errors) == (2, 2, 1)


def test_pit_without_play_is_there_where_it_is_asked_for() -> None:
    assert windows().window(NOW, 15, ["PIT-9"]).pits == {"PIT-9": Play()}


def test_shorter_window_holds_what_it_reaches() -> None:
    facts = [played(number, ago=number) for number in range(60)]
    assert [floor(*facts, minutes=minutes).rounds for minutes in (1, 15, 60)] == [1, 15, 60]


def test_pace_counts_a_table_from_its_first_round_in_the_window() -> None:
    # From the minute of its first round to the end: 20 minutes, in which it decided ten rounds.
    play = floor(*(played(number, ago=19 - 2 * number) for number in range(10)))
    assert (play.decisions, play.table_minutes, play.pace) == (10, 20, 30)


def test_dealers_are_told_apart_with_their_rates() -> None:
    facts = [played(1), played(2), played(3, dealer_id="D-2"), played(4, dealer_id=""), erred(), erred("b")]
    dealers = windows(*facts, erred("c", dealer_id="D-3")).window(NOW, 15).dealers
    assert dealers == (Dealing("D-1", 2, 2), Dealing("D-2", 1, 0), Dealing("D-3", 0, 1))
    assert [dealing.error_rate for dealing in dealers] == [100, 0, None]


# -- facts are upserts -----------------------------------------------------------------------------------------------


def test_repeat_and_older_revision_change_nothing() -> None:
    counted = windows(played(1, revision=2, handle=9))
    for older in (played(1, revision=2, handle=9), played(1, revision=1, handle=8), played(1, revision=2, handle=7)):
        assert not counted.take(older, 0, NOW)
    assert counted.window(NOW, 15).floor.money == (Money("HKD", 9, 5),)


def test_newer_revision_takes_the_place_of_the_older() -> None:
    counted = windows(played(1, handle=900, dealer_id="D-2", pit="PIT-2", currency="MOP"), played(1, revision=1))
    assert counted.window(NOW, 15) == windows(played(1)).window(NOW, 15)


def test_retraction_takes_it_out() -> None:
    counted = windows(played(1), erred(), played(1, revision=1, retracted=True), erred(revision=1, retracted=True))
    assert counted.window(NOW, 15) == windows().window(NOW, 15)
    assert not counted.take(played(1), 0, NOW)


def test_revision_may_move_a_round_in_time_even_out_of_every_window() -> None:
    counted = windows(played(1, ago=1), played(1, ago=30, revision=1))
    assert (counted.window(NOW, 15).floor.rounds, counted.window(NOW, 60).floor.rounds) == (0, 1)
    counted.take(played(1, ago=500, revision=2), 0, NOW)
    assert counted.window(NOW, 60).floor == Play()
    # Known for as long as the older revisions could count, and then no longer.
    assert not counted.take(played(1, ago=1), 0, NOW)
    counted.advance(NOW + timedelta(minutes=LONGEST))
    assert len(counted) == 0


def test_other_kinds_of_facts_are_passed_over() -> None:
    counted = windows()
    assert not counted.take(fact("bet", "BAC-01"), 0, NOW)
    assert len(counted) == 0


# -- time goes on ----------------------------------------------------------------------------------------------------


def test_what_no_window_reaches_is_forgotten() -> None:
    counted = windows(*(played(number, ago=number) for number in range(60)))
    counted.advance(NOW + timedelta(minutes=50))
    assert len(counted) == 10
    assert counted.window(NOW + timedelta(minutes=50), 60).floor.rounds == 10
    counted.advance(NOW + timedelta(days=1))
    assert len(counted) == 0


def test_clock_that_was_set_back_brings_nothing_back() -> None:
    counted = windows(played(1, ago=0))
    counted.advance(NOW + timedelta(days=1))
    counted.advance(NOW)
    assert not counted.take(played(2, ago=0), 0, NOW)
    assert counted.window(NOW, 60).floor == Play()


def test_fact_from_before_every_window_is_not_held() -> None:
    counted = windows(played(1, ago=60.6), erred(ago=10_000))
    assert len(counted) == 0


# -- workers share partitions ----------------------------------------------------------------------------------------


def test_partition_that_went_to_another_worker_is_dropped_with_its_kind_alone() -> None:
    counted = Windows(LONGEST, NOW)
    for partition in range(3):
        counted.take(played(partition), partition, NOW)
        counted.take(erred(str(partition)), partition, NOW)
    counted.drop("round", {0, 2})
    play = counted.window(NOW, 15).floor
    assert (play.rounds, play.errors) == (1, 3)


# -- laws ------------------------------------------------------------------------------------------------------------


class Said(NamedTuple):
    """A revision of a fact and the partition it came in, which is the same for all revisions."""

    fact: Fact
    partition: int


def said(kind: str, number: int, revision: int, ago: int, variant: int) -> Said:
    table = f"BAC-{number % 3}"
    retracted = variant % 5 == 4
    if kind == "alert":
        one = erred(f"a{number}", ago, revision=revision, dealer_id=f"D-{variant % 3}", retracted=retracted)
    else:
        one = played(
            number, ago, table, revision=revision, handle=variant * 10, house_win=variant - 3, retracted=retracted,
            pit=f"PIT-{variant % 2}", dealer_id=f"D-{variant % 3}", currency=("HKD", "MOP")[variant % 2],
            status=("settled", "void")[variant % 3 == 1],
        )  # fmt: skip
    return Said(one, number % 2)


# When a round began is the same in all its revisions: only what becomes of the rest changes.
facts_said = st.lists(
    st.builds(
        lambda kind, number, revision, variant: said(kind, number, revision, number * 7 % 90, variant + 3 * revision),
        st.sampled_from(("round", "alert")),
        st.integers(0, 12),
        st.integers(0, 3),
        st.just(1),
    ),
    max_size=40,
)


def newest(story: Iterable[Said]) -> list[Said]:
    """Return the highest revision of each fact."""
    kept: dict[object, Said] = {}
    for one in story:
        key = (one.fact.fact, getattr(one.fact, "alert_id", ""), one.fact.table_id, getattr(one.fact, "round", 0))
        if key not in kept or kept[key].fact.revision < one.fact.revision:
            kept[key] = one
    return list(kept.values())


def counted_now(story: Iterable[Said], minutes: int) -> Window:
    counted = Windows(LONGEST, NOW)
    for one in story:
        counted.take(one.fact, one.partition, NOW)
    return counted.window(NOW, minutes)


@given(facts_said, st.randoms(use_true_random=False), st.sampled_from((1, 15, 60)))
def test_order_and_repeats_change_nothing(story: list[Said], random: Random, minutes: int) -> None:
    shuffled = story * 2
    random.shuffle(shuffled)
    assert counted_now(shuffled, minutes) == counted_now(newest(story), minutes)


@given(facts_said, st.integers(0, 1))
def test_what_was_dropped_and_read_again_is_as_if_it_had_stayed(story: list[Said], lost: int) -> None:
    counted = Windows(LONGEST, NOW)
    for one in story:
        counted.take(one.fact, one.partition, NOW)
    counted.drop("round", [lost])
    counted.drop("alert", [lost])
    assert counted.window(NOW, 60) == counted_now([one for one in story if one.partition != lost], 60)
    for one in story:
        counted.take(one.fact, one.partition, NOW)
    assert counted.window(NOW, 60) == counted_now(story, 60)


@given(facts_said, st.integers(0, 100))
def test_forgetting_what_is_old_changes_no_window_of_that_time(story: list[Said], later: int) -> None:
    moment = NOW + timedelta(minutes=later)
    kept, advanced = Windows(LONGEST, NOW), Windows(LONGEST, NOW)
    for one in story:
        kept.take(one.fact, 0, NOW)
        advanced.take(one.fact, 0, NOW)
    advanced.advance(moment)
    assert advanced.window(moment, 60) == kept.window(moment, 60)
    assert len(advanced) <= len(kept)


@pytest.mark.parametrize("amount", [10**18, -(10**18)])
def test_sums_are_exact_beyond_what_floats_hold(amount: int) -> None:
    play = floor(*(played(number, house_win=amount + 1, handle=1) for number in range(3)))
    assert play.money == (Money("HKD", 3, 3 * amount + 3),)
