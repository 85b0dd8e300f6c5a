"""Which floor a demonstration shows, tables clean, dirty and badly wired by turns, and how fast its time goes. Pure."""

from datetime import datetime, timedelta
from typing import Final, NamedTuple

from producers.simulator import Deviations, FloorSettings, SimulatedTable, Telemetry, simulated_table, start_before

DISORDER: Final = timedelta(milliseconds=1500)
"""No event comes later than this after its turn."""

VIEW_SECONDS: Final = 35
"""How long a floor of a known number of rounds is meant to be on the screen."""

ENDLESS_SPEED: Final = 60.0
"""Simulated seconds a second on a floor that has no end: a round a second at an ordinary table."""

# Clocks stay right: in a time that is pressed together, the log can't tell that one is ahead.
FAULTY_LINE: Final = Telemetry(duplicated=0.02, disordered=0.05, disorder_ms=1500, restarted=0.01)
"""What goes wrong on the way from a table and costs nothing: repeats, disorder, restarts."""

LOSSY_LINE: Final = FAULTY_LINE.model_copy(update={"lost": 0.02})
"""The same, and now and then events are lost, which costs a round its verdict.

Not for tables with deviations: what is missing may be the very word that would excuse somebody, so a deviation may go
without an alert.
"""

# With one pace for all, no table is done long before the others.
_SECONDS_PER_ROUND: Final = 60
_ROUNDS_PER_SHOE: Final = 60
_SHOE_SECONDS: Final = 500
_OPENING_SECONDS: Final = 300
_SPARE: Final = 1.5

_ENDLESS_HOURS: Final = 24.0 * 30
_ENDLESS_BEFORE: Final = timedelta(hours=24)


class Plan(NamedTuple):
    """A floor to show, and at how many simulated seconds a second it fits on the screen."""

    floor: FloorSettings
    speed: float


def plan_floor(*, tables: int, rounds: int | None, seed: int, now: datetime) -> Plan:
    """Return a floor whose tables play `rounds` live rounds each, or on and on, and none of it later than `now`.

    A floor without end begins a day ago and is to be slowed down to the present's pace when it has caught up.
    """
    if rounds is None:
        start = (now - _ENDLESS_BEFORE).replace(second=0, microsecond=0)
        return Plan(_floor(seed, start, _ENDLESS_HOURS, tables, None), ENDLESS_SPEED)
    seconds = _OPENING_SECONDS + rounds * _SECONDS_PER_ROUND + (1 + rounds // _ROUNDS_PER_SHOE) * _SHOE_SECONDS
    hours = _SPARE * seconds / 3600
    return Plan(_floor(seed, start_before(now, hours), hours, tables, rounds), max(1.0, round(seconds / VIEW_SECONDS)))


def _floor(seed: int, start: datetime, hours: float, tables: int, rounds: int | None) -> FloorSettings:
    return FloorSettings(
        seed=seed,
        start=start,
        hours=hours,
        rounds=rounds,
        tables=tuple(_table(index, tables, start, one_pace=rounds is not None) for index in range(tables)),
    )


def _table(index: int, tables: int, start: datetime, *, one_pace: bool) -> SimulatedTable:
    # By turns: a clean table, one with deviations, one whose line loses events, one with deviations.
    dirty = index % 2 == 1 or tables == 1
    line = LOSSY_LINE if index % 4 == 2 else FAULTY_LINE
    table = simulated_table(index, start.date(), Deviations() if dirty else None, line)
    return table.model_copy(update={"seconds_per_round": _SECONDS_PER_ROUND}) if one_pace else table
