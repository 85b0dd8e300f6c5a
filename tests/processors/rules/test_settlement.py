"""What is due: published settlements, commission policies, halves, and that nothing is made or lost by rounding."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.rules.bets import settle
from processors.rules.hands import RoundView, view
from processors.rules.settlement import VOIDED, Due, due, net
from schemas.cards import CARDS, parse_cards
from schemas.catalogue import CATALOGUE
from schemas.money import Rounding
from schemas.terms import CommissionTerms, PayoutTerms, SettlementTerms

hands = st.lists(st.sampled_from(CARDS), min_size=2, max_size=3).map(tuple)
bets = st.sampled_from(sorted(CATALOGUE))
stakes = st.integers(1, 10**12)

WON_BY = {
    "B": view(("2H", "KH"), ("7S", "KS")),
    "P": view(("7H", "KH"), ("2S", "KS")),
    "T": view(("7H", "KH"), ("7S", "KS")),
}
BANKER_SIX = view(("2H", "KH"), ("6S", "KS"))

COMMISSIONS = {
    "5pct": CommissionTerms(),
    "5pct_commission_floor_cent": CommissionTerms(rounding="down"),
    "5pct_round_up_25c_per_5usd_bracket": CommissionTerms(unit=25, rounding="up"),
}
BETS = {"dragon7": "dragon_seven", "panda8": "panda_eight", "pair": "player_pair"}
RULESETS = {"ez": "banker_ez", "nocommission": "banker_commission_free"}


def dealt(vector: dict[str, Any]) -> RoundView:
    if "player" in vector:
        return view(parse_cards(vector["player"]), parse_cards(vector["banker"]))
    if "first_two" in vector:
        return view(parse_cards(vector["first_two"]), parse_cards("7 8"))
    return WON_BY[vector.get("outcome", "B")]


def owed(bet: str, stake: int, round_: RoundView, terms: SettlementTerms | None = None) -> Due:
    found = due(bet, stake, round_, terms or SettlementTerms())
    assert found is not None
    return found


def test_published_settlements_are_met(vectors: Path) -> None:
    cases = json.loads((vectors / "settlement.json").read_text())
    assert len(cases) == 19
    for case in cases:
        bet = RULESETS.get(case.get("ruleset"), BETS.get(case["bet"], case["bet"]))
        terms = SettlementTerms(COMMISSIONS.get(case.get("ruleset"), CommissionTerms()))
        if "commission_cents" in case:
            dollars = range(case["stake_usd_from"], case["stake_usd_to"] + 1)
            charged = {owed(bet, 100 * stake, dealt(case), terms).commission for stake in dollars}
            assert charged == {case["commission_cents"]}, case
            continue
        stake = case.get("stake_cents", case.get("stake"))
        won = net(stake, owed(bet, stake, dealt(case), terms))
        expected = case.get("net_cents", case.get("net", case.get("gross_return", 0) - stake))
        assert won == expected, case


def test_the_commission_is_five_per_cent_of_a_banker_win() -> None:
    """Art. 18."""
    assert owed("banker", 10_000, WON_BY["B"]) == Due("win", 10_000, 500, "18")
    assert owed("banker", 10_000, WON_BY["P"]) == Due("lose", 0, 0, "11")
    assert owed("banker", 10_000, WON_BY["T"]) == Due("push", 0, 0, "12")
    assert owed("player", 10_000, WON_BY["P"]) == Due("win", 10_000, 0, "17(1)")
    assert owed("tie", 10_000, WON_BY["T"]) == Due("win", 80_000, 0, "17(2)")


@pytest.mark.parametrize(
    ("rounding", "commission", "inexact"),
    [("down", 55, False), ("up", 56, False), ("nearest", 56, False), ("exact", 55, True)],
)
def test_the_commission_on_1111_is_rounded_as_the_table_says(
    rounding: Rounding, commission: int, inexact: bool
) -> None:
    """Five per cent of 1111 is 55.55. Where nothing may be rounded, that is said and no round is lost over it."""
    terms = SettlementTerms(CommissionTerms(rounding=rounding))
    assert owed("banker", 1111, WON_BY["B"], terms) == Due("win", 1111, commission, "18", inexact)


def test_the_commission_has_a_minimum() -> None:
    terms = SettlementTerms(CommissionTerms(minimum=25))
    assert owed("banker", 100, WON_BY["B"], terms).commission == 25
    assert owed("banker", 1000, WON_BY["B"], terms).commission == 50


@pytest.mark.parametrize("policy", [CommissionTerms(minimum=5_000), CommissionTerms(unit=5_000, rounding="up")])
def test_the_commission_is_never_more_than_was_won(policy: CommissionTerms) -> None:
    """Else the patron would owe the house for winning, and a dealer who paid nothing be accused of it."""
    found = owed("banker", 1_000, WON_BY["B"], SettlementTerms(policy))
    assert (found.winnings, found.commission, net(1_000, found)) == (1_000, 1_000, 0)


def test_four_per_cent_is_a_policy_too() -> None:
    assert owed("banker", 10_000, WON_BY["B"], SettlementTerms(CommissionTerms(Fraction(1, 25)))).commission == 400


def test_no_commission_on_the_commission_free_banker_but_half_pay_on_six() -> None:
    assert owed("banker_commission_free", 100, BANKER_SIX) == Due("win", 50, 0, "banker wins with 6")
    assert owed("banker_commission_free", 100, WON_BY["B"]) == Due("win", 100, 0, "17(1)")


@pytest.mark.parametrize(
    ("terms", "winnings", "inexact"),
    [
        (PayoutTerms(), 50, False), (PayoutTerms(rounding="up"), 51, False),
        (PayoutTerms(rounding="nearest"), 51, False), (PayoutTerms(rounding="exact"), 50, True),
        (PayoutTerms(25, "down"), 50, False), (PayoutTerms(25, "up"), 75, False),
    ],
)  # fmt: skip
def test_half_of_an_odd_stake_is_rounded_as_the_table_says(terms: PayoutTerms, winnings: int, inexact: bool) -> None:
    found = owed("banker_commission_free", 101, BANKER_SIX, SettlementTerms(payout=terms))
    assert found == Due("win", winnings, 0, "banker wins with 6", inexact)


def test_own_odds_pay_in_place_of_the_catalogues() -> None:
    terms = SettlementTerms(odds={"lucky_six": (Fraction(15), Fraction(23)), "banker": (Fraction(1, 2),)})
    assert owed("lucky_six", 100, BANKER_SIX, terms).winnings == 1500
    assert owed("banker", 10_000, BANKER_SIX, terms) == Due("win", 5000, 250, "18")
    assert owed("tie", 100, WON_BY["T"], terms).winnings == 800


def test_what_suits_decide_is_left_open_without_them() -> None:
    assert due("perfect_pair", 100, view(("J", "J"), ("2", "3")), SettlementTerms()) is None


def test_the_lucky_six_may_follow_the_patrons_side() -> None:
    six = view(("6H", "KH"), ("5S", "KS"))
    assert due("lucky_six", 100, six, SettlementTerms(), "player") == Due("win", 1200, 0, "two cards")
    assert owed("lucky_six", 100, six).result == "lose"


@given(stakes)
def test_a_void_round_returns_every_stake(stake: int) -> None:
    """Art. 10."""
    assert net(stake, VOIDED) == 0


@given(bets, stakes, hands, hands)
def test_what_is_due_is_what_a_unit_wins_times_the_stake(
    bet: str, stake: int, player: tuple[str, ...], banker: tuple[str, ...]
) -> None:
    round_ = view(player, banker)
    odds = settle(bet, round_)
    found = owed(bet, stake, round_)
    assert odds is not None
    gap = stake * odds - (net(stake, found) + found.commission)
    assert 0 <= gap < 1
    assert found.result == ("lose" if odds < 0 else "win" if odds else "push")


@given(
    stakes,
    st.fractions(0, 1, max_denominator=100),
    st.integers(1, 500),
    st.sampled_from(["exact", "up", "down", "nearest"]),
    st.integers(0, 1000),
)
def test_the_commission_is_whole_units_less_than_one_off_the_rate_or_the_minimum(
    stake: int, rate: Fraction, unit: int, rounding: Rounding, minimum: int
) -> None:
    found = owed("banker", stake, WON_BY["B"], SettlementTerms(CommissionTerms(rate, unit, rounding, minimum)))
    assert found.winnings == stake
    if found.commission not in (minimum, stake):
        assert found.commission % unit == 0
        assert abs(found.commission - stake * rate) < unit
    assert min(minimum, stake) <= found.commission <= stake
    assert found.inexact == (rounding == "exact" and (stake * rate) % unit != 0)


@given(stakes, hands, hands)
def test_even_stakes_on_both_sides_leave_the_house_the_commission(
    stake: int, player: tuple[str, ...], banker: tuple[str, ...]
) -> None:
    """Arts. 11, 17(1) and 18: the two main bets pay each other."""
    round_ = view(player, banker)
    dues = [owed("player", stake, round_), owed("banker", stake, round_)]
    assert sum(net(stake, found) for found in dues) == -sum(found.commission for found in dues)
