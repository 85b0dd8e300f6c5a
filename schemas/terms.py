"""What a table's configuration says about money, in the shape the rules compute with."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import Final

from schemas.catalogue import checked_odds
from schemas.money import Rounding

FIVE_PERCENT: Final = Fraction(1, 20)
"""Art. 18: the commission on a banker win."""


@dataclass(frozen=True, slots=True)
class PayoutTerms:
    """How winnings that are no whole chip are rounded: to multiples of `unit` minor units.

    Raises `ValueError` for a unit below one.
    """

    unit: int = 1
    rounding: Rounding = "down"

    def __post_init__(self) -> None:
        if self.unit < 1:
            raise ValueError(f"a payout unit of {self.unit} pays nothing: give 1 minor unit or more")


@dataclass(frozen=True, slots=True)
class CommissionTerms:
    """What the house takes of a banker win (art. 18): `rate` of the winnings, in whole `unit`s, at least `minimum`.

    A floor's brackets ("up to 25 cents for each 5 dollars") are a unit of 25 rounded up. Raises `ValueError`
    for a rate outside 0 to 1, a unit below one or a negative minimum.
    """

    rate: Fraction = FIVE_PERCENT
    unit: int = 1
    rounding: Rounding = "nearest"
    minimum: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.rate <= 1:
            raise ValueError(f"a commission of {self.rate} is no share of the winnings: give 0 to 1")
        if self.unit < 1 or self.minimum < 0:
            raise ValueError("a commission needs a unit of 1 minor unit or more and a minimum of 0 or more")


@dataclass(frozen=True, slots=True)
class SettlementTerms:
    """How a table settles: art. 18's commission, the rounding of winnings, and odds that differ from the catalogue's.

    `odds` maps a bet to one value for each of its paying rules. Raises `InvalidOdds` or `UnknownBet`.
    """

    commission: CommissionTerms = field(default_factory=CommissionTerms)
    payout: PayoutTerms = field(default_factory=PayoutTerms)
    odds: Mapping[str, tuple[Fraction, ...]] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        for bet, odds in self.odds.items():
            checked_odds(bet, odds)
