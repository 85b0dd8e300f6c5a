"""kill -9 while the log is written: what was acknowledged is there, in order, and nothing is half there."""

import signal
from contextlib import closing
from pathlib import Path
from subprocess import Popen

import pytest

from processors.logs.sqlite import SqliteLog
from tests.processors.logs.conftest import StartVictim
from tests.processors.logs.victim import batch


def kill_after(process: "Popen[str]", acknowledgements: int) -> int:
    """Kill the process when it has said so many lines; return the last number that it said, killed or not yet."""
    assert process.stdout is not None
    for _ in range(acknowledgements):
        process.stdout.readline()
    process.kill()
    rest = [line for line in process.stdout.read().splitlines(keepends=True) if line.endswith("\n")]
    assert process.wait() == -signal.SIGKILL
    return acknowledgements - 1 + len(rest)


@pytest.mark.parametrize("acknowledgements", [1, 2, 30, 200])
@pytest.mark.parametrize("read_only", [False, True], ids=["reopened", "read only"])
def test_every_acknowledged_append_is_there(
    tmp_path: Path, start_victim: StartVictim, acknowledgements: int, read_only: bool
) -> None:
    last = kill_after(start_victim("append", tmp_path / "log.sqlite"), acknowledgements)
    expected = [message for number in range(last + 1) for message in batch(number)]
    with closing(SqliteLog(tmp_path / "log.sqlite", read_only=read_only)) as log:
        records = log.read("events", 0, 0, 10_000)
    assert [record.offset for record in records] == list(range(len(records)))
    found = [(record.key, record.value) for record in records]
    # The batch in flight is there wholly or not at all.
    assert found in (expected, expected + batch(last + 1))


@pytest.mark.parametrize("acknowledgements", [1, 100])
def test_transactions_are_whole(tmp_path: Path, start_victim: StartVictim, acknowledgements: int) -> None:
    last = 1 + kill_after(start_victim("transact", tmp_path / "log.sqlite"), acknowledgements)
    with closing(SqliteLog(tmp_path / "log.sqlite")) as log:
        position = log.position("group", "events", 0)
        assert position in (last, last + 1)
        assert log.state("group", "B01") == b"%d" % position
        facts = log.read("facts", 0, 0, 10_000)
        assert [record.value for record in facts] == [b"%d" % number for number in range(1, position + 1)]


def test_log_is_written_on_after_a_kill(tmp_path: Path, start_victim: StartVictim) -> None:
    kill_after(start_victim("append", tmp_path / "log.sqlite"), 10)
    with closing(SqliteLog(tmp_path / "log.sqlite")) as log:
        end = log.end("events", 0)
        assert log.append("events", [("B01", b"after")])[0].offset == end
        log.claim("group")


def test_read_only_process_follows_while_another_writes(tmp_path: Path, start_victim: StartVictim) -> None:
    writing = start_victim("append", tmp_path / "log.sqlite")
    assert writing.stdout is not None
    writing.stdout.readline()
    expected = [message for number in range(60) for message in batch(number)]
    found: list[tuple[str, bytes]] = []
    with closing(SqliteLog(tmp_path / "log.sqlite", read_only=True)) as log:
        while len(found) < len(expected) and log.wait("events", 0, len(found), timeout_seconds=60):
            found += [(record.key, record.value) for record in log.read("events", 0, len(found), 50)]
    assert found[: len(expected)] == expected
