"""Whether a table is open: by the newest event that shows it which no supervisor has taken back.

Kept in few words. Of events that show the same one after the other the newest are enough: before it would matter that
there were more, a supervisor would have to take all of them back.

Of events that share a number the one that came first stands, as in the fold.
"""

from collections import Counter
from collections.abc import Collection
from typing import Final, cast

import msgspec

from processors.reconstruct.sequencer import Number
from schemas.events import Correction, Event
from schemas.ids import SYSTEM_EPOCH, event_id, split_event_id

SHOWS_OPEN: Final = frozenset({"table_opened", "round_opened", "betting_closed", "card_drawn", "result_called"})
"""Events that only an open table sends, whether or not its opening was seen."""

SHOWS_CLOSED: Final = "table_closed"

NUMBERS_PER_RUN: Final = 8
RUNS: Final = 8
CORRECTIONS: Final = 40
"""So many are kept at most; what an older one did is final."""

_FIXED: Final = frozenset({"event_id", "table_id", "epoch", "seq", "type", "schema_version", "follows"})
"""Fields that no correction can change."""


class Run(msgspec.Struct, array_like=True):
    """Events, one after the other, that show a table open, or closed: their numbers, rising."""

    opens: bool
    numbers: list[Number]


class Fix(msgspec.Struct, array_like=True, frozen=True):
    """A supervisor's correction of `target`, which it takes back or changes.

    `place`: where it stands among the table's events, to tell the newer of two.
    """

    place: tuple[int, int, int]
    event_id: str
    target: str
    retracts: bool


class Openings(msgspec.Struct):
    """What of a table's events tells whether it is open. `fixes` are by place, the oldest first."""

    runs: list[Run] = msgspec.field(default_factory=list)
    fixes: list[Fix] = msgspec.field(default_factory=list)

    def is_open(self, table_id: str) -> bool:
        """Tell how the table stands; one that nothing was seen of is closed."""
        taken_back = self._taken_back(table_id) if self.fixes else ()
        for run in reversed(self.runs):
            if any(number not in taken_back for number in run.numbers):
                return run.opens
        return False

    def show(self, number: Number, *, opens: bool) -> None:
        """Take in an event that shows the table open, or closed. A repeat changes nothing."""
        if any(split_event_id(fix.event_id)[1:] == number for fix in self.fixes):
            return
        runs = self.runs
        if not runs or number > runs[-1].numbers[-1]:
            if runs and runs[-1].opens == opens:
                runs[-1].numbers.append(number)
            else:
                runs.append(Run(opens, [number]))
        elif number > runs[0].numbers[0] or len(runs) < RUNS:
            # One that comes late has its place between the others.
            self.runs = _runs({number: opens} | {one: run.opens for run in runs for one in run.numbers})
        self._trim()

    def _trim(self) -> None:
        del self.runs[:-RUNS]
        # Any of them may have grown: by what came late, or by what lay between two and is there no more.
        for run in self.runs:
            del run.numbers[:-NUMBERS_PER_RUN]

    def correct(self, correction: Correction, last: Number) -> None:
        """Take in a correction that came when `last` was the table's newest event. A repeat changes nothing."""
        if not _may_hold(correction) or any(fix.event_id == correction.event_id for fix in self.fixes):
            return
        number = (correction.epoch, correction.seq)
        if any(number in run.numbers for run in self.runs):
            return
        place = (*last, correction.seq) if correction.epoch == SYSTEM_EPOCH else (*number, 0)
        retracts = correction.action == "retract"
        self.fixes.append(Fix(place, correction.event_id, correction.target_event_id, retracts))
        self.fixes.sort(key=lambda fix: fix.place)
        if len(self.fixes) > CORRECTIONS:
            self._settle(correction.table_id)

    def _settle(self, table_id: str) -> None:
        """Let what the oldest correction did be final."""
        oldest = self.fixes[0].target
        final = {number for number in self._taken_back(table_id) if event_id(table_id, *number) == oldest}
        self.runs = _runs({one: run.opens for run in self.runs for one in run.numbers if one not in final})
        self._trim()
        del self.fixes[0]

    def _taken_back(self, table_id: str) -> set[Number]:
        """Return which of the events are taken back: by the newest of their corrections that hold."""
        newest = {fix.target: fix for fix in self._holding()}
        retracted = {target for target, fix in newest.items() if fix.retracts}
        return {number for run in self.runs for number in run.numbers if event_id(table_id, *number) in retracted}

    def _holding(self) -> list[Fix]:
        """Return the corrections that no correction that holds takes back, the oldest first.

        Decided from those that nobody takes back on, each once. Those that take each other back in a circle, which
        only damaged events do, are never come to and don't hold. Each is about one other, so no circle leads to an
        event, and the fold, which goes from the events on, never comes to one either.
        """
        fixes = {fix.event_id: fix for fix in self.fixes}
        undecided = Counter(fix.target for fix in self.fixes if fix.retracts)
        decidable = [fix for fix in self.fixes if not undecided[fix.event_id]]
        holding: set[str] = set()
        taken: set[str] = set()
        while decidable:
            fix = decidable.pop()
            if fix.event_id not in taken:
                holding.add(fix.event_id)
            if not fix.retracts:
                continue
            if fix.event_id in holding:
                taken.add(fix.target)
            undecided[fix.target] -= 1
            if fix.target in fixes and not undecided[fix.target]:
                decidable.append(fixes[fix.target])
        return [fix for fix in self.fixes if fix.event_id in holding]


def shows(event: Event) -> bool | None:
    """Tell whether an event shows its table open, or closed; None where it shows neither."""
    if event.type in SHOWS_OPEN:
        return True
    return False if event.type == SHOWS_CLOSED else None


def _may_hold(correction: Correction) -> bool:
    """Tell whether a correction is one at all, as far as itself says."""
    target, changes = correction.target_event_id, cast(Collection[str], correction.changes)
    is_idle = correction.action == "replace" and not changes
    return (
        split_event_id(target)[0] == correction.table_id
        and target != correction.event_id
        and not is_idle
        and _FIXED.isdisjoint(changes)
    )


def _runs(shown: dict[Number, bool]) -> list[Run]:
    """Return what events show, by number, as runs."""
    runs: list[Run] = []
    for number in sorted(shown):
        if runs and runs[-1].opens == shown[number]:
            runs[-1].numbers.append(number)
        else:
            runs.append(Run(shown[number], [number]))
    return runs
