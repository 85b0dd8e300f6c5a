"""What a floor should have won, against the published edges and deviations (8 decks)."""

from decimal import Decimal
from fractions import Fraction
from math import sqrt

import pytest

from pitwatch.demonstration.expectation import NORMAL_95, Expected, Staked, expected_wins, together
from schemas.configuration import Commission, preset

MACAU = preset("macau")
TABLES = {"BAC-101": MACAU, "BAC-102": MACAU}


def staked(bet: str, amount: int, table_id: str = "BAC-101", rounds: int = 1) -> Staked:
    return Staked(table_id, bet, rounds, Decimal(amount), rounds * (amount / rounds) ** 2)


@pytest.mark.parametrize(
    ("bet", "edge", "deviation"),
    [
        ("banker", 0.010579, 0.92737),
        ("player", 0.012351, 0.95115),
        ("tie", 0.143596, 2.64087),
        ("player_pair", 0.103614, 3.15486),
    ],
)
def test_one_stake_has_the_published_edge_and_deviation(bet: str, edge: float, deviation: float) -> None:
    found = expected_wins([staked(bet, 100)], TABLES)["BAC-101"]
    assert float(found.win) == pytest.approx(100 * edge, abs=1e-4)
    assert found.deviation == pytest.approx(100 * deviation, abs=1e-3)
    assert found.bets == 1


def test_wins_add_up_and_deviations_by_their_squares() -> None:
    once = expected_wins([staked("banker", 100)], TABLES)["BAC-101"]
    spread = expected_wins([staked("banker", 400, rounds=4)], TABLES)["BAC-101"]
    assert spread.win == 4 * once.win
    assert spread.deviation == pytest.approx(2 * once.deviation)
    both = together([once, spread])
    assert both.win == 5 * once.win
    assert both.deviation == pytest.approx(sqrt(5) * once.deviation)
    assert both.bets == 5


def test_tables_are_kept_apart() -> None:
    found = expected_wins([staked("tie", 7), staked("tie", 9, "BAC-102")], TABLES)
    assert found["BAC-101"].win * 9 == found["BAC-102"].win * 7


def test_a_table_own_odds_and_commission_count() -> None:
    generous = tuple(offer.model_copy(update={"odds": ("9",)}) if offer.bet == "tie" else offer for offer in MACAU.bets)
    own = MACAU.model_copy(update={"bets": generous, "commission": Commission(rate="0")})
    found = expected_wins([staked("tie", 100)], {"BAC-101": own})["BAC-101"]
    # Each unit more that a tie pays costs the house its probability, 9.5156 %.
    assert float(found.win) == pytest.approx(14.3596 - 9.5156, abs=1e-3)
    free = expected_wins([staked("banker", 100)], {"BAC-101": own})["BAC-101"]
    assert free.win < 0


def test_a_bet_the_table_does_not_offer_has_the_catalogue_odds() -> None:
    assert float(expected_wins([staked("lucky_six", 100)], TABLES)["BAC-101"].win) == pytest.approx(16.6836, abs=1e-3)


def test_the_band_reaches_to_both_sides() -> None:
    low, high = Expected(Fraction(10), 100.0, 5).band
    assert (low, high) == (10 - NORMAL_95 * 100, 10 + NORMAL_95 * 100)
    assert together([]) == Expected()
