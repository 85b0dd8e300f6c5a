"""`TableFold`: one table's records in, facts out. The same records always give the same facts, byte for byte.

This is the core's front door. Nothing here reads a clock, a file or chance: what the log says, and when the log says
it was appended, is all there is. A fold can be written down at any record and go on elsewhere as if it never stopped.
"""

from datetime import timedelta
from typing import Final, cast

import msgspec

from processors.reconstruct.journal import Journal, Pages, dead_letter
from processors.reconstruct.sequencer import Entry, Sequencer
from processors.reconstruct.state import TableState
from schemas.events import HOUSE_EVENT_TYPES, SYSTEM_EVENT_TYPES, Correction, Event, GapExpired
from schemas.facts import Fact
from schemas.ids import SYSTEM_EPOCH
from schemas.log import Record
from schemas.wire import InvalidEvent, decode_event

MAX_SYSTEM_IDS: Final = 1024


class FoldSettings(msgspec.Struct, frozen=True):
    """How long a table's missing events are waited for in log time, and how many rounds back it can be revised."""

    gap_limit_ms: int = 5_000
    window_rounds: int = 80


class Snapshot(msgspec.Struct):
    """A fold written down."""

    table_id: str
    sequencer: Sequencer
    pages: Pages
    system_seqs: list[int]


_snapshots: Final = msgspec.msgpack.Decoder(Snapshot)


class TableFold:
    """The fold of one table."""

    def __init__(self, table_id: str, settings: FoldSettings) -> None:
        self.table_id = table_id
        self.sequencer = Sequencer(timedelta(milliseconds=settings.gap_limit_ms))
        self.journal = Journal(table_id, settings.window_rounds)
        self._system_seqs: dict[int, None] = {}
        self.repeats = 0
        """Records that said nothing new since the fold was made or restored."""

    @property
    def state(self) -> TableState:
        """The table as it stands; read it, don't change it."""
        return self.journal.table.state

    @property
    def waits(self) -> tuple[int, int] | None:
        """Epoch and seq of the last event held back behind a gap, None where nothing waits."""
        return max(self.sequencer.pending, default=None)

    @property
    def silence_limit(self) -> timedelta:
        """How long the table may be silent while it is open."""
        return self.journal.table.rules.silence_limit

    def apply(self, record: Record) -> list[Fact]:
        """Return the facts that a record of the table brings about. Never raises for anything a record may hold."""
        journal = self.journal
        journal.out = out = []
        try:
            event = decode_event(record.value)
        except InvalidEvent as error:
            return [self._refuse(_entry(record, 0, 0), error.reason, error.detail, error)]
        entry = _entry(record, event.epoch, event.seq)
        sequencer = self.sequencer
        if sequencer.is_next(event.epoch, event.seq) and event.table_id == self.table_id:
            sequencer.next_seq += 1
            self._take(entry, event)
        elif problem := self._problem(event):
            out.append(self._refuse(entry, *problem, event))
        elif event.epoch == SYSTEM_EPOCH:
            self._take_system(entry, event)
        else:
            self._take_out_of_order(entry, event)
        return out

    def _take(self, entry: Entry, event: Event) -> None:
        self.journal.take(entry, event)
        if event.type == "correction":
            self.journal.correct(entry, cast(Correction, event))

    def _problem(self, event: Event) -> tuple[str, str] | None:
        """Say why a well-formed event can't be this table's, if so."""
        if event.table_id != self.table_id:
            return "wrong_table", f"the message was sent as table {self.table_id}'s but names {event.table_id}"
        if event.epoch == SYSTEM_EPOCH:
            if event.type in SYSTEM_EVENT_TYPES or event.type in HOUSE_EVENT_TYPES:
                return None
            return "system_epoch", f"epoch 0 is Pitwatch's own; a table's {event.type} has its boot count"
        if event.type in SYSTEM_EVENT_TYPES:
            return "system_type", f"only Pitwatch writes {event.type}"
        if event.seq == 0:
            return "numbering", "a controller numbers its events from 1"
        if self.sequencer.is_damage(event.epoch, event.seq):
            at = f"{self.sequencer.epoch}:{self.sequencer.next_seq}"
            return "numbering", f"{event.epoch}:{event.seq} is too far from {at}, the next one due"
        return None

    def _take_system(self, entry: Entry, event: Event) -> None:
        if event.seq in self._system_seqs:
            self.repeats += 1
            return
        self._system_seqs[event.seq] = None
        if len(self._system_seqs) > MAX_SYSTEM_IDS:
            del self._system_seqs[next(iter(self._system_seqs))]
        if event.type == "gap_expired":
            expired = cast(GapExpired, event)
            self._take_all(self.sequencer.expire(expired.through_epoch, expired.through_seq))
        self._take(entry, event)

    def _take_out_of_order(self, entry: Entry, event: Event) -> None:
        sequencer = self.sequencer
        epoch, seq = event.epoch, event.seq
        if sequencer.is_known(epoch, seq):
            self._check_repeat(entry, event)
        elif sequencer.is_late(epoch, seq):
            self._take_late(entry, event)
        else:
            sequencer.hold(entry, event.follows)
        self._take_all(sequencer.release(entry.appended_at))

    def _take_all(self, released: list[Entry]) -> None:
        for index, entry in enumerate(released):
            found = next(other for other in released[index:] if other.raw)
            event = decode_event(found.raw)
            if entry.raw:
                self._take(entry, event)
            else:
                self.journal.take(entry, event)

    def _take_late(self, entry: Entry, event: Event) -> None:
        """An event whose time is over: it goes where it belongs, and what followed is worked out again."""
        self.sequencer.fill(event.epoch, event.seq)
        if not self.journal.insert(entry):
            detail = "it came after its place in the table's history had been closed"
            self.journal.out.append(self._refuse(entry, "too_late", detail, event))
        elif event.type == "correction":
            self.journal.correct(entry, cast(Correction, event))

    def _check_repeat(self, entry: Entry, event: Event) -> None:
        """A repeat says nothing new; an event that reuses another's number says that something is wrong."""
        known = self.sequencer.pending.get((event.epoch, event.seq))
        if known is None:
            index = self.journal.index_of(event.epoch, event.seq)
            known = None if index is None else self.journal.entries[index]
        if known is not None and known.raw != entry.raw and decode_event(known.raw) != event:
            detail = f"another event has the id {event.event_id}; the one that came first stands"
            self.journal.out.append(self._refuse(entry, "conflict", detail, event))
        else:
            self.repeats += 1

    def _refuse(self, entry: Entry, reason: str, detail: str, what: Event | InvalidEvent) -> Fact:
        place = (what.event_id, getattr(what, "shoe", 0), getattr(what, "round", 0))
        return dead_letter(self.table_id, entry, reason, detail, place)

    def snapshot(self) -> bytes:
        """Return the fold written down."""
        return msgspec.msgpack.encode(
            Snapshot(self.table_id, self.sequencer, self.journal.pages(), list(self._system_seqs))
        )

    @classmethod
    def restore(cls, snapshot: bytes, settings: FoldSettings) -> "TableFold":
        """Return the fold that `snapshot` holds. Raises `msgspec.MsgspecError` for bytes that are none."""
        written = _snapshots.decode(snapshot)
        fold = cls(written.table_id, settings)
        fold.sequencer = written.sequencer
        fold.journal.open_at(written.pages)
        fold._system_seqs = dict.fromkeys(written.system_seqs)
        return fold


def _entry(record: Record, epoch: int, seq: int) -> Entry:
    return Entry(epoch, seq, record.value, record.partition, record.offset, record.appended_at)
