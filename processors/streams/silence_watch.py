"""Writes `table_silent` events to the log, for open tables that have not been heard for longer than they may be silent.

Whoever decides by the clock must have read everything (docs/decisions.md, 11). So the watch reads the events itself, as
plain batches beside Faust's streams, and keeps of each table only what that takes. Workers share the tables by
partition. What a worker decided, what it knows and where it is go into the log in one transaction, so a silence is
written once however many workers run, whichever is killed.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, Protocol

import msgspec
import structlog

from processors.live.silences import Silence, WatchedTable, hear, silences
from processors.metrics import SILENCES, WATCHED_BEHIND, WATCHED_TABLES
from processors.own_events import OwnEvents
from schemas.log import EventLog, Fenced, LogError, Position, Record
from schemas.topics import TABLE_EVENTS
from schemas.wire import InvalidEvent, decode_event

GROUP: Final = "faust-silence"

SAVE_INTERVAL: Final = timedelta(seconds=30)
"""How often is written down what was heard; after a crash no more than that is read again."""

LAPSE: Final = timedelta(seconds=10)
"""A watch that didn't look for so long was not listening, and begins to count silences anew."""

_states: Final = msgspec.msgpack.Decoder(WatchedTable)

_logger: Final = structlog.get_logger(__name__)


class Membership(Protocol):
    """A worker's place among those that share the tables."""

    def poll(self, seconds: float = 0.0) -> object:
        """Say that this worker is alive, and take part in sharing anew. Raises `LogUnavailable`."""
        ...


Join = Callable[[str, Sequence[str]], Membership]
"""Joins the group of a name, whose workers share the partitions of these topics."""


class SilenceWatch:
    """Watches the tables of this worker's partitions. One thread at a time steps it."""

    def __init__(self, log: EventLog, join: Join, *, batch_events: int = 10_000) -> None:
        self._log = log
        self._join = join
        self._batch_events = batch_events
        self._own = OwnEvents()
        self._membership: Membership | None = None
        self._claimed = False
        self._tables: dict[int, dict[str, WatchedTable]] = {}
        self._offsets: dict[int, int] = {}
        self._changed: set[str] = set()
        self._saved_at: datetime | None = None
        self._looked_at: datetime | None = None
        self._listening_since: datetime | None = None

    def step(self, now: datetime) -> bool:
        """Read on, and write what is due at `now`; tell whether more waits to be read.

        Raises `LogUnavailable`, after which the next step begins from what was committed.
        """
        try:
            self._take_part()
            behind = self._read()
            self._listen(now, caught_up=not behind)
            self._commit(list(self._due(now)), now)
        except Fenced as error:
            _logger.info("tables_given_up", group=GROUP, error=str(error))
            self._forget()
            return True
        except LogError:
            self._forget()
            raise
        WATCHED_BEHIND.set(behind)
        WATCHED_TABLES.set(sum(len(tables) for tables in self._tables.values()))
        return behind > 0

    def save(self, now: datetime) -> None:
        """Write down what is known, for a worker that ends. Raises `LogUnavailable`, `Fenced`."""
        self._saved_at = None
        self._commit([], now)

    # -- sharing -----------------------------------------------------------------------------------------------------

    def _take_part(self) -> None:
        if self._membership is None:
            self._membership = self._join(GROUP, [TABLE_EVENTS])
        self._membership.poll()
        if not self._claimed:
            # Ends what a former self of this worker may have left open.
            self._log.claim(GROUP)
            self._claimed = True
        owned = set(self._log.partitions(TABLE_EVENTS))
        for partition in self._tables.keys() - owned:
            self._changed -= self._tables.pop(partition).keys()
            del self._offsets[partition]
        if gained := owned - self._tables.keys():
            self._take_over(gained)

    def _take_over(self, partitions: set[int]) -> None:
        tables: dict[int, dict[str, WatchedTable]] = {partition: {} for partition in partitions}
        offsets = {one: self._log.position(GROUP, TABLE_EVENTS, one) for one in partitions}
        for table_id, state in self._log.states(GROUP):
            partition = self._log.partition_of(TABLE_EVENTS, table_id)
            if partition not in partitions:
                continue
            try:
                tables[partition][table_id] = _states.decode(state)
            except msgspec.MsgspecError as error:
                # Another version wrote it: the events themselves say the same.
                _logger.warning("state_unreadable", table_id=table_id, error=str(error), action="reading all events")
                offsets[partition] = 0
        if lost := [one for one in sorted(partitions) if offsets[one] and _is_missing(tables[one])]:
            # A position is committed together with a state of every table that was heard: so somebody lost them, and
            # a table that has died meanwhile would never be missed.
            _logger.warning("states_missing", group=GROUP, partitions=lost, action="reading all events")
            offsets |= dict.fromkeys(lost, 0)
        self._offsets |= offsets
        self._tables |= tables
        _logger.info("watching_tables", partitions=sorted(self._tables), tables=sum(map(len, self._tables.values())))

    def _forget(self) -> None:
        """Drop what was not committed; the next step takes it up again."""
        self._claimed = False
        self._tables.clear()
        self._offsets.clear()
        self._changed.clear()
        self._listening_since = None

    # -- reading -----------------------------------------------------------------------------------------------------

    def _read(self) -> int:
        """Take in a batch of each partition; return how many records are left of those there were at the beginning."""
        places = [Position(TABLE_EVENTS, partition, offset) for partition, offset in self._offsets.items()]
        # One question for all of them; each one's end would be another, and on a quiet floor each takes its time.
        if not self._log.wait_any(places, 0):
            return 0
        return sum(self._read_partition(partition) for partition in self._tables)

    def _read_partition(self, partition: int) -> int:
        end = self._log.end(TABLE_EVENTS, partition)
        left = self._batch_events
        while left > 0 and self._offsets[partition] < end:
            records = self._log.read(TABLE_EVENTS, partition, self._offsets[partition], left)
            if not records:
                # What is left up to there are marks of transactions.
                return 0
            self._hear(self._tables[partition], records)
            self._offsets[partition] = records[-1].offset + 1
            left -= len(records)
        return max(0, end - self._offsets[partition])

    def _hear(self, tables: dict[str, WatchedTable], records: Sequence[Record]) -> None:
        for record in records:
            try:
                event = decode_event(record.value)
            except InvalidEvent:
                # It is a dead letter of the fold's; who sends nothing else is not heard.
                continue
            if event.table_id != record.key:
                continue
            table = tables.get(record.key)
            if table is None:
                table = tables[record.key] = WatchedTable()
            hear(table, event, record.appended_at)
            self._changed.add(record.key)

    # -- deciding ----------------------------------------------------------------------------------------------------

    def _listen(self, now: datetime, *, caught_up: bool) -> None:
        """Only who has read everything, and kept looking, knows who is silent."""
        lapsed = self._looked_at is None or not timedelta() <= now - self._looked_at <= LAPSE
        self._looked_at = now
        if not caught_up:
            self._listening_since = None
        elif self._listening_since is None or lapsed:
            self._listening_since = now

    def _due(self, now: datetime) -> Sequence[Silence]:
        if self._listening_since is None:
            return []
        since = self._listening_since
        return [silence for tables in self._tables.values() for silence in silences(tables, now, since)]

    def _commit(self, due: Sequence[Silence], now: datetime) -> None:
        """Write the silences, what was heard since and the positions: together, when there is reason to."""
        if self._saved_at is not None and not timedelta() <= now - self._saved_at < SAVE_INTERVAL:
            self._saved_at = None
        if not due and (self._saved_at is not None or not self._changed):
            return
        tables = {table_id: table for shared in self._tables.values() for table_id, table in shared.items()}
        for shared in self._tables.values():
            for table in shared.values():
                table.tables = len(shared)
        for silence in due:
            tables[silence.table_id].reported = silence.last_event_id
        changed = self._changed | {silence.table_id for silence in due}
        with self._log.transaction(GROUP) as transaction:
            transaction.publish(
                TABLE_EVENTS, [self._own.table_silent(one.table_id, one.last_event_id, one.since, now) for one in due]
            )
            for table_id in changed:
                transaction.save_state(table_id, msgspec.msgpack.encode(tables[table_id]))
            for partition, offset in self._offsets.items():
                transaction.commit(Position(TABLE_EVENTS, partition, offset))
        self._changed.clear()
        self._saved_at = now
        for silence in due:
            since = silence.since.isoformat()
            _logger.info("table_silent", table_id=silence.table_id, last_event_id=silence.last_event_id, since=since)
        SILENCES.inc(len(due))


def _is_missing(tables: Mapping[str, WatchedTable]) -> bool:
    """Tell whether states are missing: all of them, or some that others count."""
    return not tables or max(table.tables for table in tables.values()) > len(tables)
