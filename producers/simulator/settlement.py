"""What a dealer pays: the catalogue's pay rules read by the simulator's own arithmetic.

Like `dealing`, this is a second implementation on purpose. All it shares with Pitwatch is the catalogue: data.
"""

from fractions import Fraction
from typing import Final, Literal, NamedTuple

from schemas.catalogue import CATALOGUE, PUSH, When
from schemas.configuration import Commission, RoundingPolicy, TableConfiguration, exact

Result = Literal["win", "lose", "push"]

_Condition = tuple[tuple[int, object], ...]


class _Rule(NamedTuple):
    conditions: tuple[_Condition, ...]
    odds: Fraction
    paying: int | None


class Due(NamedTuple):
    """What a stake is due: `winnings` before commission, the `commission`, and what the tray pays at once."""

    result: Result
    winnings: int = 0
    commission: int = 0
    payout: int = 0


_LOST: Final = Due("lose")
_PUSHED: Final = Due("push")


def _rules(bet: str) -> tuple[_Rule, ...]:
    """Return the bet's pay rules, each condition as (field of `When`, value), each rule with its place if it pays."""
    rules, paying = [], 0
    for pay in CATALOGUE[bet].pays:
        conditions = tuple(
            tuple((field, value) for field, value in enumerate(when) if value is not None) for when in pay.when
        )
        rules.append(_Rule(conditions, pay.odds, None if pay.odds == PUSH else paying))
        paying += pay.odds != PUSH
    return tuple(rules)


_RULES: Final[dict[str, tuple[_Rule, ...]]] = {bet: _rules(bet) for bet in CATALOGUE}


class Terms:
    """How one configuration settles. Arts. 17 and 18."""

    def __init__(self, configuration: TableConfiguration) -> None:
        self._odds: dict[str, tuple[Fraction, ...]] = {
            offer.bet: tuple(exact(odds) for odds in offer.odds)
            for offer in configuration.bets
            if offer.odds is not None
        }
        self._rounding: RoundingPolicy = configuration.payout_rounding
        self._commission: Commission = configuration.commission
        self._rate = exact(configuration.commission.rate)
        self.marked = configuration.commission.collection == "marked"

    def due(self, bet: str, stake: int, shown: When) -> Due:
        """Return what `stake` on `bet` is due when the cards show `shown`."""
        for conditions, odds, paying in _RULES[bet]:
            if any(all(shown[field] == value for field, value in condition) for condition in conditions):
                if paying is None:
                    return _PUSHED
                override = self._odds.get(bet)
                return self._won(bet, stake, override[paying] if override else odds)
        return _LOST

    def _won(self, bet: str, stake: int, odds: Fraction) -> Due:
        policy = self._rounding
        winnings = _payable(stake * odds.numerator, odds.denominator, policy.unit, policy.rounding)
        if not CATALOGUE[bet].commission:
            return Due("win", winnings, 0, winnings)
        commission = self._commission_on(winnings)
        return Due("win", winnings, commission, winnings if self.marked else max(0, winnings - commission))

    def _commission_on(self, winnings: int) -> int:
        """Return art. 18's share of a banker win."""
        policy = self._commission
        share = winnings * self._rate.numerator
        return max(policy.minimum, _payable(share, self._rate.denominator, policy.unit, policy.rounding))


def _payable(numerator: int, denominator: int, unit: int, rounding: str) -> int:
    """Return the fraction in whole units: a half goes up under ``nearest``."""
    step = denominator * unit
    if rounding == "up":
        return -(-numerator // step) * unit
    if rounding == "nearest":
        return (2 * numerator + step) // (2 * step) * unit
    assert rounding == "down", "settings refuse exact rounding"
    return numerator // step * unit
