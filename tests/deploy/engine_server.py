"""Asks ClickHouse's engine with the configuration in a folder: ``python -m … FOLDER``, laid out by `configure`.

Standard input holds statements, one in a line; standard output gets what became of each, in JSON.
"""

import json
import sys
from pathlib import Path

import clickhouse_connect

from tests.deploy.engine_user import MAIN, SERVERS_USERS, become


def configure(folder: Path, **further: str) -> None:
    """Write a server's own configuration into `folder`, and what is merged into it from config.d, by name."""
    (folder / "config.d").mkdir(parents=True)
    (folder / "config.xml").write_text(MAIN.format(folder=folder))
    (folder / "users.xml").write_text(SERVERS_USERS)
    for name, text in further.items():
        (folder / "config.d" / f"{name}.xml").write_text(text)


def main(folder: Path) -> None:
    """Run the statements."""
    path = f"{folder / 'data'}?config-file={folder / 'config.xml'}"
    client = clickhouse_connect.get_client(interface="chdb", path=path, tz_mode="aware")
    answers = [become(client, line.strip()) for line in sys.stdin]
    client.close()
    sys.stdout.write(json.dumps(answers, default=str))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
