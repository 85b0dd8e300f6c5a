"""A server that keeps a store, as far as the commands can tell, in the process of the tests."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from pydantic import SecretStr

from processors.serving import serving
from processors.settings import StoreSettings
from processors.sql.answers import Limits
from processors.sql.app import Endpoint
from processors.sql.users import User, mint_password
from processors.store.clickhouse import ClickHouseStore

USER = "filler"


class Server(NamedTuple):
    """Where it is, and the password of `USER`."""

    url: str
    password: str

    def config(self, folder: Path, more: str = "") -> Path:
        """Write settings for a worker that uses this server and the log in ``folder/data``."""
        file = folder / "worker.toml"
        file.write_text(
            f'data_directory = "{folder / "data"}"\n[store]\nurl = "{self.url}"\nuser = "{USER}"\n'
            f'password = "${{STORE_PASSWORD}}"\n{more}'
        )
        return file

    def store(self) -> closing[ClickHouseStore]:
        """Return the store as a client sees it."""
        settings = StoreSettings(url=self.url, user=USER, password=SecretStr(self.password))
        return closing(ClickHouseStore.on_server(settings))


@contextmanager
def store_server(folder: Path, port: int = 0) -> Iterator[Server]:
    """Run a server on the rows in `folder` for the length of a ``with`` block."""
    password, sha256 = mint_password()
    with serving_store(folder, sha256, port) as url:
        yield Server(url, password)


@contextmanager
def serving_store(folder: Path, sha256: str, port: int = 0, *, writes: bool = True) -> Iterator[str]:
    """Serve the rows in `folder` to whoever has the password of this hash."""
    endpoint = Endpoint(folder, [User(USER, sha256, writes=writes)], Limits("default", 30, 2**26), 4)
    with closing(endpoint), serving(endpoint.app, "127.0.0.1", port, "server") as url:
        yield url
