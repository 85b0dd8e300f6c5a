"""One table from its opening to its closing, a piece at a time."""

from collections.abc import Iterator
from random import Random
from typing import Final

from producers.simulator.company import between_rounds, close_table, count_drop, open_table
from producers.simulator.controller import SECOND, Arrival, Controller
from producers.simulator.deviations.schedule import Schedule
from producers.simulator.opening import close_shoe, open_shoe, publish
from producers.simulator.rounds import play_round
from producers.simulator.settings import FloorSettings
from producers.simulator.table import Table

_HEARTBEATS_PER_SILENCE: Final = 4
_LAST_TABLE_OPENS_SECONDS: Final = 300
_HOUSE_CHOICE: Final = 0.001
_DAMAGED: Final = 0.0005
_CONTINUOUS_HOUSE_CHOICE: Final = 0.008
_DROP_COUNTED: Final = 0.1


def play(settings: FloorSettings, index: int) -> Iterator[Arrival]:
    """Yield everything that the floor's table number `index` sends, in order; at most a shoe's opening is kept."""
    table_settings = settings.tables[index]
    rng = Random(f"{settings.seed}/{table_settings.table_id}")
    heartbeat = max(1, table_settings.configuration.silence_limit_seconds // _HEARTBEATS_PER_SILENCE)
    controller = Controller(table_settings.table_id, settings.start, heartbeat)
    table = Table(settings, table_settings, rng, controller)
    # Tables open one after the other, so their rounds are not in step.
    controller.now = int(rng.random() * min(_LAST_TABLE_OPENS_SECONDS * SECOND, 0.1 * table.ends_at))
    for _ in _session(table, Schedule(table_settings.deviations, rng)):
        yield from controller.drain(index)


def _session(table: Table, schedule: Schedule) -> Iterator[None]:
    """Play until the time is over, stopping after each piece."""
    publish(table, table.configuration)
    open_table(table)
    yield
    while not table.over:
        open_shoe(table, schedule)
        yield
        reason = None
        while reason is None:
            between_rounds(table)
            play_round(table, schedule)
            table.rounds += 1
            yield
            reason = _reason_to_close(table)
        close_shoe(table, reason)
        if table.rng.random() < _DROP_COUNTED:
            count_drop(table)
        yield
    close_table(table)
    yield


def _reason_to_close(table: Table) -> str | None:
    """Say why the shoe ends here, if it does (art. 3)."""
    shoe = table.shoe
    assert shoe is not None
    if shoe.over:
        return "cut_card" if shoe.cut_round else "house_choice"
    if table.over:
        return "table_closed"
    if shoe.finding:
        return None
    chance = table.rng.random()
    if chance < _DAMAGED:
        return "damaged_cards"
    often = _CONTINUOUS_HOUSE_CHOICE if table.configuration.shuffling == "continuous" else _HOUSE_CHOICE
    return "house_choice" if chance < _DAMAGED + often else None
