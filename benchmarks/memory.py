"""How much memory the embedded pipeline takes with a hundred tables: measured in a process that does nothing else."""

import tempfile
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from benchmarks.alone import alone, peak
from benchmarks.pipeline import EVENTS_PER_APPEND
from processors.embedded import EmbeddedPipeline
from processors.settings_file import load_settings
from schemas.log import Record
from schemas.topics import TABLE_EVENTS


def measure(records: Iterable[Record]) -> int:
    """Return the most bytes that a process held in memory which took these events through a fresh pipeline."""
    with tempfile.TemporaryDirectory(prefix="pitwatch-bench-") as folder:
        events = Path(folder) / "events"
        with events.open("wb") as file:
            file.writelines(record.key.encode() + b"\t" + record.value + b"\n" for record in records)
        return alone(_run, events, Path(folder) / "data")


def _run(events: Path, directory: Path) -> int:
    settings = load_settings().model_copy(update={"data_directory": directory})
    with EmbeddedPipeline(settings) as pipeline:
        pipeline.start()
        messages = _messages(events)
        while batch := list(islice(messages, EVENTS_PER_APPEND)):
            pipeline.log.append(TABLE_EVENTS, batch)
        pipeline.drain()
        return peak()


def _messages(events: Path) -> Iterator[tuple[str, bytes]]:
    with events.open("rb") as file:
        for line in file:
            key, _, value = line.rstrip(b"\n").partition(b"\t")
            yield key.decode(), value
