"""The device gateway as a web application: one path in for events, one to ask whether it is well."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Annotated

import structlog
from fastapi import APIRouter, FastAPI, Request, Security
from fastapi.concurrency import run_in_threadpool
from fastapi.security import HTTPAuthorizationCredentials

from producers.gateway.appender import Appender, OnAppend, Opening, TooBusy, nothing_first, untold
from producers.gateway.auth import TableToken, TokenRegister, bearer
from producers.gateway.bodies import Splitter, read_body, splitter
from producers.gateway.judging import Verdict, judge
from producers.gateway.limits import GatewayLimits
from producers.gateway.models import EventResult, Health, PostedEvents
from producers.gateway.openapi import EVENTS_BODY, EVENTS_PROBLEMS, HEALTH_PROBLEMS, document_events
from producers.gateway.problems import answer_with_problems, unavailable
from producers.gateway.seen import SeenEvents
from producers.gateway.seen_file import SeenFile
from schemas.log import EventLog, LogError

_log = structlog.get_logger(__name__)

Credentials = Annotated[HTTPAuthorizationCredentials | None, Security(bearer)]


class GatewayApp(FastAPI):
    """FastAPI whose document also describes the events, which are read by hand and not by a parameter."""

    def openapi(self) -> dict[str, object]:
        """Return the OpenAPI document."""
        if not self.openapi_schema:
            self.openapi_schema = document_events(super().openapi())
        return self.openapi_schema


def create_app(
    log: EventLog,
    tokens: Sequence[TableToken],
    limits: GatewayLimits | None = None,
    *,
    opening: Opening = nothing_first,
    on_append: OnAppend = untold,
) -> FastAPI:
    """Return the gateway over `log` for the tables of `tokens`. The log stays open when the gateway ends.

    `opening` says what must be in the log before any table is heard. Raises `ValueError` where two tables share a
    token.
    """
    limits = limits or GatewayLimits()
    gateway = Gateway(log, TokenRegister(tokens), limits, opening, on_append)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        gateway.start()
        yield
        await gateway.appender.close()

    # No documentation pages: theirs fetch scripts from the internet, which a floor's network doesn't reach.
    app = GatewayApp(
        title="Pitwatch device gateway",
        version="1",
        summary="Table controllers post their events here; the answer means that the log has them.",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
    )
    app.state.gateway = gateway
    answer_with_problems(app)
    app.include_router(_routes(gateway))
    return app


class Gateway:
    """What the routes share, `state.gateway` of the application. Parts bound to a loop are made when it runs."""

    appender: Appender
    bodies: asyncio.Semaphore

    def __init__(
        self, log: EventLog, register: TokenRegister, limits: GatewayLimits, opening: Opening, on_append: OnAppend
    ) -> None:
        self.register = register
        self.limits = limits
        self._event_log = log
        self._opening = opening
        self._on_append = on_append

    def troubles(self) -> dict[str, str]:
        """Return what stands against taking events, if anything does."""
        return {"gateway": self.appender.trouble} if self.appender.trouble else {}

    def start(self) -> None:
        """Make what belongs to the event loop that runs now."""
        path = self.limits.seen_path
        seen = SeenEvents(SeenFile(path) if path else None)
        self.appender = Appender(self._event_log, seen, self.limits, self._opening, self._on_append)
        self.appender.start()
        self.bodies = asyncio.Semaphore(self.limits.max_bodies)

    async def take(self, request: Request, table_id: str) -> list[EventResult]:
        """Read, judge and append one request's events. Raises `Refusal`."""
        split = splitter(request)
        async with self.bodies:
            body = await read_body(request, self.limits.max_body_bytes, self.limits.body_timeout_seconds)
            # In a thread, so that one table's large request doesn't hold up the others'.
            verdicts = await run_in_threadpool(_judge_all, split, body, self.limits.max_events, table_id)
            try:
                return await self.appender.append(table_id, verdicts)
            except (LogError, TooBusy) as error:
                _log.warning("not_taken", table=table_id, events=len(verdicts), why=str(error))
                detail = f"The log takes no events now; none of these was acknowledged. Send them again. ({error})"
                raise unavailable(detail, self.limits.retry_after_seconds) from error


def _judge_all(split: Splitter, body: bytes, max_events: int, table_id: str) -> list[Verdict]:
    lines = enumerate(split(body, max_events), start=1)
    return [judge(number, line, table_id) for number, line in lines if line]


def _routes(gateway: Gateway) -> APIRouter:
    router = APIRouter()

    @router.post("/v1/events", responses=EVENTS_PROBLEMS, openapi_extra=EVENTS_BODY, operation_id="post_events")
    async def post_events(request: Request, credentials: Credentials) -> PostedEvents:
        """Take a table's events, in order. The answer comes when they are durable, with one result for each."""
        table_id = gateway.register.table_of(credentials)
        results = await gateway.take(request, table_id)
        answer = PostedEvents(results=results, **_counts(results))
        if answer.rejected:
            reasons = sorted({result.reason for result in results if result.reason})
            _log.warning("events_rejected", table=table_id, events=answer.rejected, reasons=reasons)
        return answer

    @router.get("/healthz", responses=HEALTH_PROBLEMS, operation_id="health")
    async def health() -> Health:
        """Tell whether the gateway runs and its log answers."""
        try:
            await gateway.appender.probe()
        except LogError as error:
            raise unavailable(str(error), gateway.limits.retry_after_seconds) from error
        return Health()

    return router


def _counts(results: Sequence[EventResult]) -> dict[str, int]:
    statuses = [result.status for result in results]
    return {status: statuses.count(status) for status in ("accepted", "duplicate", "rejected")}
