"""Events from files of newline-delimited JSON to batches for the log, whatever the files hold.

Nothing is judged here: what is no event, or too long for one, goes into the log as well and becomes a dead letter with
its bytes. An import may be run again; the fold drops events it knows.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

import msgspec

from producers.importers.sources import LineSource, Progress, UnreadableFile
from schemas.ids import TABLE_ID_PATTERN
from schemas.wire import MAX_EVENT_BYTES

UNKNOWN_TABLE: Final = "unknown"
"""Key of lines which name no table."""

Batch = list[tuple[str, bytes]]
"""Messages (key, value) for ``EventLog.append(TABLE_EVENTS, …)``."""

_TABLE_ID: Final = re.compile(TABLE_ID_PATTERN)
_TABLE_IN_FRAGMENT: Final = re.compile(rb'"table_id"\s*:\s*"([A-Za-z0-9][A-Za-z0-9_.-]{0,39})"')


class _Named(msgspec.Struct):
    table_id: str


_named: Final = msgspec.json.Decoder(_Named)


def table_of(raw: bytes) -> str:
    """Return the table a line names, as well as can be told; `UNKNOWN_TABLE` where it names none."""
    try:
        table_id = _named.decode(raw).table_id
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        # A line broken off in the middle still says where it came from.
        found = _TABLE_IN_FRAGMENT.search(raw)
        return found[1].decode("ascii") if found else UNKNOWN_TABLE
    return table_id if _TABLE_ID.fullmatch(table_id) else UNKNOWN_TABLE


def import_events(
    paths: Iterable[Path],
    *,
    batch_events: int = 1_000,
    batch_bytes: int = 4_000_000,
    on_progress: Callable[[Progress], None] | None = None,
) -> Iterator[Batch]:
    """Yield the files' lines, in order, as batches for the log; blank lines are left out.

    A batch has at most `batch_events` messages and, but for its last, `batch_bytes` bytes. A line that is too long for
    an event is cut one byte above that length, so that the fold sees it. `on_progress` is called before each batch and
    at the end of each file. Raises `UnreadableFile` after yielding what could be read before it.
    """
    for path in paths:
        # One byte above an event's limit is kept of each line, which is enough to see that it is too long.
        source = LineSource(path, MAX_EVENT_BYTES + 1)
        for batch in _batches(source, batch_events, batch_bytes):
            if on_progress:
                on_progress(source.progress())
            yield batch
        if on_progress:
            on_progress(source.progress())


def _batches(source: LineSource, batch_events: int, batch_bytes: int) -> Iterator[Batch]:
    batch: Batch = []
    size = 0
    try:
        for line in source:
            raw = line.text.strip(b" \t")
            if not raw:
                continue
            batch.append((table_of(raw), raw))
            size += len(raw)
            if len(batch) >= batch_events or size >= batch_bytes:
                yield batch
                batch, size = [], 0
    except UnreadableFile:
        if batch:
            yield batch
        raise
    if batch:
        yield batch
