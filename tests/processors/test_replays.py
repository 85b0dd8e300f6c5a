"""Facts told again after a rule was mended: how a replay is begun, refused, broken off and ended."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from processors.fold_snapshots import read_back, write_down
from processors.logs.kafka_member import Change, OnRelease
from processors.logs.sqlite import SqliteLog
from processors.logs.transaction import CollectedTransaction
from processors.reconstruct.emissions import Emissions
from processors.reconstruct.fold import FoldSettings
from processors.reconstructor import GROUP, MARK, Reconstructor
from processors.replays import ReplayRefused, begin_replay, check_events, end_replay
from processors.settings import StoreSettings
from processors.store.audit import facts_of
from processors.store.clickhouse import ClickHouseStore
from processors.store.sink import Sink
from processors.table_folds import SnapshotsLost
from schemas.errors import PitwatchError
from schemas.facts import FACT_KINDS
from schemas.log import Fenced, LogError, LogUnavailable, Position
from schemas.revisions import COUNTED, first_revision
from schemas.topics import FACT_TOPICS, TABLE_EVENTS
from schemas.wire import decode_fact, encode
from tests.contract.store.stored_facts import fact
from tests.kafka import wrong_rule
from tests.producers.table import event
from tests.simulation.crash_floor import messages

BEGUN = datetime(2026, 11, 30, 12, tzinfo=UTC)
MESSAGES = messages()[:1_500]
TABLES = {key for key, _ in MESSAGES}


class Member:
    """A place in the group."""

    def __init__(self) -> None:
        self.polls = 0
        self.left = False

    def poll(self, seconds: float = 0.0) -> Change:
        self.polls += 1
        return Change()

    def leave(self) -> None:
        self.left = True


class ReplayLog(SqliteLog):
    """A log whose partitions may be another worker's until somebody has asked for them often enough."""

    others_until = 0
    member: Member | None = None
    fails: LogError | None = None
    first = 0

    def partitions(self, topic: str) -> Sequence[int]:
        waits = self.member is not None and topic == TABLE_EVENTS and self.member.polls < self.others_until
        return [] if waits else [0]

    def join(self, group: str, topics: Sequence[str], on_release: OnRelease | None = None) -> Member:
        assert (group, list(topics)) == (GROUP, [TABLE_EVENTS])
        self.member = Member()
        return self.member

    @contextmanager
    def transaction(self, group: str) -> Iterator[CollectedTransaction]:
        with super().transaction(group) as transaction:
            yield transaction
            if self.fails is not None:
                raise self.fails

    def begin(self, topic: str, partition: int) -> int:
        return self.first

    def written(self, topic: str, partition: int) -> int:
        return self.end(topic, partition)

    def is_decided(self, topic: str, partition: int, offset: int) -> bool:
        return True


@pytest.fixture
def log(tmp_path: Path) -> Iterator[ReplayLog]:
    with closing(ReplayLog(tmp_path / "log.sqlite")) as log:
        log.append(TABLE_EVENTS, MESSAGES)
        yield log


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ClickHouseStore]:
    with closing(ClickHouseStore.embedded(tmp_path / "store", StoreSettings())) as store:
        store.migrate()
        yield store


def fold(log: ReplayLog) -> Reconstructor:
    reconstructor = Reconstructor(log, FoldSettings())
    reconstructor.claim()
    while reconstructor.step().events:
        pass
    reconstructor.save_all()
    return reconstructor


def revisions(log: ReplayLog) -> set[int]:
    """Return the tellings that facts are of: 0 for those that were told as they came."""
    values = [one.value for topic in FACT_TOPICS.values() for one in log.read(topic, 0, 0, 100_000)]
    return {decode_fact(value).revision // COUNTED for value in values}


def test_replay_puts_everything_back_to_the_first_event(log: ReplayLog) -> None:
    fold(log)
    begun = begin_replay(log, BEGUN)
    assert begun == (len(TABLES), first_revision(BEGUN))
    assert log.member is not None
    assert log.member.left
    assert log.position(GROUP, TABLE_EVENTS, 0) == 0
    snapshots = {key: read_back(state) for key, state in log.states(GROUP)}
    assert snapshots.keys() == TABLES
    assert {one.offset for one in snapshots.values()} == {0}
    assert revisions(log) == {0}
    fold(log)
    assert revisions(log) == {0, begun.first_revision // COUNTED}


def assert_refused(log: ReplayLog, why: str) -> None:
    """Nothing is changed, and the place in the group is given up."""
    before = log.position(GROUP, TABLE_EVENTS, 0), dict(log.states(GROUP))
    with pytest.raises(ReplayRefused, match=why):
        begin_replay(log, BEGUN)
    assert (log.position(GROUP, TABLE_EVENTS, 0), dict(log.states(GROUP))) == before
    assert log.member is not None
    assert log.member.left


@pytest.mark.parametrize("first", [7, len(MESSAGES)])
def test_replay_is_refused_where_events_were_deleted(log: ReplayLog, first: int) -> None:
    """Some of a partition, or all: what came of them could not be told again, and would be taken back at the end."""
    fold(log)
    log.first = first
    assert_refused(log, rf"events below offset {first} in partition 0 of table-events are gone.* Restore the topic")


@pytest.mark.parametrize("known_by", ["place", "snapshots"])
def test_replay_is_refused_where_the_topic_was_made_anew(log: ReplayLog, known_by: str) -> None:
    fold(log)
    log.start_over([TABLE_EVENTS], "another", ("began", b""))
    log.append(TABLE_EVENTS, MESSAGES[:3])
    if known_by == "place":
        log.commit_position(GROUP, Position(TABLE_EVENTS, 0, len(MESSAGES)))
        for key, _ in list(log.states(GROUP)):
            log.forget_state(GROUP, key)
    why = f"partition 0 of table-events ends at offset 3, and was folded up to {len(MESSAGES)}: .* Restore the topic"
    assert_refused(log, why)


def test_replay_of_nothing_is_refused(tmp_path: Path) -> None:
    with closing(ReplayLog(tmp_path / "empty.sqlite")) as log:
        assert_refused(log, "table-events holds no events. Look whether kafka.bootstrap names")


def test_offsets_that_never_were_events_are_not_missed(log: ReplayLog) -> None:
    """A transaction that was aborted leaves them at the beginning."""
    fold(log)
    log.drop_before(TABLE_EVENTS, 7)
    assert log.read(TABLE_EVENTS, 0, 0, 1)[0].offset == 7
    assert check_events(log) == len(MESSAGES)
    assert begin_replay(log, BEGUN).tables == len(TABLES)


def test_second_replay_is_above_the_first_whatever_the_clock(log: ReplayLog) -> None:
    fold(log)
    first = begin_replay(log, BEGUN).first_revision
    assert begin_replay(log, BEGUN - timedelta(days=1)).first_revision == first + COUNTED


def test_facts_of_a_table_keep_their_telling_over_restarts(log: ReplayLog) -> None:
    fold(log)
    first = begin_replay(log, BEGUN).first_revision
    for _ in range(3):
        fold(log)
    before = log.end(FACT_TOPICS["dead_letter"], 0)
    log.append(TABLE_EVENTS, [(sorted(TABLES)[0], b"noise"), ("NEW", event(1, "NEW", type="table_closed"))])
    fold(log)
    (letter,) = log.read(FACT_TOPICS["dead_letter"], 0, before, 10)
    assert decode_fact(letter.value).revision == first


def test_worker_that_is_still_there_is_waited_for_and_then_refused(log: ReplayLog) -> None:
    fold(log)
    log.others_until = 3
    begin_replay(log, BEGUN)
    log.member, log.others_until = None, 10**9
    fold_again = log.position(GROUP, TABLE_EVENTS, 0)
    with pytest.raises(ReplayRefused, match="Stop every reconstruct worker"):
        begin_replay(log, BEGUN, patience_seconds=0)
    assert log.member is not None
    assert log.member.left
    assert log.position(GROUP, TABLE_EVENTS, 0) == fold_again


@pytest.mark.parametrize(
    ("fails", "raised"),
    [(LogUnavailable("no broker answers"), LogUnavailable), (Fenced("another has it"), ReplayRefused)],
)
def test_replay_that_cant_be_written_changes_nothing(
    log: ReplayLog, fails: LogError, raised: type[PitwatchError]
) -> None:
    fold(log)
    before = log.position(GROUP, TABLE_EVENTS, 0), dict(log.states(GROUP))
    log.fails = fails
    with pytest.raises(raised):
        begin_replay(log, BEGUN)
    assert log.member is not None
    assert log.member.left
    assert (log.position(GROUP, TABLE_EVENTS, 0), dict(log.states(GROUP))) == before


@pytest.mark.parametrize("lost", ["some", "all"])
def test_replay_mends_the_loss_of_snapshots(log: ReplayLog, lost: str) -> None:
    log.append(TABLE_EVENTS, [(f"no{MARK}table", b"noise")])
    fold(log)
    keys = sorted(TABLES)[:1] if lost == "some" else [key for key, _ in log.states(GROUP)]
    for key in keys:
        log.forget_state(GROUP, key)
    with pytest.raises(SnapshotsLost):
        fold(log)
    assert begin_replay(log, BEGUN).tables == len(TABLES)
    fold(log)
    assert {read_back(state).first_revision for key, state in log.states(GROUP) if MARK not in key} == {
        first_revision(BEGUN)
    }


def test_snapshot_of_another_version_is_a_tables_all_the_same(log: ReplayLog) -> None:
    fold(log)
    with log.transaction(GROUP) as transaction:
        transaction.save_state(sorted(TABLES)[0], b"\xc1")
    assert begin_replay(log, BEGUN).tables == len(TABLES)


# -- ending ------------------------------------------------------------------------------------------------------------


def test_replay_that_was_not_begun_has_no_end(log: ReplayLog, store: ClickHouseStore) -> None:
    fold(log)
    with pytest.raises(ReplayRefused, match="no replay was begun"):
        end_replay(log, store, lambda *_: None)


def unreadable(log: ReplayLog) -> None:
    """Make every fold one of another version, as an update does."""
    states = [(key, read_back(state)) for key, state in log.states(GROUP)]
    with log.transaction(GROUP) as transaction:
        for key, stored in states:
            transaction.save_state(key, write_down(msgspec.structs.replace(stored, fold=b"another version's")))


def all_facts(store: ClickHouseStore) -> list[bytes]:
    return [encode(one) for kind in FACT_KINDS for table in sorted(TABLES) for one in facts_of(store, kind, table)]


def test_fold_that_had_to_begin_anew_is_no_replay(log: ReplayLog, store: ClickHouseStore) -> None:
    """It counts on from higher revisions, and tells nothing anew that it could be held against."""
    fold(log)
    unreadable(log)
    fold(log)
    assert {read_back(state).first_revision for _, state in log.states(GROUP)} == {COUNTED}
    with pytest.raises(ReplayRefused, match="no replay was begun"):
        end_replay(log, store, lambda *_: None)


def test_fold_that_had_to_begin_anew_after_a_replay_costs_no_fact(log: ReplayLog, store: ClickHouseStore) -> None:
    fold(log)
    first = begin_replay(log, BEGUN).first_revision
    fold(log)
    unreadable(log)
    fold(log)
    snapshots = [read_back(state) for _, state in log.states(GROUP)]
    assert {(one.first_revision, one.replayed_from) for one in snapshots} == {(first + COUNTED, first)}
    Sink(log, store).drain()
    before = all_facts(store)
    assert before
    assert end_replay(log, store, lambda *_: None) == Counter()
    assert all_facts(store) == before


def spoil(log: ReplayLog, table_id: str) -> None:
    """Make nothing readable of a table's snapshot."""
    with log.transaction(GROUP) as transaction:
        transaction.save_state(table_id, b"\xc1")


def waits_for_nobody(group: str, left: int) -> None:
    assert not left, f"{group} is waited for"


def test_snapshot_of_which_nothing_can_be_read_after_a_replay_costs_no_fact(
    log: ReplayLog, store: ClickHouseStore
) -> None:
    """What the table tells then holds against all that the replay told, and the end still knows of that."""
    fold(log)
    first = begin_replay(log, BEGUN).first_revision
    fold(log)
    table = sorted(TABLES)[0]
    spoil(log, table)
    with pytest.raises(ReplayRefused, match=rf"snapshots of 1 tables can't be read, {table} first"):
        end_replay(log, store, waits_for_nobody)
    fold(log)
    numbers = {key: read_back(state).numbers() for key, state in log.states(GROUP)}
    assert numbers.pop(table) == (first + COUNTED, len(TABLES), first)
    assert set(numbers.values()) == {(first, len(TABLES), first)}
    log.append(TABLE_EVENTS, [(table, b"noise")])
    fold(log)
    (*_, letter) = log.read(FACT_TOPICS["dead_letter"], 0, 0, 10_000)
    assert decode_fact(letter.value).revision == first + COUNTED
    Sink(log, store).drain()
    before = all_facts(store)
    assert end_replay(log, store, lambda *_: None) == Counter()
    assert all_facts(store) == before


def test_table_that_came_after_a_replay_tells_of_it_too(log: ReplayLog, store: ClickHouseStore) -> None:
    """Else nobody could say of a snapshot that can't be read whether its table was told again."""
    fold(log)
    first = begin_replay(log, BEGUN).first_revision
    fold(log)
    log.append(TABLE_EVENTS, [("NEW", event(1, "NEW", type="table_opened")), ("NEW", b"noise")])
    fold(log)
    assert read_back(log.state(GROUP, "NEW") or b"").numbers() == (first, len(TABLES) + 1, first)
    Sink(log, store).drain()
    before = all_facts(store)
    assert end_replay(log, store, lambda *_: None) == Counter()
    assert all_facts(store) == before
    assert _count(store, "dead_letters", "table_id = 'NEW'") == 1


def test_end_waits_and_retracts_what_was_not_told_again(
    log: ReplayLog, store: ClickHouseStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("processors.replays.LOOK_SECONDS", 0.001)
    with monkeypatch.context() as patch:
        # Undone at the end of the block, whatever is put in.
        patch.setattr(Emissions, "emit", Emissions.emit)
        wrong_rule.put_in()
        fold(log)
    sink = Sink(log, store)
    sink.drain()
    # What came to nothing on its way to the store is told by nobody again.
    table = sorted(TABLES)[0]
    store.insert("dead_letter", [encode(fact("dead_letter", table, src_topic="bets", revision=0, retracted=False))])
    begin_replay(log, BEGUN)
    waited: Counter[str] = Counter()

    def work(group: str, left: int) -> None:
        waited[group] += left
        if left and group == GROUP:
            fold(log)
        elif left:
            sink.drain()

    retracted = end_replay(log, store, work)
    assert retracted.keys() == {"alert"}
    assert waited.keys() == {GROUP, sink.group}
    assert min(waited.values()) > 0
    assert end_replay(log, store, work) == {}
    assert _count(store, "alerts", f"endsWith(alert_id, ':{wrong_rule.INVENTED}')") == 0
    assert _count(store, "dead_letters", "src_topic = 'bets'") == 1


def test_store_that_goes_on_to_show_what_was_retracted_is_told_of(
    log: ReplayLog, store: ClickHouseStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its sink says that it stored the retractions, and did not."""
    fold(log)
    sink = Sink(log, store)
    sink.drain()
    begin_replay(log, BEGUN)
    fold(log)
    monkeypatch.setattr("processors.replays._wait", lambda *_: None)
    with pytest.raises(ReplayRefused, match="goes on to show"):
        end_replay(log, store, lambda *_: None)


def _count(store: ClickHouseStore, view: str, condition: str) -> int:
    (row,) = store.rows(f"SELECT count() AS n FROM {view} WHERE {condition}", dict)
    return int(row["n"])
