"""The worker that shares tables with others: what it takes over, drops, writes down and waits out."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
from structlog.testing import capture_logs

import processors.table_folds
from processors.fold_snapshots import read_back, write_down
from processors.logs.kafka_member import Change, OnRelease, Partition
from processors.logs.sqlite import SqliteLog
from processors.logs.transaction import CollectedTransaction
from processors.metrics import RECONSTRUCT_FENCED, RECONSTRUCT_PARTITIONS, RECONSTRUCT_TROUBLED
from processors.reconstruct_worker import TAKING_UP, ReconstructWorker
from processors.reconstructor import GROUP
from processors.settings import PipelineSettings, Settings
from processors.streams.watchdog import LOOKS, Share, Watchdog
from schemas.log import Fenced, LogError, LogUnavailable, Position, Record
from schemas.topics import TABLE_EVENTS
from schemas.wire import decode_event
from tests.producers.table import event

NOON = datetime(2026, 1, 15, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
MINE = Partition(TABLE_EVENTS, 0)


class Member:
    """A place in a group; each poll brings the next of `changes`."""

    def __init__(self, log: "SharedLog", on_release: OnRelease | None) -> None:
        self._log = log
        self._on_release = on_release
        self.left = False

    def poll(self, seconds: float = 0.0) -> Change:
        self._log.fail_once("poll")
        change = self._log.changes.pop(0) if self._log.changes else Change()
        if change.lost and self._on_release is not None:
            self._on_release(change.lost)
        for place in change.lost:
            self._log.mine.remove(place.partition)
        self._log.mine += [place.partition for place in change.gained]
        return change

    def leave(self) -> None:
        if self._on_release is not None and self._log.mine:
            self._on_release([Partition(TABLE_EVENTS, one) for one in self._log.mine])
        self.left = True


class SharedLog(SqliteLog):
    """A log whose partitions are shared; what is in `failures` is raised once where it says."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, clock=lambda: self.now)
        self.now = NOON
        self.mine: list[int] = []
        self.changes = [Change(gained=(MINE,))]
        self.failures: dict[str, LogError] = {}
        self.claims = 0
        self.members: list[Member] = []

    def fail_once(self, where: str) -> None:
        if (error := self.failures.pop(where, None)) is not None:
            raise error

    def partitions(self, topic: str) -> Sequence[int]:
        return self.mine if topic == TABLE_EVENTS else [0]

    def join(self, group: str, topics: Sequence[str], on_release: OnRelease | None = None) -> Member:
        assert (group, list(topics)) == (GROUP, [TABLE_EVENTS])
        self.fail_once("join")
        self.members.append(Member(self, on_release))
        return self.members[-1]

    def claim(self, group: str) -> None:
        self.claims += 1
        super().claim(group)

    @contextmanager
    def transaction(self, group: str) -> Iterator[CollectedTransaction]:
        with super().transaction(group) as transaction:
            yield transaction
            self.fail_once("commit")


@pytest.fixture
def log(tmp_path: Path) -> Iterator[SharedLog]:
    with closing(SharedLog(tmp_path / "log.sqlite")) as log:
        yield log


@pytest.fixture
def shares() -> list[Sequence[int]]:
    """What the worker said it has."""
    return []


@pytest.fixture
def worker(log: SharedLog, shares: list[Sequence[int]]) -> ReconstructWorker:
    settings = Settings(pipeline=PipelineSettings(gap_limit_ms=4_000, batch_events=50))
    return ReconstructWorker(log, settings, lambda one: shares.append(list(one)), clock=lambda: log.now)


def send(log: SharedLog, *raw: bytes) -> None:
    log.append(TABLE_EVENTS, [("T01", one) for one in raw])


def opening() -> bytes:
    return event(1, type="table_opened", follows=(0, 0))


def committed(log: SharedLog) -> int:
    return log.position(GROUP, TABLE_EVENTS, 0)


def saved_at(log: SharedLog) -> dict[str, int]:
    return {key: read_back(snapshot).offset for key, snapshot in log.states(GROUP)}


def until_idle(worker: ReconstructWorker) -> None:
    while worker.step():
        pass


def test_it_folds_what_it_has_and_tells_whether_there_was_anything(
    log: SharedLog, worker: ReconstructWorker, shares: list[Sequence[int]]
) -> None:
    send(log, opening(), event(2))
    assert worker.step()
    assert not worker.step()
    assert committed(log) == 2
    assert shares == [[], [0]]
    assert RECONSTRUCT_PARTITIONS._value.get() == 1
    assert log.claims == 1


def test_worker_without_a_share_waits(log: SharedLog, worker: ReconstructWorker, shares: list[Sequence[int]]) -> None:
    log.changes.clear()
    send(log, opening())
    assert not worker.step()
    assert (committed(log), shares) == (0, [[]])


def test_what_is_lost_is_written_down_and_what_is_gained_begins_where_it_was_left(
    log: SharedLog, worker: ReconstructWorker
) -> None:
    send(log, opening(), event(2))
    until_idle(worker)
    log.changes.append(Change(lost=(MINE,)))
    assert not worker.step()
    assert saved_at(log) == {"T01": 2}
    assert worker.reconstructor.folds == {}
    # Another folds on meanwhile.
    send(log, event(3), event(4))
    settings = Settings()
    other = ReconstructWorker(log, settings)
    log.changes.append(Change(gained=(MINE,)))
    until_idle(other)
    log.mine.clear()
    log.changes.append(Change(gained=(MINE,)))
    send(log, event(5))
    log.claim(GROUP)
    worker._claimed = False
    until_idle(worker)
    assert committed(log) == 5
    assert worker.reconstructor.folds["T01"].state.last_event_id == "T01:1:5"


@pytest.mark.parametrize("where", ["commit", "poll"])
def test_fenced_worker_drops_what_it_computed_and_claims_anew(
    log: SharedLog, worker: ReconstructWorker, where: str
) -> None:
    send(log, opening())
    until_idle(worker)
    before = RECONSTRUCT_FENCED._value.get()
    send(log, event(2), event(3))
    log.failures[where] = Fenced("another has it")
    assert worker.step()
    assert committed(log) == 1
    assert worker.reconstructor.folds == {}
    assert RECONSTRUCT_FENCED._value.get() == before + 1
    until_idle(worker)
    assert (committed(log), log.claims) == (3, 2)


@pytest.mark.parametrize("where", ["join", "poll", "commit"])
def test_outage_is_told_and_waited_out(log: SharedLog, worker: ReconstructWorker, where: str) -> None:
    send(log, opening())
    log.failures[where] = LogUnavailable("no broker answers")
    with pytest.raises(LogUnavailable):
        until_idle(worker)
    assert RECONSTRUCT_TROUBLED._value.get() == 1
    until_idle(worker)
    assert RECONSTRUCT_TROUBLED._value.get() == 0
    assert committed(log) == 1


def gap_events(log: SharedLog) -> list[str]:
    types = [decode_event(record.value).type for record in log.read(TABLE_EVENTS, 0, 0, 100)]
    return [one for one in types if one in {"gap_expired", "table_silent"}]


def test_gap_is_given_up_in_the_log_and_silence_is_not_its_business(log: SharedLog, worker: ReconstructWorker) -> None:
    send(log, opening(), event(4))
    until_idle(worker)
    log.now += 3 * SECOND
    until_idle(worker)
    assert gap_events(log) == []
    log.now += 3600 * SECOND
    until_idle(worker)
    assert gap_events(log) == ["gap_expired"]
    log.now += 3600 * SECOND
    until_idle(worker)
    assert gap_events(log) == ["gap_expired"]


@pytest.mark.parametrize("what", ["a move", "an outage"])
def test_tables_get_their_time_after(log: SharedLog, worker: ReconstructWorker, what: str) -> None:
    """They kept their events while nobody took them, and are about to send what is missing."""
    send(log, opening(), event(4))
    until_idle(worker)
    log.now += 3600 * SECOND
    if what == "a move":
        log.changes += [Change(gained=(), lost=(MINE,)), Change(gained=(MINE,))]
        worker._next_look = log.now
        worker.step()
    else:
        log.failures["poll"] = LogUnavailable("no broker answers")
        with pytest.raises(LogUnavailable):
            worker.step()
    until_idle(worker)
    assert gap_events(log) == []
    log.now += 5 * SECOND
    until_idle(worker)
    assert gap_events(log) == ["gap_expired"]


def test_clock_that_was_set_back_stops_nothing(log: SharedLog, worker: ReconstructWorker) -> None:
    send(log, opening(), event(4))
    log.now += 3600 * SECOND
    until_idle(worker)
    log.now -= 1800 * SECOND
    until_idle(worker)
    assert gap_events(log) == []
    worker.reconstructor.listen_from(NOON)
    log.now += 2 * SECOND
    until_idle(worker)
    assert gap_events(log) == ["gap_expired"]


@pytest.mark.parametrize("failure", [None, Fenced("another has it"), LogUnavailable("no broker answers")])
def test_close_writes_the_folds_down_where_it_can(
    log: SharedLog, worker: ReconstructWorker, failure: LogError | None
) -> None:
    send(log, opening(), event(2))
    until_idle(worker)
    send(log, event(3))
    until_idle(worker)
    if failure is not None:
        log.failures["commit"] = failure
    with capture_logs() as logs:
        worker.close()
    assert log.members[0].left
    assert saved_at(log) == {"T01": 2 if failure else 3}
    assert [entry["event"] for entry in logs] == (["folds_not_saved"] if failure else [])


def test_abandoned_worker_writes_nothing_more(log: SharedLog, worker: ReconstructWorker) -> None:
    send(log, opening(), event(2))
    until_idle(worker)
    send(log, event(3))
    until_idle(worker)
    worker.abandon()
    worker.close()
    assert log.members[0].left
    assert saved_at(log) == {"T01": 2}


def test_worker_that_never_joined_closes(worker: ReconstructWorker) -> None:
    worker.close()


def test_positions_are_committed_with_every_batch(log: SharedLog, worker: ReconstructWorker) -> None:
    places: list[Position] = []
    commit: Callable[[CollectedTransaction, Position], None] = CollectedTransaction.commit

    def noted(transaction: CollectedTransaction, position: Position) -> None:
        places.append(position)
        commit(transaction, position)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CollectedTransaction, "commit", noted)
        send(log, opening())
        until_idle(worker)
    assert places == [Position(TABLE_EVENTS, 0, 1)]


def taking_up(log: SharedLog, worker: ReconstructWorker) -> None:
    """Leave the worker with much to fold again, of which it reads two records at a time."""
    log.changes.clear()
    other = ReconstructWorker(log, Settings())
    log.changes.append(Change(gained=(MINE,)))
    send(log, opening(), *(event(seq) for seq in range(2, 12)))
    until_idle(other)
    with log.transaction(GROUP) as transaction:
        for key, snapshot in list(log.states(GROUP)):
            transaction.save_state(
                key, write_down(msgspec.structs.replace(read_back(snapshot), fold=b"another version's"))
            )
    log.mine.clear()
    log.changes.append(Change(gained=(MINE,)))


def test_it_stays_in_the_group_while_it_takes_folds_up(
    log: SharedLog, worker: ReconstructWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processors.table_folds, "RECORDS_PER_READ", 2)
    taking_up(log, worker)
    polls: list[None] = []
    poll = Member.poll

    def counted(member: Member, seconds: float = 0.0) -> Change:
        polls.append(None)
        return poll(member, seconds)

    monkeypatch.setattr(Member, "poll", counted)
    worker.step()
    assert len(polls) > 5
    assert worker.reconstructor.folds["T01"].state.last_event_id == "T01:1:11"


def test_what_is_taken_away_while_it_is_taken_up_is_dropped(
    log: SharedLog, worker: ReconstructWorker, monkeypatch: pytest.MonkeyPatch, shares: list[Sequence[int]]
) -> None:
    monkeypatch.setattr(processors.table_folds, "RECORDS_PER_READ", 2)
    taking_up(log, worker)
    log.changes += [Change(), Change(lost=(MINE,)), Change(), Change(), Change(gained=(MINE,))]
    with capture_logs() as logs:
        assert worker.step()
        assert worker.reconstructor.folds == {}
        while log.changes:
            assert worker.reconstructor.folds == {}
            worker.step()
    moved = [(one["gained"], one["lost"]) for one in logs if one["event"] == "partitions_moved"]
    assert moved == [([0], []), ([], [0]), ([0], [])]
    assert worker.reconstructor.folds["T01"].state.last_event_id == "T01:1:11"
    assert shares == [[], [0]]


def test_what_was_taken_up_halfway_is_kept(
    log: SharedLog, worker: ReconstructWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processors.table_folds, "RECORDS_PER_READ", 2)
    monkeypatch.setattr(processors.table_folds, "SAVE_EVERY_RECORDS", 4)
    monkeypatch.setattr(processors.table_folds, "SAVED_AT_ONCE", 1)
    taking_up(log, worker)
    log.changes += [*[Change()] * 5, Change(lost=(MINE,))]
    worker.step()
    (halfway,) = saved_at(log).values()
    assert 4 <= halfway < 11
    log.changes = [Change(gained=(MINE,))]
    before = worker.reconstructor.tables.folded_again
    worker.step()
    assert worker.reconstructor.tables.folded_again - before == 11 - halfway
    assert worker.reconstructor.folds["T01"].state.last_event_id == "T01:1:11"


LIMIT_SECONDS = 60.0


class WatchedWorker:
    """A worker that takes folds up under a watchdog, each read of whose log takes `read_seconds` of its clock."""

    def __init__(self, log: SharedLog, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        self.read_seconds = 0.0
        self.seen: list[dict[str, str]] = []
        self.ends: list[int] = []
        self.dog = Watchdog(
            log,
            GROUP,
            [TABLE_EVENTS],
            LIMIT_SECONDS,
            threading.Event(),
            end=lambda: self.ends.append(len(self.seen)),
            clock=lambda: self.now,
        )
        self.worker = ReconstructWorker(
            log,
            Settings(),
            lambda partitions: self.dog.assigned(Share(TABLE_EVENTS, one) for one in partitions),
            clock=lambda: log.now,
            watcher=self.dog,
        )
        read = log.read

        def slow(topic: str, partition: int, offset: int, limit: int) -> list[Record]:
            self.look_for(self.read_seconds)
            log.fail_once("page")
            return read(topic, partition, offset, limit)

        monkeypatch.setattr(log, "read", slow)

    def look_for(self, seconds: float) -> None:
        """Let the watchdog look as often as it does, for so long."""
        for _ in range(round(seconds * LOOKS / LIMIT_SECONDS)):
            self.now += LIMIT_SECONDS / LOOKS
            self.dog.look()
            self.seen.append(self.dog.troubles())


@pytest.fixture
def watched(log: SharedLog, worker: ReconstructWorker, monkeypatch: pytest.MonkeyPatch) -> WatchedWorker:
    """A worker with much to fold again, of which it reads two records at a time."""
    monkeypatch.setattr(processors.table_folds, "RECORDS_PER_READ", 2)
    taking_up(log, worker)
    return WatchedWorker(log, monkeypatch)


def test_worker_that_hangs_while_it_takes_folds_up_is_ended(watched: WatchedWorker) -> None:
    watched.read_seconds = LIMIT_SECONDS + LIMIT_SECONDS / LOOKS
    watched.worker.step()
    assert watched.ends
    assert watched.seen[watched.ends[0] - 1] == {TAKING_UP: "has stood still for 60 s"}


def test_worker_that_takes_folds_up_for_long_is_well(watched: WatchedWorker) -> None:
    watched.read_seconds = LIMIT_SECONDS / 2
    watched.worker.step()
    assert watched.now > 3 * LIMIT_SECONDS
    assert watched.ends == []
    assert [one for one in watched.seen if one] == []


@pytest.mark.parametrize("failure", [None, Fenced("another has it"), LogUnavailable("no broker answers")])
def test_worker_that_has_taken_folds_up_or_tries_again_need_not_beat(
    log: SharedLog, watched: WatchedWorker, failure: LogError | None
) -> None:
    log.failures |= {} if failure is None else {"page": failure}
    with suppress(LogUnavailable):
        watched.worker.step()
    watched.look_for(3 * LIMIT_SECONDS)
    assert watched.ends == []
