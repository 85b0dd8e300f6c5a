"""What may be staked: limits and multiples, the differential, one side a patron, and changes after a tie.

Amounts are minor units. Every check returns a finding, or None where the rule was kept.
"""

from collections.abc import Collection
from typing import Literal, NamedTuple

from processors.rules.findings import Finding
from schemas.cards import Hand
from schemas.catalogue import MAIN_BETS, definition

TiePolicy = Literal["regulation", "add_only"]
Change = Literal["cancel", "keep", "raise", "lower", "move"]


class Stake(NamedTuple):
    """A bet as it stands: which, and how much in minor units."""

    bet: str
    amount: int


class TieChange(NamedTuple):
    """What was done to a stake that a tie left standing, whether it is allowed, and the line that says so."""

    change: Change
    allowed: bool
    article: str

    @property
    def finding(self) -> Finding | None:
        """The forbidden change as a finding, None where it is allowed."""
        if self.allowed:
            return None
        due = "keep or raise" if self.article == "SJM(2)" else "player or banker"
        return Finding("tie_change_forbidden", self.article, due, self.change)


def stake_limits(stake: int, minimum: int, maximum: int, multiple: int | None = None) -> Finding | None:
    """SJM: a stake lies between the bet's limits, and a banker stake is the minimum or a multiple of it.

    `multiple` is what the stake must be made of, None for any amount.
    """
    if stake < minimum:
        return Finding("below_minimum", "SJM(1)", minimum, stake)
    if stake > maximum:
        return Finding("above_maximum", "SJM(1)", maximum, stake)
    if multiple and stake % multiple:
        return Finding("stake_not_multiple", "SJM(1)", multiple, stake)
    return None


def differential(player: int, banker: int, limit: int | None) -> Finding | None:
    """Art. 14: all stakes on the player and all on the banker differ by the table's limit at most."""
    difference = abs(player - banker)
    if limit is None or difference <= limit:
        return None
    return Finding("differential_exceeded", "14", limit, difference)


def one_side(player: int, banker: int) -> Finding | None:
    """Wiki: one patron doesn't bet on the player and on the banker in the same round."""
    return Finding("both_sides", "wiki(2)", "one side", "both sides") if player and banker else None


def companion(bet: str, sides: Collection[Hand], offered_on: Collection[Hand] = ("banker", "player")) -> Finding | None:
    """Wiki: a patron who bets the lucky six bets it with one side; `sides` are those the patron has a main stake on.

    `offered_on` are the sides it may be bet with at this table. Raises `UnknownBet`.
    """
    if not definition(bet).companion or (len(sides) == 1 and all(side in offered_on for side in sides)):
        return None
    return Finding("side_bet_alone", "wiki(1)", " or ".join(offered_on), " and ".join(sides) or "no main bet")


def _classify(before: Stake, after: Stake | None) -> Change:
    if after is None or after.amount == 0:
        return "cancel"
    if after.bet != before.bet:
        return "move"
    if after.amount == before.amount:
        return "keep"
    return "raise" if after.amount > before.amount else "lower"


def change_after_tie(before: Stake, after: Stake | None, policy: TiePolicy = "regulation") -> TieChange:
    """Return what a change of a stake standing after a tie is, and whether the table's policy allows it.

    Art. 12 lets it be cancelled, kept, raised, lowered, or moved between the sides, with the amount as it may be; SJM
    lets it be raised only. `after` is None when the stake is taken back.
    """
    change = _classify(before, after)
    if policy == "add_only" and change not in ("keep", "raise"):
        return TieChange(change, allowed=False, article="SJM(2)")
    if change == "move":
        between_sides = after is not None and {before.bet, after.bet} <= MAIN_BETS
        return TieChange(change, allowed=between_sides, article="12(3)(2)")
    articles: dict[Change, str] = {"cancel": "12(1)", "keep": "12(2)", "raise": "12(3)(1)", "lower": "12(3)(1)"}
    return TieChange(change, allowed=True, article=articles[change])
