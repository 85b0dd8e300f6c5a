"""The five roads 路 of a shoe, mark by mark: bead plate, big road, big eye boy, small road and cockroach pig.

The derived roads compare the lengths of runs of equal winners, never the drawn grid, so a dragon tail can't mislead
them. `add` takes one round and returns the cells it changed; `roads_of` does the same for a whole shoe.
"""

from collections.abc import Iterable, Sequence
from typing import Final, Literal

import msgspec

from processors.rules.road_layout import ROADS, TAILS, Cell, Road, Tail, Trail, advance

BANKER: Final = "B"
PLAYER: Final = "P"
TIE: Final = "T"
RED: Final = "R"
BLUE: Final = "B"

LETTERS: Final[dict[str, str]] = {"banker": BANKER, "player": PLAYER, "tie": TIE}
"""Outcome as the contract names it → the letter the roads use."""

DERIVED: Final[tuple[tuple[Road, int], ...]] = (("big_eye_boy", 1), ("small_road", 2), ("cockroach_pig", 3))
"""Each derived road with its reach k: how many columns back it compares."""

_RUNS_KEPT: Final = max(reach for _, reach in DERIVED) + 2
_OUTCOMES: Final = frozenset(LETTERS.values())

Colour = Literal["R", "B"]
Answer = dict[Road, Colour | None]


class RoadState(msgspec.Struct):
    """All that the next round's marks depend on; its size doesn't grow with the shoe.

    `lengths` holds the newest runs' lengths, oldest first, as far back as the derived roads look. `derived` is in the
    order of `DERIVED`. Raises `ValueError` for fewer than one row or an unknown tail.
    """

    rows: int = 6
    tail: Tail = "redrop"
    rounds: int = 0
    leading_ties: int = 0
    lengths: list[int] = []
    big_road: Trail = msgspec.field(default_factory=Trail)
    derived: list[Trail] = msgspec.field(default_factory=lambda: [Trail() for _ in DERIVED])
    latest: Cell | None = None

    def __post_init__(self) -> None:
        if self.rows < 1:
            raise ValueError(f"a road needs at least one row, not {self.rows}")
        if self.tail not in TAILS:
            raise ValueError(f"{self.tail!r} is no way to draw a tail: choose {' or '.join(TAILS)}")


class Roads(msgspec.Struct, frozen=True):
    """A shoe's roads: the cells of each in order, ties before the first decided round, and ask-the-road 問路."""

    rows: int
    leading_ties: int
    cells: dict[Road, list[Cell]]
    ask: dict[str, Answer]


def add(state: RoadState, outcome: str, player_pair: bool, banker_pair: bool, round_no: int) -> list[Cell]:
    """Take one round into `state` and return the cells that are new or changed, bead plate first.

    `outcome` is B, P or T. A tie changes the big-road cell it counts on, whose pairs stay those of its own round.
    Raises `ValueError` for any other outcome and then leaves `state` as it was.
    """
    if outcome not in _OUTCOMES:
        raise ValueError(f"{outcome!r} is no outcome: write B, P or T")
    index = state.rounds
    state.rounds = index + 1
    column, row = divmod(index, state.rows)
    changed = [Cell("bead_plate", index, column, row, outcome, 0, player_pair, banker_pair, round_no)]
    if outcome == TIE:
        return changed + _count_tie(state)

    changed.append(_count_win(state, outcome, player_pair, banker_pair, round_no))
    for (road, reach), trail in zip(DERIVED, state.derived, strict=True):
        colour = derived_mark(state.lengths, reach)
        if colour:
            advance(trail, colour, state.rows, state.tail)
            changed.append(Cell(road, trail.marks - 1, trail.column, trail.row, colour, 0, False, False, round_no))
    return changed


def _count_win(state: RoadState, winner: str, player_pair: bool, banker_pair: bool, round_no: int) -> Cell:
    """Lengthen the winner's run or start it, and return its new big-road cell."""
    trail = state.big_road
    if winner == trail.mark:
        state.lengths[-1] += 1
    else:
        state.lengths.append(1)
        del state.lengths[:-_RUNS_KEPT]
    ties = 0 if trail.marks else state.leading_ties
    advance(trail, winner, state.rows, state.tail)
    cell = Cell("big_road", trail.marks - 1, trail.column, trail.row, winner, ties, player_pair, banker_pair, round_no)
    state.latest = cell
    return cell


def _count_tie(state: RoadState) -> list[Cell]:
    """Count a tie on the latest big-road cell, or apart where no round is decided yet."""
    if state.latest is None:
        state.leading_ties += 1
        return []
    state.latest = msgspec.structs.replace(state.latest, ties=state.latest.ties + 1)
    return [state.latest]


def derived_mark(lengths: Sequence[int], reach: int) -> Colour | None:
    """Return the colour a derived road gives the newest big-road mark, or None before its reference column exists.

    `lengths` are the runs' lengths up to and including that mark. The first of a column is red if the column before is
    as long as the one `reach` further back; further down only the mark next below the reference column's end is blue.
    """
    length = lengths[-1]
    if length == 1:
        if len(lengths) < reach + 2:
            return None
        return RED if lengths[-2] == lengths[-2 - reach] else BLUE
    if len(lengths) < reach + 1:
        return None
    return BLUE if length - 1 == lengths[-1 - reach] else RED


def ask(state: RoadState) -> dict[str, Answer]:
    """Return the colour each derived road would get next if ``banker``, and if ``player``, won; None for no mark."""
    answers: dict[str, Answer] = {}
    for hand, letter in (("banker", BANKER), ("player", PLAYER)):
        lengths = [*state.lengths, 1]
        if letter == state.big_road.mark:
            lengths = [*state.lengths[:-1], state.lengths[-1] + 1]
        answers[hand] = {road: derived_mark(lengths, reach) for road, reach in DERIVED}
    return answers


def merge(cells: dict[Road, list[Cell]], changed: Iterable[Cell]) -> None:
    """Put the cells that `add` returned into their roads: a new one at its road's end, a changed one in its place."""
    for cell in changed:
        road = cells.setdefault(cell.road, [])
        road[cell.index : cell.index + 1] = [cell]


def roads_of(
    outcomes: Sequence[str],
    *,
    pairs: Sequence[tuple[bool, bool]] | None = None,
    rows: int = 6,
    tail: Tail = "redrop",
) -> Roads:
    """Return the roads of a whole shoe, its rounds numbered from one; `pairs` holds (player pair, banker pair) of each.

    Raises `ValueError` for an unknown outcome or tail, fewer than one row, or pairs that don't match the outcomes.
    """
    state = RoadState(rows=rows, tail=tail)
    cells: dict[Road, list[Cell]] = {road: [] for road in ROADS}
    flags = [(False, False)] * len(outcomes) if pairs is None else pairs
    for round_no, (outcome, (player_pair, banker_pair)) in enumerate(zip(outcomes, flags, strict=True), start=1):
        merge(cells, add(state, outcome, player_pair, banker_pair, round_no))
    return Roads(rows, state.leading_ties, cells, ask(state))
