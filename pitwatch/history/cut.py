"""Where a table's story stands at a moment of its past."""

import heapq
from datetime import datetime
from typing import Final, NamedTuple, cast

from pitwatch.history.fact_book import Refusals
from pitwatch.history.reader import Reader, Seen
from processors.reconstruct.fold import FoldSettings, TableFold
from schemas.events import Correction, Event
from schemas.ids import SYSTEM_EPOCH, split_event_id

Number = tuple[int, int]
"""An event's epoch and seq."""

NOTHING: Final = (0, 0)
"""In place of a number: before the first event."""

MAX_DISORDER: Final = 4096
"""Events that may come before their turn, as many as the fold holds back."""


class Cut(NamedTuple):
    """Where the story ends: with the table's own event `last`, at `moment`.

    `late` are corrections made afterwards of what lies before. `heard` is when the log last heard of the table, and
    `waits` whether anything is still held back behind a gap.
    """

    moment: datetime
    last: Number
    heard: datetime
    waits: bool
    late: tuple[Seen, ...] = ()

    def tells(self, event: Event) -> bool:
        """Whether the event is part of the story. A gap given up later is known now, so it is."""
        if event.epoch == SYSTEM_EPOCH:
            return event.type == "gap_expired" or event.occurred_at <= self.moment
        return (event.epoch, event.seq) <= self.last


class Balance:
    """Weighs a table's events as they come: how many up to one say that they came by the moment, and how many not."""

    def __init__(self, moment: datetime) -> None:
        self._moment = moment
        self._waiting: list[tuple[Number, bool]] = []
        self._agreeing = self._most = 0
        self._highest: Number = NOTHING
        self.last: Number = NOTHING
        """The event after which the scales stood best."""

    def add(self, event: Event) -> None:
        """Weigh an event; those close by may come in any order."""
        heapq.heappush(self._waiting, ((event.epoch, event.seq), event.occurred_at <= self._moment))
        if len(self._waiting) > MAX_DISORDER:
            self._weigh()

    def settle(self) -> None:
        """Weigh what still waits for events that might have come before."""
        while self._waiting:
            self._weigh()

    def _weigh(self) -> None:
        number, has_come = heapq.heappop(self._waiting)
        self._agreeing += 1 if has_come else -1
        if has_come:
            self._highest = max(self._highest, number)
        if self._agreeing >= self._most:
            self._most, self.last = self._agreeing, self._highest


def find_cut(reader: Reader, settings: FoldSettings, moment: datetime) -> Cut | None:
    """Return where the table's story stands at `moment`, None before its first event.

    The cut is where most events before it say that they came no later, and most behind it that they did: a clock that
    was wrong for a few events doesn't move it.
    """
    fold, refused, balance = TableFold(reader.table_id, settings), Refusals(), Balance(moment)
    corrections: list[Seen] = []
    heard = moment
    for record, event in reader.events():
        repeats, heard = fold.repeats, record.appended_at
        for fact in fold.apply(record):
            refused.note(fact)
        if event is None or record in refused or fold.repeats > repeats:
            continue
        if event.type == "correction":
            corrections.append(Seen(event, record))
        if event.epoch != SYSTEM_EPOCH:
            balance.add(event)
    balance.settle()
    if balance.last == NOTHING:
        return None
    cut = Cut(moment, balance.last, heard, fold.waits is not None)
    return cut._replace(late=_late(cut, [seen for seen in corrections if seen.record not in refused]))


def _late(cut: Cut, corrections: list[Seen]) -> tuple[Seen, ...]:
    """Return the corrections made after the cut of what lies before it, and of each other."""
    known = {seen.event.event_id for seen in corrections if cut.tells(seen.event)}
    late = []
    for seen in corrections:
        target = cast(Correction, seen.event).target_event_id
        _, epoch, seq = split_event_id(target)
        is_told = target in known or (epoch > SYSTEM_EPOCH and (epoch, seq) <= cut.last)
        if is_told and seen.event.event_id not in known:
            known.add(seen.event.event_id)
            late.append(seen)
    return tuple(late)
