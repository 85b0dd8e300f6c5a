"""The configuration of a cluster's replicas and of their keeper, as ClickHouse's engine reads it.

The engine has no keeper in it, and no port for other replicas. But it has a keeper's client, which goes where the
files say, and it opens the connections of Distributed tables: to a listener of ours, which notes what it hears.
"""

import re
import socket
import struct
import threading
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from deploy.make_env import complete
from tests.conftest import REPOSITORY
from tests.deploy.compose import read
from tests.deploy.engine import asked_of
from tests.deploy.engine_server import configure
from tests.deploy.test_make_env import values_of

FOLDER = REPOSITORY / "deploy" / "clickhouse"
CLUSTER = (FOLDER / "cluster.xml").read_text()
KEEPER = (FOLDER / "keeper.xml").read_text()
REPLICAS = ("clickhouse-1", "clickhouse-2")
SECRET = "5f4dcc3b5aa765d61d8327deb882cf99"

# With an identity of its own, as ON CLUSTER gives it one: the path in the keeper consists of that.
REPLICATED = (
    "CREATE TABLE default.replicated UUID '61f0c404-5cb3-11e7-907b-a6006ad3dba1' (a Int8)"
    " ENGINE = ReplicatedMergeTree ORDER BY a"
)

CONNECT = struct.Struct(">iiqi")
"""How a keeper's client begins: length, version of the protocol, last transaction seen, and the session's time."""


def asked(folder: Path, *statements: str, host: str = REPLICAS[0]) -> list[object]:
    """Return what becomes of statements in an engine with the configuration in `folder`, as the replica `host`."""
    environment = {"CLICKHOUSE_HOST": host, "CLICKHOUSE_CLUSTER_SECRET": SECRET}
    return asked_of("tests.deploy.engine_server", folder, statements=statements, environment=environment)


class Listener:
    """Takes connections, notes how each begins, and closes it."""

    def __init__(self) -> None:
        self.heard: list[bytes] = []
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._listen)
        self._thread.start()

    def _listen(self) -> None:
        while True:
            connection, _ = self._socket.accept()
            with connection, suppress(OSError):
                if self._closing.is_set():
                    return
                if beginning := connection.recv(4096):
                    self.heard.append(beginning)

    def close(self) -> None:
        """Let the thread end, which one more connection wakes."""
        self._closing.set()
        socket.create_connection(("127.0.0.1", self.port)).close()
        self._thread.join()
        self._socket.close()


@pytest.fixture
def listener() -> Iterator[Listener]:
    with closing(Listener()) as listener:
        yield listener


def changed(text: str, *changes: tuple[str, str]) -> str:
    for there, here in changes:
        assert there in text, there
        text = text.replace(there, here)
    return text


@pytest.mark.parametrize("host", REPLICAS)
def test_replica_knows_itself_and_the_other(tmp_path: Path, host: str) -> None:
    """What a server had of clusters before is replaced; nobody need be there for that."""
    configure(tmp_path / "server", cluster=CLUSTER)
    settings = ("default_replica_name", "default_replica_path", "distributed_ddl.path", "interserver_http_host")
    clusters, macros, found = asked(
        tmp_path / "server",
        "SELECT cluster, shard_num, internal_replication, replica_num, host_name, port FROM system.clusters",
        "SELECT macro, substitution FROM system.macros ORDER BY macro",
        f"SELECT name, value FROM system.server_settings WHERE name IN {settings} ORDER BY name",
        host=host,
    )
    assert clusters == [["pitwatch", 1, 1, number, name, 9000] for number, name in enumerate(REPLICAS, start=1)]
    assert macros == [["replica", host], ["shard", "1"]]
    assert found == [
        ["default_replica_name", "{replica}"],
        ["default_replica_path", "/clickhouse/tables/{uuid}/{shard}"],
        ["distributed_ddl.path", "/clickhouse/pitwatch/ddl"],
        ["interserver_http_host", host],
    ]


def test_replicas_have_the_names_of_their_containers() -> None:
    services = read().services
    for name in REPLICAS:
        assert services[name].environment["CLICKHOUSE_HOST"] == name
    assert values_of(complete("", "cluster"))["PITWATCH_STORE__CLUSTER"] == "pitwatch"


def test_replicated_table_is_made_with_the_keeper(tmp_path: Path, listener: Listener) -> None:
    here = changed(CLUSTER, ("<host>keeper<", "<host>127.0.0.1<"), ("<port>9181<", f"<port>{listener.port}<"))
    configure(tmp_path / "server", cluster=here)
    assert asked(tmp_path / "server", REPLICATED) == ["KEEPER_EXCEPTION"]
    length, version, seen, _ = CONNECT.unpack_from(listener.heard[0])
    assert (length, version, seen) == (len(listener.heard[0]) - 4, 0, 0)


def heard_between_replicas(folder: Path, listener: Listener, cluster: str) -> bytes:
    here = changed(cluster, ("<host>clickhouse-2<", "<host>127.0.0.1<"), ("<port>9000<", f"<port>{listener.port}<"))
    configure(folder, cluster=here)
    asked(folder, "SELECT * FROM cluster('pitwatch', system.one)")
    return listener.heard[0]


def test_replicas_show_each_other_the_secret_and_never_send_it(tmp_path: Path, listener: Listener) -> None:
    heard = heard_between_replicas(tmp_path / "server", listener, CLUSTER)
    assert b"INTERSERVER SECRET" in heard
    assert b"pitwatch" in heard
    assert SECRET.encode() not in heard


def test_missing_secret_would_be_noticed(tmp_path: Path, listener: Listener) -> None:
    without = changed(CLUSTER, ('<secret from_env="CLICKHOUSE_CLUSTER_SECRET"/>', ""))
    assert b"INTERSERVER SECRET" not in heard_between_replicas(tmp_path / "server", listener, without)


def test_keepers_own_file_says_where_it_listens_and_how_long_a_session_is(tmp_path: Path, listener: Listener) -> None:
    """A server whose keeper is in itself reads this file for where its client is to go."""
    keeper = changed(
        KEEPER,
        ("<hostname>keeper<", "<hostname>127.0.0.1<"),
        ("<tcp_port>9181<", f"<tcp_port>{listener.port}<"),
        ("<session_timeout_ms>30000<", "<session_timeout_ms>31000<"),
    )
    # Its log goes to the container's standard output, where the answers are here.
    keeper = re.sub(r"<logger>.*?</logger>", "", keeper, flags=re.DOTALL)
    cluster = re.sub(r"<zookeeper.*?</zookeeper>", "", CLUSTER, flags=re.DOTALL)
    assert cluster != CLUSTER
    configure(tmp_path / "server", cluster=cluster, keeper=keeper)
    assert asked(tmp_path / "server", REPLICATED) == ["KEEPER_EXCEPTION"]
    *_, session_ms = CONNECT.unpack_from(listener.heard[0])
    assert session_ms == 31_000


# ClickHouse's documentation of its keeper, and its server settings of these names.
KEEPER_ELEMENTS = {
    "listen_host",
    "logger/console",
    "logger/level",
    "keeper_server/tcp_port",
    "keeper_server/server_id",
    "keeper_server/log_storage_path",
    "keeper_server/snapshot_storage_path",
    "keeper_server/http_control/port",
    "keeper_server/http_control/readiness/endpoint",
    "keeper_server/coordination_settings/operation_timeout_ms",
    "keeper_server/coordination_settings/session_timeout_ms",
    "keeper_server/raft_configuration/server/hostname",
    "keeper_server/raft_configuration/server/id",
    "keeper_server/raft_configuration/server/port",
}


def leaves(element: ET.Element, above: str = "") -> Iterator[str]:
    for child in element:
        path = f"{above}{child.tag}"
        yield from leaves(child, f"{path}/") if len(child) else [path]


def test_keeper_is_told_nothing_that_its_documentation_does_not_name() -> None:
    """No program that could be had here reads all of this file."""
    assert set(leaves(ET.fromstring(KEEPER))) <= KEEPER_ELEMENTS


def test_keeper_keeps_what_it_has_in_its_volume_and_is_asked_where_it_answers() -> None:
    keeper, service = ET.fromstring(KEEPER), read().services["keeper"]
    for path in ("log_storage_path", "snapshot_storage_path"):
        assert (keeper.findtext(f"keeper_server/{path}") or "").startswith("/var/lib/clickhouse/")
    assert "keeper:/var/lib/clickhouse" in service.volumes
    control = "keeper_server/http_control"
    address = f"127.0.0.1:{keeper.findtext(f'{control}/port')}{keeper.findtext(f'{control}/readiness/endpoint')}"
    assert service.healthcheck is not None
    assert service.healthcheck.test[-1] == f"http://{address}"
    assert keeper.findtext("keeper_server/server_id") == keeper.findtext("keeper_server/raft_configuration/server/id")
