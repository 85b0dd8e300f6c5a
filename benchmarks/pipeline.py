"""The embedded pipeline: from an append to a row that can be queried, and what consuming from its log alone gives."""

import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from processors.embedded import EmbeddedPipeline
from processors.logs.sqlite import SqliteLog
from processors.settings_file import load_settings
from schemas.events import EVENT_ADAPTER
from schemas.log import Record
from schemas.topics import TABLE_EVENTS

EVENTS_PER_APPEND = 2_000


class Sustained(NamedTuple):
    """Seconds for all events: appended alone, queryable, and consumed from the log and validated alone."""

    append: float
    queryable: float
    consume: float


def measure(records: list[Record]) -> Sustained:
    """Send the events through a fresh pipeline and wait for the last row; then read its log once more."""
    messages = [(record.key, record.value) for record in records]
    with tempfile.TemporaryDirectory(prefix="pitwatch-bench-") as folder:
        settings = load_settings().model_copy(update={"data_directory": Path(folder)})
        with EmbeddedPipeline(settings) as pipeline:
            pipeline.start()
            begun = time.perf_counter()
            for start in range(0, len(messages), EVENTS_PER_APPEND):
                pipeline.log.append(TABLE_EVENTS, messages[start : start + EVENTS_PER_APPEND])
            appended = time.perf_counter()
            pipeline.drain()
            queryable = time.perf_counter()
            _check(pipeline, len(records))
            return Sustained(appended - begun, queryable - begun, _consume(pipeline.log))


def _check(pipeline: EmbeddedPipeline, events: int) -> None:
    """A figure for rows that aren't there would be worth nothing."""
    answer = pipeline.store.query("SELECT count() FROM events", fmt="TabSeparated")
    if int(answer) != events:
        raise AssertionError(f"{events} events went in, {int(answer)} can be queried")


def _consume(log: SqliteLog) -> float:
    begun = time.perf_counter()
    offset = 0
    while records := log.read(TABLE_EVENTS, 0, offset, 10_000):
        for record in records:
            EVENT_ADAPTER.validate_json(record.value, strict=True)
        offset = records[-1].offset + 1
    return time.perf_counter() - begun
