"""Processes to kill, and what comes of the crash floor when nobody disturbs it."""

import json
import multiprocessing
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.simulation.doomed import OUTPUT, SENT, work

Outcome = dict[str, Any]

# Processes are forked from one that has everything imported already, and no thread and no store open.
_processes = multiprocessing.get_context("forkserver")
_processes.set_forkserver_preload(["tests.simulation.doomed"])


class Running(NamedTuple):
    """A process at work, and where it tells of its steps."""

    process: BaseProcess
    steps: Connection

    def wait_for_steps(self, count: int) -> None:
        """Block until it has told of so many steps, or ended."""
        try:
            for _ in range(count):
                self.steps.recv()
        except EOFError:
            return


class Doomed:
    """A floor in a directory of its own, worked on by one process after another."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @contextmanager
    def running(self, what: str, point: str = "") -> Iterator[Running]:
        """Start a process, see `tests.simulation.doomed`, and reap it at the end of the block."""
        steps, output = _processes.Pipe(duplex=False)
        process = _processes.Process(target=work, args=(what, self._folder / "floor", point, output))
        process.start()
        output.close()
        try:
            yield Running(process, steps)
        finally:
            steps.close()
            process.kill()
            process.join()

    def run(self, what: str, point: str = "") -> int:
        """Run a process to its end; return its exit code, negative for the signal that killed it."""
        with self.running(what, point) as running:
            running.wait_for_steps(1_000_000)
            running.process.join()
            assert running.process.exitcode is not None
            return running.process.exitcode

    def outcome(self) -> Outcome:
        """Return what the last process to finish wrote down."""
        found: Outcome = json.loads((self._folder / OUTPUT).read_text())
        return found

    def sent(self) -> list[str]:
        """Return every message that reached somebody."""
        return (self._folder / SENT).read_text().splitlines()

    def assert_same_as(self, other: "Doomed") -> None:
        """Every event, fact and row is the same, and the store holds what the log gives."""
        found, expected = self.outcome(), other.outcome()
        assert found["differences"] == []
        assert found["behind"] == 0
        for where in ("log", "store"):
            for name, lines in expected[where].items():
                assert found[where][name] == lines, (where, name)

    def assert_told_as(self, other: "Doomed", crashes: int) -> None:
        """Everything was told, and as many messages twice at most as crashes left unknown whether they arrived."""
        told, expected = Counter(self.sent()), Counter(other.sent())
        assert told.keys() == expected.keys()
        assert sum((told - expected).values()) <= crashes


@pytest.fixture
def doomed(tmp_path: Path) -> Doomed:
    return Doomed(tmp_path)


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Doomed:
    """The floor as it comes out in one go."""
    floor = Doomed(tmp_path_factory.mktemp("undisturbed"))
    assert floor.run("finish") == 0
    return floor
