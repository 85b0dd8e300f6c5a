"""Who has fallen silent: each table as the log last heard it, and the moment to say so.

It is the same judgement as the fold's, from as little as a table's numbers, its openings and closings as supervisors
have corrected them, and the limit of its configuration. So it can be made by a process that doesn't fold.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final, NamedTuple, cast

import msgspec

from processors.live.openings import Openings, shows
from processors.reconstruct.sequencer import (
    BEGINNING,
    MAX_EPOCH_JUMP,
    MAX_FIRST_EPOCH,
    MAX_FIRST_SEQ,
    MAX_SEQ_JUMP,
    Number,
)
from schemas.configuration import TableConfiguration
from schemas.events import ConfigurationPublished, Correction, Event, TableSilent
from schemas.ids import SYSTEM_EPOCH, event_id

DEFAULT_LIMIT_SECONDS: Final = int(TableConfiguration.model_fields["silence_limit_seconds"].default)


class WatchedTable(msgspec.Struct):
    """A table as it was last heard. `last` is its newest event, which happened at `last_at` by the table's clock.

    `openings` say why it `is_open`, or isn't. `reported` is the event behind which a silence was said to begin, empty
    once what was said counts no longer. `standing` is only in what an older version wrote, in place of `openings`.
    `tables` were watched in its partition when it was written down; 0 where nobody counted them.
    """

    last: Number = BEGINNING
    last_at: datetime | None = None
    heard_at: datetime | None = None
    is_open: bool = False
    standing: Number = BEGINNING
    limit_seconds: int = DEFAULT_LIMIT_SECONDS
    reported: str = ""
    openings: Openings = msgspec.field(default_factory=Openings)
    tables: int = 0


class Silence(NamedTuple):
    """A table that has not been heard since `since`, its event `last_event_id`."""

    table_id: str
    last_event_id: str
    since: datetime


def hear(table: WatchedTable, event: Event, appended_at: datetime) -> None:
    """Take in an event of the table, as it stands in the log; in place."""
    if event.type == "configuration_published":
        table.limit_seconds = cast(ConfigurationPublished, event).configuration.silence_limit_seconds
    if event.epoch != SYSTEM_EPOCH:
        _hear_table(table, event, appended_at)
    elif event.type == "table_silent":
        table.reported = cast(TableSilent, event).last_event_id
    elif event.type == "correction":
        _correct(table, cast(Correction, event))
    elif event.type == "gap_expired":
        # What was said of a table while events of it were held back counted for nothing.
        table.reported = ""


def _hear_table(table: WatchedTable, event: Event, appended_at: datetime) -> None:
    number = (event.epoch, event.seq)
    if _is_damage(table.last, number) or _is_reused(table, event, number):
        return
    table.heard_at = appended_at
    if number > table.last:
        table.last, table.last_at = number, event.occurred_at
    if event.type == "correction":
        _correct(table, cast(Correction, event))
    elif (opens := shows(event)) is not None:
        # An opening that comes late doesn't undo the closing that followed it.
        openings = _openings(table)
        openings.show(number, opens=opens)
        table.is_open = openings.is_open(event.table_id)


def _correct(table: WatchedTable, correction: Correction) -> None:
    """It counts as if the table had sent the right event in the first place."""
    openings = _openings(table)
    openings.correct(correction, table.last)
    table.is_open = openings.is_open(correction.table_id)


def _openings(table: WatchedTable) -> Openings:
    if table.standing != BEGINNING:
        table.openings.show(table.standing, opens=table.is_open)
        table.standing = BEGINNING
    return table.openings


def _is_damage(last: Number, number: Number) -> bool:
    """Tell whether the fold will take the number for damage: no controller jumps so far."""
    epoch, seq = number
    if last == BEGINNING:
        return epoch > MAX_FIRST_EPOCH or seq > MAX_FIRST_SEQ
    if epoch == last[0]:
        return seq > last[1] + MAX_SEQ_JUMP
    return epoch > last[0] + MAX_EPOCH_JUMP or (epoch > last[0] and seq > MAX_SEQ_JUMP)


def _is_reused(table: WatchedTable, event: Event, number: Number) -> bool:
    """Tell whether a number of the past stands for something newer: nobody can use what such a controller sends."""
    return number < table.last and table.last_at is not None and event.occurred_at > table.last_at


def silences(tables: dict[str, WatchedTable], now: datetime, listening_since: datetime) -> Iterator[Silence]:
    """Yield the open tables that fell silent by `now` and were not reported yet.

    Silence counts from `listening_since` on at the earliest: who was not listened to was not silent.
    """
    for table_id, table in tables.items():
        if not table.is_open or table.heard_at is None:
            continue
        last_event_id = event_id(table_id, *table.last)
        waited = now - max(table.heard_at, listening_since)
        if waited > timedelta(seconds=table.limit_seconds) and table.reported != last_event_id:
            yield Silence(table_id, last_event_id, table.heard_at)
