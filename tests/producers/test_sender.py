"""Everything an outbox holds reaches the log in order, whatever fails on the way, and once without its repeats."""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from producers.outbox import Outbox, OutboxUnusable, Refused, Waiting
from producers.sender import Backoff, EpochReused, Sender
from producers.transports import ACCEPTED, LogTransport, Receipt, TooLarge, Undelivered
from tests.producers.table import FlakyLog, event

Answer = Literal["ok", "away", "answer lost"]


class Wire:
    """A transport that behaves as it is told, and remembers what arrived."""

    def __init__(self, answers: Sequence[Answer] = (), judge: Callable[[bytes], Receipt] = lambda _: ACCEPTED) -> None:
        self.answers = list(answers)
        self.judge = judge
        self.arrived: list[bytes] = []
        self.sizes: list[int] = []
        self.largest = 10_000

    def send(self, events: Sequence[bytes]) -> list[Receipt]:
        self.sizes.append(len(events))
        if len(events) > self.largest:
            raise TooLarge("413")
        answer = self.answers.pop(0) if self.answers else "ok"
        if answer != "away":
            self.arrived += events
        if answer != "ok":
            raise Undelivered(answer)
        return [self.judge(raw) for raw in events]

    def close(self) -> None:
        pass


@pytest.fixture
def outbox(tmp_path: Path) -> Iterator[Outbox]:
    outbox = Outbox(tmp_path / "outbox.sqlite", "T01")
    outbox.add([Waiting(1, seq, b"%d" % seq) for seq in range(1, 8)])
    yield outbox
    outbox.close()


def numbers(first: int, last: int) -> list[bytes]:
    return [b"%d" % seq for seq in range(first, last + 1)]


def left(outbox: Outbox) -> list[bytes]:
    return [waiting.event for waiting in outbox.oldest(100, 10_000)]


def test_batches_go_out_in_order(outbox: Outbox) -> None:
    wire = Wire()
    sender = Sender(outbox, wire, batch_events=3)
    assert [sender.deliver() for _ in range(4)] == [3, 3, 1, 0]
    assert wire.arrived == numbers(1, 7)
    assert left(outbox) == []


def test_what_was_not_answered_stays(outbox: Outbox) -> None:
    wire = Wire(["answer lost"])
    sender = Sender(outbox, wire, batch_events=3)
    with pytest.raises(Undelivered):
        sender.deliver()
    assert left(outbox) == numbers(1, 7)
    assert sender.deliver() == 1, "fewer after a failure"
    assert wire.arrived == numbers(1, 3) + numbers(1, 1)
    assert left(outbox) == numbers(2, 7)


def test_rejected_events_are_set_aside_with_the_reason(outbox: Outbox) -> None:
    wire = Wire(judge=lambda raw: Receipt("rejected", "invalid", "no card") if raw == b"2" else Receipt("duplicate"))
    assert Sender(outbox, wire, batch_events=3).deliver() == 3
    assert left(outbox) == numbers(4, 7)
    (refused,) = outbox.refused()
    assert refused == (1, 2, b"2", "invalid: no card")


def test_requests_shrink_until_they_are_taken_and_grow_again(outbox: Outbox) -> None:
    wire = Wire()
    wire.largest = 2
    sender = Sender(outbox, wire, batch_events=7)
    for _ in range(2):
        with pytest.raises(TooLarge):
            sender.deliver()
    sender.deliver()
    wire.largest = 100
    while sender.deliver():
        pass
    assert wire.sizes == [7, 3, 1, 2, 4]
    assert wire.arrived == numbers(1, 7)


def test_an_event_too_large_for_any_request_is_set_aside(outbox: Outbox) -> None:
    wire = Wire()
    wire.largest = 0
    assert Sender(outbox, wire, batch_events=1).deliver() == 1
    assert outbox.refused()[0].reason == "too_long: 413"
    assert left(outbox) == numbers(2, 7)


def test_reused_numbers_stop_the_sender_and_nothing_is_forgotten(outbox: Outbox) -> None:
    wire = Wire(judge=lambda raw: Receipt("rejected", "conflicting") if raw == b"3" else ACCEPTED)
    sender = Sender(outbox, wire)
    with pytest.raises(EpochReused, match=r"another event as epoch 1, seq 3.*first_epoch"):
        sender.run()
    assert left(outbox) == numbers(3, 7)
    assert outbox.refused() == []
    assert "first_epoch" in sender.trouble


def test_run_waits_longer_after_each_failure_and_recovers(outbox: Outbox) -> None:
    delays: list[float] = []

    class Counting(Backoff):
        def delay(self, failures: int, chance: float, at_least: float = 0.0) -> float:
            delays.append(Backoff.delay(self, failures, chance, at_least))
            return 0.0

    wire = Wire(["away", "away", "answer lost", "ok", "away"])
    sender = Sender(outbox, wire, backoff=Counting(1.0, 60.0), chance=lambda: 0.0, batch_events=4)
    with sender.running():
        assert outbox.wait_until_delivered(timeout_seconds=60)
        outbox.add([Waiting(1, 8, b"8")])
        assert outbox.wait_until_delivered(timeout_seconds=60)
    assert delays == [1.0, 2.0, 4.0, 1.0]
    assert list(dict.fromkeys(wire.arrived)) == numbers(1, 8)


def test_trouble_says_why_and_ends_with_it(outbox: Outbox) -> None:
    stopped = threading.Event()

    class Stopping(Wire):
        def send(self, events: Sequence[bytes]) -> list[Receipt]:
            if len(self.sizes) == 1:
                assert sender.trouble == "away"
                sender.stop()
                stopped.set()
            return super().send(events)

    sender = Sender(outbox, Stopping(["away"]), backoff=Backoff(0.0, 0.0))
    sender.run()
    assert stopped.is_set()
    assert sender.trouble == ""
    assert left(outbox) == numbers(4, 7), "stopped after the attempt under way"


def test_outbox_trouble_is_waited_out_too(outbox: Outbox, monkeypatch: pytest.MonkeyPatch) -> None:
    settle, failures = outbox.settle, [OutboxUnusable("disk full")]

    def failing(delivered: Iterable[Waiting], refused: Iterable[Refused] = ()) -> None:
        if failures:
            raise failures.pop()
        settle(delivered, refused)

    monkeypatch.setattr(outbox, "settle", failing)
    wire = Wire()
    with Sender(outbox, wire, backoff=Backoff(0.0, 0.0)).running():
        assert outbox.wait_until_delivered(timeout_seconds=60)
    assert wire.arrived == numbers(1, 7) * 2


@given(
    st.floats(0.01, 10),
    st.floats(1, 600),
    st.integers(1, 100_000),
    st.floats(0, 1),
    st.one_of(st.just(0.0), st.floats(0)),
)
def test_delays_grow_to_a_limit(first: float, limit: float, failures: int, chance: float, at_least: float) -> None:
    backoff = Backoff(first, limit)
    delay = backoff.delay(failures, chance, at_least)
    asked = min(at_least, 10 * limit)
    assert asked + min(first, limit) / 2 <= delay <= asked + limit
    assert backoff.delay(failures + 1, chance, at_least) >= delay


@settings(max_examples=40)
@given(st.lists(st.sampled_from(["ok", "away", "answer lost"]), max_size=12), st.integers(1, 5), st.integers(1, 9))
def test_every_event_arrives_in_order_and_once(answers: list[Answer], batch_events: int, events: int) -> None:
    with TemporaryDirectory() as folder:
        outbox = Outbox(Path(folder) / "outbox.sqlite", "T01")
        wire = Wire(answers)
        sender = Sender(outbox, wire, batch_events=batch_events)
        for seq in range(1, events + 1):
            outbox.add([Waiting(1, seq, b"%d" % seq)])
            attempt(sender)
        while outbox.waiting_count:
            attempt(sender)
        outbox.close()
    # A reader that drops repeats sees each event once, and never an event before one that was published earlier.
    assert list(dict.fromkeys(wire.arrived)) == numbers(1, events)


def attempt(sender: Sender) -> None:
    try:
        sender.deliver()
    except Undelivered:
        return


def test_straight_into_a_log(tmp_path: Path, outbox: Outbox) -> None:
    log = FlakyLog(tmp_path / "log.sqlite")
    transport = LogTransport(log, "T01")
    log.down = True
    with pytest.raises(Undelivered, match="disk is full"):
        transport.send([event(1)])
    log.down = False
    assert Sender(outbox, transport).deliver() == 7
    transport.close()
    assert log.kept() == [("T01", raw) for raw in numbers(1, 7)]
    log.close()
