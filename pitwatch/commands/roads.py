"""`pitwatch roads`: the five roads of the outcomes given, drawn or as JSON."""

import json
from typing import Annotated, Final

import typer
from rich.console import Console

from pitwatch.road_drawing import drawing
from processors.rules.road_layout import Cell, Tail
from processors.rules.roads import DERIVED, Roads, roads_of

MAX_ROUNDS: Final = 10_000

_LETTERS: Final = dict(zip("BbPpTt莊庄閒閑闲和", "BBPPTTBBPPPT", strict=True))
_SEPARATORS: Final = frozenset(",-，、")


def roads(
    outcomes: Annotated[
        str, typer.Argument(help="Rounds in order: B, P, T or 莊, 閒, 和; spaces, commas and dashes are ignored.")
    ],
    rows: Annotated[int, typer.Option(min=1, max=MAX_ROUNDS, help="Rows of every road.")] = 6,
    tail: Annotated[
        Tail, typer.Option(help="Dragon tails go down again as soon as there is room, or stick to their row.")
    ] = "redrop",
    as_json: Annotated[bool, typer.Option("--json", help="Print the cells as JSON instead of drawing them.")] = False,
) -> None:
    """Draw the five roads 路 of a shoe, and what each derived road would get next."""
    drawn = roads_of(read_outcomes(outcomes), rows=rows, tail=tail)
    if as_json:
        typer.echo(json.dumps(as_plain(drawn)))
        return
    console = Console()
    console.print(drawing(drawn, width=console.width))


def read_outcomes(text: str) -> str:
    """Return the outcomes in `text` as the letters B, P and T.

    Raises `typer.BadParameter`, which names the position, for anything else and for more than `MAX_ROUNDS` rounds.
    """
    letters: list[str] = []
    for position, character in enumerate(text, start=1):
        if character in _SEPARATORS or character.isspace():
            continue
        if character not in _LETTERS:
            raise typer.BadParameter(
                f"{character!r} at position {position} is no outcome: write B, P, T or 莊, 閒, 和",
                param_hint="OUTCOMES",
            )
        letters.append(_LETTERS[character])
    if len(letters) > MAX_ROUNDS:
        raise typer.BadParameter(f"{len(letters)} rounds are more than {MAX_ROUNDS}", param_hint="OUTCOMES")
    return "".join(letters)


def as_plain(roads: Roads) -> dict[str, object]:
    """Return `roads` as JSON takes it: cells as [column, row, mark], in the big road with their ties as well."""
    plain: dict[str, object] = {
        "leading_ties": roads.leading_ties,
        "bead_plate": [_place(cell) for cell in roads.cells["bead_plate"]],
        "big_road": [[*_place(cell), cell.ties] for cell in roads.cells["big_road"]],
    }
    for road, _ in DERIVED:
        cells = roads.cells[road]
        plain[road] = {"marks": "".join(cell.mark for cell in cells), "cells": [_place(cell) for cell in cells]}
    return plain | {"ask": roads.ask}


def _place(cell: Cell) -> list[int | str]:
    return [cell.column, cell.row, cell.mark]
