"""A simulated floor as files: one event a line, and beside it one label a line."""

import gzip
from collections.abc import Callable
from contextlib import ExitStack
from io import BufferedIOBase
from pathlib import Path
from typing import Final, NamedTuple

from producers.simulator.floor import simulate
from producers.simulator.labels import encode_label
from producers.simulator.settings import FloorSettings
from schemas.wire import encode

_PROGRESS_EVERY: Final = 10_000


class Written(NamedTuple):
    """How much was written."""

    events: int
    labels: int


def labels_beside(events: Path) -> Path:
    """Return where the labels of a file of events go: ``floor.ndjson.gz`` has ``floor.labels.ndjson`` beside it."""
    name = events.name.removesuffix(".gz")
    for ending in (".ndjson", ".jsonl", ".json"):
        name = name.removesuffix(ending)
    return events.with_name(f"{name}.labels.ndjson")


def write(
    settings: FloorSettings, events: Path, labels: Path | None = None, progress: Callable[[int], None] | None = None
) -> Written:
    """Write a floor's events as they arrive to `events`, compressed where its name ends in ``.gz``, and its labels.

    `progress` is told the number of events so far, now and then and at the end. Raises `OSError`.
    """
    written_events = written_labels = 0
    with ExitStack() as stack:
        event_lines = _opened(stack, events)
        label_lines = _opened(stack, labels or labels_beside(events))
        for arrival in simulate(settings):
            event_lines.write(encode(arrival.event) + b"\n")
            written_events += 1
            for label in arrival.labels:
                label_lines.write(encode_label(label) + b"\n")
                written_labels += 1
            if progress and written_events % _PROGRESS_EVERY == 0:
                progress(written_events)
    if progress:
        progress(written_events)
    return Written(written_events, written_labels)


def _opened(stack: ExitStack, path: Path) -> BufferedIOBase:
    file = stack.enter_context(path.open("wb"))
    if path.suffix != ".gz":
        return file
    # No time and no name in the header: the same floor is the same file, byte for byte.
    return stack.enter_context(gzip.GzipFile(filename="", fileobj=file, mode="wb", compresslevel=6, mtime=0))
