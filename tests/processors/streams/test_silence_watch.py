"""The watch over silent tables: what it writes, when, and how it goes on after everything that may happen to it."""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import cast

import pytest
from structlog.testing import capture_logs

from processors.logs.sqlite import SqliteLog
from processors.logs.transaction import CollectedTransaction
from processors.metrics import WATCHED_BEHIND, WATCHED_TABLES
from processors.streams.silence_watch import GROUP, LAPSE, SAVE_INTERVAL, SilenceWatch
from schemas.events import TableSilent
from schemas.log import Fenced, LogUnavailable
from schemas.topics import TABLE_EVENTS
from schemas.wire import InvalidEvent, decode_event
from tests.producers.table import event

LIMIT = timedelta(seconds=120)
SECOND = timedelta(seconds=1)


class SharedLog(SqliteLog):
    """A log that may be away, and whose one partition may be another worker's."""

    mine = True
    down = False
    fenced = False
    transactions = 0

    def partitions(self, topic: str) -> Sequence[int]:
        return [0] if self.mine else []

    def end(self, topic: str, partition: int) -> int:
        if self.down:
            raise LogUnavailable("no broker answers")
        return super().end(topic, partition)

    @contextmanager
    def transaction(self, group: str) -> Iterator[CollectedTransaction]:
        if self.fenced:
            raise Fenced("another worker has it")
        self.transactions += 1
        with super().transaction(group) as transaction:
            yield transaction


class Member:
    """A worker's place, which counts how often it said that it is alive."""

    def __init__(self) -> None:
        self.polls = 0

    def poll(self, seconds: float = 0.0) -> None:
        self.polls += 1


class Floor:
    """A log and a watch over it. `now` is the worker's clock, which the log's follows."""

    def __init__(self, log: SharedLog) -> None:
        self.log = log
        self.member = Member()
        self.joined: list[tuple[str, Sequence[str]]] = []
        self.watch = self.another()
        self.now = datetime.now(UTC)

    def another(self, batch_events: int = 10_000) -> SilenceWatch:
        """A worker that takes over."""

        def join(group: str, topics: Sequence[str]) -> Member:
            self.joined.append((group, topics))
            return self.member

        return SilenceWatch(self.log, join, batch_events=batch_events)

    def send(self, seq: int, type: str = "heartbeat", table_id: str = "BAC-01", **fields: object) -> None:
        self.log.append(TABLE_EVENTS, [(table_id, event(seq, table_id, 1, type, **fields))])

    def open(self, table_id: str = "BAC-01") -> None:
        self.send(1, "table_opened", table_id, follows=(0, 0))

    def look(self, after: timedelta = SECOND) -> bool:
        """Let the worker look at its tables once, a while later."""
        self.now += after
        return self.watch.step(self.now)

    def look_for(self, duration: timedelta) -> None:
        """Let the worker look on and on for that long."""
        until = self.now + duration
        while self.now < until:
            self.look(min(LAPSE, until - self.now))

    def said(self) -> list[TableSilent]:
        """The silences in the log."""
        found = []
        for record in self.log.read(TABLE_EVENTS, 0, 0, 10_000):
            try:
                one = decode_event(record.value)
            except InvalidEvent:
                continue
            if one.type == "table_silent":
                found.append(cast(TableSilent, one))
        return found


@pytest.fixture
def floor(tmp_path: Path) -> Iterator[Floor]:
    with closing(SharedLog(tmp_path / "log.sqlite")) as log:
        yield Floor(log)


def test_open_table_that_falls_silent_is_told_of_once(floor: Floor) -> None:
    floor.open()
    floor.look()
    floor.look_for(LIMIT - SECOND)
    assert floor.said() == []
    floor.look_for(timedelta(seconds=3))
    (silence,) = floor.said()
    assert (silence.table_id, silence.epoch, silence.last_event_id) == ("BAC-01", 0, "BAC-01:1:1")
    assert silence.silent_since < silence.occurred_at <= floor.now
    floor.look_for(10 * LIMIT)
    assert len(floor.said()) == 1


def test_table_that_is_heard_again_and_falls_silent_again_is_told_of_again(floor: Floor) -> None:
    floor.open()
    floor.look()
    floor.look_for(2 * LIMIT)
    floor.send(2)
    floor.now = datetime.now(UTC)
    floor.look()
    floor.look_for(2 * LIMIT)
    assert [one.last_event_id for one in floor.said()] == ["BAC-01:1:1", "BAC-01:1:2"]


def test_tables_that_speak_or_are_closed_are_left_alone(floor: Floor) -> None:
    floor.open("BAC-01")
    floor.open("BAC-02")
    floor.send(2, "table_closed", "BAC-02")
    floor.send(1, "heartbeat", "BAC-03", follows=(0, 0))
    floor.look()
    floor.look_for(LIMIT - SECOND)
    floor.send(2, table_id="BAC-01")
    floor.now = datetime.now(UTC) - LIMIT / 2
    floor.look_for(LIMIT)
    assert floor.said() == []


def test_who_never_listened_calls_nobody_silent(floor: Floor) -> None:
    """A start long after the last event: the tables may have been kept waiting, not silent."""
    floor.open()
    floor.look(timedelta(days=1))
    floor.look_for(LIMIT - SECOND)
    assert floor.said() == []
    floor.look_for(2 * SECOND)
    assert len(floor.said()) == 1


def test_worker_that_stood_still_was_not_listening_meanwhile(floor: Floor) -> None:
    floor.open()
    floor.look()
    floor.look(LIMIT + SECOND)
    assert floor.said() == []


def test_log_that_was_away_was_not_listened_to(floor: Floor) -> None:
    floor.open()
    floor.look()
    floor.look_for(LIMIT - SECOND)
    floor.log.down = True
    with pytest.raises(LogUnavailable):
        floor.look()
    floor.log.down = False
    floor.look_for(LIMIT / 2)
    assert floor.said() == []
    floor.look_for(LIMIT)
    assert len(floor.said()) == 1


def test_clock_that_was_set_back_begins_anew(floor: Floor) -> None:
    floor.open()
    floor.look()
    floor.look_for(LIMIT - SECOND)
    floor.look(-timedelta(hours=1))
    floor.look_for(timedelta(minutes=30))
    assert floor.said() == []


def test_nobody_is_judged_before_everything_was_read(floor: Floor) -> None:
    """The backlog's end says that the table spoke a moment ago; its beginning alone would call it silent."""
    floor.watch = floor.another(batch_events=1)
    floor.open()
    for seq in range(2, 5):
        floor.send(seq)
    behind = []
    for _ in range(4):
        behind.append(floor.look(LIMIT))
        assert floor.said() == []
    assert behind == [True, True, True, False]
    assert WATCHED_BEHIND._value.get() == 0
    assert WATCHED_TABLES._value.get() == 1


def test_what_nobody_can_use_is_no_sign_of_life(floor: Floor) -> None:
    floor.open()
    floor.look()
    floor.log.append(TABLE_EVENTS, [("BAC-01", b"noise"), ("BAC-01", event(2, "BAC-02"))])
    floor.look_for(LIMIT + SECOND)
    (silence,) = floor.said()
    assert silence.last_event_id == "BAC-01:1:1"


# -- taking over -----------------------------------------------------------------------------------------------------


def test_worker_joins_the_tables_group_and_says_that_it_is_alive(floor: Floor) -> None:
    floor.look()
    floor.look()
    assert floor.joined == [(GROUP, [TABLE_EVENTS])]
    assert floor.member.polls == 2


def test_successor_goes_on_from_what_was_written_down(floor: Floor) -> None:
    floor.open()
    floor.look()
    assert floor.log.position(GROUP, TABLE_EVENTS, 0) == 1
    # A successor that had to read the beginning again would find it gone.
    floor.watch = floor.another()
    floor.look()
    floor.look_for(LIMIT + SECOND)
    (silence,) = floor.said()
    assert silence.last_event_id == "BAC-01:1:1"


def test_successor_of_a_killed_worker_says_nothing_twice(floor: Floor) -> None:
    floor.open()
    floor.look()
    floor.look_for(2 * LIMIT)
    floor.watch = floor.another()
    floor.look_for(10 * LIMIT)
    assert len(floor.said()) == 1


def test_silence_is_written_with_the_place_up_to_which_it_was_judged(floor: Floor) -> None:
    floor.open()
    floor.look()
    floor.look_for(LIMIT + SECOND)
    assert len(floor.said()) == 1
    # Not its own event, which it reads next.
    assert floor.log.position(GROUP, TABLE_EVENTS, 0) == 1


def test_what_was_heard_is_written_down_now_and_then_and_at_the_end(floor: Floor) -> None:
    floor.open()
    floor.look()
    floor.send(2)
    floor.look()
    assert floor.log.transactions == 1
    floor.watch.save(floor.now)
    assert floor.log.position(GROUP, TABLE_EVENTS, 0) == 2
    floor.send(3)
    floor.look(SAVE_INTERVAL)
    assert floor.log.position(GROUP, TABLE_EVENTS, 0) == 3
    floor.look(SAVE_INTERVAL)
    assert floor.log.transactions == 3, "nothing was heard, so there is nothing to write down"


def test_partition_of_another_worker_is_watched_no_longer(floor: Floor) -> None:
    floor.open()
    floor.look()
    floor.log.mine = False
    floor.look_for(10 * LIMIT)
    assert floor.said() == []
    floor.log.mine = True
    floor.look()
    floor.look_for(LIMIT + SECOND)
    assert len(floor.said()) == 1


def test_fenced_worker_drops_what_it_knew_and_takes_part_again(floor: Floor) -> None:
    floor.open()
    floor.look()
    floor.look_for(LIMIT)
    floor.log.fenced = True
    assert floor.look(2 * SECOND)
    assert floor.said() == []
    floor.log.fenced = False
    floor.look()
    floor.look_for(LIMIT)
    assert floor.said() == []
    floor.look()
    assert len(floor.said()) == 1


@pytest.mark.parametrize("broken", [b"", b"no state"])
def test_state_of_another_version_is_read_from_the_events_again(floor: Floor, broken: bytes) -> None:
    floor.open()
    with floor.log.transaction(GROUP) as transaction:
        transaction.save_state("BAC-01", broken)
    floor.look()
    floor.look_for(LIMIT + SECOND)
    assert len(floor.said()) == 1


def test_lost_states_are_read_from_the_events_again(floor: Floor) -> None:
    """The table is dead by then, so nothing that comes would tell of it."""
    floor.open()
    floor.look()
    assert floor.log.position(GROUP, TABLE_EVENTS, 0) == 1
    floor.log.forget_state(GROUP, "BAC-01")
    floor.watch = floor.another()
    with capture_logs() as logs:
        floor.look()
    assert [one["partitions"] for one in logs if one["event"] == "states_missing"] == [[0]]
    assert WATCHED_TABLES._value.get() == 1
    floor.look_for(2 * LIMIT)
    (silence,) = floor.said()
    assert silence.last_event_id == "BAC-01:1:1"


def test_one_lost_state_is_read_from_the_events_again(floor: Floor) -> None:
    """Those that are left tell of it."""
    for table_id in ("BAC-01", "BAC-02", "BAC-03"):
        floor.open(table_id)
        floor.look(SAVE_INTERVAL + SECOND)
    floor.log.forget_state(GROUP, "BAC-01")
    floor.watch = floor.another()
    with capture_logs() as logs:
        floor.look()
    assert [one["partitions"] for one in logs if one["event"] == "states_missing"] == [[0]]
    floor.look_for(2 * LIMIT)
    assert {one.table_id for one in floor.said()} == {"BAC-01", "BAC-02", "BAC-03"}


def test_silence_that_was_told_is_not_told_again_after_its_state_was_lost(floor: Floor) -> None:
    floor.open()
    floor.look()
    floor.look_for(2 * LIMIT)
    floor.log.forget_state(GROUP, "BAC-01")
    floor.watch = floor.another()
    floor.look_for(3 * LIMIT)
    assert len(floor.said()) == 1


def test_nothing_is_missing_where_nothing_was_read_or_a_state_is_there(floor: Floor) -> None:
    with capture_logs() as logs:
        floor.look()
        floor.open()
        floor.look()
        floor.watch = floor.another()
        floor.look()
    assert "states_missing" not in [one["event"] for one in logs]
