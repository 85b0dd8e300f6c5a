"""The hot path: a batch of events in, their facts, snapshots and the new position out, together or not at all.

A table's snapshot needs not be of the newest batch. After a crash a fold is taken up from its snapshot, the table's
records from there to the committed position are folded once more, and their facts thrown away, for they were published
before; since the fold is pure, what comes next is what would have come. So snapshots may be as rare as one likes.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

import msgspec
import structlog

from processors.reconstruct.fold import FoldSettings, TableFold
from schemas.configuration import TableConfiguration, TableEntry
from schemas.events import ConfigurationPublished, Event, GapExpired, TableSilent
from schemas.facts import Fact
from schemas.ids import SYSTEM_EPOCH, event_id
from schemas.log import EventLog, Position, Record
from schemas.structs import struct_of
from schemas.topics import FACT_TOPICS, TABLE_EVENTS
from schemas.wire import encode

GROUP: Final = "reconstruct"
RECORDS_PER_READ: Final = 10_000
"""Records read at a time while a fold is taken up again."""

GapExpiredEvent = struct_of(GapExpired, tag="gap_expired")
TableSilentEvent = struct_of(TableSilent, tag="table_silent")

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_logger: Final = structlog.get_logger(__name__)


class Progress(NamedTuple):
    """What one step did: events folded, facts published, and the alerts among them."""

    events: int = 0
    facts: int = 0
    alerts: int = 0


OnFacts = Callable[[Sequence[Fact]], None]
"""Told of each batch's facts, once they are committed, by the thread that folds."""


class StoredFold(msgspec.Struct):
    """A table's snapshot, and the offset of the first record that it doesn't know."""

    offset: int
    fold: bytes


_stored: Final = msgspec.msgpack.Decoder(StoredFold)


class Reconstructor:
    """Folds the tables of some partitions. One thread calls it; `folds` may be read by that thread between steps.

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
        self.folds: dict[str, TableFold] = {}
        self._places: dict[str, Position] = {}
        self._since_snapshot: dict[str, int] = {}
        self._offsets: dict[int, int] = {}
        self._heard: dict[str, datetime] = {}
        self._system_seq = 0

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
            self._log.end(TABLE_EVENTS, partition) - self._offset(partition)
            for partition in self._log.partitions(TABLE_EVENTS)
        )

    def wait(self, timeout_seconds: float) -> bool:
        """Block until there may be something to fold, or the time is over."""
        partition = self._log.partitions(TABLE_EVENTS)[0]
        return self._log.wait(TABLE_EVENTS, partition, self._offset(partition), timeout_seconds)

    @property
    def repeats(self) -> int:
        """Records folded in this process that said nothing new."""
        return sum(fold.repeats for fold in self.folds.values())

    def take_up_all(self) -> None:
        """Take up the fold of every table that has a snapshot: timers must know silent tables after a restart too."""
        partition = self._log.partitions(TABLE_EVENTS)[0]
        for table_id, _ in self._log.states(GROUP):
            if ":" in table_id:
                continue  # no table's: a mark of the runtime's own
            self._fold(table_id, partition)

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
        folds, since, heard = self.folds, self._since_snapshot, self._heard
        for record in records:
            key = record.key
            fold = folds.get(key) or self._fold(key, partition)
            since[key] += 1
            heard[key] = record.appended_at
            facts += [(key, fact) for fact in fold.apply(record)]
        return facts

    def _commit(self, facts: list[tuple[str, Fact]], position: Position) -> None:
        topics: dict[str, list[tuple[str, bytes]]] = {}
        for key, fact in facts:
            topics.setdefault(FACT_TOPICS[fact.fact], []).append((key, encode(fact)))
        due = [key for key, events in self._since_snapshot.items() if events >= self._snapshot_events]
        with self._log.transaction(GROUP) as transaction:
            for topic, messages in topics.items():
                transaction.publish(topic, messages)
            for key in due:
                transaction.save_state(key, self._snapshot(key, position.offset))
            transaction.commit(position)
        self._offsets[position.partition] = position.offset
        self._since_snapshot.update(dict.fromkeys(due, 0))

    def _snapshot(self, table_id: str, offset: int) -> bytes:
        return msgspec.msgpack.encode(StoredFold(offset, self.folds[table_id].snapshot()))

    def save_all(self) -> None:
        """Write down every fold that changed since its snapshot, so that a restart need not fold anything again."""
        changed = [key for key, events in self._since_snapshot.items() if events]
        if not changed:
            return
        offsets = dict(self._offsets)
        with self._log.transaction(GROUP) as transaction:
            for key in changed:
                partition = self._places[key].partition
                transaction.save_state(key, self._snapshot(key, offsets[partition]))
        self._since_snapshot.update(dict.fromkeys(changed, 0))

    def _fold(self, table_id: str, partition: int) -> TableFold:
        """Take a table's fold up as it was when the last batch was committed."""
        stored_bytes = self._log.state(GROUP, table_id)
        if stored_bytes is None:
            fold, offset = TableFold(table_id, self._settings), 0
        else:
            stored = _stored.decode(stored_bytes)
            fold, offset = TableFold.restore(stored.fold, self._settings), stored.offset
        replayed = 0
        for record in self._records(table_id, offset, self._offset(partition)):
            fold.apply(record)
            self._heard[table_id] = record.appended_at
            replayed += 1
        if stored_bytes is not None or replayed:
            _logger.debug("fold_taken_up", table_id=table_id, replayed=replayed)
        fold.repeats = 0
        self.folds[table_id] = fold
        self._places[table_id] = Position(TABLE_EVENTS, partition, offset)
        self._since_snapshot[table_id] = replayed
        return fold

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

    def overdue(self, now: datetime) -> list[tuple[str, bytes]]:
        """Return the events to write at `now`: gaps waited for long enough, open tables that fell silent."""
        limit = timedelta(milliseconds=self._settings.gap_limit_ms)
        events: list[Event] = []
        for table_id, fold in self.folds.items():
            heard = self._heard.get(table_id)
            if heard is None:
                continue
            if fold.waits and now - heard > limit:
                events.append(self._gap_expired(table_id, fold.waits, now))
            silent = now - heard > fold.silence_limit
            if silent and fold.state.is_open and fold.state.silence_reported != fold.state.last_event_id:
                events.append(self._table_silent(table_id, fold.state.last_event_id, heard, now))
        return _messages(events)

    def waiting(self, now: datetime) -> list[tuple[str, bytes]]:
        """Return the events that give up every gap, for a source that has come to its end."""
        return _messages(
            self._gap_expired(table_id, fold.waits, now) for table_id, fold in self.folds.items() if fold.waits
        )

    def to_publish(self, floor: Iterable[TableEntry], now: datetime) -> list[tuple[str, bytes]]:
        """Return the events that put each table's configuration in force where another, or none, is."""
        partition = self._log.partitions(TABLE_EVENTS)[0]
        events: list[Event] = []
        for entry in floor:
            fold = self.folds.get(entry.table_id) or self._fold(entry.table_id, partition)
            known = fold.state.next_configuration or fold.state.configuration
            if known is None or TableConfiguration.model_validate(msgspec.to_builtins(known)) != entry.configuration:
                own = self._next_seq(now)
                events.append(
                    ConfigurationPublished(
                        event_id=event_id(entry.table_id, SYSTEM_EPOCH, own),
                        table_id=entry.table_id,
                        epoch=SYSTEM_EPOCH,
                        seq=own,
                        occurred_at=now,
                        configuration=entry.configuration,
                    )
                )
        return _messages(events)

    def _gap_expired(self, table_id: str, waits: tuple[int, int], now: datetime) -> Event:
        epoch, seq = waits
        own = self._next_seq(now)
        return GapExpiredEvent(
            event_id=event_id(table_id, SYSTEM_EPOCH, own),
            table_id=table_id,
            epoch=SYSTEM_EPOCH,
            seq=own,
            occurred_at=now,
            through_epoch=epoch,
            through_seq=seq,
        )

    def _table_silent(self, table_id: str, last_event_id: str, heard: datetime, now: datetime) -> Event:
        own = self._next_seq(now)
        return TableSilentEvent(
            event_id=event_id(table_id, SYSTEM_EPOCH, own),
            table_id=table_id,
            epoch=SYSTEM_EPOCH,
            seq=own,
            occurred_at=now,
            silent_since=heard,
            last_event_id=last_event_id,
        )

    def _next_seq(self, now: datetime) -> int:
        """Return a number for an event of Pitwatch's own: microseconds since 1970, and never the same twice."""
        self._system_seq = max(self._system_seq + 1, (now - _EPOCH) // _MICROSECOND)
        return self._system_seq


def _messages(events: Iterable[Event]) -> list[tuple[str, bytes]]:
    return [(event.table_id, encode(event)) for event in events]
