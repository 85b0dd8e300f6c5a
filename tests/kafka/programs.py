"""Pitwatch's commands as processes of their own that work on a real broker, and what is in the broker's topics."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from processors.logs.kafka_clients import Clients
from processors.reconstruct.fold import FoldSettings, TableFold
from processors.settings import KafkaSettings
from processors.topics import create_topics, layouts
from schemas.log import EventLog, Position, Record
from schemas.topics import FACT_TOPICS, TABLE_EVENTS
from schemas.wire import encode
from tests.kafka.broker import DIES_WITH_US

REPOSITORY = Path(__file__).resolve().parents[2]
PATIENCE_SECONDS = 60
"""How long anything may take before its test fails; no passing test takes it."""

SESSION = {"session.timeout.ms": "3000", "heartbeat.interval.ms": "300"}
"""Properties with which a worker that is gone is given up soon."""

_PROGRAM = "from pitwatch.cli import main; main()"
_LOOK_SECONDS = 0.05

Facts = dict[str, dict[str, list[bytes]]]
"""Values by topic and key, in order."""


def make_topics(bootstrap: str, partitions: int) -> None:
    """Make every topic as `pitwatch topics create` does."""
    kafka = KafkaSettings(bootstrap=bootstrap, partitions=partitions)
    create_topics(Clients(bootstrap, {}, "tests", kafka.timeout_seconds), layouts(kafka, None))


class Program:
    """A command that runs, and what it logs. Killed at the end of its `running` block, unless it ended before."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        self.logs: list[dict[str, Any]] = []
        self._logged = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            entry = json.loads(line) if line.startswith("{") else {"event": line.rstrip(), "level": "said"}
            with self._logged:
                self.logs.append(entry)
                self._logged.notify_all()

    def told(self, event: str, **fields: object) -> dict[str, Any]:
        """Block until it has logged this event with these fields; return the entry."""

        def found() -> dict[str, Any] | None:
            matches = (entry for entry in self.logs if entry["event"] == event and fields.items() <= entry.items())
            return next(matches, None)

        with self._logged:
            self._logged.wait_for(found, PATIENCE_SECONDS)
            entry = found()
        assert entry is not None, f"it never told of {event} {fields}: {self.logs}"
        return entry

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        """Ask it to end; return its exit code, once all it had to say is in `logs`."""
        self.process.send_signal(how)
        return self.wait()

    def kill(self) -> None:
        """End it at once, as a lost machine does."""
        self.process.kill()
        self.wait()

    def wait(self) -> int:
        """Return its exit code once it has ended."""
        code = self.process.wait(PATIENCE_SECONDS)
        self._reader.join(PATIENCE_SECONDS)
        return code

    def freeze(self) -> None:
        """Stop it where it is; it keeps its connections."""
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on."""
        self.process.send_signal(signal.SIGCONT)

    def complaints(self) -> list[str]:
        """Return what it logged that asks for attention."""
        return [entry["event"] for entry in self.logs if entry["level"] != "info"]


@contextmanager
def running(*arguments: str | Path, first: str = "", **environment: str) -> Iterator[Program]:
    """Run `pitwatch` with these arguments for the length of the block; it may do something `first`."""
    process = subprocess.Popen(
        [*DIES_WITH_US, sys.executable, "-c", first + _PROGRAM, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    program = Program(process)
    try:
        yield program
    finally:
        program.thaw()
        program.kill()
        if process.stderr is not None:
            process.stderr.close()


def wait_for(holds: Callable[[], bool], seconds: float = PATIENCE_SECONDS) -> None:
    """Block until something holds."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it never came about"
        threading.Event().wait(_LOOK_SECONDS)


def records(log: EventLog, topic: str) -> list[Record]:
    """Return everything in a topic, partition by partition."""
    found: list[Record] = []
    for partition in log.partitions(topic):
        offset = 0
        while page := log.read(topic, partition, offset, 10_000):
            found += page
            offset = page[-1].offset + 1
    return found


def facts(log: EventLog) -> Facts:
    """Return every fact in the log."""
    found: Facts = {topic: {} for topic in FACT_TOPICS.values()}
    for topic, tables in found.items():
        for record in records(log, topic):
            tables.setdefault(record.key, []).append(record.value)
    return found


def facts_of_the_pure_fold(log: EventLog, settings: FoldSettings) -> Facts:
    """Return the facts of the log's events, with no worker in between."""
    folds: dict[str, TableFold] = {}
    found: Facts = {topic: {} for topic in FACT_TOPICS.values()}
    for record in records(log, TABLE_EVENTS):
        fold = folds.get(record.key) or folds.setdefault(record.key, TableFold(record.key, settings))
        for fact in fold.apply(record):
            found[FACT_TOPICS[fact.fact]].setdefault(record.key, []).append(encode(fact))
    return found


def is_behind(log: EventLog, group: str, topics: Sequence[str]) -> bool:
    """Tell whether there are records in the topics that a group has not committed."""
    # Not by the end's offset, which may lie behind the mark of a transaction.
    places = [
        Position(topic, one, log.position(group, topic, one)) for topic in topics for one in log.partitions(topic)
    ]
    return bool(log.wait_any(places, 0.0))
