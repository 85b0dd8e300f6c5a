"""Where a road's marks are drawn: down, then right as a "dragon tail", one new column for each run.

The layout never looks at the marks already drawn. Right of a run's head, the first taken row of each column never rises
from one column to the next, so this *skyline* is all that a road has to remember: whatever lies at or under it can't be
entered, and the cell to the right of a mark is always free. That keeps a mark at constant cost, however long the shoe.
"""

from collections.abc import Sequence
from typing import Final, Literal, get_args

import msgspec

Road = Literal["bead_plate", "big_road", "big_eye_boy", "small_road", "cockroach_pig"]
Tail = Literal["redrop", "stick"]

ROADS: Final[tuple[Road, ...]] = get_args(Road)
TAILS: Final[tuple[Tail, ...]] = get_args(Tail)


class Cell(msgspec.Struct, frozen=True, gc=False):
    """One mark of one road: its `index` along the road, its place in the drawing and what it says.

    `mark` is B, P or T in the bead plate, B or P in the big road, R or B (red, blue) in the derived roads. `round` is
    the round that made it and the pairs are that round's; `ties` is used by the big road alone.
    """

    road: Road
    index: int
    column: int
    row: int
    mark: str
    ties: int
    player_pair: bool
    banker_pair: bool
    round: int


class Trail(msgspec.Struct):
    """Where a road made of runs stands: its latest mark and what it needs to place the next.

    `head` is the column of the run's latest top mark, `floor` the first taken row of the latest mark's column before
    the run came there, and `skyline` holds the first taken rows of the columns right of `head` as far as any is taken.
    """

    marks: int = 0
    mark: str = ""
    column: int = -1
    row: int = 0
    head: int = -1
    floor: int = 0
    turned: bool = False
    skyline: list[int] = []


def advance(trail: Trail, mark: str, rows: int, tail: Tail) -> None:
    """Place `mark` after the latest one; `trail.column` and `trail.row` then say where it went.

    A run goes down until the last row or a taken cell, then right. With ``redrop`` it goes down again as soon as the
    cell below is free; with ``stick`` it keeps the row in which it turned. A new run starts in the first free top cell
    right of the head of the run before.
    """
    trail.marks += 1
    if mark != trail.mark:
        trail.mark = mark
        trail.row = 0
        trail.turned = False
        trail.column = trail.head + 1
        _head(trail, rows)
    elif trail.row + 1 < trail.floor and not (trail.turned and tail == "stick"):
        trail.row += 1
    else:
        trail.turned = True
        trail.column += 1
        if trail.row:
            _overhang(trail, rows)
        else:
            _head(trail, rows)


def _head(trail: Trail, rows: int) -> None:
    """Take the top cell of the trail's column, so that the next run starts right of it."""
    trail.head = trail.column
    trail.floor = trail.skyline.pop(0) if trail.skyline else rows


def _overhang(trail: Trail, rows: int) -> None:
    """Take a cell below the top of a column in which a later run may start."""
    place = trail.column - trail.head - 1
    if place < len(trail.skyline):
        trail.floor = trail.skyline[place]
        trail.skyline[place] = trail.row
    else:
        trail.floor = rows
        trail.skyline.append(trail.row)


def window(cells: Sequence[Cell], columns: int) -> list[Cell]:
    """Return the part of a road which a window of `columns` shows, its columns counted from the window's left edge.

    The window scrolls by whole columns, to the road's right end where that leaves the latest mark in view: a new run
    may start far left of the end of a long tail.
    """
    if not cells:
        return []
    left = max(0, max(cell.column for cell in cells) + 1 - columns)
    left = min(left, cells[-1].column)
    return [
        msgspec.structs.replace(cell, column=cell.column - left)
        for cell in cells
        if left <= cell.column < left + columns
    ]
