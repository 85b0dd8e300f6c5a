"""A process to be killed: it feeds the crash floor to a pipeline from where the log ends, or replays it.

It tells of each step. At the point it is given it kills itself, as hard as the system can.
"""

import json
import os
import shutil
import signal
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final, NamedTuple

from pydantic import SecretStr

from pitwatch.commands.replay import compare, fold_table, stored_facts
from processors import data_directory
from processors.embedded import EmbeddedPipeline
from processors.logs import sqlite_tables
from processors.logs.lock import lock_data_directory
from processors.logs.sqlite import SqliteLog
from processors.notify.intake import Intake
from processors.notify.port import Message
from processors.notify.recording import RecordingTransport
from processors.notify.sender import Sender
from processors.reconstruct.fold import FoldSettings
from processors.reconstructor import Reconstructor
from processors.store import clickhouse
from processors.store.clickhouse import ClickHouseStore
from processors.store.port import VIEWS
from processors.table_folds import TableFolds
from schemas.topics import FACT_TOPICS, TABLE_EVENTS
from tests.simulation.crash_floor import EVENTS_PER_APPEND, TABLES, FloorClock, messages, settings

OUTPUT: Final = "outcome.json"
SENT: Final = "sent.txt"


class FileTransport(RecordingTransport):
    """Delivers into a file, of which nothing is lost when this process is killed."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def send(self, url: SecretStr, message: Message) -> None:
        os.write(self._descriptor, (json.dumps([message.title, message.body]) + "\n").encode())


class Point(NamedTuple):
    """The `nth` call of a function, before or after which the process ends."""

    owner: Any
    name: str
    when: str
    nth: int


POINTS: Final = {
    "opening, before the database": Point(ClickHouseStore, "migrate", "before", 1),
    "in a migration": Point(clickhouse._Schema, "run", "after", 6),
    "migration taken, not noted": Point(clickhouse._Schema, "record", "before", 3),
    "opened": Point(ClickHouseStore, "migrate", "after", 1),
    "claimed": Point(Reconstructor, "claim", "after", 1),
    "configurations decided": Point(Reconstructor, "to_publish", "after", 1),
    "configurations in the log": Point(EmbeddedPipeline, "_decide", "after", 1),
    "before an append": Point(SqliteLog, "append", "before", 6),
    "in an append": Point(sqlite_tables, "append", "after", 9),
    "after an append": Point(SqliteLog, "append", "after", 6),
    "folded, not committed": Point(Reconstructor, "_commit", "before", 6),
    "snapshot half written": Point(sqlite_tables, "save_states", "after", 5),
    "in the commit": Point(sqlite_tables, "save_positions", "after", 9),
    "committed": Point(Reconstructor, "_commit", "after", 6),
    "before a snapshot": Point(TableFolds, "save", "before", 4),
    "before rows are stored": Point(ClickHouseStore, "insert", "before", 5),
    "rows stored, position not": Point(ClickHouseStore, "insert", "after", 5),
    "position of rows": Point(SqliteLog, "commit_position", "after", 5),
    "before alerts are queued": Point(Intake, "accept", "before", 1),
    "alerts queued, position not": Point(Intake, "accept", "after", 1),
    "before a message": Point(FileTransport, "send", "before", 2),
    "message sent, not noted": Point(FileTransport, "send", "after", 2),
    "message noted": Point(Sender, "settle", "after", 3),
    "gaps given up": Point(Reconstructor, "waiting", "after", 1),
    "before the folds are saved": Point(Reconstructor, "save_all", "before", 1),
    "one fold saved": Point(TableFolds, "save", "after", 1),
    "folds saved": Point(Reconstructor, "save_all", "after", 1),
    "before the store is closed": Point(ClickHouseStore, "close", "before", 1),
    "before the log is closed": Point(SqliteLog, "close", "before", 1),
    "before the log is started over": Point(SqliteLog, "start_over", "before", 1),
    "in starting over": Point(sqlite_tables, "start_over", "after", 1),
    "log started over, store there": Point(SqliteLog, "start_over", "after", 1),
    "store half gone": Point(shutil, "rmtree", "after", 2),
    "store gone": Point(data_directory, "begin_replay", "after", 1),
    "replay folded, not committed": Point(Reconstructor, "_commit", "before", 4),
    "replay stored, position not": Point(ClickHouseStore, "insert", "after", 3),
    "before the replay ends": Point(data_directory, "end_replay", "before", 1),
    "replay told, not ended": Point(SqliteLog, "forget_state", "before", 1),
    "replay ended": Point(data_directory, "end_replay", "after", 1),
}


Say = Callable[[str], None]
"""Tells the test of a step, at once."""


def die_at(point: Point) -> None:
    """Have the point's call end this process."""
    genuine: Callable[..., object] = getattr(point.owner, point.name)
    calls = 0

    def dying(*arguments: object, **keywords: object) -> object:
        nonlocal calls
        calls += 1
        last = calls == point.nth
        if last and point.when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        result = genuine(*arguments, **keywords)
        if last:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(point.owner, point.name, dying)


class Floor:
    """The crash floor's pipeline in one directory, and the clock it goes by."""

    def __init__(self, directory: Path, say: Say) -> None:
        self.directory = directory
        self._say = say
        self.settings = settings(directory)
        self.clock = FloorClock()
        self._decided = FloorClock()
        transport = FileTransport(directory.with_name(SENT))
        self.pipeline = EmbeddedPipeline(
            self.settings,
            live=True,
            transport=transport,
            clock=self._decided,
            on_facts=lambda facts: say(f"folded, {len(facts)} facts"),
        )

    def feed(self) -> None:
        """Append what the log lacks, a little at a time, as the tables would after a restart; then stop."""
        with self.pipeline as pipeline:
            pipeline.log._clock = self.clock
            self.clock.set_to(pipeline.log.end(TABLE_EVENTS, 0))
            pipeline.start()
            pipeline.configured.wait()
            sent = messages()
            for start in range(max(0, pipeline.log.end(TABLE_EVENTS, 0) - TABLES), len(sent), EVENTS_PER_APPEND):
                self.clock.set_to(TABLES + start)
                pipeline.log.append(TABLE_EVENTS, sent[start : start + EVENTS_PER_APPEND])
                self._say("appended")
                if start // EVENTS_PER_APPEND % 12 == 11:
                    pipeline.drain()
                    self._say("drained")
            self.clock.set_to(TABLES + len(sent))
            self._decided.set_to(TABLES + len(sent))
            pipeline.finish_input()
            pipeline.stop()
            assert pipeline.notifier is not None
            while pipeline.notifier.step():
                self._say("told")

    def replay(self) -> None:
        """Work everything out again, as `pitwatch replay` does."""
        with lock_data_directory(self.directory):
            data_directory.begin_replay(self.directory)
        with EmbeddedPipeline(self.settings, replaying=True) as pipeline:
            pipeline.start()
            pipeline.drain()
            data_directory.end_replay(pipeline.log)

    def write_outcome(self) -> None:
        """Write down every fact in the log and every row in the store, and in what they differ."""
        fold = FoldSettings(self.settings.pipeline.gap_limit_ms, self.settings.pipeline.revision_rounds)
        with EmbeddedPipeline(self.settings) as pipeline:
            log, store = pipeline.log, pipeline.store
            tables = {record.key for record in log.read(TABLE_EVENTS, 0, 0, 1_000_000)}
            outcome = {
                "log": {topic: contents(log, topic) for topic in (TABLE_EVENTS, *FACT_TOPICS.values())},
                "store": {view: rows(store, view) for view in VIEWS.values()},
                "differences": [
                    str(found)
                    for table_id in sorted(tables)
                    for found in compare(fold_table(log, table_id, fold), stored_facts(store, table_id))
                ],
                "behind": pipeline.reconstructor.behind() + pipeline.sink.behind(),
            }
        self.directory.with_name(OUTPUT).write_text(json.dumps(outcome))


def contents(log: SqliteLog, topic: str) -> list[str]:
    """Return a topic's records in order, without what depends on when they were written."""
    return [f"{record.key} {record.value!r}" for record in log.read(topic, 0, 0, 1_000_000)]


def rows(store: ClickHouseStore, view: str) -> list[str]:
    """Return the rows that stand, tombstones included."""
    found = store.query(f"SELECT * FROM {view}_versions FINAL ORDER BY ALL")
    return found.decode().splitlines()


def work(what: str, directory: Path, point: str, output: Connection) -> None:
    """Feed the floor, ``finish`` it by writing down all that came of it as well, or ``replay`` it."""
    turn = threading.Lock()

    def say(step: str) -> None:
        with turn:
            output.send(step)

    floor = Floor(directory, say)
    if point:
        die_at(POINTS[point])
    if what == "replay":
        floor.replay()
    else:
        floor.feed()
    if what == "finish":
        floor.write_outcome()
