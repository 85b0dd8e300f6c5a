"""Asks ClickHouse's engine, with the users of deploy/clickhouse, as one of them: ``python -m … FOLDER USER``.

The embedded engine knows no login: its one user is called default. So the user to play is renamed to that, with its
profile, quota and grants as they are. Two things of the file are left out, which that engine alone can't take: that
there is no user default, and a constraint that needs a setting of the server.

Standard input holds statements, one in a line; standard output gets what became of each, in JSON.
"""

import json
import re
import sys
from pathlib import Path

import clickhouse_connect
from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import ClickHouseError

from processors.settings import StoreSettings
from processors.store.clickhouse import ClickHouseStore, Settings
from tests.conftest import REPOSITORY

USERS = REPOSITORY / "deploy" / "clickhouse" / "users.xml"
CONFIG = REPOSITORY / "deploy" / "clickhouse" / "config.xml"

# A cluster of this server alone, which the engine reads and writes without a connection.
MAIN = """\
<clickhouse>
    <user_directories><users_xml><path>users.xml</path></users_xml></user_directories>
    <logger><log>{folder}/log</log><errorlog>{folder}/log</errorlog></logger>
    <tcp_port>9000</tcp_port>
    <remote_servers>
        <pitwatch><shard><replica><host>127.0.0.1</host><port>9000</port></replica></shard></pitwatch>
    </remote_servers>
</clickhouse>
"""

# What the server's own users.xml has, and ours is merged into.
SERVERS_USERS = """\
<clickhouse>
    <profiles><default/></profiles>
    <quotas><default/></quotas>
    <users>
        <default>
            <password/>
            <networks><ip>::/0</ip></networks>
            <profile>default</profile>
            <quota>default</quota>
        </default>
    </users>
</clickhouse>
"""


def played(users: str, user: str) -> str:
    """Return the users with `user` under the engine's only name, without a password."""
    users = users.replace('<default remove="remove"/>', "").replace("<changeable_in_readonly/>", "")
    body = re.search(rf"<{user}>\s*<password_sha256_hex [^>]*/>(.*?)</{user}>", users, re.DOTALL)
    assert body, f"no user {user}"
    renamed = f'<default replace="replace"><password/>{body[1]}</default>'
    return users.replace(body[0], renamed)


def lay_out(folder: Path, user: str) -> str:
    """Write the configuration into `folder`; return the engine's path with it."""
    for name in ("users.d", "config.d"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "config.xml").write_text(MAIN.format(folder=folder))
    (folder / "users.xml").write_text(SERVERS_USERS)
    (folder / "users.d" / "pitwatch.xml").write_text(played(USERS.read_text(), user))
    # Where it logs to is the container's affair, and would get in the way of the answers here.
    config = re.sub(r"<logger>.*?</logger>", "", CONFIG.read_text(), flags=re.DOTALL)
    (folder / "config.d" / "pitwatch.xml").write_text(config)
    return f"{folder / 'data'}?config-file={folder / 'config.xml'}"


def become(client: Client, statement: str) -> object:
    """Run one statement; return its rows, or ClickHouse's word for why not."""
    try:
        return [list(row) for row in client.query(statement).result_rows]
    except ClickHouseError as error:
        found = re.findall(r"\(([A-Z_]+)\)", str(error))
        return found[-1] if found else str(error)


def main(folder: Path, user: str) -> None:
    """Migrate as Pitwatch does, where it is Pitwatch that is played, and run the statements."""
    path = lay_out(folder, user)

    def connect(session: Settings) -> Client:
        return clickhouse_connect.get_client(interface="chdb", path=path, settings=dict(session), tz_mode="aware")

    store = ClickHouseStore(connect, StoreSettings(ttl_days=30), "as deployed") if user == "pitwatch" else None
    if store is not None:
        store.migrate()
    client = connect({})
    answers = [become(client, line.strip()) for line in sys.stdin]
    client.close()
    if store is not None:
        store.close()
    sys.stdout.write(json.dumps(answers, default=str))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
