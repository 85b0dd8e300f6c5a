"""`pitwatch settle`: what every bet of a round is due, a line of JSON for each line of JSON."""

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Annotated, BinaryIO, Final

import typer

from pitwatch.counting import counted
from pitwatch.exits import UNUSABLE
from pitwatch.settling import InvalidRound, settle_line

MAX_LINE_BYTES: Final = 262_144
"""A round with a thousand bets and a whole configuration is far shorter."""

STANDARD_INPUT: Final = Path("-")


def settle(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Rounds, one JSON object a line; - is standard input.")
    ] = STANDARD_INPUT,
) -> None:
    """Settle rounds by the rules: verdicts on the cards, what each bet wins or loses, and the house's totals.

    A line holds player_cards and banker_cards: "5H", or "5" where suits don't matter;

    bets: a list of {"bet", "stake"}, stakes in minor units;

    configuration, unless it is "macau": a preset's name, {"preset": …} with what differs, or a whole one.

    Exit code 2 where a line could not be settled; it says why, and the others are settled all the same.
    """
    refused = number = 0
    with opened(file) as stream:
        for number, raw in enumerate(read_lines(stream), start=1):
            answer = answer_line(number, raw)
            refused += "error" in answer
            typer.echo(json.dumps(answer))
    if refused:
        typer.echo(f"{refused} of {counted(number, 'line')} could not be settled; each says why", err=True)
        raise typer.Exit(UNUSABLE)


def opened(file: Path) -> AbstractContextManager[BinaryIO]:
    """Return `file`, or standard input, for reading. Raises `typer.BadParameter` where it can't be read."""
    if file == STANDARD_INPUT:
        return nullcontext(typer.get_binary_stream("stdin"))
    try:
        return file.open("rb")
    except OSError as error:
        raise typer.BadParameter(f"{file} can't be read: {error.strerror}", param_hint="FILE") from None


def answer_line(number: int, raw: bytes | None) -> dict[str, object]:
    """Return the answer to line `number`; None stands for a line that was too long to be read."""
    try:
        if raw is None:
            raise InvalidRound("", f"longer than {MAX_LINE_BYTES:,} bytes")
        return {"line": number, **settle_line(raw)}
    except InvalidRound as error:
        return {"line": number, "error": f"line {number}: {error}", "field": error.field}


def read_lines(stream: BinaryIO) -> Iterator[bytes | None]:
    """Yield every line; None for one longer than `MAX_LINE_BYTES`, which is skipped without being held."""
    while piece := stream.readline(MAX_LINE_BYTES + 1):
        if len(piece) <= MAX_LINE_BYTES:
            yield piece
            continue
        while not piece.endswith(b"\n") and (piece := stream.readline(MAX_LINE_BYTES)):
            pass
        yield None
