"""`pitwatch show`: a table, a shoe or a round as its events tell it, now or at any moment of the past."""

import json
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime, timedelta, timezone
from time import monotonic
from typing import Annotated, Final

import typer
from rich.console import Console

from pitwatch.history.cut import find_cut
from pitwatch.history.fact_book import Scope
from pitwatch.history.reader import Reader, tables_heard, utc_offset_hours
from pitwatch.history.telling import History, tell, with_evidence
from pitwatch.progress import Advance, counting_bar
from pitwatch.showing import contents, plain
from pitwatch.showing.round_drawing import round_drawing
from pitwatch.showing.shoe_drawing import shoe_drawing
from pitwatch.showing.table_drawing import table_drawing
from pitwatch.showing.words import Scale
from pitwatch.workplace import LOG_FILE, DataOption, settings_for
from processors.reconstruct.fold import FoldSettings
from schemas.facts import ShoeFact
from schemas.fields import EARLIEST, LATEST
from schemas.log import EventLog
from schemas.topics import TABLE_EVENTS

PATIENCE_SECONDS: Final = 2.0
"""How long a person waits without being shown how far it is."""

MAX_NAMES: Final = 20
LOCAL_TIME: Final = "2026-01-15 20:30"


def show(
    table: Annotated[str, typer.Argument(metavar="TABLE", help="The table.")],
    shoe: Annotated[int | None, typer.Argument(metavar="SHOE", min=1, help="A shoe of the table.")] = None,
    round_no: Annotated[int | None, typer.Argument(metavar="ROUND", min=1, help="A round of the shoe.")] = None,
    at: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="A moment of the past: with its zone (2026-01-15T20:30:00+08:00, or …Z), or in the table's local time"
            " (2026-01-15 20:30[:15]), which is UTC+8 unless its configuration says otherwise.",
        ),
    ] = None,
    data: DataOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON: amounts in minor units, times in UTC.")] = False,
) -> None:
    """Show a table, a shoe or a round as reconstructed, with its evidence: the events and their places in the log.

    With --at: what the table's own events up to that moment tell, late events and later corrections included.

    The process that owns the data directory may go on working meanwhile.
    """
    from processors.data_directory import check_there
    from processors.logs.sqlite import SqliteLog

    settings = settings_for(data)
    check_there(settings.data_directory)
    fold = FoldSettings(settings.pipeline.gap_limit_ms, settings.pipeline.revision_rounds)
    with closing(SqliteLog(settings.data_directory / LOG_FILE, read_only=True)) as log:
        history = read_history(log, table, Scope(shoe, round_no), at, fold)
    _print(history, as_json=as_json)


def read_history(log: EventLog, table: str, scope: Scope, at: str | None, settings: FoldSettings) -> History:
    """Return what the log tells of a table. Raises `typer.BadParameter` for a table or a time it knows nothing of."""
    if not log.read_key(TABLE_EVENTS, table, 0, 1):
        raise typer.BadParameter(f"there is no table {table!r}; {_those_there(tables_heard(log))}", param_hint="TABLE")
    reader, moment = Reader(log, table), None if at is None else read_moment(at)
    passes = 1 if moment is None else 2 if moment.tzinfo else 3
    with patient_bar(f"reading {table}", passes * reader.length) as reader.advance:
        cut = None
        if moment is not None:
            if moment.tzinfo is None:
                moment = moment.replace(tzinfo=timezone(timedelta(hours=utc_offset_hours(reader))))
            cut = find_cut(reader, settings, moment.astimezone(UTC))
            if cut is None:
                raise typer.BadParameter(f"nothing had been heard of table {table} by {at}", param_hint="--at")
        history = tell(reader, settings, scope, cut)
    reader.advance = None
    return with_evidence(history, reader) if scope.round else history


def read_moment(text: str) -> datetime:
    """Return the moment that `text` names, without a zone where it names none. Raises `typer.BadParameter`."""
    try:
        moment = datetime.fromisoformat(text.strip())
        # A zone moves it by a day at most, which the ends of the years need not tell apart.
        if len(text.strip()) < len(LOCAL_TIME) or not EARLIEST.year <= moment.year < LATEST.year:
            raise ValueError
    except ValueError:
        problem = f"{text[:40]!r} is no moment of {EARLIEST.year} to {LATEST.year - 1}: write 2026-01-15T20:30:00+08:00"
        raise typer.BadParameter(f"{problem} or, in local time, {LOCAL_TIME}", param_hint="--at") from None
    return moment


@contextmanager
def patient_bar(doing: str, total: int) -> Iterator[Advance]:
    """Count as `counting_bar` does, but show nothing to those who don't have to wait for long."""
    began = monotonic()
    with ExitStack() as shown:
        bars: list[Advance] = []

        def advance(done: int) -> None:
            if not bars and monotonic() - began > PATIENCE_SECONDS:
                bars.append(shown.enter_context(counting_bar(doing, total, "records")))
            for bar in bars:
                bar(done)

        yield advance


def _print(history: History, *, as_json: bool) -> None:
    """Print what was asked for, or raise `typer.BadParameter` where there is no such shoe or round."""
    configuration = history.configuration
    scale = Scale(configuration.currency, configuration.gaming_day.utc_offset_hours)
    now = history.moment or datetime.now(UTC)
    console = Console()
    shoe, number = history.scope
    if shoe is None:
        answer = plain.whole_table(history, now)
        drawing = table_drawing(history, scale, now, width=console.width)
    elif number is None:
        found = _shoe(history, shoe)
        answer, drawing = plain.one_shoe(history, found), shoe_drawing(history, found, scale, width=console.width)
    else:
        _shoe(history, shoe)
        shown = contents.round_of(history, shoe, number)
        if shown is None:
            raise typer.BadParameter(_no_round(history, shoe, number), param_hint="ROUND")
        answer, drawing = plain.one_round(history, shown), round_drawing(history, shown, scale)
    if as_json:
        typer.echo(json.dumps(answer))
    else:
        console.print(drawing)


def _shoe(history: History, number: int) -> ShoeFact:
    found = contents.shoe_of(history, number)
    if found is None:
        known = _those_there(spans(shoe.shoe for shoe in history.facts.of(ShoeFact)))
        raise typer.BadParameter(
            f"table {history.table_id} has no shoe {number}{_then(history)}; {known}", param_hint="SHOE"
        )
    return found


def _no_round(history: History, shoe: int, number: int) -> str:
    numbers = {one.round for one in contents.rounds_of(history)}
    if (play := history.state.round) and play.shoe == shoe:
        numbers.add(play.number)
    return (
        f"shoe {shoe} of table {history.table_id} has no round {number}{_then(history)}; {_those_there(spans(numbers))}"
    )


def _then(history: History) -> str:
    return f" at {history.moment.isoformat()}" if history.moment else ""


def _those_there(names: list[str]) -> str:
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return f"there are: {', '.join(names[:MAX_NAMES])}{more}" if names else "there are none"


def spans(numbers: Iterable[int]) -> list[str]:
    """Return whole numbers as the spans they fill: 1–3, 5."""
    spans: list[list[int]] = []
    for number in sorted(numbers):
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return [str(first) if first == last else f"{first}–{last}" for first, last in spans]
