"""A table's process may be killed at any moment: what `publish` returned from arrives, in order, and once."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from producers.outbox import Outbox
from schemas.events import Event
from schemas.wire import decode_event

ROOT = Path(__file__).resolve().parent.parent.parent
SCRIPT = Path(__file__).parent / "killed_table.py"


@contextmanager
def table(what: str, path: Path) -> Iterator[tuple[IO[str], IO[str]]]:
    """Run a table's process, give its input and output, and kill it (SIGKILL) at the end of the block."""
    process = subprocess.Popen(
        [sys.executable, str(SCRIPT), what, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT)},
    )
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield process.stdin, process.stdout
        process.kill()
        process.stdout.read()


def read_lines(stream: IO[str], count: int) -> list[str]:
    lines = [stream.readline() for _ in range(count)]
    assert all(lines), "the table's process ended by itself"
    return [line.strip() for line in lines]


def waiting(path: Path) -> list[Event]:
    """Return what the outbox holds, as its next process would find it."""
    outbox = Outbox(path, "T01")
    events = [decode_event(waiting.event) for waiting in outbox.oldest(1_000_000, 10**9)]
    outbox.close()
    return events


def test_published_events_survive_and_epochs_follow_each_other(tmp_path: Path) -> None:
    path = tmp_path / "outbox.sqlite"
    told: list[str] = []
    for published in (1, 7, 30):
        with table("publish", path) as (_, output):
            told += read_lines(output, published)
    events = waiting(path)
    identities = [event.event_id for event in events]
    assert [identity for identity in identities if identity in set(told)] == told, "what was told is kept, in order"
    last = (0, 0)
    for event in events:
        # Events published after the last line that was read are there too; none is missing in between.
        first = event.seq == 1
        assert (event.epoch, event.seq) == ((last[0] + 1, 1) if first else (last[0], last[1] + 1))
        assert event.follows == (last if first else None)
        last = (event.epoch, event.seq)
    assert last[0] == 3


def test_events_sent_but_not_acknowledged_are_sent_again(tmp_path: Path) -> None:
    path = tmp_path / "outbox.sqlite"
    with table("publish", path) as (_, output):
        read_lines(output, 20)
    kept = [event.event_id for event in waiting(path)]

    arrived: list[str] = []
    for acknowledged in (0, 1, 2):
        with table("deliver", path) as (answers, output):
            for batch in range(acknowledged + 1):
                arrived += read_lines(output, 4)
                assert read_lines(output, 1) == ["arrived"]
                if batch < acknowledged:
                    answers.write("go on\n")
                    answers.flush()
        # Killed between the arrival of a batch and its acknowledgement.
    left = [event.event_id for event in waiting(path)]
    seen = list(dict.fromkeys(decode_event(line.encode()).event_id for line in arrived))
    assert len(arrived) == 4 + 8 + 12
    assert len(left) == len(kept) - 12, "three batches were acknowledged in all"
    assert seen[:12] + left == kept
    assert seen == kept[: len(seen)], "once repeats are dropped, every event is there once and in order"
