"""The events that Pitwatch itself writes to a table's stream: what takes a clock, or the house's word, to know.

They are in the log before anything acts on them, so a replay repeats a decision instead of taking it anew.
"""

from datetime import UTC, datetime, timedelta
from typing import Final, TypedDict

from schemas.configuration import TableEntry
from schemas.events import ConfigurationPublished, Event, GapExpired, TableSilent
from schemas.ids import SYSTEM_EPOCH, event_id
from schemas.wire import encode

Message = tuple[str, bytes]
"""Key and value, as the log takes them."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


class _Envelope(TypedDict):
    table_id: str
    epoch: int
    seq: int
    event_id: str
    occurred_at: datetime


class OwnEvents:
    """Numbers and words Pitwatch's own events, for one thread. `now` is always the moment of the decision, in UTC."""

    def __init__(self) -> None:
        self._seq = 0

    def gap_expired(self, table_id: str, through: tuple[int, int], now: datetime) -> Message:
        """Return the event that gives up the table's missing events up to `through`, an epoch and a seq."""
        epoch, seq = through
        return _message(GapExpired(**self._envelope(table_id, now), through_epoch=epoch, through_seq=seq))

    def table_silent(self, table_id: str, last_event_id: str, since: datetime, now: datetime) -> Message:
        """Return the event that says the table was not heard since its last event."""
        envelope = self._envelope(table_id, now)
        return _message(TableSilent(**envelope, silent_since=since, last_event_id=last_event_id))

    def configuration_published(self, entry: TableEntry, now: datetime) -> Message:
        """Return the event that puts a table's configuration in force."""
        envelope = self._envelope(entry.table_id, now)
        return _message(ConfigurationPublished(**envelope, configuration=entry.configuration))

    def _envelope(self, table_id: str, now: datetime) -> _Envelope:
        # Microseconds since 1970, and never the same twice, so that a start after a crash repeats no number either.
        self._seq = max(self._seq + 1, (now - _EPOCH) // _MICROSECOND)
        return {
            "table_id": table_id,
            "epoch": SYSTEM_EPOCH,
            "seq": self._seq,
            "event_id": event_id(table_id, SYSTEM_EPOCH, self._seq),
            "occurred_at": now,
        }


def _message(event: Event) -> Message:
    return event.table_id, encode(event)
