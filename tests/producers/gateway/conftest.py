"""A gateway over a log of its own, and the tokens of two tables."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest
from starlette.testclient import TestClient

from producers.gateway.app import create_app
from producers.gateway.auth import MintedToken, mint_token
from producers.gateway.limits import GatewayLimits
from tests.producers.table import FlakyLog

NDJSON = {"Content-Type": "application/x-ndjson"}


class Gateway:
    """A running gateway with its log; `post` speaks for table T01."""

    def __init__(self, client: TestClient, log: FlakyLog, tokens: dict[str, MintedToken]) -> None:
        self.client = client
        self.log = log
        self.tokens = tokens

    def authorization(self, table_id: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.tokens[table_id].secret}"}

    def post(self, *lines: bytes, table_id: str = "T01") -> httpx2.Response:
        return self.client.post("/v1/events", content=b"\n".join(lines), headers=self.authorization(table_id) | NDJSON)

    def statuses(self, *lines: bytes, table_id: str = "T01") -> list[str]:
        response = self.post(*lines, table_id=table_id)
        assert response.status_code == 200, response.text
        return [result["status"] for result in response.json()["results"]]


class Floor:
    """Starts gateways over one folder, one after the other."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.unreadable = False
        self.tokens = {table_id: mint_token(table_id) for table_id in ("T01", "T02")}

    @contextmanager
    def gateway(self, limits: Mapping[str, object] = {}, *, raise_defects: bool = True) -> Iterator[Gateway]:
        log = FlakyLog(self.folder / "log.sqlite")
        log.unreadable = self.unreadable
        entries = [token.entry for token in self.tokens.values()]
        app = create_app(
            log, entries, GatewayLimits.model_validate({"seen_path": self.folder / "seen.sqlite", **limits})
        )
        with TestClient(app, raise_server_exceptions=raise_defects) as client:
            yield Gateway(client, log, self.tokens)
        log.close()


@pytest.fixture
def floor(tmp_path: Path) -> Floor:
    return Floor(tmp_path)


@pytest.fixture
def gateway(floor: Floor) -> Iterator[Gateway]:
    with floor.gateway() as gateway:
        yield gateway
