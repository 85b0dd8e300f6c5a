"""The stores' implementations, each behind one way of opening it, so that one suite holds them all."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from pathlib import Path
from uuid import uuid4

import pytest
from pydantic import SecretStr

from processors.serving import serving
from processors.settings import StoreSettings
from processors.sql.answers import Limits
from processors.sql.app import Endpoint
from processors.sql.users import User, mint_password
from processors.store.clickhouse import ClickHouseStore
from processors.store.port import Store
from tests.contract.store.one_shard import CLUSTER, to_one_shard

OpenStore = Callable[[], Store]
"""Opens one more store on the same database, as a restarted process would. The fixture closes it."""


@contextmanager
def embedded_stores(folder: Path) -> Iterator[OpenStore]:
    limits = StoreSettings(max_execution_seconds=2)
    with ExitStack() as opened:

        def open_one() -> Store:
            store = opened.enter_context(closing(ClickHouseStore.embedded(folder / "clickhouse", limits)))
            store.migrate()
            return store

        yield open_one


@contextmanager
def stores_over_http(folder: Path) -> Iterator[OpenStore]:
    """Stores on a server: that which answers SQL for an embedded store, asked by somebody who may write."""
    password, sha256 = mint_password()
    endpoint = Endpoint(folder, [User("writer", sha256, writes=True)], Limits("default", 30, 2**26), 8)
    with closing(endpoint), serving(endpoint.app, "127.0.0.1", 0, "sql") as url, ExitStack() as opened:
        settings = StoreSettings(max_execution_seconds=2, url=url, user="writer", password=SecretStr(password))

        def open_one() -> Store:
            store = opened.enter_context(closing(ClickHouseStore.on_server(settings)))
            store.migrate()
            return store

        yield open_one


@contextmanager
def clusters_of_one_shard(folder: Path) -> Iterator[OpenStore]:
    settings = StoreSettings(max_execution_seconds=2, url="http://unused", cluster=CLUSTER)
    connect = to_one_shard(folder)
    with ExitStack() as opened:

        def open_one() -> Store:
            store = opened.enter_context(closing(ClickHouseStore(connect, settings, "one shard")))
            store.migrate()
            return store

        yield open_one


IMPLEMENTATIONS: dict[str, Callable[[Path], AbstractContextManager[OpenStore]]] = {
    "embedded": embedded_stores,
    "http": stores_over_http,
    "cluster": clusters_of_one_shard,
}


@pytest.fixture(scope="module", params=IMPLEMENTATIONS)
def open_store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenStore]:
    with IMPLEMENTATIONS[request.param](tmp_path_factory.mktemp("store")) as open_one:
        yield open_one


@pytest.fixture(scope="module")
def store(open_store: OpenStore) -> Store:
    return open_store()


@pytest.fixture
def table_id() -> str:
    """A table that no other test writes about, for the database outlives the test."""
    return f"T-{uuid4().hex[:16]}"
