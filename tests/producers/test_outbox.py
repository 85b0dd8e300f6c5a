"""The outbox keeps every event, in order, until somebody says that the log has it."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from producers.outbox import Outbox, OutboxFull, OutboxUnusable, Refused, Waiting


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "outbox.sqlite"


@pytest.fixture
def outbox(path: Path) -> Iterator[Outbox]:
    outbox = Outbox(path, "T01", max_events=5)
    yield outbox
    outbox.close()


def waiting(*seqs: int, epoch: int = 1) -> list[Waiting]:
    return [Waiting(epoch, seq, b"event %d" % seq) for seq in seqs]


def test_events_come_back_in_order_and_stay_until_settled(outbox: Outbox) -> None:
    outbox.add(waiting(1, 2))
    outbox.add(waiting(3))
    assert outbox.oldest(2, 1000) == waiting(1, 2)
    outbox.settle(waiting(1))
    assert outbox.oldest(10, 1000) == waiting(2, 3)
    assert outbox.waiting_count == 2


def test_order_runs_on_over_epochs(outbox: Outbox) -> None:
    outbox.add(waiting(9, 10))
    outbox.add(waiting(1, 2, epoch=2))
    assert outbox.oldest(10, 1000) == [*waiting(9, 10), *waiting(1, 2, epoch=2)]


def test_a_batch_keeps_within_bytes_but_has_one_event(outbox: Outbox) -> None:
    outbox.add(waiting(1, 2, 3))
    assert outbox.oldest(10, 16) == waiting(1, 2)
    assert outbox.oldest(10, 1) == waiting(1)


def test_full_outbox_says_so_and_keeps_none_of_the_call(outbox: Outbox) -> None:
    outbox.add(waiting(1, 2, 3))
    outbox.settle([], [Refused(1, 1, b"event 1", "invalid: no")])
    with pytest.raises(OutboxFull, match=r"table T01 holds 2 undelivered and 1 refused events and has room for 5"):
        outbox.add(waiting(4, 5, 6))
    assert outbox.oldest(10, 1000) == waiting(2, 3)
    assert outbox.discard_refused() == 1
    outbox.add(waiting(4, 5, 6))
    assert outbox.waiting_count == 5


def test_reopened_file_holds_what_the_last_process_kept(path: Path, outbox: Outbox) -> None:
    outbox.add(waiting(1, 2, 3))
    outbox.settle(waiting(1), [Refused(1, 2, b"event 2", "invalid: no")])
    outbox.close()
    again = Outbox(path, "T01", max_events=2)
    assert again.oldest(10, 1000) == waiting(3)
    assert again.refused() == [Refused(1, 2, b"event 2", "invalid: no")]
    assert (again.waiting_count, again.refused_count) == (1, 1)
    with pytest.raises(OutboxFull):
        again.add(waiting(4))
    again.close()


def test_each_boot_counts_and_names_the_last_event_before_it(outbox: Outbox) -> None:
    assert outbox.begin_epoch() == (1, (0, 0))
    assert outbox.begin_epoch() == (2, (0, 0))
    outbox.add(waiting(1, 2, epoch=2))
    outbox.settle(waiting(1, 2, epoch=2))
    assert outbox.begin_epoch() == (3, (2, 2))
    assert outbox.begin_epoch() == (4, (2, 2)), "an epoch without events leaves no trace"


def test_new_file_starts_at_the_epoch_it_is_given_and_an_old_one_goes_on(path: Path) -> None:
    for expected in (7, 8):
        outbox = Outbox(path, "T01", first_epoch=7)
        assert outbox.begin_epoch().epoch == expected
        outbox.close()


def test_a_number_is_used_once(outbox: Outbox) -> None:
    outbox.add(waiting(1))
    with pytest.raises(OutboxUnusable, match="UNIQUE"):
        outbox.add([*waiting(2), *waiting(1)])
    assert outbox.oldest(10, 1000) == waiting(1)


def test_settling_again_changes_nothing(outbox: Outbox) -> None:
    outbox.add(waiting(1, 2, 3))
    for _ in range(2):
        outbox.settle(waiting(1), [Refused(1, 2, b"event 2", "no")])
        assert (outbox.waiting_count, outbox.refused_count) == (1, 1)


def test_file_has_one_user_at_a_time(path: Path, outbox: Outbox) -> None:
    outbox.begin_epoch()
    with pytest.raises(OutboxUnusable, match="another process has it open"):
        Outbox(path, "T01")


def test_file_of_another_table_is_refused(path: Path, outbox: Outbox) -> None:
    outbox.close()
    with pytest.raises(OutboxUnusable, match="is the outbox of table T01, not of T02"):
        Outbox(path, "T02")


def test_file_of_a_later_version_is_refused(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(OutboxUnusable, match="has layout 99"):
        Outbox(path, "T01")


def test_file_that_is_no_outbox_is_refused(path: Path) -> None:
    path.write_bytes(b"chips" * 1000)
    with pytest.raises(OutboxUnusable, match="not a database"):
        Outbox(path, "T01")


def test_folder_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(OutboxUnusable, match=r"gone.*unable to open"):
        Outbox(tmp_path / "gone" / "outbox.sqlite", "T01")


@pytest.mark.parametrize("wrong", [{"max_events": 0}, {"first_epoch": 0}])
def test_impossible_limits_are_refused(path: Path, wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="room for one event"):
        Outbox(path, "T01", **wrong)


def test_waiting_ends_with_an_event_a_wake_or_delivery(outbox: Outbox) -> None:
    assert not outbox.wait_for_events(unless=lambda: True)
    outbox.add(waiting(1))
    assert outbox.wait_for_events(unless=lambda: False)
    assert not outbox.wait_until_delivered(timeout_seconds=0)
    outbox.settle(waiting(1))
    assert outbox.wait_until_delivered(timeout_seconds=0)


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.integers(1, 4)),
        st.tuples(st.just("deliver"), st.integers(1, 4)),
        st.tuples(st.just("refuse"), st.integers(1, 4)),
        st.tuples(st.just("reopen"), st.just(0)),
    ),
    max_size=25,
)


@settings(max_examples=30)
@given(STEPS)
def test_outbox_is_a_queue_whatever_happens(steps: list[tuple[str, int]]) -> None:
    with TemporaryDirectory() as folder:
        outbox = Outbox(Path(folder) / "outbox.sqlite", "T01", max_events=12)
        queue: list[Waiting] = []
        refused: list[Refused] = []
        seq = 0
        for step, size in steps:
            if step == "add":
                new = waiting(*range(seq + 1, seq + size + 1))
                if len(queue) + len(refused) + size <= 12:
                    outbox.add(new)
                    queue += new
                    seq += size
                else:
                    with pytest.raises(OutboxFull):
                        outbox.add(new)
            elif step == "reopen":
                outbox.close()
                outbox = Outbox(Path(folder) / "outbox.sqlite", "T01", max_events=12)
            else:
                oldest, queue = queue[:size], queue[size:]
                assert outbox.oldest(size, 10_000) == oldest
                if step == "deliver":
                    outbox.settle(oldest)
                else:
                    refused += [Refused(*event, "no") for event in oldest]
                    outbox.settle([], refused)
            assert (outbox.waiting_count, outbox.refused_count) == (len(queue), len(refused))
        assert outbox.oldest(100, 10_000) == queue
        assert outbox.refused() == refused
        outbox.close()
