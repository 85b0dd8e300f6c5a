"""How clients of ClickHouse are opened: to a folder of this machine, or to a server."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import clickhouse_connect
from clickhouse_connect.driver.client import Client

from processors.settings import StoreSettings

Settings = Mapping[str, str | int]
Connect = Callable[[Settings], Client]
"""Opens one more client with these settings in force."""

CONNECT_SECONDS: Final = 10
"""How long a server may take to answer a connection, and beyond a query's own time to answer that."""

_PORTS: Final = {"http": 8123, "https": 8443}


def to_folder(path: Path) -> Connect:
    """Return what opens clients of the engine in this process."""

    def connect(session: Settings) -> Client:
        return clickhouse_connect.get_client(interface="chdb", path=str(path), settings=dict(session), tz_mode="aware")

    return connect


def to_server(settings: StoreSettings, url: str) -> Connect:
    """Return what opens clients of the server at `url`, as the user of `settings`."""
    address = urlsplit(url)

    def connect(session: Settings) -> Client:
        return clickhouse_connect.get_client(
            interface=address.scheme,
            host=address.hostname or "",
            port=address.port or _PORTS[address.scheme],
            username=settings.user,
            password=settings.password.get_secret_value(),
            settings=dict(session),
            tz_mode="aware",
            connect_timeout=CONNECT_SECONDS,
            send_receive_timeout=settings.max_execution_seconds + CONNECT_SECONDS,
            # Sessions are for what a server remembers between requests, and here it must remember nothing.
            autogenerate_session_id=False,
        )

    return connect
