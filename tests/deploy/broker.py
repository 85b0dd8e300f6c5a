"""Kafka as docker-compose.yml runs it, outside Docker."""

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

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


class Broker:
    """A broker started by the container's own command, on ports of this machine."""

    def __init__(self, folder: Path, cluster_id: str = CLUSTER_ID) -> None:
        need_broker()
        self.service = SERVICES["kafka"]
        self.port, controller = free_ports(2)
        made = environment(self.service, cluster_id) | {
            "KAFKA_HOST": "127.0.0.1",
            "KAFKA_VOTERS": f"1@127.0.0.1:{controller}",
        }
        command = as_here(self.service.command[0], folder, (self.port, controller))
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
    """Run a broker for the length of a ``with`` block, which begins once its health check says that it is well."""
    broker = Broker(folder, cluster_id)
    try:
        assert not broker.healthy()
        deadline = time.monotonic() + START_SECONDS
        while not broker.healthy() and time.monotonic() < deadline:
            assert broker.process.poll() is None
            time.sleep(0.2)
        yield broker
    finally:
        broker.end()
