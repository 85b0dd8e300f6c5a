"""What may be staked: limits and multiples, the differential, one side a patron, and changes after a tie.

Amounts are minor units. Every check returns a finding, or None where the rule was kept.
"""

from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Final, Literal

from processors.rules.findings import Finding
from schemas.cards import Hand
from schemas.catalogue import MAIN_BETS, definition

TiePolicy = Literal["regulation", "add_only"]
Change = Literal["cancel", "keep", "raise", "lower", "move", "move_off"]
"""What was done to a stake; ``move`` is between the sides, ``move_off`` to a bet that is on no side."""

TIE_CHANGES: Final[Mapping[Change, str]] = MappingProxyType(
    {"cancel": "12(1)", "keep": "12(2)", "raise": "12(3)(1)", "lower": "12(3)(1)", "move": "12(3)(2)"}
)
"""What may be done to a stake that a tie left standing, and the sub-item of art. 12 that says so."""

ADD_ONLY: Final[frozenset[Change]] = frozenset({"keep", "raise"})
"""What SJM lets patrons do with it."""


def check_stake(stake: int, minimum: int, maximum: int, multiple: int = 0) -> Finding | None:
    """SJM: a stake lies between the bet's limits, and a banker stake is the minimum or a multiple of it.

    `multiple` is what the stake must be made of, 0 for any amount.
    """
    if stake < minimum:
        return Finding("below_minimum", "SJM(1)", minimum, stake)
    if stake > maximum:
        return Finding("above_maximum", "SJM(1)", maximum, stake)
    if multiple and stake % multiple:
        return Finding("stake_not_multiple", "SJM(1)", multiple, stake)
    return None


def check_differential(player: int, banker: int, limit: int) -> Finding | None:
    """Art. 14: all stakes on the player and all on the banker differ by the table's limit at most."""
    difference = abs(player - banker)
    return Finding("differential_exceeded", "14", limit, difference) if difference > limit else None


def _sides(bets: Iterable[str]) -> list[Hand]:
    """The hands that any main bet among `bets` is on. Raises `UnknownBet`."""
    sides = {definition(bet).side for bet in bets if definition(bet).main}
    return sorted(side for side in sides if side)


def check_both_sides(bets: Iterable[str]) -> Finding | None:
    """Wiki: one patron doesn't bet on the player and on the banker; `bets` are all of the patron's in the round.

    Raises `UnknownBet`.
    """
    sides = _sides(bets)
    return Finding("both_sides", "wiki(2)", "one side", " and ".join(sides)) if len(sides) > 1 else None


def check_side_bet(
    bet: str, bets: Iterable[str], offered_on: Collection[Hand] = ("banker", "player")
) -> Finding | None:
    """Wiki: who bets the lucky six bets it with one side, one it is `offered_on`; `bets` are all of the patron's.

    Raises `UnknownBet`.
    """
    if not definition(bet).companion:
        return None
    sides = _sides(bets)
    if len(sides) == 1 and sides[0] in offered_on:
        return None
    return Finding("side_bet_alone", "wiki(1)", " or ".join(offered_on), " and ".join(sides) or "no side")


def classify_change(bet: str, stake: int, moved_to: str, new_stake: int) -> Change:
    """Return what was done to a stake of a bet that is now `new_stake` on `moved_to`; a stake of 0 was taken back."""
    if not new_stake:
        return "cancel"
    if moved_to != bet:
        return "move" if {bet, moved_to} <= MAIN_BETS else "move_off"
    if new_stake == stake:
        return "keep"
    return "raise" if new_stake > stake else "lower"


def tie_change_allowed(change: Change, policy: TiePolicy) -> bool:
    """Tell whether a stake that a tie left standing may be changed so: by art. 12, or by SJM's rule to add only."""
    return change in (ADD_ONLY if policy == "add_only" else TIE_CHANGES)
