"""The newest entries of a table's story, and where in it an event has its place."""

from datetime import UTC, datetime, timedelta
from typing import Final

import msgspec

from processors.reconstruct.sequencer import Entry, Missing
from schemas import ids
from schemas.events import Event, Heartbeat
from schemas.ids import SYSTEM_EPOCH, split_event_id
from schemas.structs import struct_of
from schemas.wire import decode_event

HeartbeatRow = struct_of(Heartbeat, tag="heartbeat")

_BEGINNING_OF_TIME: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


class Story:
    """Entries in the order in which they are told, numbered from the table's first; `first` is the oldest one kept.

    Those of the table's own rise by epoch and seq. Pitwatch's stand among them where the log had them.
    """

    __slots__ = ("entries", "first")

    def __init__(self) -> None:
        self.first = 0
        self.entries: list[Entry] = []

    @property
    def end(self) -> int:
        """The number of the entry to come."""
        return self.first + len(self.entries)

    def since(self, number: int) -> list[Entry]:
        """Return the entries from one number on."""
        return self.entries[number - self.first :]

    def find(self, epoch: int, seq: int) -> Entry | None:
        """Return an event's entry, None where it isn't kept."""
        index = self._index_of(epoch, seq)
        return None if index is None else self.entries[index]

    def event(self, event_id: str) -> Event | None:
        """Return an event as it was sent, None where it isn't among the entries."""
        _, epoch, seq = split_event_id(event_id)
        entry = self.find(epoch, seq)
        return None if entry is None else decode_event(entry.raw)

    def place(self, event_id: str) -> int | None:
        """Return the number of an event's entry, None where it isn't among the entries."""
        _, epoch, seq = split_event_id(event_id)
        index = self._index_of(epoch, seq)
        return None if index is None else self.first + index

    def is_over(self, event_id: str) -> bool:
        """Tell whether the event isn't among the entries and, if it ever comes, belongs before them."""
        _, epoch, seq = split_event_id(event_id)
        if not self.first or self._index_of(epoch, seq) is not None:
            return False
        if epoch == SYSTEM_EPOCH:
            # Pitwatch numbers its own events by the clock.
            oldest = next((entry.appended_at for entry in self.entries), _BEGINNING_OF_TIME)
            return seq < (oldest - _BEGINNING_OF_TIME) // _MICROSECOND
        own = ((entry.epoch, entry.seq) for entry in self.entries if entry.epoch != SYSTEM_EPOCH)
        return (epoch, seq) < next(own, (0, 0))

    def _index_of(self, epoch: int, seq: int) -> int | None:
        number = (epoch, seq)
        for index in range(len(self.entries) - 1, -1, -1):
            entry = self.entries[index]
            if entry.epoch == epoch and entry.seq == seq:
                return None if entry.is_gap else index
            if entry.epoch > SYSTEM_EPOCH and (entry.epoch, entry.seq) < number:
                return None
        return None

    def insert(self, late: Entry) -> int | None:
        """Put a late event in its place and return its number, or that of the gap it was missing from.

        Returns None, and does nothing, where its place is before the entries kept.
        """
        number = (late.epoch, late.seq)
        for index in range(len(self.entries) - 1, -1, -1):
            entry = self.entries[index]
            if entry.epoch == SYSTEM_EPOCH or (entry.epoch, entry.seq) > number:
                continue
            if entry.is_gap and entry.epoch == late.epoch and late.seq <= entry.last:
                self.entries[index : index + 1] = _filled(entry, late)
                return self.first + index
            self.entries.insert(index + 1, late)
            return self.first + index + 1
        if self.first:
            return None
        # Everything is there from the very beginning, so before it there was nothing.
        self.entries.insert(0, late)
        return 0

    def end_gap(self, hole: Missing, last: int) -> int | None:
        """Shorten the gap that `hole` left to the event `last`, or take it out, and return its number if it is kept."""
        for index, entry in enumerate(self.entries):
            if entry.is_gap and (entry.epoch, entry.seq, entry.last) == (hole.epoch, hole.first, hole.last):
                rest = [msgspec.structs.replace(entry, last=last)] if hole.first <= last else []
                self.entries[index : index + 1] = rest
                return self.first + index
        return None

    def forget(self, first: int) -> None:
        """Drop the entries before number `first`."""
        del self.entries[: first - self.first]
        self.first = first


def sign_of_life(table_id: str, epoch: int, seq: int, occurred_at: datetime) -> Event:
    """Return a heartbeat in place of an event of which nothing is known, or nothing counts, but that there was one."""
    return HeartbeatRow(
        event_id=ids.event_id(table_id, epoch, seq), table_id=table_id, epoch=epoch, seq=seq, occurred_at=occurred_at
    )


def _filled(gap: Entry, late: Entry) -> list[Entry]:
    """Return what is left of a gap once one of its events was found, and that event between."""
    before = [msgspec.structs.replace(gap, last=late.seq - 1)] if gap.seq < late.seq else []
    after = [msgspec.structs.replace(gap, seq=late.seq + 1)] if late.seq < gap.last else []
    return [*before, late, *after]
