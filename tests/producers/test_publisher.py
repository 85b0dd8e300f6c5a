"""The publisher numbers a table's events without gap or repeat, and lets no event out that its reader would refuse."""

import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import cast

import pytest

from producers.outbox import Outbox, OutboxFull
from producers.publisher import Envelope, Publisher
from schemas.events import CardDrawn, Event, Heartbeat, RoundOpened, TableSilent
from schemas.wire import EVENT_STRUCTS, InvalidEvent, decode_event

NOON = datetime(2026, 1, 15, 12, tzinfo=UTC)


@pytest.fixture
def outbox(tmp_path: Path) -> Iterator[Outbox]:
    outbox = Outbox(tmp_path / "outbox.sqlite", "T01", max_events=100)
    yield outbox
    outbox.close()


@pytest.fixture
def clock() -> Callable[[], datetime]:
    seconds = count()
    return lambda: NOON + timedelta(seconds=next(seconds))


def heartbeat(at: Envelope) -> Heartbeat:
    return Heartbeat(**at)


def kept(outbox: Outbox) -> list[Event]:
    return [decode_event(waiting.event) for waiting in outbox.oldest(1000, 10**9)]


def test_events_are_numbered_from_one_and_stamped(outbox: Outbox, clock: Callable[[], datetime]) -> None:
    publisher = Publisher(outbox, clock)
    opened = publisher.publish(lambda at: RoundOpened(**at, shoe=1, round=1))
    drawn = publisher.publish(lambda at: CardDrawn(**at, shoe=1, round=1, hand="player", position=1, card="8H"))
    assert (opened.event_id, drawn.event_id) == ("T01:1:1", "T01:1:2")
    assert (opened.occurred_at, drawn.occurred_at) == (NOON, NOON + timedelta(seconds=1))
    assert (opened.follows, drawn.follows) == ((0, 0), None)
    first, second = kept(outbox)
    assert isinstance(first, EVENT_STRUCTS["round_opened"])
    assert (first.event_id, second.event_id, second.occurred_at) == ("T01:1:1", "T01:1:2", drawn.occurred_at)


def test_a_boot_opens_an_epoch_that_follows_the_last_event(outbox: Outbox, clock: Callable[[], datetime]) -> None:
    Publisher(outbox, clock).publish_all([heartbeat] * 3)
    Publisher(outbox, clock)
    third = Publisher(outbox, clock)
    events = third.publish_all([heartbeat] * 2)
    assert third.epoch == 3
    assert [(event.epoch, event.seq, event.follows) for event in events] == [(3, 1, (1, 3)), (3, 2, None)]


def test_a_twin_is_published_like_its_model(outbox: Outbox, clock: Callable[[], datetime]) -> None:
    twin = Publisher(outbox, clock).publish(lambda at: cast(type[Heartbeat], EVENT_STRUCTS["heartbeat"])(**at))
    assert kept(outbox) == [twin]


@pytest.mark.parametrize(
    ("build", "fault"),
    [
        (lambda at: cast(type[RoundOpened], EVENT_STRUCTS["round_opened"])(**at, shoe=0, round=1), "shoe"),
        (lambda at: Heartbeat(**{**at, "seq": 9, "event_id": "T01:1:9"}), "another identity than T01:1:1"),
        (lambda at: Heartbeat(**{**at, "follows": None}), "another identity"),
        (lambda at: Heartbeat(**{**at, "table_id": "T02", "event_id": "T02:1:1"}), "another identity"),
        (lambda at: TableSilent(**at, silent_since=NOON, last_event_id="T01:1:1"), "written by Pitwatch alone"),
    ],
    ids=["invalid", "own number", "own place", "other table", "system type"],
)
def test_an_event_nobody_would_read_is_refused_and_uses_no_number(
    outbox: Outbox, clock: Callable[[], datetime], build: Callable[[Envelope], Event], fault: str
) -> None:
    publisher = Publisher(outbox, clock)
    with pytest.raises(InvalidEvent, match=fault):
        publisher.publish_all([heartbeat, build] if "silent" in fault else [build])
    assert kept(outbox) == []
    assert publisher.publish(heartbeat).event_id == "T01:1:1"


def test_all_of_a_call_are_kept_or_none(outbox: Outbox, clock: Callable[[], datetime]) -> None:
    publisher = Publisher(outbox, clock)
    with pytest.raises(OutboxFull):
        publisher.publish_all([heartbeat] * 101)
    assert kept(outbox) == []
    assert publisher.publish_all([]) == []
    assert [event.seq for event in publisher.publish_all([heartbeat] * 100)] == list(range(1, 101))


def test_threads_share_one_numbering(outbox: Outbox) -> None:
    publisher = Publisher(outbox, lambda: NOON)
    threads = [threading.Thread(target=lambda: [publisher.publish(heartbeat) for _ in range(10)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [event.seq for event in kept(outbox)] == list(range(1, 41))
