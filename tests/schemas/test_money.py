"""Amounts are whole minor units, and the one place where they are rounded."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.money import InexactAmount, Rounding, format_money, round_ratio, to_decimal

amounts = st.fractions(min_value=0, max_value=10**12, max_denominator=1000)
units = st.integers(1, 10_000)


@pytest.mark.parametrize(("rounding", "rounded"), [("down", 55), ("up", 56), ("nearest", 56)])
def test_a_half_goes_down_up_or_to_the_nearest_which_is_up(rounding: Rounding, rounded: int) -> None:
    assert round_ratio(111, 2, 1, rounding) == rounded


def test_less_than_a_half_is_nearest_below() -> None:
    assert round_ratio(549, 10, 1, "nearest") == 55
    assert round_ratio(544, 10, 1, "nearest") == 54
    assert round_ratio(124, 1, 25, "nearest") == 125
    assert round_ratio(112, 1, 25, "nearest") == 100


def test_an_exact_policy_takes_whole_units_only() -> None:
    assert round_ratio(100, 1, 25, "exact") == 100
    with pytest.raises(InexactAmount, match="111/2 is no whole number of 1 minor units"):
        round_ratio(111, 2, 1, "exact")


@given(amounts, units, st.sampled_from(["up", "down", "nearest"]))
def test_a_rounded_amount_is_whole_units_less_than_one_away(amount: Fraction, unit: int, rounding: Rounding) -> None:
    rounded = round_ratio(amount.numerator, amount.denominator, unit, rounding)
    assert rounded % unit == 0
    assert abs(rounded - amount) < unit
    if rounding == "nearest":
        assert abs(rounded - amount) * 2 <= unit
    elif rounding == "up":
        assert rounded >= amount
    else:
        assert rounded <= amount


@given(st.integers(0, 10**9), units, st.sampled_from(["exact", "up", "down", "nearest"]))
def test_whole_units_stay_what_they_are(times: int, unit: int, rounding: Rounding) -> None:
    assert round_ratio(times * unit, 1, unit, rounding) == times * unit


def test_people_read_decimals_with_their_currency() -> None:
    assert to_decimal(12345, "HKD") == Decimal("123.45")
    assert format_money(123450, "HKD") == "HKD 1,234.50"
    assert format_money(-5, "MOP") == "MOP -0.05"
