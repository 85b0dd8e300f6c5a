"""The worker that fills a store: it waits out what is away, shares with others, and notices another database."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import cast

import pytest

from processors.logs.sqlite import SqliteLog
from processors.metrics import SINK_TROUBLED
from processors.sink_worker import IDENTITY_SECONDS, MOVING, OtherStore, SinkWorker
from processors.store.clickhouse import ClickHouseStore
from processors.store.port import StoreUnavailable
from processors.store.sink import TOPICS
from schemas.log import Fenced, LogUnavailable, Position
from tests.processors.store.test_sink import RecordingStore, bet_ids, bets, named


class Server(RecordingStore):
    """A server that may be away, and whose database may be replaced."""

    def __init__(self) -> None:
        super().__init__("first")
        self.away = False
        self.attached = 0
        self.closed = False
        self.verdict = lambda _kind, _rows: self.need()

    def need(self) -> None:
        if self.away:
            raise StoreUnavailable("the server is away")

    def attach(self) -> None:
        self.need()
        self.attached += 1

    def close(self) -> None:
        self.closed = True


class SharedLog(SqliteLog):
    """A log whose partitions are shared: this worker has those of `mine`, and what others took is fenced."""

    mine: Sequence[str] = [topic for _, topic in TOPICS]
    fenced = False
    deaf = False

    def position(self, group: str, topic: str, partition: int) -> int:
        if self.deaf:
            raise LogUnavailable("no coordinator answers")
        return super().position(group, topic, partition)

    def partitions(self, topic: str) -> Sequence[int]:
        return [0] if topic in self.mine else []

    def commit_position(self, group: str, position: Position) -> None:
        if self.fenced:
            raise Fenced("another has it")
        super().commit_position(group, position)


class Member:
    """A place in a group; being polled may change what is whose."""

    def __init__(self, changes: list[Callable[[], None]]) -> None:
        self.changes = changes
        self.joined: list[tuple[str, Sequence[str]]] = []

    def join(self, group: str, topics: Sequence[str]) -> "Member":
        self.joined.append((group, topics))
        return self

    def poll(self, seconds: float = 0.0) -> None:
        if self.changes:
            self.changes.pop(0)()


class Listener:
    """Hears what a worker says of its progress."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, str]] = []

    def beat(self, name: str, *, asks_log: bool = False) -> None:
        assert asks_log
        self.heard.append(("beats", name))

    def rest(self, name: str) -> None:
        self.heard.append(("rests", name))


class Time:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def log(tmp_path: Path) -> Iterator[SharedLog]:
    with closing(SharedLog(tmp_path / "log.sqlite")) as log:
        yield log


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def worker(log: SharedLog, server: Server, time: Time) -> SinkWorker:
    return SinkWorker(log, lambda: cast(ClickHouseStore, server), clock=time)


def test_it_moves_what_there_is_and_tells_when_there_is_nothing(
    log: SharedLog, server: Server, worker: SinkWorker
) -> None:
    log.append("bets", bets(3))
    assert worker.step()
    assert not worker.step()
    assert bet_ids(server) == named(3)
    assert log.position("sink-first", "bets", 0) == 3
    worker.close()
    assert server.closed


def test_server_that_is_away_at_the_start_is_waited_for(log: SharedLog, server: Server, worker: SinkWorker) -> None:
    server.away = True
    log.append("bets", bets(1))
    for _ in range(2):
        with pytest.raises(StoreUnavailable):
            worker.step()
        assert SINK_TROUBLED._value.get() == 1
    server.away = False
    assert worker.step()
    assert SINK_TROUBLED._value.get() == 0
    assert bet_ids(server) == named(1)


def test_server_that_cannot_be_opened_is_opened_later(log: SharedLog, server: Server) -> None:
    answers = [StoreUnavailable("no address"), server]

    def open_store() -> ClickHouseStore:
        answer = answers.pop(0)
        if isinstance(answer, StoreUnavailable):
            raise answer
        return cast(ClickHouseStore, answer)

    worker = SinkWorker(log, open_store)
    with pytest.raises(StoreUnavailable):
        worker.step()
    worker.close()
    log.append("bets", bets(1))
    assert worker.step()


def test_server_that_goes_away_later_loses_nothing(log: SharedLog, server: Server, worker: SinkWorker) -> None:
    log.append("bets", bets(1))
    worker.step()
    server.away = True
    log.append("table-events", bets(1))
    log.append("alerts", [("BAC-01", b"{}")])
    with pytest.raises(StoreUnavailable):
        worker.step()
    server.away = False
    assert worker.step()
    assert [kind for kind, _ in server.inserts] == ["bet", "alert"]


def test_database_that_was_replaced_ends_the_worker(
    log: SharedLog, server: Server, worker: SinkWorker, time: Time
) -> None:
    log.append("bets", bets(1))
    worker.step()
    server.identity = "second"
    worker.step()
    time.now += IDENTITY_SECONDS
    with pytest.raises(OtherStore, match="Start the sink again"):
        worker.step()
    again = SinkWorker(log, lambda: cast(ClickHouseStore, server))
    again.step()
    assert bet_ids(server) == named(1) * 2


def test_database_is_looked_at_now_and_then_only(server: Server, worker: SinkWorker, time: Time) -> None:
    for _ in range(5):
        worker.step()
        time.now += IDENTITY_SECONDS / 4
    assert server.attached == 2


class TestSharing:
    def test_group_is_joined_once_for_all_topics(self, log: SharedLog, server: Server) -> None:
        member = Member([])
        worker = SinkWorker(log, lambda: cast(ClickHouseStore, server), member.join)
        worker.step()
        worker.step()
        assert member.joined == [("sink-first", [topic for _, topic in TOPICS])]

    def test_partitions_that_come_are_taken_up_and_those_that_go_are_dropped(
        self, log: SharedLog, server: Server
    ) -> None:
        log.append("bets", bets(2))
        log.append("alerts", [("BAC-01", b"{}")])
        log.mine = ["alerts"]

        def hand_over() -> None:
            log.mine = ["bets"]

        worker = SinkWorker(log, lambda: cast(ClickHouseStore, server), Member([lambda: None, hand_over]).join)
        worker.step()
        assert [kind for kind, _ in server.inserts] == ["alert"]
        log.append("alerts", [("BAC-01", b"{}")])
        worker.step()
        assert [kind for kind, _ in server.inserts] == ["alert", "bet"]

    def test_partition_goes_on_where_its_last_owner_committed(self, log: SharedLog, server: Server) -> None:
        log.append("bets", bets(3))
        log.commit_position("sink-first", Position("bets", 0, 2))
        worker = SinkWorker(log, lambda: cast(ClickHouseStore, server))
        worker.step()
        assert bet_ids(server) == ["b-2"]

    def test_worker_that_was_given_up_goes_on_with_what_it_has(self, log: SharedLog, server: Server) -> None:
        log.append("bets", bets(1))
        log.fenced = True

        def drop() -> None:
            log.mine, log.fenced = ["alerts"], False

        worker = SinkWorker(log, lambda: cast(ClickHouseStore, server), Member([lambda: None, drop]).join)
        assert worker.step()
        log.append("alerts", [("BAC-01", b"{}")])
        assert worker.step()
        assert [kind for kind, _ in server.inserts] == ["bet", "alert"]

    def test_worker_without_partitions_waits(self, log: SharedLog, server: Server) -> None:
        log.mine = []
        log.append("bets", bets(1))
        assert not SinkWorker(log, lambda: cast(ClickHouseStore, server)).step()
        assert server.inserts == []


class TestWatched:
    def test_share_is_told_and_none_while_the_store_is_away(self, log: SharedLog, server: Server) -> None:
        told: list[tuple[str, int]] = []
        worker = SinkWorker(
            log,
            lambda: cast(ClickHouseStore, server),
            on_share=lambda group, places: told.append((group, len(places))),
        )
        log.append("bets", bets(1))
        worker.step()
        worker.step()
        assert told == [("sink-first", len(TOPICS))]
        log.append("bets", bets(1))
        server.away = True
        worker._sink._interval_seconds = 0.0  # type: ignore[union-attr]  # it has stepped
        for flow in worker._sink._flows:  # type: ignore[union-attr]
            flow.due_at = 0.0
        with pytest.raises(StoreUnavailable):
            worker.step()
        server.away = False
        worker.step()
        assert told[1:] == [("sink-first", 0), ("sink-first", len(TOPICS))]

    def test_share_is_told_before_anything_is_moved(self, log: SharedLog, server: Server) -> None:
        told: list[int] = []
        worker = SinkWorker(
            log, lambda: cast(ClickHouseStore, server), on_share=lambda _group, places: told.append(len(places))
        )
        server.verdict = lambda _kind, _rows: self.told_first(told)
        log.append("bets", bets(1))
        assert worker.step()
        assert told == [len(TOPICS)]

    def told_first(self, told: list[int]) -> None:
        assert told == [len(TOPICS)]

    def test_progress_is_told_with_each_batch_and_no_more_afterwards(self, log: SharedLog, server: Server) -> None:
        watcher = Listener()
        worker = SinkWorker(log, lambda: cast(ClickHouseStore, server), watcher=watcher)
        log.append("bets", bets(1))
        worker.step()
        assert watcher.heard == [("beats", MOVING)] * len(TOPICS) + [("rests", MOVING)]
        watcher.heard.clear()
        server.away = True
        log.append("bets", bets(1))
        worker._sink._flows[2].due_at = 0.0  # type: ignore[union-attr]  # it has stepped
        with pytest.raises(StoreUnavailable):
            worker.step()
        assert watcher.heard[-1] == ("rests", MOVING)

    def test_none_is_told_before_the_group_answers(self, log: SharedLog, server: Server) -> None:
        told: list[int] = []
        member = Member([])
        worker = SinkWorker(
            log,
            lambda: cast(ClickHouseStore, server),
            member.join,
            on_share=lambda _group, places: told.append(len(places)),
        )
        log.mine, log.deaf = [], True
        for _ in range(2):
            with pytest.raises(LogUnavailable):
                worker.step()
        assert told == []
        log.deaf = False
        worker.step()
        assert told == [0]
        assert len(member.joined) == 1
