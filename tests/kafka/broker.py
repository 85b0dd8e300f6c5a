"""A real Apache Kafka for the tests: one broker or a cluster of some, each a Java process in KRaft mode."""

import base64
import contextlib
import logging
import secrets
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, Self

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from schemas.log import MAX_MESSAGE_BYTES
from tests.kafka.jars import kafka_jars

START_SECONDS = 120
"""How long a cluster may take to start; a slow machine with cold disks needs a few of them."""

STOP_SECONDS = 30
PARTITIONS = 3

USERS = ("admin", "gateway", "reconstruct", "sink", "faust", "notifier")
"""Users of the SASL listener; each one's password is its name with ``-secret`` behind it."""

# Small and quick to start: it serves one test session.
_JAVA = ("java", "-Xms64m", "-Xmx320m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp")

DIES_WITH_US = ("setpriv", "--pdeathsig", "KILL") if shutil.which("setpriv") else ()
"""Before a command: the kernel ends it with the thread that started it, so that a killed test leaves nothing behind."""

silent = logging.getLogger("tests.kafka.librdkafka")
silent.addHandler(logging.NullHandler())
silent.propagate = False


class BrokerDidNotStart(Exception):
    """Raised for a broker that doesn't answer in time or whose process ended; the message has its log's last lines."""


class Listener(NamedTuple):
    """A door of the brokers, each on a port of its own, and what is spoken there."""

    name: str
    protocol: str


PLAIN = Listener("PLAINTEXT", "PLAINTEXT")
SASL = Listener("SASL", "SASL_PLAINTEXT")
CONTROLLER = Listener("CONTROLLER", "PLAINTEXT")
LISTENERS = (PLAIN, SASL, CONTROLLER)
"""The doors that every broker has."""


class Broker:
    """One node: controller and broker in one process. Its data stay in `folder` while it is down.

    `further` settings come on top of those that every broker has.
    """

    def __init__(
        self, folder: Path, node_id: int, ports: Mapping[Listener, int], further: Mapping[str, object]
    ) -> None:
        self.folder = folder
        self.node_id = node_id
        self.ports = ports
        self._further = further
        self._process: subprocess.Popen[bytes] | None = None

    def format(self, cluster_id: str, nodes: list["Broker"], *arguments: str) -> None:
        """Write the node's configuration and prepare its folder of data."""
        self.folder.mkdir(parents=True)
        settings = {**self._settings(nodes), **self._further}
        (self.folder / "broker.properties").write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
        # In one argument: a random identity may begin with a hyphen.
        arguments = (f"--cluster-id={cluster_id}", f"--config={self.folder / 'broker.properties'}", *arguments)
        if self._run("kafka.tools.StorageTool", "format", *arguments).wait(START_SECONDS):
            raise BrokerDidNotStart(f"broker {self.node_id} could not be prepared:\n{self.last_lines()}")

    def start(self) -> None:
        """Start the process; it takes some seconds to answer."""
        self._process = self._run("kafka.Kafka", str(self.folder / "broker.properties"))

    def stop(self) -> None:
        """Shut the broker down as an administrator does."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """End the process at once, as a lost machine does."""
        self._end(signal.SIGKILL)

    def freeze(self) -> None:
        """Stop the process where it is: it keeps its connections and answers nobody."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let a frozen process go on."""
        self._signal(signal.SIGCONT)

    def is_running(self) -> bool:
        """Tell whether the process is there, frozen or not."""
        return self._process is not None and self._process.poll() is None

    def check(self) -> None:
        """Raise `BrokerDidNotStart` where the process has ended."""
        if self._process is not None and self._process.poll() is not None:
            raise BrokerDidNotStart(f"broker {self.node_id} ended:\n{self.last_lines()}")

    def last_lines(self) -> str:
        """Return the end of the broker's log."""
        return "\n".join((self.folder / "broker.log").read_text(errors="replace").splitlines()[-20:])

    def address(self, listener: Listener) -> str:
        """Return where it listens."""
        return f"127.0.0.1:{self.ports[listener]}"

    def _run(self, tool: str, *arguments: str) -> subprocess.Popen[bytes]:
        with (self.folder / "broker.log").open("ab") as log:
            command = (*DIES_WITH_US, *_JAVA, f"{kafka_jars()}/*", tool, *arguments)
            return subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL)

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(number)

    def _end(self, number: signal.Signals) -> None:
        if self._process is not None:
            self._signal(number)
            try:
                self._process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait(STOP_SECONDS)
            self._process = None

    def _settings(self, nodes: list["Broker"]) -> dict[str, object]:
        copies = len(nodes)
        users = " ".join(f'user_{user}="{user}-secret"' for user in USERS)
        login = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="x" password="x"'
        return {
            "process.roles": "broker,controller",
            "node.id": self.node_id,
            "controller.quorum.voters": ",".join(f"{node.node_id}@{node.address(CONTROLLER)}" for node in nodes),
            "listeners": ",".join(f"{listener.name}://{self.address(listener)}" for listener in self.ports),
            "listener.security.protocol.map": ",".join(f"{name}:{protocol}" for name, protocol in self.ports),
            "controller.listener.names": CONTROLLER.name,
            "inter.broker.listener.name": PLAIN.name,
            "sasl.enabled.mechanisms": "PLAIN",
            "listener.name.sasl.plain.sasl.jaas.config": f"{login} {users};",
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "super.users": "User:ANONYMOUS;User:admin",
            "log.dirs": self.folder / "data",
            "auto.create.topics.enable": "false",
            "num.partitions": PARTITIONS,
            "default.replication.factor": copies,
            "min.insync.replicas": min(copies, 2),
            "log.message.timestamp.type": "LogAppendTime",
            "message.max.bytes": 2 * MAX_MESSAGE_BYTES,
            "offsets.topic.num.partitions": PARTITIONS,
            "offsets.topic.replication.factor": copies,
            "transaction.state.log.num.partitions": PARTITIONS,
            "transaction.state.log.replication.factor": copies,
            "transaction.state.log.min.isr": min(copies, 2),
            "transaction.abort.timed.out.transaction.cleanup.interval.ms": 500,
            # A worker that stalls must be given up within a test's patience.
            "group.min.session.timeout.ms": 500,
            "group.initial.rebalance.delay.ms": 0,
            "broker.heartbeat.interval.ms": 500,
            "broker.session.timeout.ms": 4_000 if copies > 1 else 9_000,
            "log.cleaner.dedupe.buffer.size": 16 * 2**20,
            "num.network.threads": 2,
            "num.io.threads": 2,
            "background.threads": 2,
        }


class Cluster:
    """Some brokers that belong together. Use it as a context: it starts on entering and stops on leaving."""

    def __init__(
        self,
        folder: Path,
        size: int = 1,
        further: tuple[Listener, ...] = (),
        settings: Mapping[str, object] = MappingProxyType({}),
    ) -> None:
        listeners = (*LISTENERS, *further)
        ports = free_ports(len(listeners) * size)
        self.brokers = [
            Broker(folder / f"broker-{number}", number, {listener: ports.pop() for listener in listeners}, settings)
            for number in range(1, size + 1)
        ]
        self.bootstrap = self.addresses(PLAIN)
        self.sasl_bootstrap = self.addresses(SASL)

    def __enter__(self) -> Self:
        cluster_id = base64.urlsafe_b64encode(secrets.token_bytes(16)).decode().rstrip("=")
        try:
            for broker in self.brokers:
                self.format(broker, cluster_id)
            for broker in self.brokers:
                broker.start()
            self.wait_for(len(self.brokers))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for broker in self.brokers:
            broker.thaw()
            broker.kill()

    def format(self, broker: Broker, cluster_id: str) -> None:
        """Prepare a broker for its first start."""
        broker.format(cluster_id, self.brokers)

    def addresses(self, listener: Listener) -> str:
        """Return where the brokers listen, as clients are told."""
        return ",".join(broker.address(listener) for broker in self.brokers)

    def wait_for(self, brokers: int) -> None:
        """Block until the cluster's metadata name that many brokers. Raises `BrokerDidNotStart`."""
        admin = AdminClient({"bootstrap.servers": self.bootstrap}, logger=silent)
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            with contextlib.suppress(KafkaException):
                if len(admin.list_topics(timeout=1).brokers) == brokers:
                    return
            for broker in self.brokers:
                broker.check()
            time.sleep(0.1)
        raise BrokerDidNotStart(f"no answer in {START_SECONDS} s:\n{self.brokers[0].last_lines()}")


def is_heard(address: str) -> bool:
    """Tell whether somebody listens at an address."""
    host, _, port = address.rpartition(":")
    with socket.socket() as caller:
        return caller.connect_ex((host, int(port))) == 0


def free_ports(count: int) -> list[int]:
    """Return ports of the loopback that nobody listens on now, each another one."""
    with contextlib.ExitStack() as held:
        return [port for _ in range(count) for port in _held_port(held)]


def _held_port(held: contextlib.ExitStack) -> Iterator[int]:
    listener = held.enter_context(socket.socket())
    listener.bind(("127.0.0.1", 0))
    yield listener.getsockname()[1]
