"""The floor: every table's stream, with what happens to it on the way to the log, merged in order of arrival."""

import heapq
from collections.abc import Iterator
from itertools import islice

from producers.simulator.controller import Arrival
from producers.simulator.session import play
from producers.simulator.settings import FloorSettings
from producers.simulator.telemetry import distort


def simulate(settings: FloorSettings) -> Iterator[Arrival]:
    """Yield the floor's arrivals in order. Lazy: memory depends on the number of tables, not on the hours."""
    streams = (table_stream(settings, index) for index in range(len(settings.tables)))
    return islice(heapq.merge(*streams), settings.events)


def table_stream(settings: FloorSettings, index: int) -> Iterator[Arrival]:
    """Yield one table's arrivals in order, `index` counted from 0."""
    table = settings.tables[index]
    arrivals = play(settings, index)
    if not table.telemetry.faulty:
        return arrivals
    return distort(arrivals, table, f"{settings.seed}/{table.table_id}/telemetry")
