"""Has all facts of a Kafka log told again, after a rule was mended.

Begun, a replay puts the reconstruct workers back to the first event: in one transaction, which only who owns every
partition can write. What they then publish takes the place of what was there, for its revisions are higher. Ended, it
retracts what the rule as it is now doesn't make any more: whatever in the store has no such revision yet. Each of both
may be broken off anywhere and done once more.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final, NamedTuple, Protocol

from processors.fold_snapshots import StoredFold, UnreadableSnapshot, blank, read_back
from processors.reconstruct_worker import Membership, SharedLog
from processors.store.audit import facts_of
from processors.store.port import Store
from processors.store.sink import group_of
from processors.table_folds import GROUP, MARK, RECORDS_PER_READ
from schemas.errors import PitwatchError
from schemas.facts import FACT_KINDS, Fact
from schemas.log import EventLog, Fenced, Position
from schemas.revisions import first_revision
from schemas.structs import altered
from schemas.topics import FACT_TOPICS, TABLE_EVENTS
from schemas.wire import encode

JOIN_SECONDS: Final = 60.0
"""How long is waited for every partition: a worker that was killed holds its own until its session is over."""

LOOK_SECONDS: Final = 0.5
"""How often is looked how far the workers are."""

MESSAGES_PER_APPEND: Final = 5_000

SWEEPS: Final = 5
"""How often the store is gone through at most. The second time finds nothing, unless something is wrong."""


class ReplayRefused(PitwatchError):
    """Raised where a replay can't be begun or ended as things stand; nothing was changed."""


class Begun(NamedTuple):
    """A replay that was begun: of how many tables, and the first revision of what will be told."""

    tables: int
    first_revision: int


_BRING_BACK: Final = (
    "so what came of them can't be told again, and would be taken back. Restore the topic from a backup, and begin"
    " again; nothing was changed"
)

OnWait = Callable[[str, int], None]
"""Told now and then which group is waited for, and how many records it still has to work off."""


class WrittenLog(EventLog, Protocol):
    """A log in which transactions of others may be open, or not be visible to everybody yet, and records be deleted."""

    def begin(self, topic: str, partition: int) -> int:
        """Return the first offset that the partition still has: above 0 where its first records were deleted."""
        ...

    def written(self, topic: str, partition: int) -> int:
        """Return the offset behind everything that was written, in transactions that are still open too."""
        ...

    def is_decided(self, topic: str, partition: int, offset: int) -> bool:
        """Tell whether all that was written below `offset` can be read, or never will be."""
        ...


class ReplayableLog(SharedLog, WrittenLog, Protocol):
    """A log that a replay can be begun on."""


def begin_replay(log: ReplayableLog, now: datetime, patience_seconds: float = JOIN_SECONDS) -> Begun:
    """Put the group's places back to the first event and its tables' folds to nothing, together or not at all.

    Joins the group for it. Raises `ReplayRefused` while a worker has a partition, or where one has joined meanwhile,
    or where `check_events` does, and `LogUnavailable`; nothing was done then.
    """
    partitions = list(log.partitions(TABLE_EVENTS))
    member = log.join(GROUP, [TABLE_EVENTS])
    try:
        deadline = time.monotonic() + patience_seconds
        while missing := sorted(set(partitions) - set(log.partitions(TABLE_EVENTS))):
            if time.monotonic() > deadline:
                raise ReplayRefused(
                    f"partitions {missing} of {TABLE_EVENTS} are still a worker's. Stop every reconstruct worker, and"
                    " begin again; nothing was changed"
                )
            member.poll(LOOK_SECONDS)
        # Once more, for now nobody moves the places.
        check_events(log)
        log.claim(GROUP)
        return _start_over(log, member, partitions, now)
    except Fenced as error:
        raise ReplayRefused(
            f"a reconstruct worker has joined meanwhile ({error}). Stop it, and begin again; nothing was changed"
        ) from error
    finally:
        member.leave()


def check_events(log: WrittenLog) -> int:
    """Return how many events there are to be folded again, about: the marks of transactions are counted with them.

    Raises `ReplayRefused` where there are none, or some are gone: their facts would be taken back at the end.
    """
    count = 0
    for partition in log.partitions(TABLE_EVENTS):
        begin, end = log.begin(TABLE_EVENTS, partition), log.written(TABLE_EVENTS, partition)
        # Not by the first record's offset: what an aborted transaction leaves behind is no record, and was none.
        if begin > 0:
            gone = f"the events below offset {begin} in partition {partition} of {TABLE_EVENTS} are gone"
            raise ReplayRefused(f"{gone}, {_BRING_BACK}")
        _check_end(partition, end, log.position(GROUP, TABLE_EVENTS, partition))
        count += end
    if not count:
        raise ReplayRefused(
            f"{TABLE_EVENTS} holds no events. Look whether kafka.bootstrap names the cluster of the floor; nothing was"
            " changed"
        )
    return count


def _check_end(partition: int, end: int, folded: int) -> None:
    """Raise `ReplayRefused` where a partition was folded further than it goes."""
    if folded > end:
        raise ReplayRefused(
            f"partition {partition} of {TABLE_EVENTS} ends at offset {end}, and was folded up to {folded}: the topic"
            f" was made anew, or the cluster lost records. So events are gone, {_BRING_BACK}"
        )


def _start_over(log: WrittenLog, member: Membership, partitions: Sequence[int], now: datetime) -> Begun:
    known: dict[int, dict[str, StoredFold | None]] = {partition: {} for partition in partitions}
    for table_id, snapshot in log.states(GROUP):
        if MARK not in table_id:
            known[log.partition_of(TABLE_EVENTS, table_id)][table_id] = _read(snapshot)
    for partition, stored in known.items():
        # Kafka forgets the group's place in a topic that is deleted, and snapshots tell of it all the same.
        folded = max((one.offset for one in stored.values() if one), default=0)
        _check_end(partition, log.written(TABLE_EVENTS, partition), folded)
    newest = max((one.first_revision for tables in known.values() for one in tables.values() if one), default=0)
    first = first_revision(now, newest)
    tables = {one: _tables(log, member, one, known[one]) for one in partitions}
    with log.transaction(GROUP) as transaction:
        for partition, table_ids in tables.items():
            for table_id in table_ids:
                transaction.save_state(table_id, blank(table_id, partition, first, len(table_ids), first))
            transaction.commit(Position(TABLE_EVENTS, partition, 0))
    return Begun(sum(map(len, tables.values())), first)


def _read(snapshot: bytes) -> StoredFold | None:
    try:
        return read_back(snapshot)
    except UnreadableSnapshot:
        return None


def _tables(log: EventLog, member: Membership, partition: int, known: dict[str, StoredFold | None]) -> set[str]:
    """Return the tables of a partition: those with snapshots, and, where some were lost, those with events too."""
    tables = set(known)
    counted = max((one.tables for one in known.values() if one), default=0)
    if counted <= len(known) and (known or not log.position(GROUP, TABLE_EVENTS, partition)):
        return tables
    offset, end = 0, log.end(TABLE_EVENTS, partition)
    while offset < end and (records := log.read(TABLE_EVENTS, partition, offset, RECORDS_PER_READ)):
        tables.update(record.key for record in records if MARK not in record.key)
        offset = records[-1].offset + 1
        # It may take long, and who isn't heard of loses what it has.
        member.poll()
    return tables


# -- ending ------------------------------------------------------------------------------------------------------------


def end_replay(log: WrittenLog, store: Store, on_wait: OnWait) -> Counter[str]:
    """Wait until everything the log holds now was folded and stored; retract what was not told again.

    Returns how many facts of each kind those were, which the store then has no more. Waits for as long as it takes, or
    for ever where no workers run. Raises `ReplayRefused`, `LogUnavailable`, `StoreUnavailable`.
    """
    tables = _told_again(log)
    if not tables:
        raise ReplayRefused("no replay was begun: stop the reconstruct workers, and run pitwatch topics replay")
    _wait(log, GROUP, [TABLE_EVENTS], on_wait)
    retracted: Counter[str] = Counter()
    for _ in range(SWEEPS):
        _wait(log, group_of(store), list(FACT_TOPICS.values()), on_wait)
        found = _retract_untold(log, store, tables)
        if not found:
            return retracted
        retracted += found
    raise ReplayRefused("the store goes on to show facts that were retracted. Does its sink run, as this version?")


def _told_again(log: WrittenLog) -> dict[str, int]:
    """Return the tables that a replay began anew, each with the first revision of what that told.

    Raises `ReplayRefused` where that can't be read of some: what is wrong of them would stay.
    """
    found = {table_id: _read(snapshot) for table_id, snapshot in log.states(GROUP) if MARK not in table_id}
    if unreadable := sorted(table_id for table_id, stored in found.items() if stored is None):
        raise ReplayRefused(
            f"the snapshots of {len(unreadable)} tables can't be read, {unreadable[0]} first, so nobody can say what"
            " was told again of them. Restart the reconstruct workers, which write them anew, and run it again"
        )
    return {table_id: stored.replayed_from for table_id, stored in found.items() if stored and stored.replayed_from}


def _wait(log: WrittenLog, group: str, topics: Sequence[str], on_wait: OnWait) -> None:
    """Block until a group has worked off what was written to topics by now."""
    ends = [Position(topic, one, log.written(topic, one)) for topic in topics for one in log.partitions(topic)]
    while ends := [end for end in ends if _is_before(log, group, end)]:
        on_wait(group, sum(end.offset - log.position(group, end.topic, end.partition) for end in ends))
        threading.Event().wait(LOOK_SECONDS)
    on_wait(group, 0)


def _is_before(log: WrittenLog, group: str, end: Position) -> bool:
    position = log.position(group, end.topic, end.partition)
    if position >= end.offset:
        return False
    # A transaction of a worker that was killed holds up what others wrote behind it.
    if not log.is_decided(*end):
        return True
    # Where only the marks of transactions are left, no group ever gets past them.
    records = log.read(end.topic, end.partition, position, 1)
    return bool(records) and records[0].offset < end.offset


def _retract_untold(log: WrittenLog, store: Store, tables: dict[str, int]) -> Counter[str]:
    """Publish the retraction of every fact in the store that a replay would have told again, and did not."""
    retracted: Counter[str] = Counter()
    for table_id, first in sorted(tables.items()):
        for kind in FACT_KINDS:
            # All of them first: what is retracted disappears from the store while one reads.
            stale = list(facts_of(store, kind, table_id, below=first))
            retractions = [(table_id, encode(_retraction(fact, first))) for fact in stale]
            for begin in range(0, len(retractions), MESSAGES_PER_APPEND):
                log.append(FACT_TOPICS[kind], retractions[begin : begin + MESSAGES_PER_APPEND])
            retracted[kind] += len(stale)
    return +retracted


def _retraction(fact: Fact, first: int) -> Fact:
    """Return what takes a fact back: above all that was told before the replay, and below all that it tells."""
    return altered(fact, retracted=True, revision=first - 1)
