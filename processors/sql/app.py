"""The endpoint as a web application: ``/`` for queries, ``/ping`` to ask whether it is well."""

import asyncio
import secrets
import string
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import Final, TypeVar

import structlog
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from processors.metrics import SQL_QUERIES, SQL_RUNNING, SQL_SECONDS
from processors.sql.answers import Answer, Limits
from processors.sql.asked import MAX_DATA_BYTES, MAX_STATEMENT_BYTES, Asked, asked
from processors.sql.codings import accepted, unpack
from processors.sql.engine import Engine
from processors.sql.refusals import (
    AUTHENTICATION_FAILED,
    QUERY_IS_TOO_LARGE,
    TIMEOUT_EXCEEDED,
    TOO_MANY_QUERIES,
    UNKNOWN_EXCEPTION,
    Refused,
)
from processors.sql.replies import answer_headers, broken_off, refusal
from processors.sql.turns import Turns
from processors.sql.users import User, Users

BODY_SECONDS: Final = 60.0
"""How long a request's body may take to come."""

SEND_SECONDS: Final = 300.0
"""How long an answer may take to be sent, beyond the time that its query may take."""

CANCEL_SECONDS: Final = 0.5
"""How long a query that was cancelled may go on before it is cancelled again."""

_log: Final = structlog.get_logger(__name__)

T = TypeVar("T")


class Endpoint:
    """Answers queries about the store in `folder`, which this process has open. `app` is what a server serves."""

    def __init__(self, folder: Path, users: Iterable[User], limits: Limits, max_concurrent_queries: int) -> None:
        self._engine = Engine(folder)
        self._users = Users(users)
        self._limits = limits
        self._turns = Turns(max_concurrent_queries)
        # One for each query, and some for what must not wait for them.
        self._threads = ThreadPoolExecutor(max_concurrent_queries + 4, thread_name_prefix="sql")
        self._lock = Lock()
        self._running = set[Answer]()
        self._stopping = False
        self.app = Starlette(routes=[Route("/", _Queries(self)), Route("/ping", _ping)])

    async def query(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request. Whatever goes wrong is told as ClickHouse tells it."""
        request = Request(scope, receive)
        name, started = "", time.monotonic()
        try:
            if not request.url.query and request.method == "GET":
                await PlainTextResponse("Ok.\n")(scope, receive, send)
                return
            user = self._users.of(request.headers)
            name = user.name
            wanted = await self._read(request, user)
            async with self._turns.take(name):
                started = time.monotonic()
                code = await self._answer(user, wanted, request, send)
        except Refused as refused:
            code = refused.fault.code
            if refused.fault is AUTHENTICATION_FAILED:
                _log.warning("login_refused", client=request.client and request.client.host, why=str(refused))
            await refusal(refused, self._engine.version)(scope, receive, send)
        except ClientDisconnect:
            return
        if name:
            SQL_QUERIES.labels(user=name, code=code).inc()
            SQL_SECONDS.labels(user=name).observe(time.monotonic() - started)

    def stop(self) -> None:
        """Have what runs stop, and let nothing new begin. May be called by any thread."""
        with self._lock:
            self._stopping = True
            running = tuple(self._running)
        for answer in running:
            answer.cancel()

    def close(self) -> None:
        """Let go of the store; no server may be serving any more."""
        self._threads.shutdown()
        self._engine.close()

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    async def _read(self, request: Request, user: User) -> Asked:
        limit = MAX_DATA_BYTES if user.writes else MAX_STATEMENT_BYTES
        body = await _body(request, limit)
        headers, method = request.headers, request.method
        coding, query_string = headers.get("content-encoding", ""), request.scope["query_string"]
        # In a thread, so that one large request doesn't hold up the others.
        return await self._in_thread(lambda: asked(method, query_string, headers, unpack(body, coding, limit)))

    async def _answer(self, user: User, wanted: Asked, request: Request, send: Send) -> int:
        """Send the answer; return the error code of one that was broken off, or 0. Raises `Refused` before it began."""
        coding = accepted(request.headers.get("accept-encoding", "")) if wanted.compressed else ""
        answer = await self._in_thread(_told(lambda: Answer(self._engine, self._limits, user, wanted, coding)))
        SQL_RUNNING.inc()
        try:
            self._note(answer)
            await self._while_there(request.receive, answer, answer.begin)
            async with asyncio.timeout(self._limits.max_execution_seconds + SEND_SECONDS):
                return await self._send(answer, request.receive, send)
        except TimeoutError:
            # Who doesn't take the answer is not told so either: the connection just ends.
            return TIMEOUT_EXCEEDED.code
        finally:
            with self._lock:
                self._running.discard(answer)
            SQL_RUNNING.dec()
            await self._in_thread(answer.close)

    def _note(self, answer: Answer) -> None:
        with self._lock:
            if self._stopping:
                raise Refused(TOO_MANY_QUERIES, "The store is being closed.")
            self._running.add(answer)

    async def _while_there(self, receive: Receive, answer: Answer, work: Callable[[], T]) -> T:
        """Run `work` in a thread; should the client go meanwhile, have the answer cancelled."""
        gone = asyncio.create_task(_gone(receive))
        working = asyncio.ensure_future(self._in_thread(_told(work)))
        try:
            await asyncio.wait({gone, working}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            gone.cancel()
            # More than once, for the engine can only stop what it has begun.
            while not working.done():
                await self._in_thread(answer.cancel)
                await asyncio.wait({working}, timeout=CANCEL_SECONDS)
        return await working

    async def _send(self, answer: Answer, receive: Receive, send: Send) -> int:
        tag = "".join(secrets.choice(string.ascii_lowercase) for _ in range(16))
        headers = answer_headers(answer, self._engine.timezone, tag)
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        try:
            while piece := await self._while_there(receive, answer, answer.next_piece):
                await send({"type": "http.response.body", "body": piece, "more_body": True})
        except Refused as refused:
            # The status has been sent. So the error goes where the answer was, and the connection ends without the
            # answer's end: nobody can take it for whole.
            ending = answer.ending(broken_off(refused.text(self._engine.version), tag))
            await send({"type": "http.response.body", "body": ending, "more_body": True})
            return refused.fault.code
        await send({"type": "http.response.body", "body": b""})
        return 0


class _Queries:
    """The route, as an application of its own: what it sends is none of the framework's responses."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] not in ("GET", "POST"):
            await PlainTextResponse("Use GET or POST.\n", 405, {"Allow": "GET, POST"})(scope, receive, send)
            return
        await self._endpoint.query(scope, receive, send)


async def _ping(_: Request) -> Response:
    return PlainTextResponse("Ok.\n")


async def _body(request: Request, limit: int) -> bytes:
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for piece in request.stream():
                if len(body) + len(piece) > limit:
                    raise Refused(QUERY_IS_TOO_LARGE, f"A request has at most {limit:,} bytes.")
                body += piece
    except TimeoutError:
        raise Refused(TIMEOUT_EXCEEDED, f"The request did not arrive within {BODY_SECONDS:g} s.") from None
    return bytes(body)


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _told(work: Callable[[], T]) -> Callable[[], T]:
    """Return `work` with what it may die of, a defect of ours, told to the log and refused to the client."""

    def run() -> T:
        try:
            return work()
        except Refused:
            raise
        except Exception as error:
            _log.exception("query_failed")
            raise Refused(UNKNOWN_EXCEPTION, "Pitwatch failed on this query; its log says more.") from error

    return run
