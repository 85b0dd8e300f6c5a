"""Which events the log already has, so that a device's repeat is answered as one and not appended again.

The log is the truth: this is a fold over ``table-events`` that is kept in memory and now and then written to a small
file together with its place in the log. Whatever the file missed is read from the log at the next start. To forget
is safe (the fold of the tables drops repeats too); to remember what the log doesn't have would lose events, so a file
that doesn't belong to this log is thrown away.

It also remembers which configuration was published last for each table: who opens the gateway has to know that.
"""

import hashlib
from collections.abc import Iterable
from typing import Final, Literal, NamedTuple, cast

import msgspec
import structlog

from producers.gateway.judging import digest_of
from producers.gateway.runs import Runs
from producers.gateway.seen_file import EpochRow, Landmark, SeenFile, SeenFileUnusable
from schemas.configuration import TableConfiguration
from schemas.events import ConfigurationPublished
from schemas.ids import SYSTEM_EPOCH
from schemas.log import EventLog, Record
from schemas.topics import TABLE_EVENTS
from schemas.wire import InvalidEvent, decode_event

_log = structlog.get_logger(__name__)

MAX_RUNS_PER_TABLE: Final = 512
"""A well-behaved table has one run for each start of its controller; beyond this the oldest are forgotten."""

_READ_RECORDS: Final = 10_000


class Identity(NamedTuple):
    """An event's number at its table, and the digest of what it says."""

    table_id: str
    epoch: int
    seq: int
    digest: bytes


class _Epoch:
    """What is known of one epoch. Digests of its first and its latest event show when numbers are used twice."""

    __slots__ = ("latest", "latest_seq", "opening", "runs")

    def __init__(self, row: EpochRow | None = None) -> None:
        self.runs = Runs(row.runs if row else ())
        self.opening = row.opening if row else b""
        self.latest_seq = row.latest_seq if row else 0
        self.latest = row.latest if row else b""

    def digest(self, seq: int) -> bytes:
        """Return the digest of event `seq`, empty where it isn't known."""
        if seq == self.latest_seq:
            return self.latest
        return self.opening if seq == 1 else b""


class SeenEvents:
    """The numbers of the events in a log, by table and epoch. For one thread.

    `file` keeps them between starts; without one the log is read from its beginning.
    """

    def __init__(self, file: SeenFile | None = None) -> None:
        self._file = file
        self.configurations: dict[str, TableConfiguration] = {}
        """The configuration that was published last for each table."""
        self._tables: dict[str, dict[int, _Epoch]] = {}
        self._run_counts: dict[str, int] = {}
        self._landmarks: dict[int, Landmark] = {}
        self._changed: set[tuple[str, int]] = set()
        self._configured: set[str] = set()
        self._loaded = False

    def catch_up(self, log: EventLog) -> None:
        """Read what the log got since it was last read. Raises `LogUnavailable`, after which it can be called again."""
        if not self._loaded:
            self._load(log)
        for partition in log.partitions(TABLE_EVENTS):
            while records := log.read(TABLE_EVENTS, partition, self._next_offset(partition), _READ_RECORDS):
                for record in records:
                    self._learn(record)
                self._landmarks[partition] = _landmark(records[-1])

    def _next_offset(self, partition: int) -> int:
        landmark = self._landmarks.get(partition)
        return landmark.offset + 1 if landmark else 0

    def _load(self, log: EventLog) -> None:
        if self._file is not None:
            try:
                self._load_file(self._file, log)
            except SeenFileUnusable as error:
                # A gateway that is slow to start serves the floor better than one that doesn't start.
                _log.warning("seen_file_unusable", why=str(error), action="reading the whole log, keeping no file")
                self._file = None
        self._loaded = True

    def _load_file(self, file: SeenFile, log: EventLog) -> None:
        landmarks = file.landmarks()
        if not all(_stands(log, landmark) for landmark in landmarks):
            _log.warning("seen_file_of_another_log", file=str(file.path), action="reading the whole log")
            file.clear()
            return
        for row in file.epochs():
            self._tables.setdefault(row.table_id, {})[row.epoch] = _Epoch(row)
            self._run_counts[row.table_id] = self._run_counts.get(row.table_id, 0) + len(row.runs)
        self.configurations = file.configurations()
        self._landmarks = {landmark.partition: landmark for landmark in landmarks}

    def _learn(self, record: Record) -> None:
        try:
            event = decode_event(record.value)
        except InvalidEvent:
            return
        if event.table_id != record.key:
            return
        if event.type == "configuration_published":
            found = cast(ConfigurationPublished, event).configuration
            self.configurations[record.key] = TableConfiguration.model_validate(msgspec.to_builtins(found))
            self._configured.add(record.key)
        if event.epoch != SYSTEM_EPOCH:
            self.add([Identity(event.table_id, event.epoch, event.seq, digest_of(event))])

    def verdict(self, identity: Identity) -> Literal["new", "duplicate", "conflicting"]:
        """Tell whether the log has this event, or another one under its number."""
        epoch = self._tables.get(identity.table_id, {}).get(identity.epoch)
        if epoch is None or identity.seq not in epoch.runs:
            return "new"
        known = epoch.digest(identity.seq)
        return "conflicting" if known and known != identity.digest else "duplicate"

    def add(self, identities: Iterable[Identity]) -> None:
        """Remember events that the log has."""
        for table_id, number, seq, digest in identities:
            epoch = self._tables.setdefault(table_id, {}).setdefault(number, _Epoch())
            if seq in epoch.runs:
                continue
            before = len(epoch.runs)
            epoch.runs.add(seq)
            if seq == 1:
                epoch.opening = digest
            epoch.latest_seq, epoch.latest = seq, digest
            self._changed.add((table_id, number))
            self._run_counts[table_id] = self._run_counts.get(table_id, 0) + len(epoch.runs) - before
            if self._run_counts[table_id] > MAX_RUNS_PER_TABLE:
                self._forget_oldest(table_id)

    def _forget_oldest(self, table_id: str) -> None:
        epochs = self._tables[table_id]
        number = min(epochs)
        epochs[number].runs.forget_lowest()
        if not epochs[number].runs:
            del epochs[number]
        self._run_counts[table_id] -= 1
        self._changed.add((table_id, number))

    def checkpoint(self, log: EventLog) -> None:
        """Write what changed to the file, together with the place in the log up to which it is true.

        Raises `LogUnavailable` and `SeenFileUnusable`; nothing is written then, and the next call writes it all.
        """
        if self._file is None:
            return
        # What this gateway appended is known already; reading it back tells the place, and what others appended.
        self.catch_up(log)
        rows = [self._row(table_id, number) for table_id, number in sorted(self._changed)]
        configured = {table_id: self.configurations[table_id] for table_id in self._configured}
        self._file.write(rows, list(self._landmarks.values()), configured)
        self._changed.clear()
        self._configured.clear()

    def _row(self, table_id: str, number: int) -> EpochRow:
        epoch = self._tables.get(table_id, {}).get(number) or _Epoch()
        return EpochRow(table_id, number, tuple(epoch.runs), epoch.opening, epoch.latest_seq, epoch.latest)


def _landmark(record: Record) -> Landmark:
    return Landmark(record.partition, record.offset, hashlib.blake2b(record.value, digest_size=16).digest())


def _stands(log: EventLog, landmark: Landmark) -> bool:
    """Tell whether the log has, at the landmark's place, the record it was taken from."""
    found = log.read(TABLE_EVENTS, landmark.partition, landmark.offset, 1)
    return [_landmark(record) for record in found] == [landmark]
