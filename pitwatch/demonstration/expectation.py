"""What a floor should have won by the exact odds, and how far chance may carry it from there. Pure.

Theoretical win is the sum over bets of stake × house edge. An edge counts a tie that pushes as a round that won
nothing, so stakes that pushed count as well. Edges are a fresh shoe's, before payouts and commission are rounded.
"""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from math import sqrt
from typing import Final, NamedTuple

import msgspec

from processors.rules.odds import BetOdds, evaluate, full_shoe
from schemas.configuration import TableConfiguration, exact

NORMAL_95: Final = 1.96
"""Standard deviations to either side that hold 95 % of a normal distribution."""

STAKED_SQL: Final = """
SELECT table_id, bet, sum(number) AS bets, sum(in_round) AS staked, sum(pow(toFloat64(in_round), 2)) AS squares
FROM
(
    SELECT table_id, shoe, round, bet, count() AS number, sum(stake) AS in_round
    FROM bets
    WHERE result IN ('win', 'lose', 'push')
    GROUP BY table_id, shoe, round, bet
)
GROUP BY table_id, bet
ORDER BY table_id, bet
"""
"""What was staked on each bet of each table; stakes on one bet in one round win or lose together."""


class Staked(msgspec.Struct, frozen=True):
    """A row of `STAKED_SQL`: amounts in whole units of the currency, `squares` summed over rounds."""

    table_id: str
    bet: str
    bets: int
    staked: Decimal
    squares: float


class Expected(NamedTuple):
    """The win that the odds give, its standard deviation, and of how many bets; in whole units of the currency."""

    win: Fraction = Fraction(0)
    deviation: float = 0.0
    bets: int = 0

    @property
    def band(self) -> tuple[float, float]:
        """Between what amounts the win lies in 95 of 100 cases."""
        reach = NORMAL_95 * self.deviation
        return float(self.win) - reach, float(self.win) + reach


def together(parts: Iterable[Expected]) -> Expected:
    """Return the expectation of several tables, whose rounds know nothing of each other."""
    total = Expected()
    for part in parts:
        deviation = sqrt(total.deviation**2 + part.deviation**2)
        total = Expected(total.win + part.win, deviation, total.bets + part.bets)
    return total


def expected_wins(staked: Iterable[Staked], configurations: Mapping[str, TableConfiguration]) -> dict[str, Expected]:
    """Return each table's expectation, by the rules of its configuration.

    Bets on one side and on the other partly cancel each other out, which the deviation leaves out of account: the band
    is rather too wide than too narrow.
    """
    wins: dict[str, Expected] = {}
    for row in staked:
        odds = _odds(row.bet, configurations[row.table_id])
        part = Expected(Fraction(row.staked) * odds.house_edge, odds.standard_deviation * sqrt(row.squares), row.bets)
        wins[row.table_id] = together((wins.get(row.table_id, Expected()), part))
    return wins


def _odds(bet: str, configuration: TableConfiguration) -> BetOdds:
    own = next((offer.odds for offer in configuration.bets if offer.bet == bet and offer.odds), None)
    odds = evaluate(
        bet,
        full_shoe(configuration.decks),
        tuple(exact(ratio) for ratio in own) if own else None,
        exact(configuration.commission.rate),
    )
    assert odds is not None, "every suit of a fresh shoe is known"
    return odds
