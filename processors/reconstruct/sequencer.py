"""Puts a table's events back in the order in which its controller numbered them.

The log keeps the order of arrival. The sequencer releases events by ``(epoch, seq)``, drops repeats, and waits for what
is missing until the log's own clock, read from the records that follow, has moved past a limit. Then it reports the gap
and goes on; whatever turns up later is marked late, for the journal to put in its place.
"""

from datetime import datetime, timedelta
from typing import Final, NamedTuple

import msgspec

MAX_PENDING: Final = 4096
"""Events held back at most; one more and the oldest gap is given up, whatever the clock says."""

MAX_SEQ_JUMP: Final = 1_000_000
MAX_EPOCH_JUMP: Final = 1_000
"""No controller loses a million events or boots a thousand times unheard: such a number is damage, not a gap."""

MAX_EPOCHS_KEPT: Final = 64
MAX_HOLES_KEPT: Final = 256


class Entry(NamedTuple):
    """A record as it was read, with its place in the table's own numbering; where `raw` is empty, a gap to `last`.

    Events that Pitwatch wrote itself have epoch 0.
    """

    epoch: int
    seq: int
    raw: bytes
    partition: int
    offset: int
    appended_at: datetime
    last: int = 0

    @property
    def is_gap(self) -> bool:
        """Whether this stands for missing events."""
        return not self.raw


class Missing(msgspec.Struct, array_like=True, gc=False):
    """Events given up for lost: `first` to `last` of one epoch. `quiet` ones lie before what was ever seen."""

    epoch: int
    first: int
    last: int
    quiet: bool = False


class Sequencer(msgspec.Struct):
    """Where a table's numbering stands: the next seq due, what waits behind a gap, and what was given up.

    `last_seqs` holds the last seq of former epochs, `follows` what the first events of epochs to come said.
    """

    gap_limit: timedelta
    epoch: int = 0
    next_seq: int = 0
    pending: dict[tuple[int, int], Entry] = {}
    follows: dict[int, tuple[int, int]] = {}
    last_seqs: dict[int, int] = {}
    missing: list[Missing] = []
    deadline: datetime | None = None

    @property
    def started(self) -> bool:
        """Whether any event was released yet."""
        return self.epoch > 0

    def is_next(self, epoch: int, seq: int) -> bool:
        """Tell whether the event is just the one due and nothing waits: the everyday case."""
        return epoch == self.epoch and seq == self.next_seq and not self.pending

    def is_damage(self, epoch: int, seq: int) -> bool:
        """Tell whether the numbers are too far off to be a table's."""
        if not self.started:
            return False
        if epoch == self.epoch:
            return seq > self.next_seq + MAX_SEQ_JUMP
        return epoch > self.epoch + MAX_EPOCH_JUMP or (epoch > self.epoch and seq > MAX_SEQ_JUMP)

    def is_known(self, epoch: int, seq: int) -> bool:
        """Tell whether the event was released or waits already, so that this is a repeat."""
        if (epoch, seq) in self.pending:
            return True
        if epoch > self.epoch or (epoch == self.epoch and seq >= self.next_seq):
            return False
        return (epoch == self.epoch or seq <= self.last_seqs.get(epoch, 0)) and self._hole(epoch, seq) is None

    def is_late(self, epoch: int, seq: int) -> bool:
        """Tell whether the event, not known yet, belongs before what was released already."""
        return epoch < self.epoch or (epoch == self.epoch and seq < self.next_seq)

    def fill(self, epoch: int, seq: int) -> None:
        """Note that a late event was found: it is missing no more."""
        hole = self._hole(epoch, seq)
        if hole is None:
            # Behind the last event known of an epoch: what lies between is missing, though nobody could tell.
            last = self.last_seqs.get(epoch, 0)
            if seq > last + 1:
                self.missing.append(Missing(epoch, last + 1, seq - 1, quiet=True))
            self.last_seqs[epoch] = seq
            return
        self.missing.remove(hole)
        if hole.first < seq:
            self.missing.append(Missing(epoch, hole.first, seq - 1, hole.quiet))
        if seq < hole.last:
            self.missing.append(Missing(epoch, seq + 1, hole.last, hole.quiet))

    def hold(self, entry: Entry, follows: tuple[int, int] | None) -> None:
        """Keep an event that isn't due yet."""
        self.pending[entry.epoch, entry.seq] = entry
        if follows is not None:
            self.follows[entry.epoch] = follows
        due = entry.appended_at + self.gap_limit
        self.deadline = due if self.deadline is None or due < self.deadline else self.deadline

    def advance(self, epoch: int, seq: int) -> None:
        """Take the event as released."""
        if epoch != self.epoch:
            self.follows.pop(epoch, None)
            self.last_seqs[self.epoch] = self.next_seq - 1
            # What is forgotten here can't be told from a repeat any more; the journal's window is far shorter.
            for old in sorted(self.last_seqs)[:-MAX_EPOCHS_KEPT]:
                del self.last_seqs[old]
        self.epoch = epoch
        self.next_seq = seq + 1

    def release(self, now: datetime) -> list[Entry]:
        """Return, in order, what may go: events now due, and gaps whose time is over at the log's time `now`."""
        released = self._due()
        while self.pending and (len(self.pending) > MAX_PENDING or (self.deadline is not None and now > self.deadline)):
            released += self._give_up()
            released += self._due()
        return released

    def expire(self, epoch: int, seq: int) -> list[Entry]:
        """Give up every gap before the named event, as the log says to, and return what was waiting behind."""
        released: list[Entry] = []
        while self.pending and min(self.pending) <= (epoch, seq):
            released += self._give_up()
            released += self._due()
        return released

    def _due(self) -> list[Entry]:
        released: list[Entry] = []
        while self.pending:
            key = (self.epoch, self.next_seq)
            if key not in self.pending:
                key = min(self.pending)
                if not self._opens(key):
                    break
            entry = self.pending.pop(key)
            self.advance(*key)
            released.append(entry)
        if released or not self.pending:
            self._reset_deadline()
        return released

    def _opens(self, key: tuple[int, int]) -> bool:
        """Tell whether `key` is the first event of the epoch that comes right after the last event released."""
        epoch, seq = key
        follows = self.follows.get(epoch)
        if seq != 1 or epoch <= self.epoch:
            return False
        if not self.started:
            return follows is None or follows == (0, 0)
        return follows == (self.epoch, self.next_seq - 1)

    def _give_up(self) -> list[Entry]:
        """Go on to the first event that waits, and return the gaps before it and that event."""
        epoch, seq = key = min(self.pending)
        entry = self.pending.pop(key)
        holes = self._holes_before(epoch, seq)
        self.missing = [*self.missing, *holes][-MAX_HOLES_KEPT:]
        self.advance(epoch, seq)
        self._reset_deadline()
        gaps = [_gap(hole, entry) for hole in holes if not hole.quiet]
        return [*gaps, entry]

    def _holes_before(self, epoch: int, seq: int) -> list[Missing]:
        if epoch == self.epoch:
            return [Missing(epoch, self.next_seq, seq - 1)]
        holes: list[Missing] = []
        before, last = self.follows.get(epoch, (0, 0))
        if self.started and before == self.epoch and last >= self.next_seq:
            holes.append(Missing(before, self.next_seq, last))
        elif self.started and before > self.epoch:
            # Whole epochs went by unheard; the count of the last one is all that is known of them.
            holes.append(Missing(before, 1, last))
        if seq > 1:
            holes.append(Missing(epoch, 1, seq - 1, quiet=not self.started))
        return holes

    def _hole(self, epoch: int, seq: int) -> Missing | None:
        return next((h for h in self.missing if h.epoch == epoch and h.first <= seq <= h.last), None)

    def _reset_deadline(self) -> None:
        oldest = min((entry.appended_at for entry in self.pending.values()), default=None)
        self.deadline = None if oldest is None else oldest + self.gap_limit


def _gap(hole: Missing, found: Entry) -> Entry:
    """Return the entry that stands for missing events, placed where the event after them was read."""
    return Entry(hole.epoch, hole.first, b"", found.partition, found.offset, found.appended_at, hole.last)
