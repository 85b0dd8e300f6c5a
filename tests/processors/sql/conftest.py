"""A floor's store with a few rounds in it, and somebody who answers SQL about it."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from pathlib import Path

import httpx
import pytest

from processors.serving import serving
from processors.settings import StoreSettings
from processors.sql.answers import Limits
from processors.sql.app import Endpoint
from processors.sql.users import User, mint_password
from processors.store.clickhouse import ClickHouseStore
from tests.contract.store.asking import put
from tests.contract.store.stored_facts import fact

TABLE = "BAC-01"
ROUNDS = 50
SECONDS = 20
"""How long a reader's query may run: longer than any that a test wants answered."""

SECRETS = {name: mint_password() for name in ("ana", "bob", "writer")}
ANA = ("ana", SECRETS["ana"][0])
USERS = [User(name, sha256, writes=name == "writer") for name, (_, sha256) in SECRETS.items()]

Ask = Callable[..., httpx.Response]
"""Posts a statement as a user, with the fields given."""


@pytest.fixture(scope="module")
def _folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("answered") / "clickhouse"


@pytest.fixture(scope="module")
def store(_folder: Path) -> Iterator[ClickHouseStore]:
    with closing(ClickHouseStore.embedded(_folder, StoreSettings())) as store:
        store.migrate()
        put(store, *(fact("round", TABLE, round=number) for number in range(1, ROUNDS + 1)))
        yield store


@pytest.fixture(scope="module")
def answering(_folder: Path, store: ClickHouseStore) -> Callable[..., AbstractContextManager[tuple[str, Endpoint]]]:
    """Has the store answered over HTTP for the length of a ``with`` block, which gets the URL and the endpoint."""

    @contextmanager
    def start(*, queries: int = 4, seconds: int = SECONDS, answer_bytes: int = 2**24) -> Iterator[tuple[str, Endpoint]]:
        endpoint = Endpoint(_folder, USERS, Limits("pitwatch", seconds, answer_bytes), queries)
        with closing(endpoint), serving(endpoint.app, "127.0.0.1", 0, "sql") as url:
            yield url, endpoint

    return start


@pytest.fixture(scope="module")
def url(answering: Callable[..., AbstractContextManager[tuple[str, Endpoint]]]) -> Iterator[str]:
    with answering() as (url, _):
        yield url


@pytest.fixture(scope="module")
def ask(url: str) -> Iterator[Ask]:
    with ExitStack() as opened:
        client = opened.enter_context(httpx.Client(base_url=url, timeout=60))

        def post(
            statement: str | bytes, user: str = "ana", headers: dict[str, str] | None = None, **fields: str
        ) -> httpx.Response:
            credentials = (user, SECRETS[user][0])
            return client.post("/", content=statement, params=fields, auth=credentials, headers=headers)

        yield post
