"""Puts a table's events back in the order in which its controller numbered them.

The log keeps the order of arrival. The sequencer releases events by ``(epoch, seq)``, drops repeats, and waits for what
is missing until the log's own clock, read from the records that follow, has moved past a limit. Then it reports the gap
and goes on; whatever turns up later is marked late, for the journal to put in its place.
"""

from datetime import datetime, timedelta
from typing import Final

import msgspec

MAX_PENDING: Final = 4096
"""Events held back at most; one more and the oldest gap is given up, whatever the clock says."""

MAX_SEQ_JUMP: Final = 1_000_000
MAX_EPOCH_JUMP: Final = 1_000
"""No controller loses a million events or boots a thousand times unheard: such a number is damage, not a gap."""

MAX_FIRST_SEQ: Final = 10**12
MAX_FIRST_EPOCH: Final = 1_000_000
"""The highest numbers with which a table may begin to be heard."""

MAX_EPOCHS_KEPT: Final = 64
MAX_HOLES_KEPT: Final = 256

OPEN_END: Final = 2**62
"""The last seq of a hole whose end nobody knows: the controller restarted and didn't say after which event."""

Number = tuple[int, int]
"""An event's epoch and seq."""

BEGINNING: Final[Number] = (0, 0)
"""What the first event of a controller's very first boot follows."""


class Entry(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """A record as it was read, with its place in the table's own numbering; where `raw` is empty, a gap to `last`.

    Events that Pitwatch wrote itself have epoch 0. `link` is the number of the event beside this one: for the first
    event of an epoch that is held back, the one it says it follows; for a gap, the one found behind it.
    """

    epoch: int
    seq: int
    raw: bytes
    partition: int
    offset: int
    appended_at: datetime
    last: int = 0
    link: Number | None = None

    @property
    def is_gap(self) -> bool:
        """Whether this stands for missing events."""
        return not self.raw


class Missing(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """Events given up for lost: `first` to `last` of one epoch. `quiet` ones lie before what was ever seen."""

    epoch: int
    first: int
    last: int
    quiet: bool = False


class Sequencer(msgspec.Struct):
    """Where a table's numbering stands: the next seq due, what waits behind a gap, and what was given up.

    `last_seqs` holds the last seq of former epochs, `missing` the holes in what was released. Of numbers up to
    `forgotten` nobody remembers whether they are missing. `damaged` are events to be refused, for the fold to take.
    """

    gap_limit: timedelta
    epoch: int = 0
    # No event has this number: Pitwatch's own, of epoch 0, never come in order.
    next_seq: int = -1
    pending: dict[Number, Entry] = {}
    openings: list[int] = []
    last_seqs: dict[int, int] = {}
    missing: list[Missing] = []
    forgotten: Number = BEGINNING
    damaged: list[Entry] = []
    deadline: datetime | None = None

    @property
    def started(self) -> bool:
        """Whether any event was released yet."""
        return self.epoch > 0

    def is_damage(self, epoch: int, seq: int) -> bool:
        """Tell whether the numbers are too far off to be a table's."""
        if not self.started:
            return epoch > MAX_FIRST_EPOCH or seq > MAX_FIRST_SEQ
        if epoch == self.epoch:
            return seq > self.next_seq + MAX_SEQ_JUMP
        return epoch > self.epoch + MAX_EPOCH_JUMP or (epoch > self.epoch and seq > MAX_SEQ_JUMP)

    def is_known(self, epoch: int, seq: int) -> bool:
        """Tell whether the event was released or waits already, so that this is a repeat, as far as is remembered."""
        number = (epoch, seq)
        if number in self.pending:
            return True
        if not self.is_late(epoch, seq) or self._hole(epoch, seq) is not None:
            return False
        return epoch == self.epoch or seq <= self.last_seqs.get(epoch, 0) or number <= self.forgotten

    def is_late(self, epoch: int, seq: int) -> bool:
        """Tell whether the event, not known yet, belongs before what was released already."""
        return epoch < self.epoch or (epoch == self.epoch and seq < self.next_seq)

    def is_awaited(self, epoch: int, seq: int) -> bool:
        """Tell whether the event is known to be missing: told events of its epoch lie on both sides of it."""
        hole = self._hole(epoch, seq)
        return hole is not None and not hole.quiet and hole.last != OPEN_END

    def fill(self, epoch: int, seq: int) -> None:
        """Note that a late event was found: it is missing no more."""
        last = self.last_seqs.get(epoch, 0)
        hole = self._hole(epoch, seq)
        if hole is not None:
            parts = ((hole.first, seq - 1), (seq + 1, hole.last))
            self._replace(hole, *(Missing(epoch, first, last, hole.quiet) for first, last in parts if first <= last))
        elif seq > last + 1:
            # Behind the last event known of an epoch: what lies between is missing, though nobody could tell.
            self._note(Missing(epoch, last + 1, seq - 1, quiet=True))
        if epoch != self.epoch:
            self._end_epoch(epoch, max(last, seq))

    def end_of_epoch(self, follows: Number) -> Missing | None:
        """Learn where an epoch ended from what the first event of the next one, which was late, says it follows.

        Returns the hole that reached beyond that, None where there is none; its end is known now.
        """
        epoch, last = follows
        tail = next((hole for hole in self.missing if hole.epoch == epoch and hole.last == OPEN_END), None)
        if tail is not None:
            self._replace(tail, *([Missing(epoch, tail.first, last, tail.quiet)] if tail.first <= last else []))
        return tail

    def hold(self, entry: Entry) -> None:
        """Keep an event that isn't due yet."""
        self.pending[entry.epoch, entry.seq] = entry
        if entry.seq == 1 and entry.epoch > self.epoch:
            self.openings.append(entry.epoch)
        due = entry.appended_at + self.gap_limit
        self.deadline = due if self.deadline is None or due < self.deadline else self.deadline

    def release(self, now: datetime) -> list[Entry]:
        """Return, in order, what may go: events now due, and gaps whose time is over at the log's time `now`."""
        released = self._due()
        while self.pending and (len(self.pending) > MAX_PENDING or (self.deadline is not None and now > self.deadline)):
            released += self._give_up()
            released += self._due()
        return released

    def expire(self, epoch: int, seq: int) -> list[Entry]:
        """Give up every gap up to the named event, as the log says to, and return what was waiting behind."""
        released: list[Entry] = []
        while self.pending and (self.epoch, self.next_seq) <= (epoch, seq):
            released += self._give_up()
            released += self._due()
        return released

    def _due(self) -> list[Entry]:
        released: list[Entry] = []
        while self.pending:
            key = (self.epoch, self.next_seq)
            if key not in self.pending:
                key = min(self.pending) if self.openings else key
                if not self._opens(key):
                    break
            released.append(self._pop(key))
            self._advance(*key)
        if released:
            self._reset_deadline()
        return released

    def _opens(self, key: Number) -> bool:
        """Tell whether `key` is the first event of an epoch that comes right after the last event released."""
        epoch, seq = key
        if seq != 1 or epoch <= self.epoch:
            return False
        follows = self.pending[key].link
        if not self.started:
            return follows in (None, BEGINNING)
        # A controller that remembers less than it sent before it restarted has lost nothing of what it sent.
        return follows is not None and follows[0] == self.epoch and follows[1] < self.next_seq

    def _give_up(self) -> list[Entry]:
        """Go on to the first event that waits, and return the gaps before it and that event."""
        epoch, seq = key = min(self.pending)
        entry = self._pop(key)
        if self.is_damage(epoch, seq):
            self.damaged.append(entry)
            self._reset_deadline()
            return []
        holes = self._holes_before(entry)
        for hole in holes:
            self._note(hole)
        self._advance(epoch, seq)
        self._reset_deadline()
        return [*(_gap(hole, entry) for hole in holes if not hole.quiet), entry]

    def _holes_before(self, entry: Entry) -> list[Missing]:
        epoch, seq = entry.epoch, entry.seq
        if epoch == self.epoch:
            return [Missing(epoch, self.next_seq, seq - 1)]
        holes = self._holes_after_last(entry) if self.started else []
        if seq > 1:
            holes.append(Missing(epoch, 1, seq - 1, quiet=not self.started))
        return holes

    def _holes_after_last(self, entry: Entry) -> list[Missing]:
        """Return what is missing behind the last event released, now that a later epoch begins."""
        before, last = entry.link or BEGINNING
        if before == self.epoch:
            return [Missing(before, self.next_seq, last)]
        # Nobody says where this epoch ended; where whole epochs went by unheard, the last one's count is known.
        holes = [Missing(self.epoch, self.next_seq, OPEN_END)]
        if self.epoch < before < entry.epoch and last > 0:
            holes.append(Missing(before, 1, last))
        return holes

    def _pop(self, key: Number) -> Entry:
        entry = self.pending.pop(key)
        if key[0] in self.openings and key[1] == 1:
            self.openings.remove(key[0])
        return entry

    def _advance(self, epoch: int, seq: int) -> None:
        if epoch != self.epoch and self.started:
            self._end_epoch(self.epoch, self.next_seq - 1)
        self.epoch = epoch
        self.next_seq = seq + 1

    def _end_epoch(self, epoch: int, last: int) -> None:
        self.last_seqs[epoch] = last
        for old in sorted(self.last_seqs)[:-MAX_EPOCHS_KEPT]:
            self._forget(old, self.last_seqs.pop(old))

    def _hole(self, epoch: int, seq: int) -> Missing | None:
        return next((h for h in self.missing if h.epoch == epoch and h.first <= seq <= h.last), None)

    def _replace(self, hole: Missing, *parts: Missing) -> None:
        self.missing.remove(hole)
        for part in parts:
            self._note(part)

    def _note(self, hole: Missing) -> None:
        self.missing.append(hole)
        if len(self.missing) > MAX_HOLES_KEPT:
            oldest = self.missing.pop(0)
            self._forget(oldest.epoch, oldest.last)

    def _forget(self, epoch: int, last: int) -> None:
        self.forgotten = max(self.forgotten, (epoch, last))

    def _reset_deadline(self) -> None:
        oldest = min((entry.appended_at for entry in self.pending.values()), default=None)
        self.deadline = None if oldest is None else oldest + self.gap_limit


def _gap(hole: Missing, found: Entry) -> Entry:
    """Return the entry that stands for missing events, placed where the event after them was read."""
    return Entry(
        hole.epoch,
        hole.first,
        b"",
        found.partition,
        found.offset,
        found.appended_at,
        hole.last,
        (found.epoch, found.seq),
    )
