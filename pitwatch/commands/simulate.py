"""`pitwatch simulate`: a floor's events in a file, and beside it what was done wrong on purpose."""

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from pitwatch.progress import counting_bar

if TYPE_CHECKING:
    from producers.simulator import FloorSettings

START: Final = "2025-01-01T00:00:00Z"
LONGEST_HOURS: Final = 24 * 366

_LIMITS: Final = "--hours, --rounds, --events"


def simulate(  # noqa: PLR0913, PLR0917 - a command has as many arguments as options
    out: Annotated[
        Path,
        typer.Option("--out", help="File for the events, one a line; compressed if it ends in .gz.", dir_okay=False),
    ],
    labels: Annotated[
        Path | None,
        typer.Option("--labels", help="File for what was done wrong; beside the events if left out.", dir_okay=False),
    ] = None,
    tables: Annotated[int, typer.Option(min=1, max=10_000, help="Tables on the floor.")] = 8,
    hours: Annotated[
        float | None, typer.Option(min=0.01, max=LONGEST_HOURS, help="How long it is open; 1 if nothing else is said.")
    ] = None,
    rounds: Annotated[int | None, typer.Option(min=1, help="Live rounds at each table, instead of hours.")] = None,
    events: Annotated[
        int | None, typer.Option(min=1, help="Events in all, instead of hours; broken off there.")
    ] = None,
    seed: Annotated[int, typer.Option(help="The same arguments always give the same file.")] = 1,
    start: Annotated[
        str, typer.Option(help="When the floor opens, ISO 8601 with its zone; keep it in the past.")
    ] = START,
    clean: Annotated[bool, typer.Option("--clean", help="Let nothing be done wrong; else half the tables do.")] = False,
    faults: Annotated[
        bool, typer.Option("--faults", help="Send events twice and out of order, restart controllers, lose events.")
    ] = False,
) -> None:
    """Write a simulated floor's events, in order of arrival, and the deviations in them as labels."""
    from producers.simulator import labels_beside, write

    if sum(limit is not None for limit in (hours, rounds, events)) > 1:
        raise typer.BadParameter("give one of them", param_hint=_LIMITS)
    labels = labels or labels_beside(out)
    if labels.absolute() == out.absolute():
        raise typer.BadParameter("events and labels need a file each", param_hint="--labels")
    floor = simulated_floor(tables, seed, opening(start), clean=clean, faults=faults)
    longest = 1.0 if rounds is None and events is None else float(LONGEST_HOURS)
    floor = floor.model_copy(update={"hours": hours or longest, "rounds": rounds, "events": events})
    try:
        with counting_bar("simulating", events) as advance:
            written = write(floor, out, labels, advance)
    except OSError as error:
        raise typer.BadParameter(f"can't write: {error}", param_hint="--out, --labels") from None
    typer.echo(f"{written.events:,} events: {out}")
    typer.echo(f"{written.labels:,} labels: {labels}")


def simulated_floor(tables: int, seed: int, start: datetime, *, clean: bool, faults: bool) -> "FloorSettings":
    """Return a floor of so many tables, half of them with deviations unless it is to be `clean`.

    With `faults`, only tables without deviations lose events, so that every deviation can be told.
    """
    from pitwatch.demonstration.plan import FAULTY_LINE, LOSSY_LINE
    from producers.simulator import mixed_floor

    dirty = 0 if clean else (tables + 1) // 2
    floor = mixed_floor(seed=seed, start=start, hours=1.0, tables=tables, dirty=dirty)
    if not faults:
        return floor
    lines = (LOSSY_LINE if table.deviations is None else FAULTY_LINE for table in floor.tables)
    wired = tuple(table.model_copy(update={"telemetry": line}) for table, line in zip(floor.tables, lines, strict=True))
    return floor.model_copy(update={"tables": wired})


def opening(text: str) -> datetime:
    """Return the instant that `text` names. Raises `typer.BadParameter` for none, and for one without a zone."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is no instant: write it as {START}", param_hint="--start") from None
    if moment.tzinfo is None:
        raise typer.BadParameter(f"{text!r} has no zone: add Z for UTC", param_hint="--start")
    return moment
