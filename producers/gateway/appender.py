"""Group commit: the events of all requests that wait go into the log in one append.

A durable append costs a disk's flush, whatever it carries. While one is under way the requests that arrive gather, and
the next append takes them all: no timer, no wait when the floor is quiet, and few flushes when it is busy.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, NamedTuple

import structlog

from producers.gateway.judging import Verdict, sealed
from producers.gateway.limits import GatewayLimits
from producers.gateway.models import EventResult
from producers.gateway.seen import Identity, SeenEvents
from producers.gateway.seen_file import SeenFileUnusable
from schemas.configuration import TableConfiguration
from schemas.errors import PitwatchError
from schemas.log import EventLog, LogError, LogUnavailable
from schemas.topics import TABLE_EVENTS

_log = structlog.get_logger(__name__)

_CONFLICT: Final = "the log holds another event under this number; a controller counts its boots and never starts over"


Opening = Callable[[Mapping[str, TableConfiguration]], Sequence[tuple[str, bytes]]]
"""Returns what the log must have before any table is heard, given the configuration last published for each."""

OnAppend = Callable[[Sequence[EventResult], float], None]
"""Told, by the thread that appends, of the results that became durable together, and of the seconds it took."""


def nothing_first(_configurations: Mapping[str, TableConfiguration]) -> Sequence[tuple[str, bytes]]:
    """Hear tables at once."""
    return ()


def untold(_results: Sequence[EventResult], _seconds: float) -> None:
    """Tell nobody."""


class TooBusy(PitwatchError):
    """Raised when too many events wait for the log already."""


class _Request(NamedTuple):
    table_id: str
    verdicts: Sequence[Verdict]
    answer: asyncio.Future[list[EventResult]]


class Appender:
    """Appends judged lines to the log, from one thread, and says what became of each. Used by one event loop."""

    def __init__(
        self,
        log: EventLog,
        seen: SeenEvents,
        limits: GatewayLimits,
        opening: Opening = nothing_first,
        on_append: OnAppend = untold,
    ) -> None:
        self._event_log = log
        self._seen = seen
        self._limits = limits
        self._opening = opening
        self._on_append = on_append
        self._waiting: deque[_Request] = deque()
        self.waiting_events = 0
        """Events that gather for the next append."""
        self._since_checkpoint = 0
        self._caught_up = False
        self.trouble = ""
        """What the last append said was wrong; empty while all is well."""
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="gateway-log")
        self._draining: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to read what the log has, so that the first request need not wait for all of it."""
        self._thread.submit(self._warm_up)

    async def append(self, table_id: str, verdicts: Sequence[Verdict]) -> list[EventResult]:
        """Return each line's result once all of them are durable. Raises `TooBusy`, `LogUnavailable`: none is then."""
        if self.waiting_events + len(verdicts) > self._limits.max_waiting_events and self._waiting:
            raise TooBusy(f"{self.waiting_events} events wait for the log already")
        request = _Request(table_id, verdicts, asyncio.get_running_loop().create_future())
        self._waiting.append(request)
        self.waiting_events += len(verdicts)
        if self._draining is None or self._draining.done():
            self._draining = asyncio.create_task(self._drain())
        return await request.answer

    async def _drain(self) -> None:
        while self._waiting:
            group = self._take()
            job = asyncio.wrap_future(self._thread.submit(self._commit, group))
            await asyncio.wait([job])
            error = job.exception()
            self.trouble = str(error) if error is not None else ""
            for place, request in enumerate(group):
                # A device that hung up in the meantime left nobody to answer to.
                if request.answer.done():
                    continue
                if error is not None:
                    request.answer.set_exception(error)
                else:
                    request.answer.set_result(job.result()[place])

    def _take(self) -> list[_Request]:
        group = [self._waiting.popleft()]
        size = len(group[0].verdicts)
        while self._waiting and size + len(self._waiting[0].verdicts) <= self._limits.max_commit_events:
            group.append(self._waiting.popleft())
            size += len(group[-1].verdicts)
        self.waiting_events -= size
        return group

    def _commit(self, group: list[_Request]) -> list[list[EventResult]]:
        """Append what is new of a group and return every request's results. Runs in the log's thread."""
        self._catch_up()
        begun = time.perf_counter()
        draft = _Draft(self._seen)
        results = [[draft.place(request.table_id, verdict) for verdict in request.verdicts] for request in group]
        if draft.messages:
            self._event_log.append(TABLE_EVENTS, draft.messages)
        self._seen.add(draft.accepted.values())
        self._since_checkpoint += len(draft.accepted)
        self._on_append([result for of_request in results for result in of_request], time.perf_counter() - begun)
        if self._since_checkpoint >= self._limits.checkpoint_events:
            self._checkpoint()
        return results

    def _catch_up(self) -> None:
        if not self._caught_up:
            self._seen.catch_up(self._event_log)
            if first := self._opening(self._seen.configurations):
                self._event_log.append(TABLE_EVENTS, first)
            self._caught_up = True

    def _warm_up(self) -> None:
        try:
            self._catch_up()
        except LogError as error:
            _log.warning("log_not_read_yet", why=str(error), action="reading it with the first request")

    def _checkpoint(self) -> None:
        # The events are durable, so a checkpoint that fails costs the next start some reading and nothing else.
        try:
            self._seen.checkpoint(self._event_log)
        except (LogError, SeenFileUnusable) as error:
            _log.warning("checkpoint_failed", why=str(error))
        self._since_checkpoint = 0

    async def probe(self) -> None:
        """Ask the log for a sign of life, behind the append under way.

        Raises `LogError`, also where the last append failed: a log may be readable and its disk full.
        """
        if self.trouble:
            raise LogUnavailable(self.trouble)
        await asyncio.wrap_future(self._thread.submit(self._look))

    def _look(self) -> None:
        for partition in self._event_log.partitions(TABLE_EVENTS)[:1]:
            self._event_log.end(TABLE_EVENTS, partition)

    async def close(self) -> None:
        """Answer what waits, write down what was seen, and end the thread. The log stays open: it is its owner's."""
        if self._draining is not None:
            await self._draining
        if self._caught_up:
            await asyncio.wrap_future(self._thread.submit(self._checkpoint))
        self._thread.shutdown()


class _Draft:
    """One append as it is put together: its messages, and the events that are new in it."""

    def __init__(self, seen: SeenEvents) -> None:
        self._seen = seen
        self.messages: list[tuple[str, bytes]] = []
        self.accepted: dict[tuple[str, int, int], Identity] = {}

    def place(self, table_id: str, verdict: Verdict) -> EventResult:
        """Add what a line brings to the log and return its result."""
        if verdict.reason:
            return self._reject(table_id, verdict, verdict.record, verdict.reason, verdict.detail)
        identity = Identity(table_id, verdict.epoch, verdict.seq, verdict.digest)
        standing = self._standing(identity)
        if standing == "conflicting":
            record = sealed(verdict.record, "conflicting")
            return self._reject(table_id, verdict, record, "conflicting", _CONFLICT)
        if standing == "duplicate":
            return EventResult(line=verdict.line, status="duplicate", event_id=verdict.event_id)
        self.accepted[identity[:3]] = identity
        self.messages.append((table_id, verdict.record))
        return EventResult(line=verdict.line, status="accepted", event_id=verdict.event_id)

    def _standing(self, identity: Identity) -> str:
        pending = self.accepted.get(identity[:3])
        if pending is None:
            return self._seen.verdict(identity)
        return "duplicate" if pending == identity else "conflicting"

    def _reject(self, table_id: str, verdict: Verdict, record: bytes, reason: str, detail: str) -> EventResult:
        self.messages.append((table_id, record))
        return EventResult(
            line=verdict.line, status="rejected", event_id=verdict.event_id or None, reason=reason, detail=detail
        )
