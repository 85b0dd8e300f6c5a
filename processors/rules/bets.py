"""The interpreter of the bet catalogue: which pay rule a round meets.

A bet looks either at totals and counts or at pairs, so its answers for every case there is fit a table of 400 or 32
rows. The tables are worked out when a bet is first met; a settlement is then a look-up.
"""

from collections.abc import Iterable
from fractions import Fraction
from functools import cache
from typing import Final, Literal, NamedTuple

from processors.rules.hands import HANDS_CASES, PAIRS_CASES, RoundView
from schemas.cards import Hand
from schemas.catalogue import PAIR_CONDITIONS, PUSH, BetDefinition, When, definition
from schemas.errors import PitwatchError

Result = Literal["win", "lose", "push"]

LOSE: Final = Fraction(-1)
"""The odds of a lost stake."""


class UnsupportedBet(PitwatchError, ValueError):
    """Raised for a bet whose rules look at totals and at pairs together."""


class Ruling(NamedTuple):
    """What a round means for a bet: the result, its odds to one, and the rule's name in a report.

    `rule` is the pay rule's place in the definition, and `paying` its place among the rules that pay; a lost stake
    stands behind the last rule, and -1 stands for no paying rule.
    """

    result: Result
    odds: Fraction
    item: str
    rule: int
    paying: int


class Rulings(NamedTuple):
    """A bet's rulings for every case, a row each by the view's `pairs_key` where `pairs`, else by its `hands_key`.

    A row is None where the case hangs on suits that nobody recorded. `by_rule` holds one ruling a rule, the lost
    stake last.
    """

    pairs: bool
    rows: tuple[Ruling | None, ...]
    by_rule: tuple[Ruling, ...]


def _fits(when: When, view: RoundView) -> bool | None:
    """Whether a round meets every condition of `when`; None where that hangs on suits nobody recorded."""
    answer: bool | None = True
    for name, wanted in zip(when._fields, when, strict=True):
        if wanted is None:
            continue
        found = getattr(view, name)
        if found is None:
            answer = None
        elif found != wanted:
            return False
    return answer


def _any(answers: Iterable[bool | None]) -> bool | None:
    seen = set(answers)
    return True if True in seen else None if None in seen else False


def _ruling(bet: BetDefinition, by_rule: tuple[Ruling, ...], view: RoundView) -> Ruling | None:
    for pay, ruling in zip(bet.pays, by_rule, strict=False):
        fits = _any(_fits(when, view) for when in pay.when)
        if fits:
            return ruling
        if fits is None:
            return None
    return by_rule[-1]


def _by_rule(bet: BetDefinition) -> tuple[Ruling, ...]:
    rulings: list[Ruling] = []
    paying = 0
    for rule, pay in enumerate(bet.pays):
        if pay.odds == PUSH:
            rulings.append(Ruling("push", PUSH, pay.item, rule, -1))
        else:
            rulings.append(Ruling("win", pay.odds, pay.item, rule, paying))
            paying += 1
    return (*rulings, Ruling("lose", LOSE, bet.lose_item, len(rulings), -1))


def interpret(bet: BetDefinition) -> Rulings:
    """Return the rulings of a bet for every case. Raises `UnsupportedBet`."""
    pairs = bet.conditions & PAIR_CONDITIONS
    if pairs and pairs != bet.conditions:
        raise UnsupportedBet(f"{bet.name} looks at totals and at pairs: no table of cases holds both")
    by_rule = _by_rule(bet)
    cases = PAIRS_CASES if pairs else HANDS_CASES
    return Rulings(bool(pairs), tuple(_ruling(bet, by_rule, case) for case in cases), by_rule)


@cache
def rulings(bet: str, side: Hand | None = None) -> Rulings:
    """Return the rulings of a catalogue bet, with the hands changed over where `side` isn't the side it is on.

    A table may offer the lucky six on the player too: the patron's main side then says which six wins. Raises
    `UnknownBet`.
    """
    found = definition(bet)
    return interpret(found if side in (None, found.side) else found.mirrored())


def rule(bet: str, view: RoundView, side: Hand | None = None) -> Ruling | None:
    """Return what the round means for the bet, None where suits that nobody recorded decide it. Raises `UnknownBet`."""
    pairs, rows, _ = rulings(bet, side)
    return rows[view.pairs_key if pairs else view.hands_key]


def settle(
    bet: str, view: RoundView, odds: tuple[Fraction, ...] | None = None, side: Hand | None = None
) -> Fraction | None:
    """Return what a stake of one wins: its odds, 0 for a push, -1 when it is lost, None where suits are wanting.

    `odds` are a table's own, one for each paying rule. Raises `UnknownBet`.
    """
    ruling = rule(bet, view, side)
    if ruling is None:
        return None
    return odds[ruling.paying] if odds and ruling.paying >= 0 else ruling.odds
