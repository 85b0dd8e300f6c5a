"""What each bet is due: winnings, commission and the stake (arts. 10, 17 and 18), in whole minor units."""

from functools import cache
from typing import Final, NamedTuple

from processors.rules.bets import Result, Ruling, rulings
from processors.rules.hands import RoundView
from schemas.cards import Hand
from schemas.catalogue import COMMISSION_BETS
from schemas.money import InexactAmount, Rounding, round_ratio
from schemas.terms import CommissionTerms, SettlementTerms


class Due(NamedTuple):
    """What a stake is due: `winnings` before commission, and `commission`, both in minor units.

    `item` names the article or pay rule. `inexact` says that the table's rounding is ``exact`` and the amount had a
    rest: it is then rounded down, and the stake should not have been taken.
    """

    result: Result
    winnings: int
    commission: int
    item: str
    inexact: bool = False


VOIDED: Final = Due("push", 0, 0, "10")
"""What every stake of a void round is due: itself (art. 10)."""


class _Win(NamedTuple):
    numerator: int
    denominator: int
    paying: int
    item: str
    commission: bool


@cache
def _rows(bet: str, side: Hand | None) -> tuple[bool, tuple[Due | _Win | None, ...]]:
    """Return the rulings of a bet as what is due, where the stake doesn't matter, or as odds in plain integers."""
    pairs, rows, by_rule = rulings(bet, side)
    dues: dict[Ruling | None, Due | _Win | None] = {None: None}
    for ruling in by_rule:
        result, odds, item, _, paying = ruling
        win = _Win(odds.numerator, odds.denominator, paying, item, bet in COMMISSION_BETS)
        dues[ruling] = win if result == "win" else Due(result, 0, 0, item)
    return pairs, tuple(dues[ruling] for ruling in rows)


def _share(numerator: int, denominator: int, unit: int, rounding: Rounding) -> tuple[int, bool]:
    try:
        return round_ratio(numerator, denominator, unit, rounding), False
    except InexactAmount:
        return round_ratio(numerator, denominator, unit, "down"), True


def commission_on(winnings: int, terms: CommissionTerms) -> tuple[int, bool]:
    """Return art. 18's commission on a banker win of `winnings`, and whether ``exact`` rounding left a rest.

    It is taken of what was won, so neither a minimum nor a unit can make it more than that.
    """
    rate = terms.rate
    amount, inexact = _share(winnings * rate.numerator, rate.denominator, terms.unit, terms.rounding)
    return min(max(amount, terms.minimum), winnings), inexact


def due(bet: str, stake: int, view: RoundView, terms: SettlementTerms, side: Hand | None = None) -> Due | None:
    """Return what a stake is due (arts. 17 and 18), or None where suits that nobody recorded decide it.

    `side` is the patron's main side where the table lets a one-hand bet follow it (lucky six). Raises `UnknownBet`.
    """
    pairs, rows = _rows(bet, side)
    row = rows[view.pairs_key if pairs else view.hands_key]
    if row is None or isinstance(row, Due):
        return row
    numerator, denominator, paying, item, commission_due = row
    if bet in terms.odds:
        odds = terms.odds[bet][paying]
        numerator, denominator = odds.numerator, odds.denominator
    payout = terms.payout
    winnings, inexact = _share(stake * numerator, denominator, payout.unit, payout.rounding)
    if not commission_due:
        return Due("win", winnings, 0, item, inexact)
    commission, rest = commission_on(winnings, terms.commission)
    return Due("win", winnings, commission, "18", inexact or rest)


def net(stake: int, due: Due) -> int:
    """Return what the patron has more or less when the bet is settled: winnings less commission, or the stake lost."""
    return -stake if due.result == "lose" else due.winnings - due.commission
