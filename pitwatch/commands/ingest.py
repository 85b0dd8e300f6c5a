"""`pitwatch ingest`: events from files through the embedded pipeline."""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, cast

import typer

from pitwatch.exits import FOUND
from pitwatch.input_files import check_file
from pitwatch.progress import reading_bar, waiting_bar
from pitwatch.workplace import ConfigOption, DataOption, settings_for
from schemas.facts import DeadLetterFact
from schemas.log import EventLog, Position
from schemas.topics import FACT_TOPICS, TABLE_EVENTS
from schemas.wire import decode_fact

if TYPE_CHECKING:
    from processors.embedded import EmbeddedPipeline
    from producers.importers.events import Batch

SHOWN_DEAD_LETTERS: Final = 5
LETTERS: Final = FACT_TOPICS["dead_letter"]


class Intake:
    """Lines put into a pipeline's log, and what became of them. Begin with a pipeline that is drained."""

    def __init__(self, pipeline: "EmbeddedPipeline") -> None:
        self._pipeline = pipeline
        self._first_letter = pipeline.log.end(LETTERS, 0)
        self._repeats_before = pipeline.reconstructor.repeats
        self._places: list[tuple[int, int]] = []
        self.lines = 0
        self.table_ids: set[str] = set()

    def take(self, batches: Iterable["Batch"]) -> None:
        """Append every batch. Whatever stops it, what came before is counted."""
        for batch in batches:
            self._note(self._pipeline.log.append(TABLE_EVENTS, batch))
            self.lines += len(batch)
            self.table_ids |= {table_id for table_id, _ in batch}

    def _note(self, positions: Sequence[Position]) -> None:
        first, end = positions[0].offset, positions[-1].offset + 1
        if self._places and self._places[-1][1] == first:
            first, _ = self._places.pop()
        self._places.append((first, end))

    def refused(self) -> dict[int, str]:
        """Return where each line lies that became a dead letter, and why; only of the first few does it say why."""
        found: dict[int, str] = {}
        for letter in _letters(self._pipeline.log, self._first_letter):
            place = letter.src_offset
            if letter.retracted:
                found.pop(place, None)
            elif any(first <= place < end for first, end in self._places):
                found[place] = _line(letter) if len(found) < SHOWN_DEAD_LETTERS else ""
        return found

    def counts(self, dead: int) -> dict[str, int]:
        """Return how many lines said something new, said nothing new, or were refused; together, all of them."""
        duplicates = self._pipeline.reconstructor.repeats - self._repeats_before
        return {"accepted": self.lines - duplicates - dead, "duplicate": duplicates, "dead": dead}


def ingest(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="Files of one event a line, plain or .gz; - is standard input.",
            callback=lambda files: [check_file(file) for file in files],
        ),
    ],
    data: DataOption = None,
    config: ConfigOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the counts as JSON.")] = False,
) -> None:
    """Put events through the pipeline: log, fold, store. Safe to run again; exit code 1 where messages were refused."""
    from processors.embedded import EmbeddedPipeline
    from producers.importers.events import import_events
    from producers.importers.sources import UnreadableFile

    unreadable: UnreadableFile | None = None
    with EmbeddedPipeline(settings_for(data, config)) as pipeline:
        pipeline.start()
        with waiting_bar("catching up") as on_wait:
            pipeline.drain(on_wait)
        intake = Intake(pipeline)
        with reading_bar() as on_progress:
            try:
                intake.take(import_events(files, on_progress=on_progress))
            except UnreadableFile as error:
                unreadable = error
        with waiting_bar("folding") as on_wait:
            pipeline.finish_input(intake.table_ids, on_wait)
        refused = intake.refused()
        _report(intake.counts(len(refused)), refused, as_json=as_json)
    if unreadable is not None:
        raise unreadable
    if refused:
        raise typer.Exit(FOUND)


def _report(counts: dict[str, int], refused: dict[int, str], *, as_json: bool) -> None:
    typer.echo(json.dumps(counts) if as_json else "  ".join(f"{name} {count:,}" for name, count in counts.items()))
    shown = [line for line in refused.values() if line]
    for line in shown:
        typer.echo(f"refused {line}", err=True)
    if len(refused) > len(shown):
        typer.echo(f"and {len(refused) - len(shown):,} more, all in the view dead_letters", err=True)


def _line(letter: DeadLetterFact) -> str:
    place = f"table {letter.table_id} shoe {letter.shoe} round {letter.round} event {letter.event_id or '?'}"
    line = f"({letter.reason}): {place}: {letter.detail}"
    # It quotes what somebody sent, which is not to steer the reader's terminal.
    return "".join(character if character.isprintable() else "�" for character in line)


def _letters(log: EventLog, offset: int) -> Iterator[DeadLetterFact]:
    while records := log.read(LETTERS, 0, offset, 10_000):
        for record in records:
            yield cast(DeadLetterFact, decode_fact(record.value))
        offset = records[-1].offset + 1
