"""The newest part of a table's history, kept so that it can be told again when it turns out otherwise.

Entries are applied in order, with a copy of the state set aside every few rounds. When an event arrives too late for
its place, or a supervisor corrects one, the journal goes back to the copy before it, tells the story again from there,
and gives out just those facts that come out differently, each with its next revision.
"""

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
from processors.reconstruct.story import Story
from processors.reconstruct.table import Table, may_come_again
from processors.reconstruct.table_steps import doubt, gap, observe
from schemas.events import Correction, Event
from schemas.ids import SYSTEM_EPOCH
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


Told = tuple[Entry, Event]
"""An entry, and the event that it holds."""


class Checkpoint(msgspec.Struct, array_like=True, frozen=True):
    """The state before entry `number`, written down: `rounds` had ended, and `told_bytes` of events been told."""

    number: int
    rounds: int
    told_bytes: int
    state: bytes


class Pages(msgspec.Struct):
    """A journal written down."""

    base: Checkpoint
    entries: list[Entry]
    keys: list[WrittenKey]
    corrections: list[WrittenCorrection]
    closed: dict[str, str]


class Journal:
    """One table's story, of which the newest part can be told again: `window_rounds` rounds at least."""

    def __init__(self, table_id: str, window_rounds: int) -> None:
        self.window_rounds = window_rounds
        self.story = Story()
        self.emissions = Emissions()
        self.corrections = Corrections()
        self.table = Table(TableState(table_id), self.emissions.emit)
        self._bytes = 0
        self.checkpoints = [Checkpoint(0, 0, 0, msgspec.json.encode(self.table.state))]
        self._plan_checkpoint()

    # -- telling ---------------------------------------------------------------------------------------------------

    def take(self, entry: Entry, event: Event) -> None:
        """Tell the next entry, which holds `event`."""
        emissions, story = self.emissions, self.story
        entries = story.entries
        number = emissions.number = story.first + len(entries)
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
        self.emissions.number = self.story.end
        self.emissions.cause = entry
        self.story.entries.append(entry)
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
            self.corrections.add(entry, cast(Correction, event), self.story)
        places = (self.story.place(event_id) for event_id in self.corrections.judge(self.story))
        return [place for place in places if place is not None]

    def _tell(self, entry: Entry, event: Event) -> None:
        """Tell an event as supervisors have corrected it; one that was taken back is but a sign of life."""
        self._bytes += len(entry.raw) + ENTRY_BYTES
        table, told, problem = self.table, event, ""
        if self.corrections.any:
            told, problem = self.corrections.told(event)
        try:
            if entry.epoch != SYSTEM_EPOCH:
                observe(table, told, entry.appended_at)
            if problem:
                raise Unusable("correction", problem)
            STEPS[told.type](table, told)
        except Unusable as error:
            doubt(table, told, error.reason)
            letter = dead_letter(table.state.table_id, entry, error.reason, error.detail, told)
            table.emit(("dead_letter", entry.partition, entry.offset), letter)

    def _tell_gap(self, entry: Entry) -> None:
        self._bytes += ENTRY_BYTES
        gap(self.table, entry)

    # -- revising --------------------------------------------------------------------------------------------------

    def insert(self, late: list[Told]) -> list[Told]:
        """Put late events in their places and revise what follows; return those whose place is before the story's."""
        places: list[int] = []
        refused: list[Told] = []
        for entry, event in late:
            number = self.story.insert(entry)
            if number is None:
                refused.append((entry, event))
                continue
            self.emissions.cause = entry
            # Each place is the lowest so far or behind one: what is put in later moves no place before it.
            places.append(number)
            if self.corrections.concern(event):
                places += self._judge(entry, event)
        if places:
            self._revise(min(places))
            self._forget()
        return refused

    def end_gap(self, hole: Missing, last: int, cause: Entry) -> None:
        """Revise a gap of which nobody knew the end: `last` was its last event, if it was one at all."""
        number = self.story.end_gap(hole, last)
        if number is not None:
            self.emissions.cause = cause
            self._revise(number)

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
        emissions.number = self.story.end - 1
        out += emissions.compare(old)

    def _tell_again(self) -> None:
        """Tell the story from the newest checkpoint on."""
        checkpoint, emissions = self.checkpoints[-1], self.emissions
        self.table.restore(_states.decode(checkpoint.state))
        self._bytes = checkpoint.told_bytes
        self._plan_checkpoint()
        for number, entry in enumerate(self.story.since(checkpoint.number), start=checkpoint.number):
            emissions.number, emissions.cause = number, entry
            if entry.is_gap:
                self._tell_gap(entry)
                continue
            self._tell(entry, decode_event(entry.raw))
            self._set_checkpoint_where_due(number + 1)

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
        self.story.forget(base.number)
        self.emissions.forget(base.number, partial(may_come_again, _states.decode(base.state)))
        for entry, correction in self.corrections.forget(self.story):
            detail = f"{correction.target_event_id}, which it is about, never came"
            letter = dead_letter(self.table.state.table_id, entry, "correction", detail, correction)
            self.emissions.out.append(letter)

    def pages(self) -> Pages:
        """Return the journal written down."""
        return Pages(
            self.checkpoints[0],
            self.story.entries,
            self.emissions.written(self.story.first),
            self.corrections.written(),
            self.corrections.closed,
        )

    def open_at(self, pages: Pages) -> None:
        """Go on from a journal written down, as if it had never stopped."""
        self.story.first, self.story.entries = pages.base.number, pages.entries
        self.checkpoints = [pages.base]
        self.corrections.read(pages.corrections, pages.closed, self.story)
        self.emissions.read(pages.keys)
        self._tell_again()
        self.emissions.mend(pages.keys)
