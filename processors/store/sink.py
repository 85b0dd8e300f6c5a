"""Moves what the log holds into the store: the tables' own events, and the facts of every kind.

A batch is inserted first and its position committed afterwards. A crash in between inserts the batch once more, which
changes nothing, for rows of one key collapse to the newest.
"""

import base64
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import structlog

from processors.metrics import SINK_BEHIND, SINK_INSERT_SECONDS, SINK_REFUSED, SINK_ROWS
from processors.store.port import RowsRefused, Store, StoreUnavailable
from processors.store.rows import event_row
from schemas.facts import DeadLetterFact
from schemas.log import EventLog, Position, Record
from schemas.structs import struct_of
from schemas.topics import FACT_TOPICS, TABLE_EVENTS
from schemas.wire import encode

GROUP: Final = "sink"
"""Prefix of the consumer group; the store's identity follows, so that a new store is filled from the beginning."""

INTERVAL_SECONDS: Final = 1.0
"""How long rows of a kind are gathered while there are few: an insert costs some 20 ms whatever its size."""

FULL_BATCH_ROWS: Final = 10_000
"""From so many rows on nothing is gathered any longer."""

MAX_BATCH_ROWS: Final = 20_000
"""Beyond that inserts get no quicker, and the process only larger."""

MAX_BATCH_BYTES: Final = 16 * 2**20
PAGE_RECORDS: Final = 2_000

MAX_REFUSED: Final = 100
"""Rows of a batch that may be refused one by one; more than that, and it is the schema that is wrong."""

WAIT_SECONDS: Final = 0.25

TOPICS: Final = (("event", TABLE_EVENTS), *FACT_TOPICS.items())
"""Every kind of row, and the topic that its rows come from."""

DeadLetter = struct_of(DeadLetterFact, tag="dead_letter", tag_field="fact")

_logger: Final = structlog.get_logger(__name__)


@dataclass(slots=True)
class Stream:
    """A partition of a topic, the kind of its rows, and how far it is stored."""

    kind: str
    topic: str
    partition: int
    offset: int
    due_at: float = 0.0


class Sink:
    """Fills a migrated store from a log. One thread steps it; `behind` may be asked by others.

    Methods may raise `LogUnavailable` and `StoreUnavailable`, after which the next step begins where the last ended.
    """

    def __init__(
        self,
        log: EventLog,
        store: Store,
        *,
        interval_seconds: float = INTERVAL_SECONDS,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._log = log
        self._store = store
        self._interval_seconds = interval_seconds
        self._clock = clock
        self._sleep = sleep
        self.group = group_of(store)
        self._streams: list[Stream] = []
        self.share()

    def share(self) -> None:
        """Take up the partitions that the log says are this worker's, where the group left them; drop the others.

        To be called again whenever they may be other ones, by the thread that steps.
        """
        kept: dict[tuple[str, int], Stream] = {(stream.topic, stream.partition): stream for stream in self._streams}
        streams: list[Stream] = []
        for kind, topic in TOPICS:
            for partition in self._log.partitions(topic):
                known = kept.pop((topic, partition), None)
                streams.append(known if known is not None else self._stream(kind, topic, partition))
        self._streams = streams
        for topic, partition in kept:
            SINK_BEHIND.remove(topic, str(partition))

    def places(self) -> list[tuple[str, int]]:
        """Return the topics' partitions that this worker moves."""
        return [(stream.topic, stream.partition) for stream in self._streams]

    def _stream(self, kind: str, topic: str, partition: int) -> Stream:
        return Stream(kind, topic, partition, self._log.position(self.group, topic, partition))

    def step(self) -> int:
        """Store one batch of every topic that has enough rows or has waited long enough; return the records moved."""
        now = self._clock()
        return sum(self._move(stream) for stream in self._streams if self._is_due(stream, now))

    def drain(self) -> int:
        """Store everything the log holds, without waiting; return the records moved."""
        total = 0
        while moved := sum(self._move(stream) for stream in self._streams):
            total += moved
        return total

    def run(self, stop: threading.Event) -> None:
        """Step until `stop` is set."""
        while not stop.is_set():
            if not self.step():
                self.wait(WAIT_SECONDS)

    def behind(self) -> int:
        """Return how many records are still to be stored."""
        return sum(self._backlog(stream) for stream in self._streams)

    def wait(self, timeout_seconds: float) -> None:
        """Block until there may be something to store, or the time is over."""
        now = self._clock()
        due = min((stream.due_at for stream in self._streams if self._backlog(stream)), default=None)
        if due is not None:
            self._sleep(max(0.0, min(due - now, timeout_seconds)))
            return
        places = [Position(stream.topic, stream.partition, stream.offset) for stream in self._streams]
        self._log.wait_any(places, timeout_seconds)

    def _backlog(self, stream: Stream) -> int:
        backlog = max(0, self._log.end(stream.topic, stream.partition) - stream.offset)
        SINK_BEHIND.labels(topic=stream.topic, partition=stream.partition).set(backlog)
        return backlog

    def _is_due(self, stream: Stream, now: float) -> bool:
        return now >= stream.due_at or self._backlog(stream) >= FULL_BATCH_ROWS

    def _move(self, stream: Stream) -> int:
        records = self._read(stream)
        if not records:
            return 0
        batch = _Batch(self._store, stream.kind)
        with SINK_INSERT_SECONDS.labels(kind=stream.kind).time():
            if stream.kind == "event":
                batch.insert([(record, row) for record in records if (row := event_row(record)) is not None])
            else:
                batch.insert([(record, record.value) for record in records])
        end = records[-1].offset + 1
        self._log.commit_position(self.group, Position(stream.topic, stream.partition, end))
        stream.offset = end
        stream.due_at = self._clock() + self._interval_seconds
        return len(records)

    def _read(self, stream: Stream) -> list[Record]:
        records: list[Record] = []
        size, offset = 0, stream.offset
        while len(records) < MAX_BATCH_ROWS and size < MAX_BATCH_BYTES:
            page = self._log.read(stream.topic, stream.partition, offset, PAGE_RECORDS)
            records += page
            if len(page) < PAGE_RECORDS:
                break
            size += sum(len(record.value) for record in page)
            offset = page[-1].offset + 1
        return records


def group_of(store: Store) -> str:
    """Return the consumer group that fills this store, and no other."""
    return f"{GROUP}-{store.identity}"


class _Batch:
    """The rows of one insert. What the store refuses of them goes to the dead letters, and the rest in.

    Facts are made by this program, so a refused one is a defect; but one row must neither get lost nor stop the rest.
    """

    def __init__(self, store: Store, kind: str) -> None:
        self._store = store
        self._kind = kind
        self._found = 0

    def insert(self, rows: list[tuple[Record, bytes]]) -> None:
        try:
            self._store.insert(self._kind, [row for _, row in rows])
            SINK_ROWS.labels(kind=self._kind).inc(len(rows))
        except RowsRefused as refusal:
            self._part(rows, refusal)

    def _part(self, rows: list[tuple[Record, bytes]], refusal: RowsRefused) -> None:
        """Part the rows into those that are refused and those that are not: by what is known, or by halves."""
        if refusal.indexes:
            for index in refusal.indexes:
                self._bury(rows[index][0], refusal)
            known = set(refusal.indexes)
            self.insert([row for index, row in enumerate(rows) if index not in known])
        elif len(rows) == 1:
            self._found += 1
            if self._found > MAX_REFUSED:
                raise StoreUnavailable(
                    f"the store refuses {self._kind} rows one after the other ({refusal}): its schema is not"
                    " this program's. Nothing is lost: mend it, and the rows are inserted again"
                )
            self._bury(rows[0][0], refusal)
        else:
            middle = len(rows) // 2
            self.insert(rows[:middle])
            self.insert(rows[middle:])

    def _bury(self, record: Record, refusal: RowsRefused) -> None:
        """Keep what can't be stored as it should be as a dead letter of its own place in the log."""
        place = (record.topic, record.partition, record.offset)
        _logger.error("row_not_storable", place=place, table_id=record.key, error=str(refusal))
        letter = DeadLetter(
            table_id=record.key,
            occurred_at=record.appended_at,
            src_topic=record.topic,
            src_partition=record.partition,
            src_offset=record.offset,
            reason="not_storable",
            detail=str(refusal)[:500],
            raw=base64.b64encode(record.value).decode(),
        )
        self._store.insert("dead_letter", [encode(letter)])
        SINK_REFUSED.labels(kind=self._kind).inc()
