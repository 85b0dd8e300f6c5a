"""The folds of the tables that somebody works on: taken up from their snapshots, and written down now and then.

A table's snapshot needs not be of the newest batch. After a crash a fold is taken up from its snapshot, the table's
records from there to the committed position are folded once more, and their facts thrown away, for they were published
before; since the fold is pure, what comes next is what would have come. So snapshots may be as rare as one likes.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final

import structlog

from processors.fold_snapshots import StoredFold, StoredNumbers, UnreadableSnapshot, blank, read_back, write_down
from processors.metrics import RECONSTRUCT_FOLDED_AGAIN, RECONSTRUCT_SNAPSHOTS
from processors.reconstruct.fold import FoldSettings, TableFold
from schemas.errors import PitwatchError
from schemas.facts import Fact
from schemas.log import MAX_MESSAGE_BYTES, EventLog, LogError, Record, Transaction
from schemas.revisions import AS_THEY_CAME, next_first_revision, replay_begun
from schemas.structs import altered
from schemas.topics import TABLE_EVENTS

GROUP: Final = "reconstruct"
RECORDS_PER_READ: Final = 10_000
"""Records read at a time while folds are taken up again."""

MARK: Final = ":"
"""In a snapshot's key: it is no table's, but a mark of the runtime's own. A table's id has none."""

_STALE_AFTER: Final = 2
"""A quiet table's snapshot is renewed when its partition has moved so many times as far as all its tables' snapshots
are apart; else the next owner would have to read all that came since."""

SAVE_EVERY_RECORDS: Final = 500_000
"""Records after which folds that are being taken up are written down halfway. After an update that changed what a fold
consists of, all that ever came is folded again, which may take hours; whoever is stopped then goes on from there."""

LEADER_SECONDS: Final = 5.0
"""How long is waited for events that were folded, and that a partition doesn't seem to have any more."""

SAVED_AT_ONCE: Final = 50
"""Folds in one transaction then: a full one is some hundred kilobytes long."""

OnPage = Callable[[], None]
"""Called now and then while folds are taken up, which may take long; what it raises ends that."""

_logger: Final = structlog.get_logger(__name__)


class SnapshotsLost(PitwatchError):
    """Raised where tables whose events were folded already have snapshots no more, or none that tell what they must.

    To fold these anew and throw their facts away would not do: what was told of them, nobody knows any more.
    """

    def __init__(self, partition: int, lost: str, how: str = "are gone, though their events were folded") -> None:
        super().__init__(
            f"the snapshots of {lost} in partition {partition} {how}. Whatever became of them, nothing is lost, for the"
            " events say all that they said: stop every reconstruct worker, run `pitwatch topics replay` (on one"
            " machine `pitwatch replay`), and start them again"
        )


def go_on() -> None:
    """Let folds be taken up."""


class TableFolds:
    """Folds by table. One thread uses it; methods that ask the log may raise `LogUnavailable`."""

    def __init__(self, log: EventLog, settings: FoldSettings, snapshot_events: int, on_page: OnPage = go_on) -> None:
        self._log = log
        self._on_page = on_page
        self._settings = settings
        self._snapshot_events = snapshot_events
        self.folds: dict[str, TableFold] = {}
        self.heard: dict[str, datetime] = {}
        """When each table was last heard, by the log's clock."""
        self.folded_again = 0
        """Records read while folds were taken up, since this object was made."""
        self._partitions: dict[str, int] = {}
        self._counts: Counter[int] = Counter()
        """How many tables of each partition have a snapshot, or get theirs with this batch."""
        self._since_snapshot: dict[str, int] = {}
        self._saved_at: dict[str, int] = {}
        self._first_revisions: dict[str, int] = {}
        self._replayed_from: dict[str, int] = {}
        self._anew: set[str] = set()
        """Tables that are being taken up and that had to begin anew."""
        self._replays: dict[int, int] = {}
        """The first revision of the newest replay of each partition that there was one of; it only ever rises."""

    def take_up(self, ends: Mapping[int, int]) -> None:
        """Take up the folds of every table of these partitions, as they were at the offsets that were committed.

        Raises `SnapshotsLost`, and `LogError` where the log lost events that were folded already.
        """
        self.drop(ends.keys())
        folded = dict.fromkeys(ends, 0)
        begins: dict[int, dict[str, int]] = {partition: {} for partition in ends}
        read: dict[int, list[StoredNumbers]] = {partition: [] for partition in ends}
        unreadable: dict[str, int] = {}
        for table_id, snapshot in self._log.states(GROUP):
            if MARK not in table_id and (partition := self._log.partition_of(TABLE_EVENTS, table_id)) in begins:
                try:
                    stored = read_back(snapshot)
                except UnreadableSnapshot as error:
                    _tell_unreadable(table_id, error)
                    unreadable[table_id] = partition
                else:
                    read[partition].append(stored.numbers())
                    folded[partition] = max(folded[partition], stored.offset)
                    begins[partition][table_id] = self._restore(table_id, stored, partition)
                self._on_page()
        for partition, offset in folded.items():
            self._check_there(partition, offset)
        for table_id, partition in unreadable.items():
            self._begin_anew(table_id, partition, _numbers_lost(table_id, partition, read))
            begins[partition][table_id] = 0
        for partition, numbers in read.items():
            # Each snapshot says how many there were, so those that are left tell of those that are not.
            tables, found = max((one.tables for one in numbers), default=0), len(begins[partition])
            if tables > found:
                raise SnapshotsLost(partition, f"{tables - found} of {tables} tables")
        for partition, end in ends.items():
            self._fold_again(partition, begins[partition], end)
            # Else each start would fold all their events again, until enough new ones have come.
            self._save(list(self._anew & begins[partition].keys()), {partition: end})
        self._anew.clear()

    def begin(self, table_id: str, partition: int) -> TableFold:
        """Return the fold of a table that nobody heard yet.

        Its first snapshot is written with its first batch, for only tables that have one are known after a start. After
        a replay it counts as the others do that were told again, so that each snapshot of a partition tells of that.
        """
        replayed_from = self._replays.get(partition, AS_THEY_CAME)
        fold = self._keep(table_id, TableFold(table_id, self._settings), partition, replayed_from, replayed_from)
        self._since_snapshot[table_id] = self._snapshot_events
        return fold

    def numbered(self, table_id: str, facts: list[Fact]) -> list[Fact]:
        """Return a table's facts under the revisions that they are published with: above all that a replay replaced."""
        first = self._first_revisions.get(table_id, AS_THEY_CAME)
        return [_numbered(fact, first) for fact in facts] if first else facts

    def of(self, partitions: Collection[int]) -> list[tuple[str, TableFold]]:
        """Return the tables of some partitions, with their folds."""
        return [(table_id, fold) for table_id, fold in self.folds.items() if self._partitions[table_id] in partitions]

    def hear(self, fold: TableFold, record: Record) -> list[Fact]:
        """Fold a record. A table of which nothing can be used is not heard, however much it sends."""
        facts = fold.apply(record)
        self._since_snapshot[record.key] += 1
        if not facts or not all(_is_refusal(fact) for fact in facts):
            self.heard[record.key] = record.appended_at
        return facts

    def drop(self, partitions: Collection[int] | None = None) -> None:
        """Drop the folds of some partitions, or of all."""
        dropped = [
            table_id
            for table_id, partition in self._partitions.items()
            if partitions is None or partition in partitions
        ]
        for table_id in dropped:
            del self.folds[table_id]
            self._counts[self._partitions.pop(table_id)] -= MARK not in table_id
            del self._since_snapshot[table_id]
            self._saved_at.pop(table_id, None)
            self.heard.pop(table_id, None)
            self._first_revisions.pop(table_id, None)
            self._replayed_from.pop(table_id, None)

    # -- snapshots ---------------------------------------------------------------------------------------------------

    def due(self, offsets: Mapping[int, int]) -> list[str]:
        """Return the tables whose snapshots are to be written with the batch that ends at `offsets`."""
        tables = Counter(self._partitions.values())
        stale = {
            partition: offset - _STALE_AFTER * self._snapshot_events * tables[partition]
            for partition, offset in offsets.items()
        }
        return [
            table_id
            for table_id, events in self._since_snapshot.items()
            if events >= self._snapshot_events or self._saved_at[table_id] < stale[self._partitions[table_id]]
        ]

    def changed(self, partitions: Collection[int]) -> list[str]:
        """Return the tables of some partitions that were heard since their snapshots."""
        return [
            table_id
            for table_id, events in self._since_snapshot.items()
            if events and self._partitions[table_id] in partitions
        ]

    def save(self, transaction: Transaction, table_id: str, offsets: Mapping[int, int]) -> None:
        """Write a fold down that knows its table up to its partition's offset."""
        partition, heard_at = self._partitions[table_id], self.heard.get(table_id)
        first_revision = self._first_revisions.get(table_id, AS_THEY_CAME)
        tables, replayed_from = self._counts[partition], self._replayed_from.get(table_id, AS_THEY_CAME)
        fold = self.folds[table_id].snapshot()
        numbers = first_revision, tables, replayed_from
        snapshot = write_down(StoredFold(partition, offsets[partition], heard_at, fold, *numbers))
        if len(snapshot) <= MAX_MESSAGE_BYTES:
            transaction.save_state(table_id, snapshot)
            RECONSTRUCT_SNAPSHOTS.inc()
            return
        # Whatever a table fills its history with, the others go on, and it costs this one no more than time.
        _logger.warning("snapshot_too_long", table_id=table_id, size=len(snapshot), limit=MAX_MESSAGE_BYTES)
        if table_id not in self._saved_at:
            # Only tables that have a snapshot are known after a start.
            transaction.save_state(table_id, blank(table_id, partition, *numbers))

    def saved(self, table_ids: Collection[str], offsets: Mapping[int, int]) -> None:
        """Note that these tables' snapshots are in the log."""
        for table_id in table_ids:
            self._since_snapshot[table_id] = 0
            self._saved_at[table_id] = offsets[self._partitions[table_id]]

    def _restore(self, table_id: str, stored: StoredFold, partition: int) -> int:
        """Take a fold up from its snapshot; return the offset from which on it is to be folded.

        That is the beginning where the fold can't be read. What it then tells counts on above all that was told before:
        it may not count as often as another version did.
        """
        try:
            fold = stored.restore(self._settings)
        except UnreadableSnapshot as error:
            _tell_unreadable(table_id, error)
            self._begin_anew(table_id, partition, stored.numbers())
            return 0
        self._keep(table_id, fold, partition, stored.first_revision, stored.replayed_from)
        self._saved_at[table_id] = stored.offset
        if stored.heard_at is not None:
            self.heard[table_id] = stored.heard_at
        return stored.offset

    def _begin_anew(self, table_id: str, partition: int, before: StoredNumbers) -> None:
        first = next_first_revision(before.first_revision)
        self._keep(table_id, TableFold(table_id, self._settings), partition, first, before.replayed_from)
        self._saved_at[table_id] = 0
        self._anew.add(table_id)

    def _keep(
        self, table_id: str, fold: TableFold, partition: int, first_revision: int, replayed_from: int
    ) -> TableFold:
        self.folds[table_id] = fold
        self._partitions[table_id] = partition
        self._counts[partition] += MARK not in table_id
        self._since_snapshot[table_id] = 0
        if first_revision:
            self._first_revisions[table_id] = first_revision
        if replayed_from:
            self._replayed_from[table_id] = replayed_from
            self._replays[partition] = max(replayed_from, self._replays.get(partition, AS_THEY_CAME))
        return fold

    def _fold_again(self, partition: int, begins: Mapping[str, int], end: int) -> None:
        """Fold each table's records from its offset on once more, in one pass over the partition up to `end`."""
        before = self.folded_again
        save_at = before + SAVE_EVERY_RECORDS
        for page in self._pages(partition, min(begins.values(), default=0), end):
            for record in page:
                begin = begins.get(record.key)
                if begin is None:
                    self._miss(record)
                elif record.offset >= begin:
                    self.hear(self.folds[record.key], record)
            self.folded_again += len(page)
            if self.folded_again >= save_at:
                self._save(self.changed({partition}), {partition: page[-1].offset + 1})
                save_at = self.folded_again + SAVE_EVERY_RECORDS
            self._on_page()
        for table_id in begins:
            self.folds[table_id].repeats = 0
        if read := self.folded_again - before:
            RECONSTRUCT_FOLDED_AGAIN.inc(read)
            _logger.debug("folded_again", partition=partition, tables=len(begins), records=read)

    def _miss(self, record: Record) -> None:
        """Raise `SnapshotsLost` over a record of a table without a snapshot: from its first batch on it had one."""
        # What has no table's name is nobody's, and was refused.
        if MARK not in record.key:
            raise SnapshotsLost(record.partition, f"table {record.key}, and maybe others,")

    def _pages(self, partition: int, offset: int, end: int) -> Iterator[list[Record]]:
        while offset < end and (records := self._log.read(TABLE_EVENTS, partition, offset, RECORDS_PER_READ)):
            offset = records[-1].offset + 1
            if page := records if offset <= end else [record for record in records if record.offset < end]:
                yield page

    def _check_there(self, partition: int, folded: int) -> None:
        """Raise `LogError` where a partition ends before what was folded of it: it lost events, or was made anew.

        Who went on would write snapshots of the new events, and nobody could tell any more that old ones are missing.
        """
        if (end := self._log.end(TABLE_EVENTS, partition)) >= folded:
            return
        # A leader that has just become one may take a moment to know its end.
        if not self._log.wait(TABLE_EVENTS, partition, folded - 1, LEADER_SECONDS):
            raise LogError(
                f"{TABLE_EVENTS} partition {partition} ends at offset {end}, and was folded up to {folded}: the cluster"
                " lost records. Look for an unclean leader election, or for a topic that was made anew"
            )

    def _save(self, table_ids: Sequence[str], offsets: Mapping[int, int]) -> None:
        for first in range(0, len(table_ids), SAVED_AT_ONCE):
            some = table_ids[first : first + SAVED_AT_ONCE]
            with self._log.transaction(GROUP) as transaction:
                for table_id in some:
                    self.save(transaction, table_id, offsets)
            self.saved(some, offsets)


def _tell_unreadable(table_id: str, error: UnreadableSnapshot) -> None:
    _logger.warning("snapshot_unreadable", table_id=table_id, error=str(error), action="folding all its events")


def _numbers_lost(table_id: str, partition: int, read: Mapping[int, Sequence[StoredNumbers]]) -> StoredNumbers:
    """Return numbers for a table of whose snapshot nothing can be read, from the partition's other snapshots.

    A replay is of a whole partition, so any of them tells of it. Raises `SnapshotsLost` where none can be read, or
    where they don't agree: numbers too low would hide all that the table tells, and a replay that was none, or one that
    is forgotten, would have the wrong facts taken back at its end.
    """
    others = read[partition] or [one for numbers in read.values() for one in numbers]
    replays = {one.replayed_from for one in others}
    newest = max((one.first_revision for one in others), default=AS_THEY_CAME)
    # Of another partition's replay nobody can say whether this table was there already.
    if len(replays) != 1 or (not read[partition] and replay_begun(newest) is not None):
        raise SnapshotsLost(
            partition,
            f"table {table_id}, and maybe others,",
            "can't be read, and from what others say nobody can tell which revisions their facts have. Where another"
            " version wrote them, go back to that",
        )
    return StoredNumbers(newest, 0, replays.pop())


def _is_refusal(fact: Fact) -> bool:
    """Tell whether a fact says no more than that a message could not be used."""
    return fact.fact == "dead_letter" or getattr(fact, "code", "") == "controller_replaced"


def _numbered(fact: Fact, first: int) -> Fact:
    # A fold keeps what it gave out, so the fact itself stays as it is.
    return altered(fact, revision=first + fact.revision)
