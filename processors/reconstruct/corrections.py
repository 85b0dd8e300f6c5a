"""Supervisors' corrections: which of them hold, what events they make of others, and why one can't take effect.

Corrections are judged together and by the story as a whole, so that it makes no difference whether one came before or
after the event that it is about.
"""

from collections.abc import Mapping
from typing import Final, cast

import msgspec
from pydantic import JsonValue

from processors.reconstruct.sequencer import Entry
from processors.reconstruct.story import Story, sign_of_life
from schemas.events import Correction, Event
from schemas.ids import split_event_id
from schemas.wire import InvalidEvent, decode_event, validate_event

IDENTITY: Final = frozenset({"event_id", "table_id", "epoch", "seq", "type", "schema_version", "follows"})
"""Fields that a correction can't change."""

MAX_CORRECTIONS: Final = 200
"""Corrections that may matter at once: a table that needs more has another problem."""

OVER: Final = "lies before what can still be revised"


class Kept(msgspec.Struct):
    """A correction that may still matter: its entry, that entry's number, and what it does.

    `outcome` is the target as corrected, None where it is taken back; `unfit` says why that can't be.
    """

    entry: Entry
    correction: Correction
    number: int
    target: Event | None = None
    outcome: Event | None = None
    unfit: str = ""


class WrittenCorrection(msgspec.Struct, array_like=True):
    """A correction that may still matter, as a snapshot keeps it."""

    entry: Entry
    number: int


Override = tuple[str, Event | None]
"""The correction that holds for an event, and the event as corrected: None where it is taken back."""

NOT_CORRECTED: Final[Override] = ("", None)


class Corrections:
    """The corrections of one table.

    `overrides` holds what became of corrected events, by id; `awaited` are the events that corrections wait for;
    `closed` are corrections refused for good, and why; `any` is False where there is nothing of all this.
    """

    def __init__(self) -> None:
        self.any = False
        self.kept: dict[str, Kept] = {}
        self.closed: dict[str, str] = {}
        self.overrides: dict[str, Override] = {}
        self.awaited: frozenset[str] = frozenset()

    def told(self, event: Event) -> tuple[Event, str]:
        """Return an event as corrected, and why it can't take effect where it is a correction that can't.

        One that was taken back becomes a heartbeat: something was heard of the table, and no more.
        """
        kept = self.kept.get(event.event_id)
        problem = kept.unfit if kept else self.closed.get(event.event_id, "")
        override = self.overrides.get(event.event_id)
        if override is None:
            return event, problem
        return override[1] or sign_of_life(event.table_id, event.epoch, event.seq, event.occurred_at), problem

    def concern(self, event: Event) -> bool:
        """Tell whether corrections must be judged anew because `event` has come."""
        return event.type == "correction" or (self.any and event.event_id in self.awaited)

    def add(self, entry: Entry, correction: Correction, story: Story) -> None:
        """Take a correction; `judge` then says what follows."""
        if problem := self._problem(correction, story):
            self.closed[correction.event_id] = problem
        else:
            self.kept[correction.event_id] = Kept(entry, correction, 0)

    def _problem(self, correction: Correction, story: Story) -> str:
        """Say why a correction can never take effect, whatever else may come."""
        target = correction.target_event_id
        if split_event_id(target)[0] != correction.table_id:
            return f"{target} is no event of table {correction.table_id}"
        if target == correction.event_id:
            return "it names itself as the event to correct"
        if fixed := IDENTITY & correction.changes.keys():
            return f"a correction can't change {', '.join(sorted(fixed))}"
        if correction.action == "replace" and not correction.changes:
            return "it replaces no field"
        if story.is_over(target):
            return f"{target} {OVER}"
        if len(self.kept) >= MAX_CORRECTIONS:
            return f"{MAX_CORRECTIONS} corrections of this table are kept already"
        return ""

    def judge(self, story: Story) -> set[str]:
        """Work out which corrections hold; return the events that must be told differently, corrections too."""
        unfit_before = {event_id: kept.unfit for event_id, kept in self.kept.items()}
        before = self.overrides
        for kept in self.kept.values():
            self._look_at(kept, story)
        self._draw_conclusions()
        now = self.overrides
        changed = {event_id for event_id, kept in self.kept.items() if kept.unfit != unfit_before[event_id]}
        return changed | {
            target
            for target in before.keys() | now.keys()
            if before.get(target, NOT_CORRECTED)[0] != now.get(target, NOT_CORRECTED)[0]
        }

    def _look_at(self, kept: Kept, story: Story) -> None:
        """Find a correction's target and what becomes of it."""
        correction = kept.correction
        target_id = correction.target_event_id
        number = story.place(correction.event_id)
        # The entry of one that came long before its target may be gone by now: its old number is still the lower one.
        kept.number = kept.number if number is None else number
        if kept.target is None and (target := story.event(target_id)) is not None:
            kept.target = target
            if target.type != "correction" and correction.action == "replace":
                kept.outcome, kept.unfit = _corrected(target, correction)
        if kept.target is not None and kept.target.type == "correction":
            kept.unfit = self._unfit_for_correction(correction)

    def _unfit_for_correction(self, correction: Correction) -> str:
        target = correction.target_event_id
        if correction.action == "replace":
            return "a correction can be retracted, not replaced"
        if target in self.closed:
            return f"{target} was refused itself"
        return "" if target in self.kept else f"what {target} corrected {OVER}"

    def _draw_conclusions(self) -> None:
        """The newest correction of an event holds, of those that no other one that holds takes back."""
        self.any = bool(self.kept or self.closed)
        self.awaited = frozenset(k.correction.target_event_id for k in self.kept.values() if k.target is None)
        self.overrides = {}
        of_events: list[tuple[str, Kept]] = []
        takers: dict[str, list[str]] = {}
        for event_id, kept in sorted(self.kept.items(), key=lambda item: item[1].number, reverse=True):
            if kept.target is None or kept.unfit:
                continue
            if kept.target.type == "correction":
                takers.setdefault(kept.correction.target_event_id, []).append(event_id)
            else:
                of_events.append((event_id, kept))
        for event_id, kept in of_events:
            if _holds(event_id, takers):
                self.overrides.setdefault(kept.correction.target_event_id, (event_id, kept.outcome))

    def forget(self, story: Story) -> list[tuple[Entry, Correction]]:
        """Drop what can't matter any more; return the corrections whose event never came, with their entries."""
        lost = [k for k in self.kept.values() if k.target is None and story.place(k.correction.event_id) is None]
        gone = {k.correction.event_id for k in lost}
        gone |= {event_id for event_id, k in self.kept.items() if story.is_over(k.correction.target_event_id)}
        # What was done to a correction is final together with what it did.
        while more := {i for i, k in self.kept.items() if k.correction.target_event_id in gone} - gone:
            gone |= more
        self.closed |= {event_id: self.kept[event_id].unfit for event_id in gone if self.kept[event_id].unfit}
        self.closed = {event_id: why for event_id, why in self.closed.items() if story.place(event_id) is not None}
        self.kept = {event_id: kept for event_id, kept in self.kept.items() if event_id not in gone}
        self._draw_conclusions()
        return [(kept.entry, kept.correction) for kept in lost]

    def written(self) -> list[WrittenCorrection]:
        """Return what a snapshot must know of the corrections kept."""
        return [WrittenCorrection(kept.entry, kept.number) for kept in self.kept.values()]

    def read(self, written: list[WrittenCorrection], closed: dict[str, str], story: Story) -> None:
        """Take up corrections written down."""
        kept = [Kept(one.entry, cast(Correction, decode_event(one.entry.raw)), one.number) for one in written]
        self.kept = {one.correction.event_id: one for one in kept}
        self.closed = closed
        self.judge(story)


def _holds(event_id: str, takers: Mapping[str, list[str]]) -> bool:
    """Tell whether an event's correction holds: whether none that holds takes it back.

    Each takes back one other, so those that lead to an event's correction form a tree: asking comes to an end.
    """
    return not any(_holds(taker, takers) for taker in takers.get(event_id, ()))


def _corrected(event: Event, correction: Correction) -> tuple[Event | None, str]:
    """Return `event` with the correction's fields, and nothing to object; or None and why that would be no event."""
    changed = cast(dict[str, JsonValue], msgspec.to_builtins(event)) | correction.changes
    try:
        return validate_event(changed), ""
    except InvalidEvent as error:
        return None, f"{event.event_id} as corrected would be invalid: {error.detail}"
