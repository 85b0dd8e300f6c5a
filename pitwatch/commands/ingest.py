"""`pitwatch ingest`: events from files through the embedded pipeline."""

import json
from pathlib import Path
from typing import Annotated, Final, cast

import typer

from pitwatch.exits import FOUND
from pitwatch.progress import reading_bar
from pitwatch.workplace import DataOption, settings_for
from schemas.facts import DeadLetterFact
from schemas.log import EventLog
from schemas.topics import TABLE_EVENTS
from schemas.wire import decode_fact

SHOWN_DEAD_LETTERS: Final = 5


def ingest(
    files: Annotated[list[Path], typer.Argument(help="Files of one event a line, plain or .gz; - is standard input.")],
    data: DataOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the counts as JSON.")] = False,
) -> None:
    """Put events through the pipeline: log, fold, store. Safe to run again; exit code 1 where messages were refused."""
    from processors.embedded import EmbeddedPipeline
    from producers.importers.events import import_events

    with EmbeddedPipeline(settings_for(data)) as pipeline:
        pipeline.start()
        pipeline.drain()
        first_dead, repeats, read = pipeline.log.end("dead-letters", 0), pipeline.reconstructor.repeats, 0
        with reading_bar() as on_progress:
            for batch in import_events(files, on_progress=on_progress):
                pipeline.log.append(TABLE_EVENTS, batch)
                read += len(batch)
            pipeline.finish_input()
        dead = dead_letters(pipeline.log, first_dead)
        duplicates = pipeline.reconstructor.repeats - repeats
    counts = {"accepted": read - duplicates - len(dead), "duplicate": duplicates, "dead": len(dead)}
    typer.echo(json.dumps(counts) if as_json else "  ".join(f"{name} {count:,}" for name, count in counts.items()))
    for letter in dead[:SHOWN_DEAD_LETTERS]:
        place = f"table {letter.table_id} shoe {letter.shoe} round {letter.round} event {letter.event_id or '?'}"
        typer.echo(f"refused ({letter.reason}): {place}: {letter.detail}", err=True)
    if len(dead) > SHOWN_DEAD_LETTERS:
        typer.echo(f"and {len(dead) - SHOWN_DEAD_LETTERS:,} more: SELECT * FROM dead_letters", err=True)
    if dead:
        raise typer.Exit(FOUND)


def dead_letters(log: EventLog, offset: int) -> list[DeadLetterFact]:
    """Return the dead letters from `offset` on that stand."""
    letters: dict[tuple[int, int], DeadLetterFact] = {}
    while records := log.read("dead-letters", 0, offset, 10_000):
        for record in records:
            letter = cast(DeadLetterFact, decode_fact(record.value))
            letters[letter.src_partition, letter.src_offset] = letter
        offset = records[-1].offset + 1
    return [letter for letter in letters.values() if not letter.retracted]
