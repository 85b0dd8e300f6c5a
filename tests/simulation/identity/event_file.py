"""The file of events that goes all ways: complete, but shuffled, repeated and broken on its way."""

import gzip
import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from producers.importers.events import Batch, import_events
from producers.simulator import Telemetry, mixed_floor, simulate
from schemas.wire import encode

START = datetime(2025, 3, 1, 4, tzinfo=UTC)
"""Long past, so that no clock is ever ahead of a log's."""

EVENTS_PER_TABLE_HOUR = 1_750
"""About so many does a simulated table send."""

BROKEN_EVERY = 2_000

_TELEMETRY = Telemetry(duplicated=0.02, disordered=0.05, restarted=0.03)


def write_event_file(path: Path, events: int, tables: int, seed: int) -> int:
    """Write the events of a floor that plays until it closes; return how many lines that were.

    Nothing is lost on the way: of what is missing at a file's end nobody knows how long to wait for it. One line in
    `BROKEN_EVERY` is no event.
    """
    hours = events / (tables * EVENTS_PER_TABLE_HOUR)
    floor = mixed_floor(seed=seed, start=START, hours=hours, tables=tables, dirty=tables // 4, telemetry=_TELEMETRY)
    lines = 0
    with gzip.open(path, "wb", compresslevel=1) as file:
        for arrival in simulate(floor):
            file.write(encode(arrival.event) + b"\n")
            lines += 1
            if lines % BROKEN_EVERY == 0:
                file.write(b'{"table_id":"%s","line":%d,\n' % (arrival.event.table_id.encode(), lines))
                lines += 1
    return lines


class EventFile:
    """What a file holds, and the place in it that each message has, however often it came."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._places: dict[bytes, int] = {}
        self.lines = 0
        self.tables: set[str] = set()
        for batch in self.batches():
            for key, value in batch:
                self._places.setdefault(_digest(key, value), self.lines)
                self.lines += 1
                self.tables.add(key)

    def batches(self) -> Iterator[Batch]:
        """Yield the messages as they go into a log."""
        return import_events([self.path])

    def place(self, key: str, value: bytes) -> int:
        """Return where the file has a message first. Raises `KeyError` for one that it doesn't have."""
        return self._places[_digest(key, value)]

    @property
    def messages(self) -> int:
        """How many different messages there are."""
        return len(self._places)


def _digest(key: str, value: bytes) -> bytes:
    return hashlib.blake2b(key.encode() + b"\0" + value, digest_size=12).digest()
