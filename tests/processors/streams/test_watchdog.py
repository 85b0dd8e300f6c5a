"""A worker that stands still is ended; one that has nothing to do, or nothing to do it with, is not."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from processors.logs.sqlite import SqliteLog
from processors.metrics import REGISTRY, STREAM_BEHIND
from processors.streams.watchdog import LOOKS, SHARING, Share, Watchdog
from schemas.log import LogUnavailable, Position

GROUP, TOPIC = "faust-floor", "rounds"
SHARE = Share(TOPIC, 0)
LIMIT = 60.0
BEHIND = "pitwatch_stream_behind_records"


class LogWithMarks(SqliteLog):
    """A log whose end may lie behind its last record, as marks of transactions make it, and which may be away."""

    marks = 0
    down = False

    def end(self, topic: str, partition: int) -> int:
        if self.down:
            raise LogUnavailable("no broker answers")
        return super().end(topic, partition) + self.marks

    def position(self, group: str, topic: str, partition: int) -> int:
        if self.down:
            raise LogUnavailable("no broker answers")
        return super().position(group, topic, partition)

    def wait_any(self, places: Sequence[Position], timeout_seconds: float) -> list[Position]:
        return [place for place in places if self.read(*place, 1)]


class Kennel:
    """A watchdog with a clock that is moved by hand."""

    def __init__(self, log: LogWithMarks) -> None:
        self.log = log
        self.now = 0.0
        self.ended = 0
        self.stopping = threading.Event()
        self.dog = Watchdog(log, GROUP, [TOPIC], LIMIT, self.stopping, end=self._end, clock=lambda: self.now)

    def _end(self) -> None:
        self.ended += 1

    def look_for(self, seconds: float) -> None:
        """Let it look as often as it does, for so long."""
        for _ in range(round(seconds * LOOKS / LIMIT)):
            self.now += LIMIT / LOOKS
            self.dog.look()

    def append(self, count: int = 1) -> None:
        self.log.append(TOPIC, [("BAC-01", b"fact")] * count)

    def commit(self, offset: int) -> None:
        self.log.commit_position(GROUP, Position(TOPIC, 0, offset))


@pytest.fixture
def kennel(tmp_path: Path) -> Iterator[Kennel]:
    with closing(LogWithMarks(tmp_path / "log.sqlite")) as log:
        yield Kennel(log)


@pytest.fixture
def sharing(kennel: Kennel) -> Kennel:
    kennel.dog.assigned([SHARE])
    return kennel


def test_stream_that_leaves_records_waiting_ends_the_worker(sharing: Kennel) -> None:
    sharing.append(3)
    sharing.look_for(LIMIT)
    assert sharing.ended == 0
    assert sharing.dog.troubles() == {"rounds/0": "has stood still for 54 s"}
    sharing.look_for(2 * LIMIT / LOOKS)
    assert sharing.ended == 1


def test_stream_that_moves_is_well_however_far_behind(sharing: Kennel) -> None:
    sharing.append(100)
    for place in range(1, 10):
        sharing.commit(place)
        sharing.look_for(LIMIT / 2)
    assert (sharing.ended, sharing.dog.troubles()) == (0, {})
    assert STREAM_BEHIND.labels(TOPIC, "0")._value.get() == 91


@pytest.mark.parametrize("moved", ["to another", "anew"])
def test_stream_that_is_anothers_now_is_shown_no_longer(sharing: Kennel, moved: str) -> None:
    sharing.append(5)
    sharing.dog.look()
    assert REGISTRY.get_sample_value(BEHIND, {"topic": TOPIC, "partition": "0"}) == 5
    sharing.dog.sharing()
    if moved == "to another":
        sharing.dog.assigned([])
    sharing.dog.look()
    assert REGISTRY.get_sample_value(BEHIND, {"topic": TOPIC, "partition": "0"}) is None
    sharing.dog.assigned([SHARE])
    sharing.dog.look()
    assert REGISTRY.get_sample_value(BEHIND, {"topic": TOPIC, "partition": "0"}) == 5


def test_stream_with_nothing_to_do_is_well(sharing: Kennel) -> None:
    sharing.append(2)
    sharing.commit(2)
    sharing.look_for(10 * LIMIT)
    assert (sharing.ended, sharing.dog.troubles()) == (0, {})


def test_marks_behind_the_last_record_are_nothing_to_do(sharing: Kennel) -> None:
    sharing.append(2)
    sharing.commit(2)
    sharing.log.marks = 1
    sharing.look_for(10 * LIMIT)
    assert (sharing.ended, sharing.dog.troubles()) == (0, {})


def test_partition_of_another_worker_is_its_own_affair(sharing: Kennel) -> None:
    sharing.append()
    sharing.look_for(LIMIT)
    sharing.dog.assigned([])
    sharing.look_for(10 * LIMIT)
    assert (sharing.ended, sharing.dog.troubles()) == (0, {})


def test_nothing_moves_while_the_log_is_away_and_nobody_is_to_blame(sharing: Kennel) -> None:
    sharing.append()
    sharing.dog.beat("silences", asks_log=True)
    sharing.look_for(LIMIT)
    sharing.log.down = True
    for _ in range(5):
        sharing.now += LIMIT
        with pytest.raises(LogUnavailable):
            sharing.dog.look()
    sharing.log.down = False
    sharing.look_for(LIMIT)
    assert sharing.ended == 0
    sharing.look_for(2 * LIMIT / LOOKS)
    assert sharing.ended > 0


def test_what_must_beat_and_doesnt_ends_the_worker_even_while_the_log_is_away(sharing: Kennel) -> None:
    sharing.dog.beat("event loop")
    sharing.log.down = True
    sharing.append()
    sharing.now += LIMIT + 1
    with pytest.raises(LogUnavailable):
        sharing.dog.look()
    assert sharing.ended == 1


def test_what_beats_is_well(sharing: Kennel) -> None:
    for _ in range(10):
        sharing.dog.beat("event loop")
        sharing.dog.beat("silences", asks_log=True)
        sharing.look_for(LIMIT / 2)
    assert (sharing.ended, sharing.dog.troubles()) == (0, {})
    sharing.look_for(LIMIT)
    assert sharing.ended > 0
    assert sharing.dog.troubles().keys() == {"event loop", "silences"}


def test_what_rests_need_not_beat_until_it_beats_again(sharing: Kennel) -> None:
    for asks_log in (True, False):
        sharing.dog.beat("folds", asks_log=asks_log)
        sharing.dog.rest("folds")
    sharing.dog.rest("what never beat")
    sharing.look_for(10 * LIMIT)
    assert (sharing.ended, sharing.dog.troubles()) == (0, {})
    sharing.dog.beat("folds", asks_log=True)
    sharing.look_for(LIMIT + LIMIT / LOOKS)
    assert sharing.ended == 1


@pytest.mark.parametrize(
    "begin", [lambda kennel: None, lambda kennel: kennel.dog.sharing()], ids=["start", "rebalance"]
)
def test_partitions_that_are_never_given_out_end_the_worker(kennel: Kennel, begin: Callable[[Kennel], None]) -> None:
    begin(kennel)
    kennel.look_for(LIMIT)
    assert kennel.ended == 0
    assert kennel.dog.troubles().keys() == {SHARING}
    kennel.look_for(LIMIT / LOOKS)
    assert kennel.ended == 1


def test_worker_starts_until_it_is_told_its_first_share(kennel: Kennel) -> None:
    kennel.log.down = True
    for _ in range(2):
        assert kennel.dog.troubles() == {SHARING: "starting: has no share yet"}
        with pytest.raises(LogUnavailable):
            kennel.dog.look()
    kennel.dog.assigned([])
    assert kennel.dog.troubles() == {}
    kennel.dog.sharing()
    assert kennel.dog.troubles() == {}


def test_getting_no_partition_is_an_answer_too(kennel: Kennel) -> None:
    kennel.dog.assigned([])
    kennel.look_for(10 * LIMIT)
    assert kennel.ended == 0


def test_coordinator_that_is_away_is_waited_for(kennel: Kennel) -> None:
    kennel.dog.sharing()
    kennel.log.down = True
    for _ in range(5):
        kennel.now += LIMIT / 2
        with pytest.raises(LogUnavailable):
            kennel.dog.look()
    assert kennel.ended == 0
    kennel.log.down = False
    kennel.look_for(LIMIT)
    assert kennel.ended == 0
    kennel.look_for(LIMIT / LOOKS)
    assert kennel.ended == 1


def test_looking_ends_with_the_worker(sharing: Kennel) -> None:
    sharing.append()
    sharing.stopping.set()
    assert sharing.dog.step()
    assert sharing.dog.troubles() == {}
