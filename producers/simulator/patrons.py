"""The company at a table: who bets what, by habit."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Final, Literal, NamedTuple

from schemas.cards import Hand

Posture = Literal["seated", "standing"]
SideRule = Callable[[Random, Hand | None], Hand]
StakeRule = Callable[["Patron"], int]

_BANKER_SHARE: Final = 0.53
"""The banker is the better bet, and patrons know it."""


@dataclass(slots=True, eq=False)
class Patron:
    """A person at the table: `seat` is theirs, or the one they stand behind. Money in minor units.

    `streak` counts rounds won (positive) or lost (negative) in a row, `owes` is commission marked and not yet paid.
    """

    patron_id: str | None
    seat: int
    posture: Posture
    habit: "Habit"
    unit: int
    chips: int
    leaves_at: int = 0
    streak: int = 0
    owes: int = 0

    def commit(self, stake: int) -> None:
        """Move chips from the patron to the layout; what is missing comes out of a pocket."""
        self.chips = max(0, self.chips - stake)

    def settle(self, *, won: bool) -> None:
        """Remember how a main bet went."""
        self.streak = max(1, self.streak + 1) if won else min(-1, self.streak - 1)


class Habit(NamedTuple):
    """How a patron plays: which side, how much, and how fond of side bets; `units` is the range of their usual stake.

    `units` are multiples of the table's minimum, `share` the part of the company that plays so.
    """

    name: str
    side: SideRule
    stake: StakeRule
    side_bets: float
    units: tuple[int, int]
    share: float


def _any_side(rng: Random, _last: Hand | None) -> Hand:
    return "banker" if rng.random() < _BANKER_SHARE else "player"


def _follow(rng: Random, last: Hand | None) -> Hand:
    return last or _any_side(rng, last)


def _chop(rng: Random, last: Hand | None) -> Hand:
    if last is None:
        return _any_side(rng, last)
    return "player" if last == "banker" else "banker"


def _always_banker(_rng: Random, _last: Hand | None) -> Hand:
    return "banker"


def _flat(patron: Patron) -> int:
    return patron.unit


def _martingale(patron: Patron) -> int:
    return patron.unit << min(6, max(0, -patron.streak))


def _press(patron: Patron) -> int:
    return patron.unit << min(3, max(0, patron.streak))


HABITS: Final[tuple[Habit, ...]] = (
    Habit("flat", _any_side, _flat, 0.2, (1, 8), 0.3),
    Habit("follows the road", _follow, _flat, 0.2, (1, 12), 0.2),
    Habit("bets against the road", _chop, _press, 0.2, (1, 8), 0.1),
    Habit("doubles after a loss", _any_side, _martingale, 0.1, (1, 4), 0.15),
    Habit("banker only", _always_banker, _flat, 0.1, (2, 20), 0.1),
    Habit("loves side bets", _any_side, _flat, 0.9, (1, 5), 0.1),
    Habit("whale", _follow, _press, 0.15, (100, 600), 0.05),
)


def arrive(rng: Random, patron_id: str | None, seat: int, posture: Posture, minimum: int) -> Patron:
    """Return a patron with a habit, a usual stake and chips brought along."""
    habit = _pick_habit(rng.random())
    low, high = habit.units
    unit = minimum * (low + int((high - low) * rng.random() ** 2))
    return Patron(patron_id, seat, posture, habit, unit, chips=unit * (10 + int(rng.random() * 30)))


def _pick_habit(chance: float) -> Habit:
    for habit in HABITS:
        chance -= habit.share
        if chance < 0:
            return habit
    return HABITS[-1]
