"""Limits, the differential, the wiki's rules on one patron's bets, and what a tie lets patrons change."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.rules.articles import ARTICLES
from processors.rules.findings import Finding
from processors.rules.limits import (
    Stake,
    TieChange,
    change_after_tie,
    companion,
    differential,
    one_side,
    stake_limits,
)
from schemas.alerts import ALERTS
from schemas.cards import Hand
from schemas.catalogue import MAIN_BETS, UnknownBet

amounts = st.integers(1, 10**9)


@pytest.mark.parametrize(
    ("stake", "multiple", "finding"),
    [
        (299, None, Finding("below_minimum", "SJM(1)", 300, 299)),
        (300, None, None),
        (450, None, None),
        (450, 0, None),
        (3000, None, None),
        (3001, None, Finding("above_maximum", "SJM(1)", 3000, 3001)),
        (300, 300, None),
        (2700, 300, None),
        (450, 300, Finding("stake_not_multiple", "SJM(1)", 300, 450)),
        (3300, 300, Finding("above_maximum", "SJM(1)", 3000, 3300)),
    ],
)
def test_banker_stakes_are_multiples_of_the_minimum_and_player_stakes_any_amount(
    stake: int, multiple: int | None, finding: Finding | None
) -> None:
    """SJM(1)."""
    assert stake_limits(stake, 300, 3000, multiple) == finding


def test_the_sides_may_differ_by_the_limit() -> None:
    """Art. 14."""
    assert differential(100, 300, 200) is None
    assert differential(100, 301, 200) == Finding("differential_exceeded", "14", 200, 201)
    assert differential(301, 100, 200) == Finding("differential_exceeded", "14", 200, 201)
    assert differential(10**9, 0, None) is None


@given(amounts, amounts, amounts)
def test_the_differential_is_the_same_whichever_side_is_ahead(player: int, banker: int, limit: int) -> None:
    assert differential(player, banker, limit) == differential(banker, player, limit)
    assert (differential(player, banker, limit) is None) == (max(player, banker) <= min(player, banker) + limit)


def test_a_patron_bets_on_one_side() -> None:
    """The wiki's page."""
    assert one_side(100, 0) is None
    assert one_side(0, 100) is None
    assert one_side(0, 0) is None
    assert one_side(100, 300) == Finding("both_sides", "wiki(2)", "one side", "both sides")


@pytest.mark.parametrize(
    ("bet", "sides", "actual"),
    [
        ("lucky_six", ["banker"], None),
        ("lucky_six", ["player"], None),
        ("lucky_six", [], "no main bet"),
        ("lucky_six", ["player", "banker"], "player and banker"),
        ("tie", [], None),
        ("player_pair", [], None),
    ],
)
def test_the_lucky_six_is_bet_with_one_side(bet: str, sides: list[Hand], actual: str | None) -> None:
    """The wiki's page."""
    finding = None if actual is None else Finding("side_bet_alone", "wiki(1)", "banker or player", actual)
    assert companion(bet, sides) == finding


def test_a_table_may_offer_the_lucky_six_on_the_banker_only() -> None:
    """Despacho SEF 56/2018."""
    assert companion("lucky_six", ["banker"], ["banker"]) is None
    assert companion("lucky_six", ["player"], ["banker"]) == Finding("side_bet_alone", "wiki(1)", "banker", "player")


def test_an_unknown_bet_is_refused() -> None:
    with pytest.raises(UnknownBet):
        companion("lucky", ["banker"])


BEFORE = Stake("player", 300)


@pytest.mark.parametrize(
    ("after", "change", "article", "add_only"),
    [
        (None, "cancel", "12(1)", False),
        (Stake("player", 0), "cancel", "12(1)", False),
        (Stake("player", 300), "keep", "12(2)", True),
        (Stake("player", 301), "raise", "12(3)(1)", True),
        (Stake("player", 299), "lower", "12(3)(1)", False),
        (Stake("banker", 300), "move", "12(3)(2)", False),
        (Stake("banker_commission_free", 600), "move", "12(3)(2)", False),
    ],
)
def test_after_a_tie_the_regulation_allows_any_change_and_sjm_only_adding(
    after: Stake | None, change: str, article: str, add_only: bool
) -> None:
    """Art. 12 and SJM(2)."""
    assert change_after_tie(BEFORE, after) == (change, True, article)
    allowed = change_after_tie(BEFORE, after, "add_only")
    assert allowed == (change, add_only, article if add_only else "SJM(2)")


def test_a_standing_stake_moves_between_the_sides_only() -> None:
    """Art. 12(3)(2)."""
    moved = change_after_tie(BEFORE, Stake("tie", 300))
    assert moved == TieChange("move", allowed=False, article="12(3)(2)")
    assert moved.finding == Finding("tie_change_forbidden", "12(3)(2)", "player or banker", "move")
    assert not change_after_tie(Stake("player_pair", 300), Stake("player", 300)).allowed


def test_a_forbidden_change_is_a_finding() -> None:
    lowered = change_after_tie(BEFORE, Stake("player", 100), "add_only")
    assert lowered.finding == Finding("tie_change_forbidden", "SJM(2)", "keep or raise", "lower")
    assert change_after_tie(BEFORE, Stake("player", 100)).finding is None


@given(st.sampled_from(sorted(MAIN_BETS)), amounts, st.sampled_from(sorted(MAIN_BETS)), st.integers(0, 10**9))
def test_sjm_allows_nothing_that_the_regulation_forbids(bet: str, amount: int, other: str, new: int) -> None:
    regulation = change_after_tie(Stake(bet, amount), Stake(other, new))
    add_only = change_after_tie(Stake(bet, amount), Stake(other, new), "add_only")
    assert regulation.allowed
    assert add_only.change == regulation.change
    assert add_only.allowed == (other == bet and new >= amount)


def test_every_finding_is_an_alert_and_names_an_article_there_is() -> None:
    findings = [
        stake_limits(1, 2, 3), stake_limits(4, 2, 3), stake_limits(3, 2, 4, 2), differential(5, 0, 1), one_side(1, 1),
        companion("lucky_six", []), change_after_tie(BEFORE, None, "add_only").finding,
        change_after_tie(BEFORE, Stake("tie", 1)).finding,
    ]  # fmt: skip
    for finding in findings:
        assert finding is not None
        assert finding.kind in ALERTS
        assert finding.article in ARTICLES
