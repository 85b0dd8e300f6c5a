"""The services of docker-compose.yml that are ours, run outside Docker: command, environment and settings as written.

Only what Docker gives a container is given otherwise: names of hosts are addresses of this machine, ports are free
ones, files and volumes are in a folder, and each worker has a name, as containers have host names. Kafka is that of
tests/deploy/broker.py. In ClickHouse's place our own endpoint for SQL answers, with ClickHouse's engine and with
the users whose passwords .env has.
"""

import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from processors.serving import serving
from processors.sql.answers import Limits
from processors.sql.app import Endpoint
from processors.sql.users import User
from tests.conftest import REPOSITORY
from tests.deploy.broker import running_broker
from tests.deploy.compose import Service, environment, pitwatch_commands, read
from tests.kafka.broker import DIES_WITH_US, free_ports
from tests.kafka.programs import PATIENCE_SECONDS, Program

COMPOSE: Final = read()
OURS: Final = pitwatch_commands(COMPOSE)

SETTINGS: Final = REPOSITORY / "deploy" / "pitwatch.toml"
MOUNTED_SETTINGS: Final = "/etc/pitwatch/pitwatch.toml"
DATA: Final = "/var/lib/pitwatch"

USERS: Final = {"pitwatch": "WRITER", "analyst": "ANALYST"}
"""Users of ClickHouse, and what .env calls them."""

# What the image calls `pitwatch`, and the two variables that its Dockerfile sets.
PITWATCH: Final = (sys.executable, "-c", "from pitwatch.cli import main; main()")
IMAGES_OWN: Final = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1"}

_LOOK_SECONDS: Final = 0.1


class Addresses(NamedTuple):
    """Where the services' hosts are on this machine."""

    kafka: str
    """Of all brokers, for whoever asks for kafka finds them all."""

    clickhouse: int
    gateway: int


Files = Mapping[str, Mapping[str, str]]
"""Files of variables, by the name that docker-compose.yml has for them."""


class Running:
    """One container's process."""

    def __init__(
        self, name: str, service: Service, program: Program, monitoring: int, data: Path, printed: Path
    ) -> None:
        self.name = name
        self.service = service
        self.program = program
        self.data = data
        self.printed = printed
        self._monitoring = monitoring

    def health(self, addresses: Addresses) -> int:
        """Return the exit code of the container's health check."""
        return checked(self.service, {8600: addresses.gateway, 8601: self._monitoring})

    def ask_to_end(self) -> None:
        """Tell it to end, as Docker does."""
        self.program.process.terminate()

    def wait(self) -> int:
        """Return its exit code, once it has ended within the time after which Docker would kill it."""
        code = self.program.process.wait(int(self.service.stop_grace_period.removesuffix("s")))
        self.program.wait()
        return code


class Stack:
    """Everything that runs: the services of ours that go on, by name, one or more of each."""

    def __init__(
        self, folder: Path, made: Mapping[str, str], files: Files, addresses: Addresses, opened: ExitStack
    ) -> None:
        self.made = made
        self._files = files
        self.addresses = addresses
        self.ended: dict[str, int] = {}
        self.running: dict[str, list[Running]] = {}
        self._folder = folder
        self._opened = opened
        self._runs = 0

    def start(self) -> None:
        """Start every service of ours, each once what it waits for is there."""
        left = dict(OURS)
        while left:
            ready = [name for name in left if not left.keys() & COMPOSE.services[name].depends_on.keys()]
            assert ready, f"{sorted(left)} wait for each other"
            for name in ready:
                self._await_needed(COMPOSE.services[name])
                self.start_one(name)
                del left[name]

    def run(self, name: str, *command: str) -> Running:
        """Run a service once to its end, with another command than its own; return what ran."""
        self._runs += 1
        service = COMPOSE.services[name].model_copy(update={"command": list(command)})
        ran = self._process(f"{name}-run-{self._runs}", service)
        ran.program.wait()
        return ran

    def start_one(self, name: str) -> None:
        """Start one service, without those that it waits for; a job is to end well."""
        self._start(name, COMPOSE.services[name])

    def is_well(self, name: str) -> bool:
        """Tell whether all of a service's containers are, as their health checks say."""
        return all(one.health(self.addresses) == 0 for one in self.running[name])

    def stop(self) -> dict[str, list[int]]:
        """Tell everything to end; return the exit codes."""
        everything = [one for some in self.running.values() for one in some]
        for one in everything:
            one.ask_to_end()
        return {name: [one.wait() for one in some] for name, some in self.running.items()}

    def _await_needed(self, service: Service) -> None:
        for needed, dependency in service.depends_on.items():
            if needed in self.running and dependency.condition == "service_healthy":
                wait_until(lambda name=needed: self.is_well(name))  # type: ignore[misc]  # mypy infers no default

    def _start(self, name: str, service: Service) -> None:
        copies = service.deploy.replicas if service.deploy else 1
        some = [self._process(f"{name}-{number}", service) for number in range(1, copies + 1)]
        if service.is_job:
            (job,) = some
            self.ended[name] = job.program.wait()
            assert self.ended[name] == 0, job.program.logs
        else:
            self.running[name] = some

    def _process(self, name: str, service: Service) -> Running:
        (monitoring,) = free_ports(1)
        data = self._folder / name
        data.mkdir()
        here = {
            MOUNTED_SETTINGS: str(self._settings(name, data, monitoring)),
            "http://gateway:8600": f"http://127.0.0.1:{self.addresses.gateway}",
            f"{DATA}/": f"{data}/",
        }
        printed = self._folder / f"{name}.out"
        with printed.open("wb") as out:
            process = subprocess.Popen(
                [*DIES_WITH_US, *PITWATCH, *(replaced(part, here) for part in service.command)],
                # Of this process' own environment nothing but where programs are found.
                env={
                    "PATH": os.environ["PATH"],
                    "PYTHONPATH": str(REPOSITORY),
                    "PITWATCH_KAFKA__WORKER_ID": name,
                    **IMAGES_OWN,
                    **{name: value for file in service.env_file for name, value in self._files[file.path].items()},
                    **environment(service, self.made),
                },
                cwd=data,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.PIPE,
                text=True,
            )
        assert process.stderr is not None
        program = Program(process)
        self._opened.callback(process.stderr.close)
        self._opened.callback(program.kill)
        return Running(name, service, program, monitoring, data, printed)

    def _settings(self, name: str, data: Path, monitoring: int) -> Path:
        """Write the settings that the container mounts, with the addresses of this machine; return the file."""
        text = SETTINGS.read_text()
        for there, here in {
            "kafka:9092": self.addresses.kafka,
            "http://clickhouse:8123": f"http://127.0.0.1:{self.addresses.clickhouse}",
            "port = 8600": f"port = {self.addresses.gateway}",
            "port = 8601": f"port = {monitoring}",
            f'"{DATA}"': f'"{data}"',
            '"0.0.0.0"': '"127.0.0.1"',
        }.items():
            assert there in text, there
            text = text.replace(there, here)
        file = self._folder / f"{name}.toml"
        file.write_text(text)
        return file


def replaced(part: str, here: Mapping[str, str]) -> str:
    """Return a part of a command with whatever it begins with of `here` replaced."""
    for there, other in here.items():
        if part.startswith(there):
            return other + part.removeprefix(there)
    return part


def checked(service: Service, ports: Mapping[int, int]) -> int:
    """Run a container's health check as it is written, but for the ports; return its exit code."""
    assert service.healthcheck is not None
    word, *command = service.healthcheck.test
    assert word == "CMD"
    here = [replaced_port(part, ports) for part in command]
    if here[0] == "python":
        here[:2] = [sys.executable, here[1].replace("/opt/pitwatch/", f"{REPOSITORY / 'deploy'}/")]
    need_program(here[0])
    return subprocess.run(here, check=False, capture_output=True, timeout=PATIENCE_SECONDS).returncode


def need_program(name: str) -> None:
    """Skip the test, or fail it in CI, where this machine lacks a program that an image has."""
    if shutil.which(name) is None:
        if os.environ.get("CI", "").lower() in {"1", "true"}:
            raise FileNotFoundError(f"{name} is not installed here")
        pytest.skip(f"{name} is not installed here")


def replaced_port(part: str, ports: Mapping[int, int]) -> str:
    """Return an address of this container with the port that it has here."""
    for there, here in ports.items():
        part = part.replace(f"127.0.0.1:{there}/", f"127.0.0.1:{here}/")
    return part


def wait_until(holds: Callable[[], bool]) -> None:
    """Block until something holds."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        assert time.monotonic() < deadline, "it never came about"
        threading.Event().wait(_LOOK_SECONDS)


@contextmanager
def clickhouse(folder: Path, made: Mapping[str, str], port: int) -> Iterator[None]:
    """Answer as ClickHouse does for the length of a ``with`` block, to the users of .env."""
    users = [User(name, made[f"CLICKHOUSE_{key}_SHA256"], writes=name == "pitwatch") for name, key in USERS.items()]
    endpoint = Endpoint(folder, users, Limits("default", 30, 2**26), 8)
    with closing(endpoint), serving(endpoint.app, "127.0.0.1", port, "clickhouse"):
        yield


@contextmanager
def running_stack(folder: Path, made: Mapping[str, str], files: Files) -> Iterator[Stack]:
    """Run the whole floor of the profiles single and simulator for the length of a ``with`` block.

    `made` is what .env says, and `files` what the files say that some services' variables come from.
    """
    store_port, gateway_port = free_ports(2)
    with ExitStack() as opened:
        for name in ("kafka", "services"):
            (folder / name).mkdir()
        broker = opened.enter_context(running_broker(folder / "kafka", made["KAFKA_CLUSTER_ID"]))
        opened.enter_context(clickhouse(folder / "clickhouse", made, store_port))
        stack = Stack(
            folder / "services", made, files, Addresses(f"127.0.0.1:{broker.port}", store_port, gateway_port), opened
        )
        stack.start()
        yield stack
