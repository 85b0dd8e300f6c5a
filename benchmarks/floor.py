"""The events that everything is measured with: a busy simulated floor's, the same on every machine."""

from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Final

from producers.simulator import mixed_floor, simulate
from schemas.log import Record
from schemas.topics import TABLE_EVENTS
from schemas.wire import encode

TABLES: Final = 100
SEED: Final = 20040512
START: Final = datetime(2026, 1, 5, 4, tzinfo=UTC)


def floor_records(events: int, dirty: int = TABLES // 10) -> list[Record]:
    """Return the first `events` of the floor's messages as the log would give them, in order of arrival.

    At the first `dirty` tables every deviation happens now and then.
    """
    settings = mixed_floor(seed=SEED, start=START, hours=24 * 30, tables=TABLES, dirty=dirty)
    arrivals = islice(simulate(settings), events)
    return [
        Record(TABLE_EVENTS, 0, offset, arrival.event.table_id, encode(arrival.event), arrival.arrives_at)
        for offset, arrival in enumerate(arrivals)
    ]


def later(records: list[Record]) -> datetime:
    """Return a moment after every record."""
    return records[-1].appended_at + timedelta(hours=1)
