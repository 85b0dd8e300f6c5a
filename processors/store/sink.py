"""Moves what the log holds into the store: the tables' own events, and the facts of every kind.

A batch is inserted first and its position committed afterwards. A crash in between inserts the batch once more, which
changes nothing, for rows of one key collapse to the newest.
"""

import base64
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Final

import structlog

from processors.metrics import SINK_BEHIND, SINK_INSERT_SECONDS, SINK_NEWEST, SINK_REFUSED, SINK_ROWS
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
    """A partition of a topic, and how far it is stored."""

    topic: str
    partition: int
    offset: int
    behind: int = 0

    @property
    def place(self) -> Position:
        """Where it goes on."""
        return Position(self.topic, self.partition, self.offset)


@dataclass(slots=True)
class Flow:
    """The rows of a kind, which go into one table, and this worker's partitions of their topic.

    They are inserted together, whatever partition they come from: an insert makes a part of the table, and a table
    bears one or two of them a second. `turn` says which partition is read first.
    """

    kind: str
    streams: list[Stream]
    due_at: float = 0.0
    turn: int = 0

    @property
    def behind(self) -> int:
        """How many records were still to be stored when that was looked at last."""
        return sum(stream.behind for stream in self.streams)


def untold() -> None:
    """Tell nobody."""


class Sink:
    """Fills a migrated store from a log. One thread steps it; `behind` may be asked by others.

    `on_batch` is told before each batch, for whoever watches that another follows.
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
        on_batch: Callable[[], None] = untold,
    ) -> None:
        self._log = log
        self._store = store
        self._interval_seconds = interval_seconds
        self._clock = clock
        self._sleep = sleep
        self._on_batch = on_batch
        self.group = group_of(store)
        self._flows: list[Flow] = []
        self.share()

    def share(self) -> None:
        """Take up the partitions that the log says are this worker's, where the group left them; drop the others.

        To be called again whenever they may be other ones, by the thread that steps.
        """
        known = {(stream.topic, stream.partition): stream for stream in self._streams()}
        due = {flow.kind: flow.due_at for flow in self._flows}
        self._flows = [
            Flow(
                kind,
                [
                    known.pop((topic, one)) if (topic, one) in known else self._stream(topic, one)
                    for one in self._log.partitions(topic)
                ],
                due.get(kind, 0.0),
            )
            for kind, topic in TOPICS
        ]
        for topic, partition in known:
            SINK_BEHIND.remove(topic, str(partition))

    def places(self) -> list[tuple[str, int]]:
        """Return the topics' partitions that this worker moves."""
        return [(stream.topic, stream.partition) for stream in self._streams()]

    def _streams(self) -> Iterator[Stream]:
        return chain.from_iterable(flow.streams for flow in self._flows)

    def _stream(self, topic: str, partition: int) -> Stream:
        return Stream(topic, partition, self._log.position(self.group, topic, partition))

    def step(self) -> int:
        """Store one batch of every kind that has enough rows or has waited long enough; return the records moved."""
        now = self._clock()
        self._look()
        due = [flow for flow in self._flows if now >= flow.due_at or flow.behind >= FULL_BATCH_ROWS]
        return sum(map(self._move, due))

    def drain(self) -> int:
        """Store everything the log holds, without waiting; return the records moved."""
        total = 0
        while self._look() and (moved := sum(map(self._move, self._flows))):
            total += moved
        return total

    def run(self, stop: threading.Event) -> None:
        """Step until `stop` is set."""
        while not stop.is_set():
            if not self.step():
                self.wait(WAIT_SECONDS)

    def behind(self) -> int:
        """Return how many records are still to be stored."""
        return self._look()

    def wait(self, timeout_seconds: float) -> None:
        """Block until there may be something to store, or the time is over."""
        now = self._clock()
        if self._look():
            due = min(flow.due_at for flow in self._flows if flow.behind)
            self._sleep(max(0.0, min(due - now, timeout_seconds)))
            return
        self._log.wait_any([stream.place for stream in self._streams()], timeout_seconds)

    def _look(self) -> int:
        """See how far each partition is behind, all at once, for each question takes its time; return the sum."""
        streams = list(self._streams())
        ends = self._log.ends([(stream.topic, stream.partition) for stream in streams])
        for stream, end in zip(streams, ends, strict=True):
            stream.behind = max(0, end - stream.offset)
            SINK_BEHIND.labels(topic=stream.topic, partition=stream.partition).set(stream.behind)
        return sum(stream.behind for stream in streams)

    def _move(self, flow: Flow) -> int:
        self._on_batch()
        records, moved = self._read(flow)
        if not records:
            return 0
        batch = _Batch(self._store, flow.kind)
        with SINK_INSERT_SECONDS.labels(kind=flow.kind).time():
            if flow.kind == "event":
                batch.insert([(record, row) for record in records if (row := event_row(record)) is not None])
            else:
                batch.insert([(record, record.value) for record in records])
        flow.due_at = self._clock() + self._interval_seconds
        SINK_NEWEST.labels(kind=flow.kind).set(max(record.appended_at for record in records).timestamp())
        for stream, offset in moved:
            self._log.commit_position(self.group, stream.place._replace(offset=offset))
            stream.offset = offset
        return len(records)

    def _read(self, flow: Flow) -> tuple[list[Record], list[tuple[Stream, int]]]:
        """Read at most a batch; return it, and up to where it goes in each partition that it has anything from."""
        records: list[Record] = []
        moved: list[tuple[Stream, int]] = []
        size = 0
        flow.turn += 1
        first = flow.turn % len(flow.streams) if flow.streams else 0
        for stream in (*flow.streams[first:], *flow.streams[:first]):
            if not stream.behind:
                # To find nothing would take as long as to find much.
                continue
            offset = stream.offset
            while len(records) < MAX_BATCH_ROWS and size < MAX_BATCH_BYTES:
                wanted = min(PAGE_RECORDS, MAX_BATCH_ROWS - len(records))
                page = self._log.read(stream.topic, stream.partition, offset, wanted)
                records += page
                size += sum(len(record.value) for record in page)
                if page:
                    offset = page[-1].offset + 1
                if len(page) < wanted:
                    break
            if offset > stream.offset:
                moved.append((stream, offset))
        return records, moved


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
