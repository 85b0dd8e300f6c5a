"""Kafka as docker-compose.yml runs it, outside Docker."""

import os
import re
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.conftest import REPOSITORY
from tests.deploy.compose import Service, read
from tests.kafka.broker import DIES_WITH_US, free_ports
from tests.kafka.fixtures import need_broker
from tests.kafka.jars import kafka_jars

SERVICES = read().services
BROKERS = sorted(name for name in SERVICES if name.startswith("kafka"))
PROPERTIES = REPOSITORY / "deploy" / "kafka" / "server.properties"

CLUSTER_ID = "JsZzUZ7HQ5iu5nTnGdJ3tA"
START_SECONDS = 120

# The image's scripts do this, and set up logging and memory besides.
SCRIPTS = {"kafka-storage.sh": "kafka.tools.StorageTool", "kafka-server-start.sh": "kafka.Kafka"}


def environment(service: Service, cluster_id: str = CLUSTER_ID) -> dict[str, str]:
    """Return a broker's environment, with a cluster id where the file asks for one."""
    made = {name: value or "" for name, value in service.environment.items()}
    return os.environ | made | {"KAFKA_CLUSTER_ID": cluster_id}


def as_here(command: str, folder: Path, ports: tuple[int, int] = (9092, 9093)) -> str:
    """Return a container's command with its files in `folder`, and Java in place of the image's scripts."""
    places = {"/var/lib/kafka/data": str(folder / "data"), "0.0.0.0:": "127.0.0.1:"}
    text = PROPERTIES.read_text()
    for there, here in places.items():
        assert there in text
        text = text.replace(there, here)
    for usual, port in zip((9092, 9093), ports, strict=True):
        text = text.replace(f":{usual}", f":{port}")
    (folder / "server.properties").write_text(text)
    for script, tool in SCRIPTS.items():
        command = command.replace(f"/opt/kafka/bin/{script}", f'java -Xmx320m -cp "{kafka_jars()}/*" {tool}')
    return command.replace("/etc/pitwatch/server.properties", str(folder / "server.properties")).replace("$$", "$")


class Ports(NamedTuple):
    """Where a broker is on this machine: for clients, and as a controller."""

    clients: int
    controller: int


Places = Mapping[str, Ports]
"""The brokers of one cluster, by the names of their containers."""


class Broker:
    """One of the brokers of `cluster`, started by the container's own command, on ports of this machine."""

    def __init__(self, folder: Path, name: str, cluster: Places, cluster_id: str) -> None:
        self.service = SERVICES[name]
        self.port = cluster[name].clients
        asked = environment(self.service, cluster_id)
        voters = re.sub(
            r"([a-z0-9-]+):9093", lambda found: f"127.0.0.1:{cluster[found[1]].controller}", asked["KAFKA_VOTERS"]
        )
        made = asked | {"KAFKA_HOST": "127.0.0.1", "KAFKA_VOTERS": voters}
        command = as_here(self.service.command[0], folder, cluster[name])
        self._log = (folder / "log").open("wb")
        self.process = subprocess.Popen(
            [*DIES_WITH_US, "bash", "-c", command], env=made, stdout=self._log, stderr=self._log
        )

    def healthy(self) -> bool:
        """Tell what the container's health check says."""
        check = self.service.healthcheck
        assert check is not None
        assert check.test[0] == "CMD"
        here = [part.replace("/9092", f"/{self.port}") for part in check.test[1:]]
        return subprocess.run(here, check=False, stderr=subprocess.DEVNULL).returncode == 0

    def wait_until_healthy(self) -> None:
        """Block until the health check says that it is well."""
        deadline = time.monotonic() + START_SECONDS
        while not self.healthy():
            assert self.process.poll() is None
            assert time.monotonic() < deadline, f"{self.service.environment['KAFKA_HOST']} never got well"
            time.sleep(0.2)

    def stop(self) -> int:
        """Stop it as Docker does; return its exit code."""
        self.process.terminate()
        return self.process.wait(START_SECONDS)

    def end(self) -> None:
        """Leave nothing behind, whatever state it is in."""
        self.process.kill()
        self.process.wait(START_SECONDS)
        self._log.close()


@contextmanager
def running_broker(folder: Path, cluster_id: str = CLUSTER_ID) -> Iterator[Broker]:
    """Run the broker of the profile single for the length of a ``with`` block, which begins once it is well."""
    with running_brokers(folder, ["kafka"], cluster_id) as (broker,):
        yield broker


@contextmanager
def running_brokers(folder: Path, names: Sequence[str], cluster_id: str) -> Iterator[list[Broker]]:
    """Run the brokers of one cluster for the length of a ``with`` block.

    It begins once the health check of each says that it is well.
    """
    need_broker()
    ports = iter(free_ports(2 * len(names)))
    cluster = {name: Ports(next(ports), next(ports)) for name in names}
    with ExitStack() as opened:
        brokers = []
        for name in names:
            (folder / name).mkdir()
            brokers.append(Broker(folder / name, name, cluster, cluster_id))
            opened.callback(brokers[-1].end)
            assert not brokers[-1].healthy()
        for broker in brokers:
            broker.wait_until_healthy()
        yield brokers
