"""Faust workers as processes, and a cluster whose topics and rights they find."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Event
from typing import Any
from uuid import uuid4

import httpx

from processors.acls import create_acls, grants
from processors.app import CONFIG_VARIABLE
from processors.logs.kafka import KafkaLog
from processors.logs.kafka_clients import Clients
from processors.settings import KafkaSettings
from processors.topics import create_topics, layouts
from schemas.log import Record
from tests.conftest import REPOSITORY
from tests.contract.reading import PATIENCE_SECONDS, all_records
from tests.kafka.broker import DIES_WITH_US, Cluster

PARTITIONS = 2
SESSION_MS = 3_000
"""After so long a killed worker's partitions go to another."""

PITWATCH = ("-c", "from pitwatch.cli import main; main()", "worker", "--config")
RECONSTRUCT = (*PITWATCH[:2], "reconstruct", "--config")
FAUST = ("-m", "faust", "-A", "processors.app", "worker")


def prepare(cluster: Cluster) -> None:
    """Make the topics, and let users called faust and reconstruct do their work and nothing else."""
    clients = Clients(cluster.bootstrap, {}, "tests", 30)
    create_topics(clients, layouts(KafkaSettings(partitions=PARTITIONS, replication_factor=1), None))
    create_acls(clients, list(grants({role: f"User:{role}" for role in ("faust", "reconstruct")})))


@contextmanager
def opened_log(cluster: Cluster) -> Iterator[KafkaLog]:
    """Open a log that may do everything."""
    with closing(KafkaLog(cluster.bootstrap, worker_id=uuid4().hex)) as log:
        yield log


def write_config(
    folder: Path,
    cluster: Cluster,
    further: str = "",
    *,
    user: str = "faust",
    timeout_seconds: int = 10,
    stalled_after_seconds: int = 60,
) -> Path:
    """Write the settings of a worker that logs in as `user`; its data are in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    config = folder / "pitwatch.toml"
    config.write_text(f"""
data_directory = "{folder / "data"}"

[kafka]
bootstrap = "{cluster.sasl_bootstrap}"
worker_id = "{folder.name}"
timeout_seconds = {timeout_seconds}

[kafka.properties]
"security.protocol" = "SASL_PLAINTEXT"
"sasl.mechanism" = "PLAIN"
"sasl.username" = "{user}"
"sasl.password" = "${{USERS_PASSWORD}}"
"session.timeout.ms" = "{SESSION_MS}"
"heartbeat.interval.ms" = "500"

[monitoring]
port = 0
stalled_after_seconds = {stalled_after_seconds}

{further}
""")
    return config


class WorkerProcess:
    """A worker in a process of its own, and what it shows of itself."""

    def __init__(self, config: Path, program: Sequence[str] = PITWATCH) -> None:
        self._log = config.parent / f"{uuid4().hex}.log"
        arguments = [*program] if program == FAUST else [*program, str(config)]
        environment = {
            **os.environ,
            "PYTHONPATH": str(REPOSITORY),
            "USERS_PASSWORD": "reconstruct-secret" if program == RECONSTRUCT else "faust-secret",
            CONFIG_VARIABLE: str(config),
        }
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                [*DIES_WITH_US, sys.executable, *arguments],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        self._url = ""

    def __enter__(self) -> "WorkerProcess":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait(PATIENCE_SECONDS)

    def told(self, event: str) -> list[dict[str, Any]]:
        """What the worker logged so far under this name."""
        lines = self._log.read_text(errors="replace").splitlines()
        logged = [json.loads(line) for line in lines if line.startswith("{") and line.endswith("}")]
        return [entry for entry in logged if entry.get("event") == event]

    def get(self, path: str) -> httpx.Response:
        """Ask one of the worker's pages."""
        if not self._url:
            self.wait_for(lambda: bool(self.told("running")))
            self._url = self.told("running")[0]["monitoring"]
        return httpx.get(self._url + path, timeout=30)

    def window(self, minutes: int = 60) -> dict[str, Any]:
        """The window of that length, once what lay in the log was read."""
        page: dict[str, Any] = {}

        def complete() -> bool:
            nonlocal page
            page = self.get("/windows").json()
            return bool(page["complete"] and page["partitions"])

        self.wait_for(complete)
        (found,) = [window for window in page["windows"] if window["minutes"] == minutes]
        return dict(found)

    def wait_for(self, holds: Callable[[], bool], what: str = "it") -> None:
        """Block until something holds. Raises `AssertionError` where it never does, or the worker ends before."""
        for _ in range(PATIENCE_SECONDS * 10):
            if holds():
                return
            assert self.process.poll() is None, f"the worker ended: {self.last_lines()}"
            Event().wait(0.1)
        raise AssertionError(f"{what} never came about: {self.last_lines()}")

    def last_lines(self) -> str:
        """The end of the worker's log."""
        return "\n".join(self._log.read_text(errors="replace").splitlines()[-25:])

    def kill(self) -> None:
        """End the process as a lost machine does."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(PATIENCE_SECONDS)

    def stop(self) -> int:
        """Ask the process to end; return its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE_SECONDS)


def records_of(log: KafkaLog, topic: str) -> list[Record]:
    """Return every record of a topic."""
    return all_records(log, topic)
