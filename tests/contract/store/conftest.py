"""The stores' implementations, each behind one way of opening it, so that one suite holds them all."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from pathlib import Path
from uuid import uuid4

import pytest

from processors.settings import StoreSettings
from processors.store.clickhouse import ClickHouseStore
from processors.store.port import Store

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


IMPLEMENTATIONS: dict[str, Callable[[Path], AbstractContextManager[OpenStore]]] = {"embedded": embedded_stores}


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
