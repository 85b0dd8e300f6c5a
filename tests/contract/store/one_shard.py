"""A cluster of one shard in the engine of this process: what of a cluster can be tried without servers.

The engine takes a server's configuration, and a shard of a cluster that is reached under the server's own address is
read and written in the process itself. So its Distributed tables are real ones. What needs a keeper is left out of the
statements: that every server runs them, and that tables are replicated.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import clickhouse_connect
from clickhouse_connect.driver.client import Client

from processors.store.connections import Connect, Settings

CLUSTER = "floor"

CONFIG = """\
<clickhouse>
    <user_directories><users_xml><path>users.xml</path></users_xml></user_directories>
    <logger><log>{folder}/log</log><errorlog>{folder}/log</errorlog><level>fatal</level></logger>
    <tcp_port>9000</tcp_port>
    <remote_servers>
        <floor><shard><replica><host>127.0.0.1</host><port>9000</port></replica></shard></floor>
    </remote_servers>
</clickhouse>
"""

USERS = """\
<clickhouse>
    <profiles><default/></profiles>
    <quotas><default/></quotas>
    <users>
        <default>
            <password/>
            <networks><ip>::/0</ip></networks>
            <profile>default</profile>
            <quota>default</quota>
            {grants}
        </default>
    </users>
</clickhouse>
"""


def on_one_server(statement: str) -> str:
    """Return a cluster's statement as one server without a keeper can run it."""
    return statement.replace(f" ON CLUSTER `{CLUSTER}`", "").replace("ENGINE = Replicated", "ENGINE = ")


def to_one_shard(folder: Path, grants: Sequence[str] = ()) -> Connect:
    """Return what opens clients of the cluster, which keeps its rows and its configuration in `folder`.

    Its only user may do everything, or what `grants` say: statements that don't say to whom.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.xml").write_text(CONFIG.format(folder=folder))
    queries = "".join(f"<query>{grant}</query>" for grant in grants)
    (folder / "users.xml").write_text(USERS.format(grants=f"<grants>{queries}</grants>" if grants else ""))
    path = f"{folder / 'data'}?config-file={folder / 'config.xml'}"

    def connect(session: Settings) -> Client:
        client = clickhouse_connect.get_client(interface="chdb", path=path, settings=dict(session), tz_mode="aware")
        run = client.command

        def command(cmd: str, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401  passed on as they are
            return run(on_one_server(cmd), *arguments, **options)

        client.command = command  # type: ignore[method-assign]  # that is how it gets in between
        return client

    return connect
