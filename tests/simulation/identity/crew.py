"""The workers and sinks of one way through Kafka, its brokers, and who of them has which partitions."""

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from random import Random
from typing import NamedTuple

import httpx

from processors.logs.kafka import KafkaLog
from processors.logs.kafka_clients import Clients
from processors.logs.kafka_groups import members
from processors.reconstructor import GROUP
from processors.store.sink import TOPICS
from schemas.log import LogUnavailable
from schemas.topics import TABLE_EVENTS
from tests.kafka.broker import Cluster
from tests.kafka.programs import PATIENCE_SECONDS, Program, running

PARTITIONS = 4
"""Of each topic."""

SINKS_PARTITIONS = PARTITIONS * len(TOPICS)
"""How many the sinks have among them."""

Say = Callable[[str], None]


class Site(NamedTuple):
    """Where a crew works."""

    cluster: Cluster
    config: Path
    log: KafkaLog
    password: str
    sink_group: str


class Crew:
    """The workers and sinks of one way through Kafka, and its brokers."""

    def __init__(self, site: Site, rng: Random, say: Say) -> None:
        self.cluster = site.cluster
        self.log = site.log
        self.sink_group = site.sink_group
        self.say = say
        self.rng = rng
        self.workers: dict[str, Program] = {}
        self.sinks: dict[str, Program] = {}
        self._clients = Clients(site.cluster.bootstrap, {}, "looker", timeout_seconds=5)
        self._config = site.config
        self._password = site.password
        self._started = ExitStack()
        self._names = 0

    def __enter__(self) -> "Crew":
        return self

    def __exit__(self, *_: object) -> None:
        self._started.close()

    def add_worker(self, name: str = "") -> str:
        """Start a worker, under a new name or an old one."""
        return self._add(self.workers, "reconstruct", name)

    def add_sink(self, name: str = "") -> str:
        """Start a sink."""
        return self._add(self.sinks, "sink", name)

    def _add(self, programs: dict[str, Program], command: str, name: str) -> str:
        self._names += 1
        name = name or f"{command}-{self._names}"
        programs[name] = self._started.enter_context(
            running(command, "--config", self._config, PITWATCH_KAFKA__WORKER_ID=name, STORE_PASSWORD=self._password)
        )
        return name

    def stop(self) -> None:
        """End everybody as an administrator does."""
        programs = [*self.workers.values(), *self.sinks.values()]
        for program in programs:
            program.thaw()
            program.process.terminate()
        for program in programs:
            assert program.wait() == 0, program.logs

    def check(self) -> None:
        """Raise `AssertionError` where somebody ended who was not killed."""
        for name, program in (*self.workers.items(), *self.sinks.items()):
            assert program.process.poll() is None, f"{name} ended: {program.logs}"

    def folded(self) -> int:
        """Return how many records the workers have committed, as soon as the cluster can tell."""
        while True:
            self.check()
            try:
                return sum(self.log.position(GROUP, TABLE_EVENTS, one) for one in self.log.partitions(TABLE_EVENTS))
            except LogUnavailable:
                continue

    def gave_up(self, group: str, name: str) -> bool:
        """Tell whether a group goes on without a program of this name."""
        self.check()
        try:
            known = members(self._clients, group)
        except LogUnavailable:
            return False
        # While the group moves to another broker nobody is known to be in it.
        return bool(known) and not any(one.startswith(f"{name} (") for one in known)


def owned(worker: Program) -> set[int]:
    """Return the partitions that a worker has, as it said last."""
    moves = (entry for entry in reversed(worker.logs) if entry["event"] == "partitions_moved")
    return set(next(moves, {"owned": []})["owned"])


def share(sink: Program) -> int:
    """Return how many partitions a sink minds, as its metrics tell; for one that isn't frozen."""
    url = sink.told("running")["monitoring"]
    lines = httpx.get(f"{url}/metrics", timeout=PATIENCE_SECONDS).text.splitlines()
    return sum(line.startswith("pitwatch_sink_behind_records{") for line in lines)
