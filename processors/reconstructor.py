"""The hot path: a batch of events in, their facts, snapshots and the new positions out, together or not at all."""

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple, cast

import msgspec

from processors.floor_configurations import to_publish
from processors.metrics import (
    RECONSTRUCT_BATCH_SECONDS,
    RECONSTRUCT_DEAD_LETTERS,
    RECONSTRUCT_EVENTS,
    RECONSTRUCT_FACTS,
    RECONSTRUCT_NEWEST,
    RECONSTRUCT_REPEATS,
)
from processors.own_events import Message, OwnEvents
from processors.reconstruct.fold import FoldSettings, TableFold
from processors.table_folds import GROUP, MARK, RECORDS_PER_READ, OnPage, TableFolds, go_on
from schemas.configuration import TableConfiguration, TableEntry
from schemas.facts import DeadLetterFact, Fact
from schemas.log import EventLog, Position, Record, Transaction
from schemas.topics import FACT_TOPICS, TABLE_EVENTS
from schemas.wire import encode

__all__ = ["GROUP", "MARK", "RECORDS_PER_READ", "OnFacts", "Progress", "Reconstructor"]


class Progress(NamedTuple):
    """What one step did: events folded, facts published, and the alerts among them."""

    events: int = 0
    facts: int = 0
    alerts: int = 0


OnFacts = Callable[[Sequence[Fact]], None]
"""Told of each batch's facts, once they are committed, by the thread that folds."""


class Reconstructor:
    """Folds the tables of some partitions. One thread calls it, but for `behind` and `repeats`, which any may ask.

    Every method may raise `LogUnavailable`, after which the next `step` begins again from what was committed.
    """

    def __init__(
        self,
        log: EventLog,
        settings: FoldSettings,
        *,
        batch_events: int = 5_000,
        snapshot_events: int = 2_048,
        on_facts: OnFacts | None = None,
        on_page: OnPage = go_on,
    ) -> None:
        self._log = log
        self._settings = settings
        self._batch_events = batch_events
        self._on_facts = on_facts
        self._own = OwnEvents()
        self.tables = TableFolds(log, settings, snapshot_events, on_page)
        self.repeats = 0
        """Records folded by this object that said nothing new."""
        self._offsets: dict[int, int] = {}
        self._listening_since: datetime | None = None
        self._turn = 0

    @property
    def folds(self) -> dict[str, TableFold]:
        """The fold of each table that is known."""
        return self.tables.folds

    def claim(self) -> None:
        """Take the work over from whoever did it before, and begin from what was committed."""
        self._log.claim(GROUP)
        self.forget()

    def step(self) -> Progress:
        """Fold and commit the next batch of the partitions together; an empty `Progress` where there is nothing to do.

        A transaction costs the same whatever is in it, so there is one for all of them.
        """
        self.take_up_all()
        begun = time.perf_counter()
        records = self._read()
        if not records:
            return Progress()
        try:
            facts = self._apply(records)
            self._commit(facts, {record.partition: record.offset + 1 for record in records})
        except BaseException:
            # The folds are ahead of what was committed now; they are taken up anew from their snapshots.
            self.forget()
            raise
        self._count(records, facts)
        RECONSTRUCT_BATCH_SECONDS.observe(time.perf_counter() - begun)
        if self._on_facts is not None:
            self._on_facts([fact for _, fact in facts])
        return Progress(len(records), len(facts), sum(fact.fact == "alert" for _, fact in facts))

    def behind(self) -> int:
        """Return how many records are still to be folded."""
        return sum(
            self._log.end(TABLE_EVENTS, partition) - self._committed(partition)
            for partition in self._log.partitions(TABLE_EVENTS)
        )

    def wait(self, timeout_seconds: float) -> bool:
        """Block until there may be something to fold, or the time is over."""
        return bool(self._log.wait_any(self._places(), timeout_seconds))

    def take_up_all(self) -> None:
        """Take up the folds of all partitions that aren't yet: timers must know silent tables after a start too."""
        partitions = self._log.partitions(TABLE_EVENTS)
        if gone := self._offsets.keys() - set(partitions):
            self.forget(gone)
        if new := [partition for partition in partitions if partition not in self._offsets]:
            ends = {partition: self._log.position(GROUP, TABLE_EVENTS, partition) for partition in new}
            self.tables.take_up(ends)
            self._offsets.update(ends)

    def places(self) -> dict[int, int]:
        """Return how far each partition that was taken up is folded and committed."""
        return dict(self._offsets)

    def forget(self, partitions: Collection[int] | None = None) -> None:
        """Drop the folds of some partitions, or of all; the next step takes them up from what was committed."""
        self.tables.drop(partitions)
        for partition in list(self._offsets) if partitions is None else partitions:
            self._offsets.pop(partition, None)

    def _committed(self, partition: int) -> int:
        # Nothing is kept here: another thread may ask while the one that folds moves on.
        known = self._offsets.get(partition)
        return self._log.position(GROUP, TABLE_EVENTS, partition) if known is None else known

    def _places(self) -> list[Position]:
        return [Position(TABLE_EVENTS, partition, offset) for partition, offset in sorted(self._offsets.items())]

    def _read(self) -> list[Record]:
        """Read at most a batch, from each partition in turn, so that none waits for another's backlog."""
        places = self._places()
        if len(places) > 1:
            self._turn += 1
            first = self._turn % len(places)
            ready = set(self._log.wait_any(places, 0.0))
            places = [place for place in (*places[first:], *places[:first]) if place in ready]
        records: list[Record] = []
        for place in places:
            records += self._log.read(*place, self._batch_events - len(records))
            if len(records) >= self._batch_events:
                break
        return records

    def _apply(self, records: list[Record]) -> list[tuple[str, Fact]]:
        facts: list[tuple[str, Fact]] = []
        tables = self.tables
        for record in records:
            key = record.key
            fold = tables.folds.get(key) or tables.begin(key, record.partition)
            if found := tables.hear(fold, record):
                facts += [(key, fact) for fact in tables.numbered(key, found)]
        return facts

    def _commit(self, facts: list[tuple[str, Fact]], moved: dict[int, int]) -> None:
        topics: dict[str, list[Message]] = {}
        for key, fact in facts:
            topics.setdefault(FACT_TOPICS[fact.fact], []).append((key, encode(fact)))
        offsets = self._offsets | moved
        due = self.tables.due(offsets)
        with self._log.transaction(GROUP) as transaction:
            for topic, messages in topics.items():
                transaction.publish(topic, messages)
            self._save(transaction, due, offsets)
        self._offsets.update(moved)
        self.tables.saved(due, offsets)

    def _count(self, records: list[Record], facts: list[tuple[str, Fact]]) -> None:
        repeats = 0
        for table_id in {record.key for record in records}:
            fold = self.folds[table_id]
            repeats += fold.repeats
            fold.repeats = 0
        self.repeats += repeats
        RECONSTRUCT_EVENTS.inc(len(records))
        RECONSTRUCT_REPEATS.inc(repeats)
        RECONSTRUCT_NEWEST.set(max(record.appended_at for record in records).timestamp())
        kinds = Counter([fact.fact for _, fact in facts])
        for kind, count in kinds.items():
            RECONSTRUCT_FACTS.labels(kind=kind).inc(count)
        if kinds["dead_letter"]:
            letters = [cast(DeadLetterFact, fact) for _, fact in facts if fact.fact == "dead_letter"]
            for reason, count in Counter(letter.reason for letter in letters).items():
                RECONSTRUCT_DEAD_LETTERS.labels(reason=reason).inc(count)

    def save_all(self) -> None:
        """Write down every fold that changed since its snapshot, so that a start need not fold anything again.

        For when no thread steps any more.
        """
        self.save(self._offsets.keys())

    def save(self, partitions: Collection[int]) -> None:
        """Write down the folds of some partitions that changed, before another takes these up."""
        offsets = dict(self._offsets)
        changed = self.tables.changed(offsets.keys() & partitions)
        if not changed:
            return
        with self._log.transaction(GROUP) as transaction:
            self._save(transaction, changed, offsets)
        self.tables.saved(changed, offsets)

    def _save(self, transaction: Transaction, table_ids: Iterable[str], offsets: Mapping[int, int]) -> None:
        """Write folds down, and every partition's position, which is what guards it against another owner."""
        for table_id in table_ids:
            self.tables.save(transaction, table_id, offsets)
        for partition, offset in offsets.items():
            transaction.commit(Position(TABLE_EVENTS, partition, offset))

    # -- decisions that need a clock: written to the log first, acted on from there ----------------------------------

    def listen_from(self, now: datetime) -> None:
        """Count silences from `now` on at the earliest: who was not listened to was not silent."""
        self._listening_since = now

    def overdue(self, now: datetime) -> list[Message]:
        """Return the events to write at `now`: gaps waited for long enough, open tables that fell silent.

        Only right for one who has folded everything the log holds.
        """
        gaps = self.gaps_overdue(now, self._offsets)
        given_up = {table_id for table_id, _ in gaps}
        # What waits behind a gap is the table's latest word, so silence is judged when that is folded.
        return gaps + [event for event in self._silences(now) if event[0] not in given_up]

    def gaps_overdue(self, now: datetime, partitions: Collection[int]) -> list[Message]:
        """Return the events that give up, at `now`, the gaps of some partitions that were waited for long enough.

        Only right for one who has folded everything that these partitions hold.
        """
        limit = timedelta(milliseconds=self._settings.gap_limit_ms)
        return [
            self._own.gap_expired(table_id, fold.waits, now)
            for table_id, fold in self.tables.of(partitions)
            if fold.waits and (waited := self._waited(table_id, now)) is not None and waited > limit
        ]

    def _silences(self, now: datetime) -> Iterator[Message]:
        for table_id, fold in self.folds.items():
            waited, state = self._waited(table_id, now), fold.state
            if waited is None or not state.is_open or waited <= fold.silence_limit:
                continue
            if state.silence_reported != state.last_event_id:
                yield self._own.table_silent(table_id, state.last_event_id, self.tables.heard[table_id], now)

    def _waited(self, table_id: str, now: datetime) -> timedelta | None:
        """Return for how long a table was not heard; None where it never was."""
        heard = self.tables.heard.get(table_id)
        return None if heard is None else now - max(heard, self._listening_since or heard)

    def waiting(self, now: datetime, table_ids: Collection[str]) -> list[Message]:
        """Return the events that give up the gaps of these tables, for a source that has come to its end."""
        known = [(table_id, self.folds[table_id].waits) for table_id in sorted(table_ids) if table_id in self.folds]
        return [self._own.gap_expired(table_id, waits, now) for table_id, waits in known if waits]

    def to_publish(self, floor: Iterable[TableEntry], now: datetime) -> list[Message]:
        """Return the events that put each table's configuration in force where another, or none, is.

        Only right for one who has folded everything the log holds.
        """
        self.take_up_all()
        entries = tuple(floor)
        published: dict[str, TableConfiguration] = {}
        for entry in entries:
            fold = self.folds.get(entry.table_id)
            known = fold and (fold.state.next_configuration or fold.state.configuration)
            if known:
                published[entry.table_id] = TableConfiguration.model_validate(msgspec.to_builtins(known))
        return to_publish(entries, published, self._own, now)
