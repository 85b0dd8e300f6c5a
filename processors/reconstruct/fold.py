"""`TableFold`: one table's records in, facts out. The same records always give the same facts, byte for byte.

This is the core's front door. Nothing here reads a clock, a file or chance: what the log says, and when the log says
it was appended, is all there is. A fold can be written down at any record and go on elsewhere as if it never stopped.
"""

import zlib
from datetime import datetime, timedelta
from typing import Final, Literal, cast

import msgspec

from processors.reconstruct.dead_letters import dead_letter
from processors.reconstruct.emissions import stamped
from processors.reconstruct.journal import Journal, Pages
from processors.reconstruct.latecomers import Latecomers
from processors.reconstruct.sequencer import BEGINNING, Entry, Number, Sequencer
from processors.reconstruct.state import TableState
from processors.reconstruct.table import EvidenceRow
from schemas.events import HOUSE_EVENT_TYPES, SYSTEM_EVENT_TYPES, Event, GapExpired
from schemas.facts import Fact
from schemas.ids import SYSTEM_EPOCH
from schemas.log import Record
from schemas.wire import InvalidEvent, decode_event

MAX_SYSTEM_IDS: Final = 1024
"""Of Pitwatch's own events so many are remembered, to tell repeats; the lowest numbers are forgotten first."""

OWN_EVENT_TYPES: Final = SYSTEM_EVENT_TYPES | HOUSE_EVENT_TYPES
"""What may come with epoch 0."""

COMPRESSION_LEVEL: Final = 1

VERSION: Final = 7
"""Version of what a snapshot holds. A new one gets a new number, and old ones are not read."""

_FORGOTTEN: Final = "nobody remembers any more whether an event of that number came before"


class FoldSettings(msgspec.Struct, frozen=True):
    """How long a table's missing events are waited for in log time, and how many rounds back it can be revised."""

    gap_limit_ms: int = 5_000
    window_rounds: int = 80


class Snapshot(msgspec.Struct, array_like=True):
    """A fold written down."""

    version: Literal[7]
    table_id: str
    sequencer: Sequencer
    latecomers: Latecomers
    pages: Pages
    system_seqs: list[int]
    forgotten_seq: int
    set_back: Number


_snapshots: Final = msgspec.msgpack.Decoder(Snapshot)


class TableFold:
    """The fold of one table."""

    def __init__(self, table_id: str, settings: FoldSettings) -> None:
        self.table_id = table_id
        self.sequencer = Sequencer(timedelta(milliseconds=settings.gap_limit_ms))
        self.latecomers = Latecomers()
        self.journal = Journal(table_id, settings.window_rounds)
        self._system_seqs: set[int] = set()
        self._forgotten_seq = -1
        self._set_back = BEGINNING
        self.repeats = 0
        """Records that said nothing new since the fold was made or restored."""

    @property
    def state(self) -> TableState:
        """The table as it stands; read it, don't change it."""
        return self.journal.table.state

    @property
    def waits(self) -> tuple[int, int] | None:
        """Epoch and seq of the last event that waits: behind a gap, or late, to be told with others; None for none."""
        return max(self.sequencer.pending, default=None) or max(self.latecomers.waiting, default=None)

    @property
    def silence_limit(self) -> timedelta:
        """How long the table may be silent while it is open."""
        return self.journal.table.rules.silence_limit

    def apply(self, record: Record) -> list[Fact]:
        """Return the facts that a record of the table brings about. Never raises for anything a record may hold."""
        sequencer, journal = self.sequencer, self.journal
        out: list[Fact] = []
        journal.emissions.out = out
        try:
            event = decode_event(record.value)
        except InvalidEvent as error:
            entry = Entry(0, 0, record.value, record.partition, record.offset, record.appended_at)
            self._refuse(entry, error.reason, error.detail, error)
        else:
            entry = Entry(event.epoch, event.seq, record.value, record.partition, record.offset, record.appended_at)
            if (
                event.seq == sequencer.next_seq
                and event.epoch == sequencer.epoch
                and event.table_id == self.table_id
                and not sequencer.pending
                and not self.latecomers.waiting
            ):
                # The event just due, and nothing waits: the everyday case.
                sequencer.next_seq += 1
                journal.take(entry, event)
                return out
            self._take_otherwise(entry, event)
        if sequencer.pending:
            self._take_all(sequencer.release(record.appended_at))
        return out

    def _take_otherwise(self, entry: Entry, event: Event) -> None:
        sequencer = self.sequencer
        epoch, seq = event.epoch, event.seq
        if problem := self._problem(event):
            self._refuse(entry, *problem, event)
        elif epoch == SYSTEM_EPOCH:
            self._take_system(entry, event)
        elif sequencer.is_known(epoch, seq):
            self._check_repeat(entry, event)
        elif sequencer.is_late(epoch, seq):
            if self._is_newest(event) and not sequencer.is_awaited(epoch, seq):
                self._refuse_set_back(entry, event)
            else:
                self._take_late(entry, event)
        else:
            self._tell_latecomers_first(entry, event)
            sequencer.hold(msgspec.structs.replace(entry, link=event.follows if seq == 1 else None))

    def _problem(self, event: Event) -> tuple[str, str] | None:
        """Say why a well-formed event can't be this table's, if so."""
        if event.table_id != self.table_id:
            return "wrong_table", f"the message was sent as table {self.table_id}'s but names {event.table_id}"
        if event.epoch == SYSTEM_EPOCH:
            if event.type in OWN_EVENT_TYPES:
                return None
            return "system_epoch", f"epoch 0 is Pitwatch's own; a table's {event.type} has its boot count"
        if event.seq == 0:
            return "numbering", "a controller numbers its events from 1"
        if self.sequencer.is_damage(event.epoch, event.seq):
            return "numbering", self._damage(event)
        return None

    def _damage(self, event: Event) -> str:
        sequencer = self.sequencer
        due = f"{sequencer.epoch}:{sequencer.next_seq}, the next one due" if sequencer.started else "any beginning"
        return f"{event.epoch}:{event.seq} is too far from {due}"

    def _take_system(self, entry: Entry, event: Event) -> None:
        forgotten = event.seq <= self._forgotten_seq
        if event.seq in self._system_seqs or (forgotten and self.journal.story.find(SYSTEM_EPOCH, event.seq)):
            self._check_repeat(entry, event)
            return
        if forgotten:
            # Taken once more, an old configuration would be in force again.
            self._refuse(entry, "too_late", _FORGOTTEN, event)
            return
        self._tell_latecomers_first(entry, event)
        self._system_seqs.add(event.seq)
        if len(self._system_seqs) > MAX_SYSTEM_IDS:
            self._forgotten_seq = min(self._system_seqs)
            self._system_seqs.remove(self._forgotten_seq)
        if event.type == "gap_expired":
            expired = cast(GapExpired, event)
            self._take_all(self.sequencer.expire(expired.through_epoch, expired.through_seq))
        self.journal.take(entry, event)

    def _take_all(self, released: list[Entry]) -> None:
        """Take entries that waited; a gap happened, as far as anybody knows, when the event found behind it did."""
        events = [decode_event(entry.raw) if entry.raw else None for entry in released]
        for index, (entry, event) in enumerate(zip(released, events, strict=True)):
            if event is None:
                found = next(other for other in events[index:] if other)
                self.journal.take_gap(msgspec.structs.replace(entry, appended_at=found.occurred_at))
            else:
                self.journal.take(entry, event)
        damaged, self.sequencer.damaged = self.sequencer.damaged, []
        for entry in damaged:
            event = decode_event(entry.raw)
            self._refuse(entry, "numbering", self._damage(event), event)

    def _take_late(self, entry: Entry, event: Event) -> None:
        """An event whose time is over: it goes where it belongs, and what followed is worked out again."""
        self.sequencer.fill(event.epoch, event.seq)
        self.latecomers.waiting[event.epoch, event.seq] = entry
        if event.follows and event.seq == 1 and (hole := self.sequencer.end_of_epoch(event.follows)):
            self._tell_latecomers(entry.appended_at)
            self.journal.end_gap(hole, event.follows[1], entry)
        elif self.latecomers.are_due(entry.appended_at):
            self._tell_latecomers(entry.appended_at)

    def _tell_latecomers_first(self, entry: Entry, event: Event) -> None:
        if self.latecomers.waiting and self.latecomers.go_before(event, entry.appended_at):
            self._tell_latecomers(entry.appended_at)

    def _tell_latecomers(self, now: datetime) -> None:
        """Put the late events that wait where they belong."""
        late = [(entry, decode_event(entry.raw)) for entry in self.latecomers.take(now)]
        for entry, event in self.journal.insert(late):
            self._refuse(entry, "too_late", "it came after its place in the table's history had been closed", event)

    def _check_repeat(self, entry: Entry, event: Event) -> None:
        """A repeat says nothing new; an event that reuses another's number says that something is wrong."""
        number = (event.epoch, event.seq)
        waiting = self.sequencer.pending.get(number) or self.latecomers.waiting.get(number)
        known = waiting or self.journal.story.find(*number)
        if known is not None:
            if known.raw == entry.raw or decode_event(known.raw) == event:
                self.repeats += 1
            elif event.seq == 1 and self._is_newest(event):
                self._refuse_set_back(entry, event)
            else:
                detail = f"another event has the id {event.event_id}; the one that came first stands"
                self._refuse(entry, "conflict", detail, event)
        elif self._is_newest(event):
            self._refuse_set_back(entry, event)
        elif event.epoch > SYSTEM_EPOCH and number <= self.sequencer.forgotten:
            self._refuse(entry, "too_late", _FORGOTTEN, event)
        else:
            self.repeats += 1

    def _is_newest(self, event: Event) -> bool:
        """Tell whether an event of the table's happened after all that was heard, whatever its number says."""
        last = self.state.last_occurred_at
        return event.epoch != SYSTEM_EPOCH and last is not None and event.occurred_at > last

    def _refuse_set_back(self, entry: Entry, event: Event) -> None:
        """A controller numbers from before the newest number heard: a new one, as a rule. Tell of it once each time."""
        newest = self.sequencer.epoch
        detail = f"boot {newest} was heard before this happened: give the controller a boot count above {newest}"
        self._refuse(entry, "numbering", detail, event)
        if (newest, event.epoch) > self._set_back:
            self._set_back = (newest, event.epoch)
            evidence = EvidenceRow(expected=str(newest), actual=str(event.epoch))
            about = f"{newest}:{event.epoch}"
            row = self.journal.table.alert_row(event, "controller_replaced", about, evidence, of_round=False)
            # No entry of the story brings it about, so none that is told again can take it back.
            self.journal.emissions.out.append(stamped(row, entry))

    def _refuse(self, entry: Entry, reason: str, detail: str, what: Event | InvalidEvent) -> None:
        self.journal.emissions.out.append(dead_letter(self.table_id, entry, reason, detail, what))

    def snapshot(self) -> bytes:
        """Return the fold written down."""
        pages, known = self.journal.pages(), sorted(self._system_seqs)
        memory = (pages, known, self._forgotten_seq, self._set_back)
        written = Snapshot(VERSION, self.table_id, self.sequencer, self.latecomers, *memory)
        return zlib.compress(msgspec.msgpack.encode(written), COMPRESSION_LEVEL)

    @classmethod
    def restore(cls, snapshot: bytes, settings: FoldSettings) -> "TableFold":
        """Return the fold that `snapshot` holds, to go on under `settings`.

        Raises `msgspec.MsgspecError` for bytes that are no snapshot, or one of another version.
        """
        try:
            written = _snapshots.decode(zlib.decompress(snapshot))
        except zlib.error as error:
            raise msgspec.DecodeError(f"no snapshot: {error}") from error
        fold = cls(written.table_id, settings)
        written.sequencer.gap_limit = fold.sequencer.gap_limit
        fold.sequencer, fold.latecomers = written.sequencer, written.latecomers
        fold.journal.open_at(written.pages)
        fold._system_seqs, fold._forgotten_seq = set(written.system_seqs), written.forgotten_seq
        fold._set_back = written.set_back
        return fold
