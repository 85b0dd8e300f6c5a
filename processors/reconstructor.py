"""The hot path: a batch of events in, their facts, snapshots and the new position out, together or not at all.

A table's snapshot needs not be of the newest batch. After a crash a fold is taken up from its snapshot, the table's
records from there to the committed position are folded once more, and their facts thrown away, for they were published
before; since the fold is pure, what comes next is what would have come. So snapshots may be as rare as one likes.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

import msgspec
import structlog

from processors.fold_snapshots import UnreadableSnapshot, read_back, write_down
from processors.own_events import Message, OwnEvents
from processors.reconstruct.fold import FoldSettings, TableFold
from schemas.configuration import TableConfiguration, TableEntry
from schemas.facts import Fact
from schemas.log import MAX_MESSAGE_BYTES, EventLog, Position, Record, Transaction
from schemas.topics import FACT_TOPICS, TABLE_EVENTS
from schemas.wire import encode

GROUP: Final = "reconstruct"
RECORDS_PER_READ: Final = 10_000
"""Records read at a time while a fold is taken up again."""

MARK: Final = ":"
"""In a snapshot's key: it is no table's, but a mark of the runtime's own. A table's id has none."""

_logger: Final = structlog.get_logger(__name__)


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
    ) -> None:
        self._log = log
        self._settings = settings
        self._batch_events = batch_events
        self._snapshot_events = snapshot_events
        self._on_facts = on_facts
        self._own = OwnEvents()
        self.folds: dict[str, TableFold] = {}
        self.repeats = 0
        """Records folded by this object that said nothing new."""
        self._partitions: dict[str, int] = {}
        self._since_snapshot: dict[str, int] = {}
        self._offsets: dict[int, int] = {}
        self._heard: dict[str, datetime] = {}
        self._listening_since: datetime | None = None

    def claim(self) -> None:
        """Take the work over from whoever did it before, and begin from what was committed."""
        self._log.claim(GROUP)
        self.forget()

    def step(self) -> Progress:
        """Fold and commit the next batch of every partition; an empty `Progress` where there is nothing to do."""
        total = Progress()
        for partition in self._log.partitions(TABLE_EVENTS):
            done = self._step_partition(partition)
            total = Progress(*(one + other for one, other in zip(total, done, strict=True)))
        return total

    def behind(self) -> int:
        """Return how many records are still to be folded."""
        return sum(
            self._log.end(TABLE_EVENTS, partition) - self._committed(partition)
            for partition in self._log.partitions(TABLE_EVENTS)
        )

    def wait(self, timeout_seconds: float) -> bool:
        """Block until there may be something to fold, or the time is over."""
        partition = self._log.partitions(TABLE_EVENTS)[0]
        return self._log.wait(TABLE_EVENTS, partition, self._offset(partition), timeout_seconds)

    def take_up_all(self) -> None:
        """Take up the fold of every table that was ever heard: timers must know silent tables after a start too."""
        for table_id, snapshot in self._log.states(GROUP):
            if MARK not in table_id:
                self._take_up(table_id, snapshot)

    def _committed(self, partition: int) -> int:
        # Nothing is kept here: another thread may ask while the one that folds moves on.
        known = self._offsets.get(partition)
        return self._log.position(GROUP, TABLE_EVENTS, partition) if known is None else known

    def _offset(self, partition: int) -> int:
        if partition not in self._offsets:
            self._offsets[partition] = self._log.position(GROUP, TABLE_EVENTS, partition)
        return self._offsets[partition]

    def _step_partition(self, partition: int) -> Progress:
        records = self._log.read(TABLE_EVENTS, partition, self._offset(partition), self._batch_events)
        if not records:
            return Progress()
        try:
            facts = self._apply(records, partition)
            self._commit(facts, Position(TABLE_EVENTS, partition, records[-1].offset + 1))
        except BaseException:
            # The folds are ahead of what was committed now; they are taken up anew from their snapshots.
            self.forget()
            raise
        self._count_repeats({record.key for record in records})
        if self._on_facts is not None:
            self._on_facts([fact for _, fact in facts])
        return Progress(len(records), len(facts), sum(fact.fact == "alert" for _, fact in facts))

    def forget(self) -> None:
        """Drop every fold; the next step takes them up from what was committed."""
        self.folds.clear()
        self._since_snapshot.clear()
        self._offsets.clear()

    def _apply(self, records: list[Record], partition: int) -> list[tuple[str, Fact]]:
        facts: list[tuple[str, Fact]] = []
        folds, since = self.folds, self._since_snapshot
        for record in records:
            key = record.key
            fold = folds.get(key) or self._fold(key, partition)
            since[key] += 1
            facts += [(key, fact) for fact in self._hear(fold, record)]
        return facts

    def _hear(self, fold: TableFold, record: Record) -> list[Fact]:
        """Fold a record. A table of which nothing can be used is not heard, however much it sends."""
        facts = fold.apply(record)
        if not facts or any(fact.fact != "dead_letter" for fact in facts):
            self._heard[record.key] = record.appended_at
        return facts

    def _commit(self, facts: list[tuple[str, Fact]], position: Position) -> None:
        topics: dict[str, list[Message]] = {}
        for key, fact in facts:
            topics.setdefault(FACT_TOPICS[fact.fact], []).append((key, encode(fact)))
        due = [key for key, events in self._since_snapshot.items() if events >= self._snapshot_events]
        with self._log.transaction(GROUP) as transaction:
            for topic, messages in topics.items():
                transaction.publish(topic, messages)
            for key in due:
                self._save(transaction, key, position.offset)
            transaction.commit(position)
        self._offsets[position.partition] = position.offset
        self._since_snapshot.update(dict.fromkeys(due, 0))

    def _count_repeats(self, table_ids: Collection[str]) -> None:
        for table_id in table_ids:
            fold = self.folds[table_id]
            self.repeats += fold.repeats
            fold.repeats = 0

    # -- snapshots ---------------------------------------------------------------------------------------------------

    def save_all(self) -> None:
        """Write down every fold that changed since its snapshot, so that a start need not fold anything again.

        For when no thread steps any more.
        """
        changed = [key for key, events in self._since_snapshot.items() if events]
        if not changed:
            return
        with self._log.transaction(GROUP) as transaction:
            for key in changed:
                self._save(transaction, key, self._offset(self._partitions[key]))
        self._since_snapshot.update(dict.fromkeys(changed, 0))

    def _save(self, transaction: Transaction, table_id: str, offset: int) -> None:
        snapshot = write_down(self.folds[table_id], self._partitions[table_id], offset, self._heard.get(table_id))
        if len(snapshot) <= MAX_MESSAGE_BYTES:
            transaction.save_state(table_id, snapshot)
            return
        # Whatever a table fills its history with, the others go on, and it costs this one no more than time.
        _logger.warning("snapshot_too_long", table_id=table_id, size=len(snapshot), limit=MAX_MESSAGE_BYTES)

    def _fold(self, table_id: str, partition: int) -> TableFold:
        """Take a table's fold up as it was when the last batch was committed."""
        snapshot = self._log.state(GROUP, table_id)
        if snapshot is not None and self._take_up(table_id, snapshot):
            return self.folds[table_id]
        self._take_on(table_id, TableFold(table_id, self._settings), partition, 0)
        # A table's first snapshot is written at once, for only tables that have one are known after a start.
        self._since_snapshot[table_id] = self._snapshot_events
        return self.folds[table_id]

    def _take_up(self, table_id: str, snapshot: bytes) -> bool:
        """Take a fold up from its snapshot; False where that can't be read, and the table is to be folded anew."""
        try:
            stored = read_back(snapshot)
            fold = stored.restore(self._settings)
        except UnreadableSnapshot as error:
            _logger.warning("snapshot_unreadable", table_id=table_id, error=str(error), action="folding all its events")
            return False
        if stored.heard_at is not None:
            self._heard.setdefault(table_id, stored.heard_at)
        self._take_on(table_id, fold, stored.partition, stored.offset)
        return True

    def _take_on(self, table_id: str, fold: TableFold, partition: int, start: int) -> None:
        """Fold what was committed from `start` on once more, and keep the fold."""
        replayed = 0
        for record in self._records(table_id, start, self._offset(partition)):
            self._hear(fold, record)
            replayed += 1
        if replayed:
            _logger.debug("folded_again", table_id=table_id, records=replayed)
        fold.repeats = 0
        self.folds[table_id] = fold
        self._partitions[table_id] = partition
        self._since_snapshot[table_id] = replayed

    def _records(self, table_id: str, start: int, end: int) -> Iterator[Record]:
        while start < end:
            records = self._log.read_key(TABLE_EVENTS, table_id, start, RECORDS_PER_READ)
            for record in records:
                if record.offset >= end:
                    return
                yield record
            if not records:
                return
            start = records[-1].offset + 1

    # -- decisions that need a clock: written to the log first, acted on from there ----------------------------------

    def listen_from(self, now: datetime) -> None:
        """Count silences from `now` on at the earliest: who was not listened to was not silent."""
        self._listening_since = now

    def overdue(self, now: datetime) -> list[Message]:
        """Return the events to write at `now`: gaps waited for long enough, open tables that fell silent.

        Only right for one who has folded everything the log holds.
        """
        limit = timedelta(milliseconds=self._settings.gap_limit_ms)
        events: list[Message] = []
        for table_id, fold in self.folds.items():
            heard = self._heard.get(table_id)
            if heard is None:
                continue
            waited = now - max(heard, self._listening_since or heard)
            state = fold.state
            if fold.waits and waited > limit:
                # What waits behind the gap is the table's latest word, so silence is judged when that is folded.
                events.append(self._own.gap_expired(table_id, fold.waits, now))
            elif state.is_open and waited > fold.silence_limit and state.silence_reported != state.last_event_id:
                events.append(self._own.table_silent(table_id, state.last_event_id, heard, now))
        return events

    def waiting(self, now: datetime, table_ids: Collection[str]) -> list[Message]:
        """Return the events that give up the gaps of these tables, for a source that has come to its end."""
        known = [(table_id, self.folds[table_id].waits) for table_id in sorted(table_ids) if table_id in self.folds]
        return [self._own.gap_expired(table_id, waits, now) for table_id, waits in known if waits]

    def to_publish(self, floor: Iterable[TableEntry], now: datetime) -> list[Message]:
        """Return the events that put each table's configuration in force where another, or none, is.

        Only right for one who has folded everything the log holds.
        """
        partition = self._log.partitions(TABLE_EVENTS)[0]
        events: list[Message] = []
        for entry in floor:
            fold = self.folds.get(entry.table_id) or self._fold(entry.table_id, partition)
            known = fold.state.next_configuration or fold.state.configuration
            if known is None or TableConfiguration.model_validate(msgspec.to_builtins(known)) != entry.configuration:
                events.append(self._own.configuration_published(entry, now))
        return events
