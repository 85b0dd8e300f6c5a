"""One table's records in the event log, read without disturbing the process that writes there."""

from collections.abc import Callable, Collection, Iterator
from typing import Final, NamedTuple, cast

from processors.reconstruct.table import UNCONFIGURED
from processors.reconstructor import GROUP, RECORDS_PER_READ
from schemas.events import ConfigurationPublished, Event
from schemas.log import EventLog, Record
from schemas.topics import TABLE_EVENTS
from schemas.wire import InvalidEvent, decode_event

RECENT_RECORDS: Final = 100_000
"""Where table names are looked for, when one was asked for that isn't there."""

Advance = Callable[[int], None]


class Seen(NamedTuple):
    """An event as it lies in the log."""

    event: Event
    record: Record


class Reader:
    """Reads one table's records, all from before the reader was made. Raises `LogUnavailable`.

    `advance` is told how far it is: offsets, added up over the passes, each of which is `length`.
    """

    def __init__(self, log: EventLog, table_id: str) -> None:
        self._log = log
        self.table_id = table_id
        self._ends = {partition: log.end(TABLE_EVENTS, partition) for partition in log.partitions(TABLE_EVENTS)}
        self.length = sum(self._ends.values())
        self._passed = 0
        self.advance: Advance | None = None

    def records(self) -> Iterator[Record]:
        """Yield the table's records in the order of the log."""
        reached = 0
        # Every record of a key is in one partition, and `read_key` finds it.
        while records := self._log.read_key(TABLE_EVENTS, self.table_id, reached, RECORDS_PER_READ):
            yield from (record for record in records if record.offset < self._ends[record.partition])
            reached = records[-1].offset + 1
            if self.advance is not None:
                self.advance(self._passed + reached)
        self._passed += self.length

    def events(self) -> Iterator[tuple[Record, Event | None]]:
        """Yield the table's records with their events; None for what is no event."""
        for record in self.records():
            try:
                yield record, decode_event(record.value)
            except InvalidEvent:
                yield record, None


def tables_heard(log: EventLog) -> list[str]:
    """Return the tables that the fold knows or that were heard of lately."""
    known = {table_id for table_id, _ in log.states(GROUP)}
    for partition in log.partitions(TABLE_EVENTS):
        offset = max(0, log.end(TABLE_EVENTS, partition) - RECENT_RECORDS)
        while records := log.read(TABLE_EVENTS, partition, offset, RECORDS_PER_READ):
            known.update(record.key for record in records)
            offset = records[-1].offset + 1
    return sorted(known)


def utc_offset_hours(reader: Reader) -> int:
    """Return how far the table's local time is ahead of UTC, by its newest configuration."""
    days = UNCONFIGURED.gaming_day
    for record in reader.records():
        # Few records are configurations, and looking is much quicker than decoding.
        if b'"configuration_published"' in record.value:
            try:
                event = decode_event(record.value)
            except InvalidEvent:
                continue
            if event.type == "configuration_published":
                days = cast(ConfigurationPublished, event).configuration.gaming_day
    return days.utc_offset_hours


def find_events(reader: Reader, identities: Collection[str]) -> list[Seen]:
    """Return the named events of the table, in the order of the log."""
    wanted = [identity.encode() for identity in identities]
    found: dict[str, Seen] = {}
    for record in reader.records():
        if any(identity in record.value for identity in wanted):
            try:
                event = decode_event(record.value)
            except InvalidEvent:
                continue
            if event.event_id in identities:
                found.setdefault(event.event_id, Seen(event, record))
    return list(found.values())
