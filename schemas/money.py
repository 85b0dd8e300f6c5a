"""Exact money: integers of the currency's minor unit, and one place where they are rounded."""

from decimal import Decimal
from fractions import Fraction
from typing import Final, Literal

Rounding = Literal["exact", "up", "down", "nearest"]

MAX_AMOUNT: Final = 10**15
"""Ten trillion dollars in cents: more than any floor holds."""

MAX_STAKE: Final = 10**11
"""A billion dollars in cents: a hundred times the highest stakes known."""

MAX_ODDS: Final = 1_000
"""To one: five times the longest odds in the catalogue."""

MAX_PAYOUT: Final = MAX_STAKE * MAX_ODDS

MAX_BETS: Final = 1_000
"""Bets of one round."""

MAX_MOVES: Final = 5_000
"""Times that chips are moved or commission is charged in one round."""

# The store holds amounts of 18 digits: whatever is staked, won, paid and charged in one round adds up to fewer.
assert max(MAX_BETS, MAX_MOVES) * MAX_PAYOUT < 10**18

# ISO 4217 exponents of the currencies a Macau table deals in; the store keeps two decimals.
MINOR_DIGITS: Final[dict[str, int]] = {"HKD": 2, "MOP": 2, "CNY": 2, "USD": 2, "SGD": 2, "PHP": 2, "AUD": 2}


class InexactAmount(ValueError):
    """Raised where the policy says ``exact`` and the amount is no whole number of units."""


def round_ratio(numerator: int, denominator: int, unit: int, rounding: Rounding) -> int:
    """Return ``numerator / denominator`` minor units (not negative) as a whole multiple of `unit` minor units.

    ``nearest`` sends a half up, as a cage does. Raises `InexactAmount` under ``exact`` when there is a rest.
    """
    step = denominator * unit
    quotient, rest = divmod(numerator, step)
    if rest == 0:
        return quotient * unit
    if rounding == "exact":
        raise InexactAmount(f"{Fraction(numerator, denominator)} is no whole number of {unit} minor units")
    if rounding == "up" or (rounding == "nearest" and 2 * rest >= step):
        quotient += 1
    return quotient * unit


def to_decimal(minor: int, currency: str) -> Decimal:
    """Return minor units as the amount people read: 12345 HKD cents are ``Decimal('123.45')``."""
    return Decimal(minor).scaleb(-MINOR_DIGITS[currency])


def format_money(minor: int, currency: str) -> str:
    """Return the amount with thousands separators and its currency: ``HKD 1,234.50``."""
    return f"{currency} {to_decimal(minor, currency):,.{MINOR_DIGITS[currency]}f}"
