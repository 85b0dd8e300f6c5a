"""The gateway on a real socket, and a table that publishes through it."""

import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from itertools import repeat
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI

from producers.gateway.app import create_app
from producers.gateway.auth import mint_token
from producers.gateway.limits import GatewayLimits
from producers.gateway.server import GatewayFailed, run_gateway
from producers.outbox import Outbox
from producers.publisher import Publisher
from producers.sender import Backoff, EpochReused, Sender
from producers.transports import HttpTransport
from schemas.events import Heartbeat
from schemas.wire import decode_event
from tests.producers.table import FlakyLog, event

NOON = datetime(2026, 1, 15, 12, tzinfo=UTC)


@contextmanager
def sending(outbox: Outbox, url: str, token: str) -> Iterator[None]:
    transport = HttpTransport(url, token)
    with Sender(outbox, transport, backoff=Backoff(0.01, 0.02)).running():
        yield
    transport.close()


def test_a_table_publishes_over_restarts_of_the_gateway_and_an_absent_log(tmp_path: Path) -> None:
    token = mint_token("T01")
    log = FlakyLog(tmp_path / "log.sqlite")
    limits = GatewayLimits(seen_path=tmp_path / "seen.sqlite", max_events=7, retry_after_seconds=1)
    outbox = Outbox(tmp_path / "outbox.sqlite", "T01")
    publisher = Publisher(outbox, lambda: NOON)
    with run_gateway(create_app(log, [token.entry], limits), port=0) as url:
        port = int(url.rpartition(":")[2])
        with sending(outbox, url, token.secret):
            publisher.publish_all([lambda at: Heartbeat(**at)] * 10)
            assert outbox.wait_until_delivered(timeout_seconds=60)
    publisher.publish_all([lambda at: Heartbeat(**at)] * 10)
    with sending(outbox, url, token.secret), run_gateway(create_app(log, [token.entry], limits), port=port):
        assert outbox.wait_until_delivered(timeout_seconds=60)
        log.down = True
        publisher.publish(lambda at: Heartbeat(**at))
        with httpx.Client() as client:
            while client.get(f"{url}/healthz").status_code == 200:
                pass
        log.down = False
        assert outbox.wait_until_delivered(timeout_seconds=60)
    assert log.identities() == [f"T01:1:{seq}" for seq in range(1, 22)]
    outbox.close()
    log.close()


def test_a_lost_outbox_is_noticed_and_nothing_is_taken_for_a_repeat(tmp_path: Path) -> None:
    token = mint_token("T01")
    log = FlakyLog(tmp_path / "log.sqlite")
    with run_gateway(create_app(log, [token.entry]), port=0) as url:
        for attempt, first_epoch in enumerate((1, 1, 2)):
            outbox = Outbox(tmp_path / f"outbox-{attempt}.sqlite", "T01", first_epoch=first_epoch)
            minutes = repeat(NOON.replace(minute=attempt))
            Publisher(outbox, minutes.__next__).publish_all([lambda at: Heartbeat(**at)] * 3)
            transport = HttpTransport(url, token.secret)
            sender = Sender(outbox, transport)
            if attempt == 1:
                with pytest.raises(EpochReused):
                    sender.deliver()
                assert outbox.waiting_count == 3
            else:
                assert sender.deliver() == 3
            transport.close()
            outbox.close()
    events = [raw for _, raw in log.kept() if not raw.startswith(b"rejected by the gateway, conflicting: ")]
    expected = [f"T01:{epoch}:{seq}" for epoch in (1, 2) for seq in (1, 2, 3)]
    assert [decode_event(raw).event_id for raw in events] == expected
    log.close()


def test_a_backlog_too_large_for_one_request_gets_through(tmp_path: Path) -> None:
    token = mint_token("T01")
    log = FlakyLog(tmp_path / "log.sqlite")
    outbox = Outbox(tmp_path / "outbox.sqlite", "T01")
    Publisher(outbox, lambda: NOON).publish_all([lambda at: Heartbeat(**at)] * 3_000)
    app = create_app(log, [token.entry], GatewayLimits(max_body_bytes=20_000))
    with run_gateway(app, port=0) as url, sending(outbox, url, token.secret):
        assert outbox.wait_until_delivered(timeout_seconds=60)
    assert log.identities() == [f"T01:1:{seq}" for seq in range(1, 3_001)]
    outbox.close()
    log.close()


def test_only_this_machine_reaches_it_unless_told(tmp_path: Path) -> None:
    log = FlakyLog(tmp_path / "log.sqlite")
    with run_gateway(create_app(log, []), port=0) as url:
        assert url.startswith("http://127.0.0.1:")
        assert httpx.get(f"{url}/healthz").json() == {"status": "ok"}
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{url}/healthz")
    log.close()


def test_taken_port_is_named(tmp_path: Path) -> None:
    log = FlakyLog(tmp_path / "log.sqlite")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with (
            pytest.raises(GatewayFailed, match=f"can't listen on 127.0.0.1 port {port}: .*in use"),
            run_gateway(create_app(log, []), port=port),
        ):
            pass
    log.close()


def test_gateway_that_cannot_start_says_so() -> None:
    @asynccontextmanager
    async def broken(_: FastAPI) -> AsyncIterator[None]:
        raise RuntimeError("no disk")
        yield

    with pytest.raises(GatewayFailed, match="ended while it started"), run_gateway(FastAPI(lifespan=broken), port=0):
        pass


def test_raw_bytes_on_the_wire_get_an_answer(tmp_path: Path) -> None:
    """Past any client library: a request that lies about its length, and one that is no HTTP."""
    token = mint_token("T01")
    log = FlakyLog(tmp_path / "log.sqlite")
    app = create_app(log, [token.entry], GatewayLimits(max_body_bytes=1_000))
    head = b"POST /v1/events HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/x-ndjson\r\n"
    head += b"Authorization: Bearer " + token.secret.encode() + b"\r\n"
    with run_gateway(app, port=0) as url:
        port = int(url.rpartition(":")[2])
        assert answer(port, head + b"Content-Length: 99999999999999999999\r\n\r\n") in (400, 408, 413)
        assert answer(port, head + b"Content-Length: 1001\r\n\r\n") == 413
        assert answer(port, head + b"Content-Length: -5\r\n\r\n") == 400
        assert answer(port, head + b"Content-Length: %d\r\n\r\n" % len(event(1)) + event(1)) == 200
        assert answer(port, b"\x16\x03\x01 chips\r\n\r\n") == 400
    assert log.identities() == ["T01:1:1"]
    log.close()


def answer(port: int, request: bytes) -> int:
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(request)
        with connection.makefile("rb") as stream:
            return int(stream.readline().split()[1])
