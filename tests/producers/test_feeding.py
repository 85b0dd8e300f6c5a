"""Feeding a gateway: what is due and no more, once each, across outages and restarts."""

import threading
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from producers.feeding import LOOK_SECONDS, MOST_AT_ONCE, Count, FeedRefused, TableFeed
from producers.sender import Backoff
from producers.simulator import FloorSettings, mixed_floor, table_stream
from producers.transports import ACCEPTED, Receipt, Undelivered
from schemas.wire import decode_event

START = datetime(2026, 1, 5, 12, tzinfo=UTC)
END = START + timedelta(hours=3)


class Gateway:
    """Takes what it is sent, unless it is away or `receipt` says otherwise."""

    def __init__(self) -> None:
        self.taken: list[str] = []
        self.away = 0
        self.receipt = ACCEPTED
        self.closed = False

    def send(self, events: Sequence[bytes]) -> list[Receipt]:
        if self.away:
            self.away -= 1
            raise Undelivered("no answer")
        self.taken += [decode_event(event).event_id for event in events]
        return [self.receipt] * len(events)

    def close(self) -> None:
        self.closed = True


class Clock:
    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture(scope="module")
def floor() -> FloorSettings:
    return mixed_floor(seed=3, start=START, hours=0.2, tables=1)


@pytest.fixture
def gateway() -> Gateway:
    return Gateway()


def feed_of(floor: FloorSettings, gateway: Gateway, folder: Path, now: datetime = END) -> TableFeed:
    return TableFeed("BAC-101", table_stream(floor, 0), gateway, Count(folder / "one.count"), Clock(now))


def all_of(floor: FloorSettings) -> list[str]:
    return [arrival.event.event_id for arrival in table_stream(floor, 0)]


def test_only_what_is_due_is_sent(floor: FloorSettings, gateway: Gateway, tmp_path: Path) -> None:
    clock = Clock(START)
    feed = TableFeed("BAC-101", table_stream(floor, 0), gateway, Count(tmp_path / "one.count"), clock)
    for arrival in table_stream(floor, 0):
        clock.now = arrival.arrives_at - timedelta(microseconds=1)
        assert feed.deliver() == 0
        assert 0 < feed.seconds_to_wait() <= 0.000001 or feed.seconds_to_wait() == pytest.approx(0.000001)
        clock.now = arrival.arrives_at
        assert feed.deliver() == 1
        assert gateway.taken[-1] == arrival.event.event_id
    assert feed.over
    assert gateway.taken == all_of(floor)


def test_backlog_goes_in_bounded_requests(floor: FloorSettings, gateway: Gateway, tmp_path: Path) -> None:
    feed = feed_of(floor, gateway, tmp_path)
    sizes = []
    while size := feed.deliver():
        sizes.append(size)
    assert max(sizes) <= MOST_AT_ONCE
    assert gateway.taken == all_of(floor)


def test_what_was_not_taken_is_sent_again(floor: FloorSettings, gateway: Gateway, tmp_path: Path) -> None:
    gateway.away = 1
    feed = feed_of(floor, gateway, tmp_path)
    with pytest.raises(Undelivered):
        feed.deliver()
    assert not feed.over
    while feed.deliver():
        pass
    assert gateway.taken == all_of(floor)


def test_next_start_goes_on_behind_what_was_acknowledged(
    floor: FloorSettings, gateway: Gateway, tmp_path: Path
) -> None:
    middle = START + timedelta(minutes=5)
    while feed_of(floor, gateway, tmp_path, middle).deliver():
        pass
    assert 0 < len(gateway.taken) < len(all_of(floor))
    while feed_of(floor, gateway, tmp_path).deliver():
        pass
    assert gateway.taken == all_of(floor)


@pytest.mark.parametrize("outages", [0, 3])
def test_it_runs_until_the_table_closes(floor: FloorSettings, gateway: Gateway, tmp_path: Path, outages: int) -> None:
    gateway.away = outages
    feed_of(floor, gateway, tmp_path).run(threading.Event(), Backoff(0.001, 0.002))
    assert gateway.taken == all_of(floor)


def test_it_stops_when_asked(floor: FloorSettings, gateway: Gateway, tmp_path: Path) -> None:
    stop = threading.Event()
    stop.set()
    feed = feed_of(floor, gateway, tmp_path)
    feed.run(stop)
    assert gateway.taken == []
    feed.close()
    assert gateway.closed


def test_stop_ends_a_wait_for_the_next_event(floor: FloorSettings, gateway: Gateway, tmp_path: Path) -> None:
    feed = feed_of(floor, gateway, tmp_path, START - timedelta(hours=1))
    assert feed.seconds_to_wait() == LOOK_SECONDS
    stop = threading.Event()
    thread = threading.Thread(target=feed.run, args=[stop])
    thread.start()
    stop.set()
    thread.join(LOOK_SECONDS / 2)
    assert not thread.is_alive()


def test_refused_event_holds_nobody_up(floor: FloorSettings, gateway: Gateway, tmp_path: Path) -> None:
    gateway.receipt = Receipt("rejected", "invalid", "no such card")
    feed = feed_of(floor, gateway, tmp_path)
    while feed.deliver():
        pass
    assert feed.over


def test_other_events_under_its_identities_end_it(floor: FloorSettings, gateway: Gateway, tmp_path: Path) -> None:
    gateway.receipt = Receipt("rejected", "conflicting", "")
    feed = feed_of(floor, gateway, tmp_path)
    with pytest.raises(FeedRefused, match=r"BAC-101.*was fed before"):
        feed.run(threading.Event())
    assert Count(tmp_path / "one.count").value == 0


def test_empty_table_is_over_at_once(gateway: Gateway, tmp_path: Path) -> None:
    feed = TableFeed("BAC-101", [], gateway, Count(tmp_path / "one.count"), Clock(END))
    assert feed.over
    assert feed.deliver() == 0
    assert feed.seconds_to_wait() == LOOK_SECONDS


def test_count_is_kept_whole(tmp_path: Path) -> None:
    path = tmp_path / "one.count"
    count = Count(path)
    assert count.value == 0
    count.add(3)
    count.add(4)
    assert Count(path).value == 7
    assert [one.name for one in tmp_path.iterdir()] == ["one.count"]
