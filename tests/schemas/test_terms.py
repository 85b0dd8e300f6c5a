"""Terms that no table could settle by are refused before any bet meets them."""

from fractions import Fraction

import pytest

from schemas.catalogue import InvalidOdds, UnknownBet
from schemas.terms import CommissionTerms, PayoutTerms, SettlementTerms


def test_the_regulation_is_the_default() -> None:
    """Art. 18: five per cent."""
    terms = SettlementTerms()
    assert terms.commission == CommissionTerms(Fraction(1, 20), 1, "nearest", 0)
    assert terms.payout == PayoutTerms(1, "down")
    assert not terms.odds


@pytest.mark.parametrize("rate", [Fraction(-1, 20), Fraction(21, 20)])
def test_a_commission_is_a_share_of_the_winnings(rate: Fraction) -> None:
    with pytest.raises(ValueError, match="give 0 to 1"):
        CommissionTerms(rate)


def test_a_commission_has_a_unit_and_no_negative_minimum() -> None:
    with pytest.raises(ValueError, match="a unit of 1 minor unit or more"):
        CommissionTerms(unit=0)
    with pytest.raises(ValueError, match="a minimum of 0 or more"):
        CommissionTerms(minimum=-1)


def test_a_payout_has_a_unit() -> None:
    with pytest.raises(ValueError, match="a payout unit of 0 pays nothing"):
        PayoutTerms(unit=0)


def test_own_odds_are_checked_against_the_catalogue() -> None:
    assert SettlementTerms(odds={"tie": (Fraction(9),)}).odds["tie"] == (Fraction(9),)
    with pytest.raises(InvalidOdds):
        SettlementTerms(odds={"tie": (Fraction(9), Fraction(1))})
    with pytest.raises(UnknownBet):
        SettlementTerms(odds={"ties": (Fraction(9),)})
