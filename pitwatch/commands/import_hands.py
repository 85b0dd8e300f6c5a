"""`pitwatch import-hands`: hands that somebody wrote down, dealt again by the pipeline and compared with it."""

import json
from datetime import datetime
from pathlib import Path
from typing import Annotated, Final, NamedTuple, cast

import typer

from pitwatch.counting import counted
from pitwatch.exits import FOUND
from pitwatch.input_files import check_file
from pitwatch.progress import reading_bar, waiting_bar
from pitwatch.workplace import ConfigOption, DataOption, settings_for
from producers.importers.hands import HandRow
from producers.importers.sessions import import_hands as read_hands
from schemas.errors import PitwatchError
from schemas.events import Event, RoundOpened
from schemas.facts import RoundFact
from schemas.fields import EARLIEST
from schemas.log import EventLog
from schemas.topics import FACT_TOPICS, TABLE_EVENTS
from schemas.wire import InvalidEvent, decode_event, decode_fact, encode

HANDS_PER_APPEND: Final = 100
RECORDS_PER_READ: Final = 10_000


class OtherHands(PitwatchError):
    """Raised where an earlier import gave a session other hands: they stand, and this import's were refused."""

    def __init__(self, session: str, events: int) -> None:
        super().__init__(
            f"session {session} was imported before with other hands ({events:,} events conflict): "
            "use another --data, or another session name"
        )


class Place(NamedTuple):
    """Where a hand was dealt in the pipeline."""

    table_id: str
    shoe: int
    round: int


class Mismatch(NamedTuple):
    """A hand that the pipeline sees otherwise than the file: which, in what, and both versions."""

    line: int
    session: str
    shoe: int
    hand: int
    what: str
    file: str
    pipeline: str


def import_hands(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE.csv",
            help="Hands, one a line, plain or .gz; - is standard input.",
            callback=check_file,
        ),
    ],
    decks: Annotated[int, typer.Option(min=6, max=12, help="Decks in the shoe.")] = 8,
    data: DataOption = None,
    config: ConfigOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print hands and mismatches as JSON.")] = False,
) -> None:
    """Send every hand of a CSV file through the pipeline; exit code 1 where outcome, totals or the tableau differ."""
    from processors.embedded import EmbeddedPipeline

    hands: list[tuple[HandRow, Place]] = []
    with EmbeddedPipeline(settings_for(data, config)) as pipeline:
        pipeline.start()
        before = pipeline.log.end(TABLE_EVENTS, 0)
        with reading_bar() as on_progress:
            batch: list[Event] = []
            for row, events in read_hands(file, decks, _start(), on_progress=on_progress):
                hands.append((row, _place(events)))
                batch += events
                if len(hands) % HANDS_PER_APPEND == 0:
                    _append(pipeline.log, batch)
                    batch = []
            _append(pipeline.log, batch)
        tables = {place.table_id for _, place in hands}
        with waiting_bar("folding") as on_wait:
            pipeline.finish_input(tables, on_wait)
        check_conflicts(pipeline.log, {place.table_id: row.session for row, place in hands}, before)
        rounds = _rounds(pipeline.log, tables)
    mismatches = [found for row, place in hands for found in compare(row, rounds.get(place))]
    _report(len(hands), mismatches, as_json=as_json)
    if mismatches:
        raise typer.Exit(FOUND)


def _start() -> datetime:
    """Files of hands know no dates. A fixed one gives the same events, so that importing twice changes nothing."""
    return EARLIEST.replace(year=EARLIEST.year + 1)


def _place(events: list[Event]) -> Place:
    opened = next(event for event in events if isinstance(event, RoundOpened))
    return Place(opened.table_id, opened.shoe, opened.round)


def _append(log: EventLog, events: list[Event]) -> None:
    log.append(TABLE_EVENTS, [(event.table_id, encode(event)) for event in events])


def check_conflicts(log: EventLog, sessions: dict[str, str], start: int) -> None:
    """Raise `OtherHands` where records from `start` on say otherwise than earlier ones of their numbers.

    `sessions` holds each table's session. Read from the log, for the fold remembers only a table's latest rounds.
    """
    for table_id, session in sessions.items():
        records = log.read_key(TABLE_EVENTS, table_id, 0, 1)
        if records and records[0].offset < start and (conflicts := _conflicts(log, table_id, start)):
            raise OtherHands(session, conflicts)


def _conflicts(log: EventLog, table_id: str, start: int) -> int:
    first: dict[str, Event] = {}
    conflicts, offset = 0, 0
    while records := log.read_key(TABLE_EVENTS, table_id, offset, RECORDS_PER_READ):
        for record in records:
            try:
                event = decode_event(record.value)
            except InvalidEvent:
                continue  # no event, so it stands in nobody's way
            conflicts += first.setdefault(event.event_id, event) != event and record.offset >= start
        offset = records[-1].offset + 1
    return conflicts


def _rounds(log: EventLog, tables: set[str]) -> dict[Place, RoundFact]:
    """Return the newest fact of every round of these tables."""
    found: dict[Place, RoundFact] = {}
    for table_id in tables:
        offset = 0
        while records := log.read_key(FACT_TOPICS["round"], table_id, offset, RECORDS_PER_READ):
            for record in records:
                fact = cast(RoundFact, decode_fact(record.value))
                found[Place(fact.table_id, fact.shoe, fact.round)] = fact
            offset = records[-1].offset + 1
    return {place: fact for place, fact in found.items() if not fact.retracted}


def compare(row: HandRow, fact: RoundFact | None) -> list[Mismatch]:
    """Return in what a hand of the file differs from the round that the pipeline made of it."""

    def mismatch(what: str, file: object, pipeline: object) -> Mismatch:
        return Mismatch(row.line, row.session, row.shoe, row.hand, what, str(file), str(pipeline))

    if fact is None:
        return [mismatch("round", f"{row.player_cards} {row.banker_cards}", "missing")]
    pairs = {
        "outcome": (row.outcome, fact.outcome),
        "player_total": (row.player_total, fact.player_total),
        "banker_total": (row.banker_total, fact.banker_total),
    }
    found = [mismatch(what, *versions) for what, versions in pairs.items() if versions[0] != versions[1]]
    found += [mismatch("tableau", "", error) for error in fact.tableau_errors]
    return found


def _report(hands: int, mismatches: list[Mismatch], *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps({"hands": hands, "mismatches": [found._asdict() for found in mismatches]}))
        return
    for found in mismatches:
        place = f"line {found.line}: {found.session} shoe {found.shoe} hand {found.hand}"
        typer.echo(f"{place}: {found.what}: file {found.file or '-'}, pipeline {found.pipeline}", err=True)
    typer.echo(f"{counted(hands, 'hand')}, {counted(len(mismatches), 'mismatch', 'mismatches')}")
