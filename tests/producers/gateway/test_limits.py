"""Everything a device sends is bounded, and what is beyond a bound is refused before it costs anything."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence

import httpx
import pytest
from anyio.lowlevel import checkpoint

from producers.gateway.app import create_app
from producers.gateway.limits import GatewayLimits
from schemas.log import Position
from tests.producers.gateway.conftest import NDJSON, Floor, Gateway
from tests.producers.table import FlakyLog, event


def problem(response: httpx.Response) -> tuple[int, str]:
    return response.status_code, response.json()["type"].rpartition(":")[2]


@pytest.fixture
def small(floor: Floor) -> Iterator[Gateway]:
    with floor.gateway({"max_body_bytes": 1_000, "max_events": 3}) as gateway:
        yield gateway


def test_body_at_the_limit_is_taken_and_one_byte_more_is_not(small: Gateway) -> None:
    line = event(1)
    assert small.statuses(line + b" " * (1_000 - len(line))) == ["accepted"]
    response = small.post(line + b" " * (1_001 - len(line)))
    assert (response.status_code, response.json()["type"]) == (413, "urn:pitwatch:problem:body-too-large")
    assert "at most 1000 bytes" in response.json()["detail"]


def test_too_many_lines_or_elements_are_refused_whole(small: Gateway) -> None:
    assert small.statuses(event(1), event(2), event(3)) == ["accepted"] * 3
    for body, content_type in ((b"1\n2\n\n3\n", "application/x-ndjson"), (b"[1,2,3,4]", "application/json")):
        headers = small.authorization("T01") | {"Content-Type": content_type}
        response = small.client.post("/v1/events", content=body, headers=headers)
        assert (response.status_code, response.json()["type"]) == (413, "urn:pitwatch:problem:too-many-events")
    assert len(small.log.kept()) == 3


class Scenario:
    """A gateway in this test's own event loop, whose requests can be fed piece by piece."""

    def __init__(self, floor: Floor, log: FlakyLog, limits: GatewayLimits) -> None:
        self.app = create_app(log, [token.entry for token in floor.tokens.values()], limits)
        self.client = httpx.AsyncClient(transport=httpx.ASGITransport(self.app), base_url="http://gateway")
        self.headers = {
            table_id: {"Authorization": f"Bearer {token.secret}"} | NDJSON for table_id, token in floor.tokens.items()
        }

    async def post(self, body: bytes | AsyncIterator[bytes], table_id: str = "T01") -> httpx.Response:
        return await self.client.post("/v1/events", content=body, headers=self.headers[table_id])


@pytest.fixture
def log(floor: Floor) -> Iterator[FlakyLog]:
    log = FlakyLog(floor.folder / "log.sqlite")
    yield log
    log.close()


def test_endless_body_is_refused_when_it_passes_the_limit(floor: Floor, log: FlakyLog) -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while sent < 1_000:
            sent += 1
            yield b"x" * 100

    messages: list[dict[str, object]] = []

    async def run() -> None:
        scenario = Scenario(floor, log, GatewayLimits(max_body_bytes=1_000))
        headers = [(name.lower().encode(), value.encode()) for name, value in scenario.headers["T01"].items()]
        scope = {"type": "http", "method": "POST", "path": "/v1/events", "query_string": b"", "headers": headers}
        pieces = endless()

        async def receive() -> dict[str, object]:
            return {"type": "http.request", "body": await anext(pieces), "more_body": True}

        async def send(message: dict[str, object]) -> None:
            messages.append(message)

        async with scenario.app.router.lifespan_context(scenario.app):
            await scenario.app(scope, receive, send)  # type: ignore[arg-type]  # ASGI's own loose mappings

    asyncio.run(run())
    assert messages[0]["status"] == 413
    assert sent == 11, "no more is read than it takes to know"


def test_device_that_hangs_up_inside_a_body_leaves_nothing(floor: Floor, log: FlakyLog) -> None:
    messages: list[dict[str, object]] = []

    async def run() -> None:
        scenario = Scenario(floor, log, GatewayLimits())
        headers = [(name.lower().encode(), value.encode()) for name, value in scenario.headers["T01"].items()]
        scope = {"type": "http", "method": "POST", "path": "/v1/events", "query_string": b"", "headers": headers}
        arriving: list[dict[str, object]] = [
            {"type": "http.disconnect"},
            {"type": "http.request", "body": event(1) + b"\n", "more_body": True},
        ]

        async def receive() -> dict[str, object]:
            return arriving.pop()

        async def send(message: dict[str, object]) -> None:
            messages.append(message)

        async with scenario.app.router.lifespan_context(scenario.app):
            await scenario.app(scope, receive, send)  # type: ignore[arg-type]  # ASGI's own loose mappings

    asyncio.run(run())
    assert messages[0]["status"] == 400
    assert log.kept() == []


def test_body_that_takes_too_long_is_given_up(floor: Floor, log: FlakyLog) -> None:
    async def never() -> AsyncIterator[bytes]:
        yield event(1)
        await asyncio.Event().wait()

    async def run() -> httpx.Response:
        scenario = Scenario(floor, log, GatewayLimits(body_timeout_seconds=0.01))
        async with scenario.app.router.lifespan_context(scenario.app):
            return await scenario.post(never())

    assert problem(asyncio.run(run())) == (408, "body-too-slow")
    assert log.kept() == []


class HeldLog(FlakyLog):
    """A log whose append waits until the test lets it go."""

    gate: asyncio.Event
    loop: asyncio.AbstractEventLoop
    entered: asyncio.Event

    def append(self, topic: str, messages: Sequence[tuple[str, bytes]]) -> list[Position]:
        self.loop.call_soon_threadsafe(self.entered.set)
        asyncio.run_coroutine_threadsafe(self.gate.wait(), self.loop).result()
        return super().append(topic, messages)


@pytest.fixture
def held(floor: Floor) -> Iterator[HeldLog]:
    log = HeldLog(floor.folder / "log.sqlite")
    yield log
    log.close()


def hold(log: HeldLog) -> None:
    log.loop, log.gate, log.entered = asyncio.get_running_loop(), asyncio.Event(), asyncio.Event()


def test_requests_that_wait_for_one_append_share_the_next(floor: Floor, held: HeldLog) -> None:
    async def run() -> list[httpx.Response]:
        hold(held)
        scenario = Scenario(floor, held, GatewayLimits())
        async with scenario.app.router.lifespan_context(scenario.app):
            first = asyncio.create_task(scenario.post(event(1)))
            await held.entered.wait()
            # While the first append is under way, two tables send more, one of them the same event twice.
            others = [
                asyncio.create_task(scenario.post(event(2))),
                asyncio.create_task(scenario.post(event(2) + b"\n" + event(3))),
                asyncio.create_task(scenario.post(event(1, "T02"), "T02")),
            ]
            while waiting(scenario) < 4:
                await checkpoint()
            held.gate.set()
            return list(await asyncio.gather(first, *others))

    responses = asyncio.run(run())
    assert [response.json()["accepted"] for response in responses[:1] + responses[3:]] == [1, 1]
    assert sorted(response.json()["duplicate"] for response in responses[1:3]) == [0, 1]
    assert held.appends == 2, "one append for the first request, one for all that gathered meanwhile"
    assert sorted(held.identities()) == ["T01:1:1", "T01:1:2", "T01:1:3", "T02:1:1"]


def waiting(scenario: Scenario) -> int:
    """Return how many events wait for the append under way to end."""
    return int(scenario.app.state.gateway.appender.waiting_events)


def test_beyond_what_may_wait_devices_are_told_to_come_back(floor: Floor, held: HeldLog) -> None:
    async def run() -> tuple[httpx.Response, list[httpx.Response]]:
        hold(held)
        scenario = Scenario(floor, held, GatewayLimits(max_waiting_events=2, retry_after_seconds=9))
        async with scenario.app.router.lifespan_context(scenario.app):
            taken = [asyncio.create_task(scenario.post(event(1)))]
            await held.entered.wait()
            taken.append(asyncio.create_task(scenario.post(event(2) + b"\n" + event(3))))
            while waiting(scenario) < 2:
                await checkpoint()
            refused = await scenario.post(event(4))
            held.gate.set()
            return refused, list(await asyncio.gather(*taken))

    refused, taken = asyncio.run(run())
    assert problem(refused) == (503, "log-unavailable")
    assert refused.headers["Retry-After"] == "9"
    assert [response.json()["accepted"] for response in taken] == [1, 2]


def test_device_that_hangs_up_while_the_log_works_holds_nobody_up(floor: Floor, held: HeldLog) -> None:
    async def run() -> httpx.Response:
        hold(held)
        scenario = Scenario(floor, held, GatewayLimits())
        async with scenario.app.router.lifespan_context(scenario.app):
            gone = asyncio.create_task(scenario.post(event(1)))
            await held.entered.wait()
            gone.cancel()
            second = asyncio.create_task(scenario.post(event(1) + b"\n" + event(2)))
            while waiting(scenario) < 2:
                await checkpoint()
            held.gate.set()
            return await second

    response = asyncio.run(run())
    assert [result["status"] for result in response.json()["results"]] == ["duplicate", "accepted"]
    assert held.identities() == ["T01:1:1", "T01:1:2"]


def test_gateway_that_ends_answers_what_waits(floor: Floor, held: HeldLog) -> None:
    async def run() -> httpx.Response:
        hold(held)
        scenario = Scenario(floor, held, GatewayLimits())
        async with scenario.app.router.lifespan_context(scenario.app):
            posted = asyncio.create_task(scenario.post(event(1)))
            await held.entered.wait()
            held.gate.set()
        return await posted

    assert asyncio.run(run()).json()["accepted"] == 1
