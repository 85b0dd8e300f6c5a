"""The sink between a log and a store: nothing lost, nothing stuck, and not an insert for every row."""

import base64
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from processors.logs.sqlite import SqliteLog
from processors.metrics import REGISTRY, SINK_NEWEST
from processors.store import sink as sink_module
from processors.store.port import Parameters, RowsRefused, StoreUnavailable, T
from processors.store.sink import FULL_BATCH_ROWS, INTERVAL_SECONDS, MAX_BATCH_ROWS, MAX_REFUSED, Sink
from schemas.log import EventLog, LogUnavailable, Position, Record
from schemas.topics import FACT_TOPICS, TABLE_EVENTS
from schemas.wire import encode
from tests.contract.store.stored_facts import fact

BEHIND = "pitwatch_sink_behind_records"


class Crash(Exception):
    """The power went."""


class RecordingStore:
    """A store that notes what is inserted. `verdict` may refuse rows, or fail, before they are kept."""

    def __init__(self, identity: str = "one") -> None:
        self.identity = identity
        self.inserts: list[tuple[str, list[bytes]]] = []
        self.verdict: Callable[[str, Sequence[bytes]], None] = lambda _kind, _rows: None

    def insert(self, kind: str, rows: Sequence[bytes]) -> None:
        if rows:
            self.verdict(kind, rows)
            self.inserts.append((kind, list(rows)))

    def rows_of(self, kind: str) -> list[dict[str, Any]]:
        return [json.loads(row) for one, rows in self.inserts if one == kind for row in rows]

    def migrate(self) -> list[str]:
        return []

    def query(self, sql: str, parameters: Parameters | None = None, fmt: str = "JSONEachRow") -> bytes:
        raise AssertionError("the sink asks nothing")

    def rows(self, sql: str, shape: type[T], parameters: Parameters | None = None) -> list[T]:
        raise AssertionError("the sink asks nothing")

    def close(self) -> None:
        raise AssertionError("the store is not the sink's to close")


class Time:
    """A clock that sleeping moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def log(tmp_path: Path) -> Iterator[EventLog]:
    with closing(SqliteLog(tmp_path / "log.sqlite")) as log:
        yield log


@pytest.fixture
def store() -> RecordingStore:
    return RecordingStore()


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def sink(log: EventLog, store: RecordingStore, time: Time) -> Sink:
    return Sink(log, store, clock=time, sleep=time.sleep)


def event(seq: int, table_id: str = "BAC-01") -> tuple[str, bytes]:
    text = (
        f'{{"type":"heartbeat","event_id":"{table_id}:1:{seq}","table_id":"{table_id}","epoch":1,"seq":{seq},'
        '"occurred_at":"2026-03-01T12:00:00Z"}'
    )
    return table_id, text.encode()


def bets(count: int, first: int = 0) -> list[tuple[str, bytes]]:
    return [("BAC-01", encode(fact("bet", "BAC-01", bet_id=f"b-{number}"))) for number in range(first, first + count)]


def bet_ids(store: RecordingStore) -> list[str]:
    return [row["bet_id"] for row in store.rows_of("bet")]


def named(count: int) -> list[str]:
    return [f"b-{number}" for number in range(count)]


class TestMoving:
    @pytest.mark.parametrize("kind", FACT_TOPICS)
    def test_facts_go_in_as_the_log_holds_them(
        self, log: EventLog, store: RecordingStore, sink: Sink, kind: str
    ) -> None:
        raw = encode(fact(kind, "BAC-01"))
        log.append(FACT_TOPICS[kind], [("BAC-01", raw)])
        assert sink.step() == 1
        assert store.inserts == [(kind, [raw])]

    def test_events_go_in_and_what_is_none_does_not(self, log: EventLog, store: RecordingStore, sink: Sink) -> None:
        key, other = event(2)
        log.append(TABLE_EVENTS, [event(1), (key, b"garbage"), ("BAC-02", other), event(3)])
        assert sink.step() == 4
        assert [(row["seq"], row["src_offset"]) for row in store.rows_of("event")] == [(1, 0), (3, 3)]
        assert sink.behind() == 0

    def test_nothing_to_do_is_nothing_done(self, sink: Sink, store: RecordingStore) -> None:
        assert (sink.step(), sink.drain(), sink.behind()) == (0, 0, 0)
        assert store.inserts == []

    def test_drain_moves_everything_at_once(self, log: EventLog, store: RecordingStore, sink: Sink) -> None:
        log.append(TABLE_EVENTS, [event(seq) for seq in range(1, 4)])
        log.append("bets", bets(4))
        assert sink.drain() == 7
        log.append("bets", bets(1, first=4))
        assert sink.drain() == 1
        assert bet_ids(store) == named(5)

    def test_large_backlog_goes_in_several_inserts(
        self, log: EventLog, store: RecordingStore, sink: Sink, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sink_module, "PAGE_RECORDS", 3)
        monkeypatch.setattr(sink_module, "MAX_BATCH_ROWS", 6)
        log.append("bets", bets(14))
        assert sink.drain() == 14
        assert [len(rows) for _, rows in store.inserts] == [6, 6, 2]
        assert bet_ids(store) == named(14)

    def test_long_messages_go_in_several_inserts(
        self, log: EventLog, store: RecordingStore, sink: Sink, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sink_module, "PAGE_RECORDS", 2)
        monkeypatch.setattr(sink_module, "MAX_BATCH_BYTES", 1)
        log.append("bets", bets(5))
        assert sink.drain() == 5
        assert [len(rows) for _, rows in store.inserts] == [2, 2, 1]

    def test_what_is_behind_is_seen_while_it_never_catches_up(
        self, log: EventLog, store: RecordingStore, sink: Sink, time: Time, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sink_module, "MAX_BATCH_ROWS", 4)
        store.verdict = lambda _kind, _rows: time.sleep(2 * INTERVAL_SECONDS)
        log.append("bets", bets(14))
        log.append(TABLE_EVENTS, [event(seq) for seq in range(1, 10)])
        for left in ((14, 9), (10, 5)):
            sink.step()
            shown = [
                REGISTRY.get_sample_value(BEHIND, {"topic": one, "partition": "0"}) for one in ("bets", TABLE_EVENTS)
            ]
            assert shown == list(left)

    def test_full_batch_is_not_larger_than_the_largest(self) -> None:
        assert FULL_BATCH_ROWS <= MAX_BATCH_ROWS


class TestPosition:
    def test_restarted_sink_goes_on(self, log: EventLog, store: RecordingStore, sink: Sink) -> None:
        log.append("bets", bets(3))
        sink.drain()
        log.append("bets", bets(2, first=3))
        assert Sink(log, store).behind() == 2
        Sink(log, store).drain()
        assert bet_ids(store) == named(5)

    def test_new_store_is_filled_from_the_beginning(self, log: EventLog, store: RecordingStore, sink: Sink) -> None:
        log.append("bets", bets(3))
        sink.drain()
        other = RecordingStore("other")
        Sink(log, other).drain()
        assert bet_ids(other) == bet_ids(store) == named(3)

    @pytest.mark.parametrize("failure", [Crash(), StoreUnavailable("the disk is full")])
    def test_failed_insert_is_done_again(
        self, log: EventLog, store: RecordingStore, sink: Sink, failure: Exception
    ) -> None:
        def fail(_kind: str, _rows: Sequence[bytes]) -> None:
            raise failure

        log.append("bets", bets(3))
        store.verdict = fail
        with pytest.raises(type(failure)):
            sink.step()
        assert sink.behind() == 3
        store.verdict = lambda _kind, _rows: None
        assert sink.step() == 3
        assert bet_ids(store) == named(3)

    def test_crash_between_insert_and_commit_inserts_again(
        self, log: EventLog, store: RecordingStore, sink: Sink, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def crash(_group: str, _position: Position) -> None:
            raise Crash

        log.append("bets", bets(3))
        with monkeypatch.context() as patched:
            patched.setattr(log, "commit_position", crash)
            with pytest.raises(Crash):
                sink.step()
        Sink(log, store).drain()
        assert bet_ids(store) == named(3) * 2

    def test_newest_record_stored_is_shown_by_kind(self, log: EventLog, store: RecordingStore, sink: Sink) -> None:
        log.append("bets", bets(1))
        log.append("bets", bets(1, first=1))
        log.append(TABLE_EVENTS, [event(1)])
        sink.drain()
        (_, newest), (heard,) = log.read("bets", 0, 0, 9), log.read(TABLE_EVENTS, 0, 0, 9)
        assert SINK_NEWEST.labels(kind="bet")._value.get() == newest.appended_at.timestamp()
        assert SINK_NEWEST.labels(kind="event")._value.get() == heard.appended_at.timestamp()

    def test_record_that_is_not_stored_is_no_newest_one(
        self, log: EventLog, store: RecordingStore, sink: Sink, time: Time
    ) -> None:
        def fail(_kind: str, _rows: Sequence[bytes]) -> None:
            raise StoreUnavailable("the disk is full")

        log.append("bets", bets(1))
        sink.drain()
        before = SINK_NEWEST.labels(kind="bet")._value.get()
        log.append("bets", bets(1, first=1))
        store.verdict = fail
        with pytest.raises(StoreUnavailable):
            sink.drain()
        assert SINK_NEWEST.labels(kind="bet")._value.get() == before


class PartedLog(SqliteLog):
    """A log with three partitions of each topic, each kept as a topic of its own."""

    def partitions(self, topic: str) -> Sequence[int]:
        return (0, 1, 2)

    def read(self, topic: str, partition: int, offset: int, limit: int) -> list[Record]:
        found = super().read(f"{topic}-{partition}", 0, offset, limit)
        return [record._replace(topic=topic, partition=partition) for record in found]

    def end(self, topic: str, partition: int) -> int:
        return super().end(f"{topic}-{partition}", 0)


@pytest.fixture
def parted(tmp_path: Path) -> Iterator[PartedLog]:
    with closing(PartedLog(tmp_path / "parted.sqlite")) as log:
        yield log


class TestPartitions:
    """A table gets one insert at a time, however many partitions its rows come from."""

    def test_rows_of_all_partitions_go_in_together(self, parted: PartedLog, store: RecordingStore, time: Time) -> None:
        sink = Sink(parted, store, clock=time, sleep=time.sleep)
        for partition in (0, 1, 2):
            parted.append(f"bets-{partition}", bets(2, first=2 * partition))
        assert sink.step() == 6
        assert [len(rows) for _, rows in store.inserts] == [6]
        assert sorted(bet_ids(store)) == named(6)
        assert [parted.position(sink.group, "bets", partition) for partition in (0, 1, 2)] == [2, 2, 2]
        for partition in (0, 1, 2):
            parted.append(f"bets-{partition}", bets(1, first=6 + partition))
            assert sink.step() == 0
        time.now += 1.0
        assert (sink.step(), len(store.inserts)) == (3, 2)
        assert sink.behind() == 0

    def test_none_waits_for_anothers_backlog(
        self, parted: PartedLog, store: RecordingStore, time: Time, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sink_module, "MAX_BATCH_ROWS", 3)
        monkeypatch.setattr(sink_module, "FULL_BATCH_ROWS", 1)
        for partition in (0, 1, 2):
            parted.append(f"bets-{partition}", bets(5, first=5 * partition))
        sink = Sink(parted, store, clock=time, sleep=time.sleep)
        for _ in range(3):
            assert sink.step() == 3
        assert [parted.position(sink.group, "bets", partition) for partition in (0, 1, 2)] == [3, 3, 3]
        sink.drain()
        assert sorted(bet_ids(store)) == sorted(named(15))

    def test_outage_at_a_commit_loses_nothing(
        self, parted: PartedLog, store: RecordingStore, time: Time, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        sink = Sink(parted, store, clock=time, sleep=time.sleep)
        for partition in (0, 1, 2):
            parted.append(f"bets-{partition}", bets(1, first=partition))
        commit, seen = parted.commit_position, list[Position]()

        def fail_once(group: str, position: Position) -> None:
            seen.append(position)
            if len(seen) == 2:
                raise LogUnavailable("the disk is full")
            commit(group, position)

        monkeypatch.setattr(parted, "commit_position", fail_once)
        with pytest.raises(LogUnavailable):
            sink.step()
        assert sink.drain() == 2
        assert sink.behind() == 0
        assert set(bet_ids(store)) == set(named(3))


class TestPace:
    def test_few_rows_are_gathered(self, log: EventLog, store: RecordingStore, sink: Sink, time: Time) -> None:
        for number in range(4):
            log.append("bets", bets(1, first=number))
            sink.step()
        assert bet_ids(store) == named(1)
        time.now += 1.0
        assert sink.step() == 3
        assert [len(rows) for _, rows in store.inserts] == [1, 3]

    def test_one_kind_does_not_wait_for_another(self, log: EventLog, sink: Sink) -> None:
        log.append("bets", bets(1))
        sink.step()
        log.append(TABLE_EVENTS, [event(1)])
        assert sink.step() == 1

    def test_many_rows_are_not_gathered(self, log: EventLog, sink: Sink, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sink_module, "FULL_BATCH_ROWS", 5)
        log.append("bets", bets(1))
        sink.step()
        log.append("bets", bets(5, first=1))
        assert sink.step() == 5

    def test_waiting_ends_when_rows_are_due(self, log: EventLog, sink: Sink, time: Time) -> None:
        log.append("bets", bets(1))
        sink.step()
        log.append("bets", bets(1, first=1))
        before = time.now
        sink.wait(60)
        assert time.now - before == pytest.approx(1.0)
        assert sink.step() == 1

    def test_waiting_is_no_longer_than_asked_for(self, log: EventLog, sink: Sink, time: Time) -> None:
        log.append("bets", bets(1))
        sink.step()
        log.append("bets", bets(1, first=1))
        before = time.now
        sink.wait(0.25)
        assert time.now - before == pytest.approx(0.25)

    def test_waiting_with_nothing_to_do_ends_with_the_next_event(self, log: EventLog, sink: Sink) -> None:
        thread = threading.Thread(target=sink.wait, args=(60.0,))
        thread.start()
        log.append(TABLE_EVENTS, [event(1)])
        thread.join(30)
        assert not thread.is_alive()

    def test_run_moves_until_it_is_stopped(self, log: EventLog, store: RecordingStore) -> None:
        stop, moved = threading.Event(), threading.Event()

        def note(kind: str, _rows: Sequence[bytes]) -> None:
            if kind == "event":
                moved.set()

        store.verdict = note
        thread = threading.Thread(target=Sink(log, store).run, args=(stop,))
        thread.start()
        log.append(TABLE_EVENTS, [event(1)])
        assert moved.wait(30)
        stop.set()
        thread.join(30)
        assert not thread.is_alive()


class TestRefusedRows:
    """Facts are made by Pitwatch itself, so none should be refused; if one is, it is neither lost nor in the way."""

    @staticmethod
    def refusing(*bad: str, tell: bool) -> Callable[[str, Sequence[bytes]], None]:
        """Refuse the bets named, telling which they are or not."""

        def verdict(kind: str, rows: Sequence[bytes]) -> None:
            if kind == "bet":
                found = [index for index, row in enumerate(rows) if json.loads(row)["bet_id"] in bad]
                if found:
                    raise RowsRefused("bets_versions: no such thing", found if tell else ())

        return verdict

    @pytest.mark.parametrize("tell", [True, False])
    @pytest.mark.parametrize("bad", [["b-0"], ["b-6"], ["b-2", "b-3"], named(7)], ids=["first", "last", "two", "all"])
    def test_refused_rows_become_dead_letters_and_the_others_go_in(
        self, log: EventLog, store: RecordingStore, sink: Sink, bad: list[str], tell: bool
    ) -> None:
        sent = bets(7)
        log.append("bets", sent)
        store.verdict = self.refusing(*bad, tell=tell)
        assert sink.step() == 7
        assert sink.behind() == 0
        assert bet_ids(store) == [name for name in named(7) if name not in bad]
        letters = store.rows_of("dead_letter")
        assert [letter["src_offset"] for letter in letters] == [named(7).index(name) for name in bad]
        for letter in letters:
            assert (letter["src_topic"], letter["reason"], letter["table_id"]) == ("bets", "not_storable", "BAC-01")
            assert letter["detail"] == "bets_versions: no such thing"
            assert base64.b64decode(letter["raw"]) == sent[letter["src_offset"]][1]

    def test_refusals_without_end_are_the_schemas_fault(self, log: EventLog, store: RecordingStore, sink: Sink) -> None:
        log.append("bets", bets(MAX_REFUSED + 1))
        store.verdict = self.refusing(*named(MAX_REFUSED + 1), tell=False)
        with pytest.raises(StoreUnavailable, match="Nothing is lost"):
            sink.step()
        assert sink.behind() == MAX_REFUSED + 1

    def test_known_refusals_never_stop_the_sink(self, log: EventLog, store: RecordingStore, sink: Sink) -> None:
        """A table could send amounts that no 64 bits hold; that must not stop the others."""
        log.append("bets", bets(MAX_REFUSED + 2))
        store.verdict = self.refusing(*named(MAX_REFUSED + 1), tell=True)
        assert sink.step() == MAX_REFUSED + 2
        assert bet_ids(store) == [f"b-{MAX_REFUSED + 1}"]
