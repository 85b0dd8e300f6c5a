"""The newest part of a table's history, kept so that it can be told again when it turns out otherwise.

Entries are applied in order, with a copy of the state set aside every few rounds. When an event arrives too late for
its place, or a supervisor corrects one, the journal goes back to the copy before it, tells the story again from there,
and gives out just those facts that come out differently, each with its next revision.
"""

from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final, cast

import msgspec

from processors.reconstruct.corrections import Corrections, WrittenCorrection
from processors.reconstruct.dead_letters import dead_letter
from processors.reconstruct.emissions import Emissions, WrittenKey
from processors.reconstruct.refusals import Unusable
from processors.reconstruct.sequencer import Entry, Missing
from processors.reconstruct.state import TableState
from processors.reconstruct.steps import STEPS
from processors.reconstruct.table import Table, may_come_again
from processors.reconstruct.table_steps import doubt, gap, observe
from schemas.events import Correction, Event
from schemas.ids import SYSTEM_EPOCH, split_event_id
from schemas.wire import decode_event

ROUNDS_PER_CHECKPOINT: Final = 8
BYTES_PER_CHECKPOINT: Final = 196_608
"""After so many rounds or bytes a copy of the state is set aside."""

MAX_BYTES: Final = 4_194_304
"""Bytes of events kept at most: a table that only ever sends heartbeats has no rounds to count by."""

ENTRY_BYTES: Final = 128
"""What an entry counts beside its event."""

# As JSON, which holds whole numbers of any size.
_states: Final = msgspec.json.Decoder(TableState)

_BEGINNING_OF_TIME: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


class Checkpoint(msgspec.Struct, array_like=True, frozen=True):
    """The state before entry `number`, written down: `rounds` had ended, and `told_bytes` of events been told."""

    number: int
    rounds: int
    told_bytes: int
    state: bytes


class Pages(msgspec.Struct):
    """A journal written down."""

    first: int
    base: Checkpoint
    entries: list[Entry]
    keys: list[WrittenKey]
    corrections: list[WrittenCorrection]
    closed: dict[str, str]


class Journal:
    """One table's story, of which the newest part can be told again: `window_rounds` rounds at least.

    Entries are numbered as they are told; `first` is the number of the oldest one kept.
    """

    def __init__(self, table_id: str, window_rounds: int) -> None:
        self.window_rounds = window_rounds
        self.first = 0
        self.entries: list[Entry] = []
        self.emissions = Emissions()
        self.corrections = Corrections()
        self.table = Table(TableState(table_id), self.emissions.emit)
        self._bytes = 0
        self.checkpoints = [Checkpoint(0, 0, 0, msgspec.json.encode(self.table.state))]
        self._plan_checkpoint()

    # -- telling ---------------------------------------------------------------------------------------------------

    def take(self, entry: Entry, event: Event) -> None:
        """Tell the next entry, which holds `event`."""
        emissions, entries = self.emissions, self.entries
        number = emissions.number = self.first + len(entries)
        emissions.cause = entry
        entries.append(entry)
        if self.corrections.concern(event):
            self._take_judging(entry, event, number)
        else:
            self._tell(entry, event)
        if self._bytes >= self._checkpoint_bytes or self.table.state.rounds_finished >= self._checkpoint_round:
            self._set_checkpoint_where_due(number + 1)
            self._forget()

    def take_gap(self, entry: Entry) -> None:
        """Tell of missing events."""
        self.emissions.number = self.first + len(self.entries)
        self.emissions.cause = entry
        self.entries.append(entry)
        self._tell_gap(entry)

    def _take_judging(self, entry: Entry, event: Event, number: int) -> None:
        """Tell a correction, or an event that a correction waited for, and what is different for it."""
        places = [place for place in self._judge(entry, event) if place < number]
        self._tell(entry, event)
        if places:
            self._revise(min(places))

    def _judge(self, entry: Entry, event: Event) -> list[int]:
        """Take corrections into account; return the numbers of the entries that must be told differently."""
        if event.type == "correction":
            self.corrections.add(entry, cast(Correction, event), self)
        places = (self.place(event_id) for event_id in self.corrections.judge(self))
        return [place for place in places if place is not None]

    def _tell(self, entry: Entry, event: Event) -> None:
        self._bytes += len(entry.raw) + ENTRY_BYTES
        table = self.table
        try:
            if self.corrections.any:
                self._tell_corrected(entry, event)
                return
            if entry.epoch != SYSTEM_EPOCH:
                observe(table, event, entry.appended_at)
            STEPS[event.type](table, event)
        except Unusable as error:
            doubt(table, event, error.reason)
            letter = dead_letter(table.state.table_id, entry, error.reason, error.detail, event)
            table.emit(("dead_letter", entry.partition, entry.offset), letter)

    def _tell_corrected(self, entry: Entry, event: Event) -> None:
        """Tell an event as supervisors have corrected it; one that was taken back is but a sign of life."""
        told = self.corrections.overrides.get(event.event_id, ("", event))[1]
        if entry.epoch != SYSTEM_EPOCH:
            observe(self.table, told or event, entry.appended_at)
        if problem := self.corrections.refusal(event.event_id):
            raise Unusable("correction", problem)
        if told is not None:
            STEPS[told.type](self.table, told)

    def _tell_gap(self, entry: Entry) -> None:
        self._bytes += ENTRY_BYTES
        gap(self.table, entry)

    # -- revising --------------------------------------------------------------------------------------------------

    def insert(self, entry: Entry, event: Event) -> bool:
        """Put a late event in its place and revise what follows. False where its place is before the journal's."""
        place = self._place_for(entry)
        if place is None:
            return False
        index, parts = place
        self.entries[index : index + 1 if parts else index] = parts or [entry]
        self.emissions.cause = entry
        places = self._judge(entry, event) if self.corrections.concern(event) else []
        self._revise(min([self.first + index, *places]))
        self._forget()
        return True

    def _place_for(self, entry: Entry) -> tuple[int, list[Entry]] | None:
        """Return where a late entry goes, and what takes the place of the gap that it was missing from, if any."""
        number = (entry.epoch, entry.seq)
        for index in range(len(self.entries) - 1, -1, -1):
            other = self.entries[index]
            if other.epoch == SYSTEM_EPOCH or (other.epoch, other.seq) > number:
                continue
            if other.is_gap and other.epoch == entry.epoch and entry.seq <= other.last:
                before = [msgspec.structs.replace(other, last=entry.seq - 1)] if other.seq < entry.seq else []
                after = [msgspec.structs.replace(other, seq=entry.seq + 1)] if entry.seq < other.last else []
                return index, [*before, entry, *after]
            return index + 1, []
        # Before the oldest entry kept, history is closed, unless it is all there.
        return None if self.first else (0, [])

    def end_gap(self, hole: Missing, last: int, cause: Entry) -> None:
        """Revise a gap of which nobody knew the end: `last` was its last event, if it was one at all."""
        for index, entry in enumerate(self.entries):
            if entry.is_gap and (entry.epoch, entry.seq, entry.last) == (hole.epoch, hole.first, hole.last):
                rest = [msgspec.structs.replace(entry, last=last)] if hole.first <= last else []
                self.entries[index : index + 1] = rest
                self.emissions.cause = cause
                self._revise(self.first + index)
                return

    def _revise(self, number: int) -> None:
        """Tell the story again from before entry `number`, and give out what comes out differently."""
        while self.checkpoints[-1].number > number:
            self.checkpoints.pop()
        start = self.checkpoints[-1].number
        emissions = self.emissions
        cause, out = emissions.cause, emissions.out
        old = emissions.rewind(start)
        emissions.out = []
        self._tell_again()
        emissions.out, emissions.cause = out, cause
        emissions.number = self.first + len(self.entries) - 1
        out += emissions.compare(old)

    def _tell_again(self) -> None:
        """Tell the story from the newest checkpoint on."""
        checkpoint, emissions = self.checkpoints[-1], self.emissions
        self.table.restore(_states.decode(checkpoint.state))
        self._bytes = checkpoint.told_bytes
        self._plan_checkpoint()
        for number in range(checkpoint.number, self.first + len(self.entries)):
            entry = self.entries[number - self.first]
            emissions.number, emissions.cause = number, entry
            if entry.is_gap:
                self._tell_gap(entry)
                continue
            self._tell(entry, decode_event(entry.raw))
            self._set_checkpoint_where_due(number + 1)

    # -- looking up ------------------------------------------------------------------------------------------------

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
            return seq < (self.entries[0].appended_at - _BEGINNING_OF_TIME) // _MICROSECOND
        oldest = next(((entry.epoch, entry.seq) for entry in self.entries if entry.epoch != SYSTEM_EPOCH), (0, 0))
        return (epoch, seq) < oldest

    def _index_of(self, epoch: int, seq: int) -> int | None:
        number = (epoch, seq)
        for index in range(len(self.entries) - 1, -1, -1):
            entry = self.entries[index]
            if entry.epoch == epoch and entry.seq == seq:
                return None if entry.is_gap else index
            if entry.epoch > SYSTEM_EPOCH and (entry.epoch, entry.seq) < number:
                return None
        return None

    # -- keeping ---------------------------------------------------------------------------------------------------

    def _plan_checkpoint(self) -> None:
        last = self.checkpoints[-1]
        self._checkpoint_round = last.rounds + ROUNDS_PER_CHECKPOINT
        self._checkpoint_bytes = last.told_bytes + BYTES_PER_CHECKPOINT

    def _set_checkpoint_where_due(self, number: int) -> None:
        """Set the state before entry `number` aside, if enough was told since the last time."""
        state = self.table.state
        rounds_are_due = state.rounds_finished >= self._checkpoint_round and state.round is None
        if not rounds_are_due and self._bytes < self._checkpoint_bytes:
            return
        self.checkpoints.append(Checkpoint(number, state.rounds_finished, self._bytes, msgspec.json.encode(state)))
        self._plan_checkpoint()

    def _forget(self) -> None:
        """Drop what lies further back than the window, as far as a checkpoint lets the story begin there."""
        checkpoints = self.checkpoints
        oldest_round = self.table.state.rounds_finished - self.window_rounds
        # Clearing up costs as much as there is to keep, so it waits until a fair part can go at once.
        is_due = checkpoints[0].rounds < oldest_round - self.window_rounds // 2
        if not is_due and self._bytes - checkpoints[0].told_bytes <= MAX_BYTES:
            return
        while len(checkpoints) > 1 and (
            checkpoints[1].rounds <= oldest_round or self._bytes - checkpoints[0].told_bytes > MAX_BYTES
        ):
            del checkpoints[0]
        base = checkpoints[0]
        del self.entries[: base.number - self.first]
        self.first = base.number
        self.emissions.forget(self.first, partial(may_come_again, _states.decode(base.state)))
        for entry, correction in self.corrections.forget(self):
            detail = f"{correction.target_event_id}, which it is about, never came"
            letter = dead_letter(self.table.state.table_id, entry, "correction", detail, correction)
            self.emissions.out.append(letter)

    def pages(self) -> Pages:
        """Return the journal written down."""
        return Pages(
            self.first,
            self.checkpoints[0],
            self.entries,
            self.emissions.written(self.first),
            self.corrections.written(),
            self.corrections.closed,
        )

    def open_at(self, pages: Pages) -> None:
        """Go on from a journal written down, as if it had never stopped."""
        self.first, self.entries, self.checkpoints = pages.first, pages.entries, [pages.base]
        self.corrections.read(pages.corrections, pages.closed, self)
        self.emissions.read(pages.keys)
        self._tell_again()
        self.emissions.mend(pages.keys)
