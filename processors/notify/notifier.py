"""The notifier at work: reads alerts from the log, queues messages, and sends them without holding anybody up.

One thread reads each partition, and each URL has a thread of its own: a slow or broken URL delays no other, and none
of them delays the pipeline. `Notifier.step` does the same work without threads.
"""

import threading
from collections.abc import Iterable, Sequence
from datetime import timedelta
from functools import partial
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import Final

import structlog

from processors.notify.database import FILE_NAME, Database, OutboxUnavailable
from processors.notify.intake import Intake
from processors.notify.outbox import Outbox, Target
from processors.notify.port import Clock, NotifierTransport, system_clock
from processors.notify.retry import RetryPolicy
from processors.notify.routing import NotificationSettings
from processors.notify.sender import Outcome, Sender, checked_urls
from processors.notify.status import FailedSend, NotifierStatus, read_failed, read_status
from processors.notify.worker import Worker
from schemas.log import EventLog, LogUnavailable, Position, Record
from schemas.topics import FACT_TOPICS

GROUP: Final = "notifier"
TOPIC: Final = FACT_TOPICS["alert"]
BATCH: Final = 500
"""Records read, and queued in one transaction, at a time."""

IDLE_SECONDS: Final = 0.5
"""How long a thread waits at most before it looks whether it is to stop, or whether a summary is due."""

PAUSE_SECONDS: Final = 1.0
"""Wait after the log or the queue was unavailable."""

STOP_SECONDS: Final = 5.0
"""How long `run` waits in all for sends in progress; what isn't recorded by then is sent again after a restart."""

FORGET_EVERY: Final = timedelta(hours=1)

_logger: Final = structlog.get_logger(__name__)


class Notifier:
    """Tells people about alerts, at least once each, across crashes. One for a floor: the queue is one file.

    Raises `RouteRefused` for a URL that can never work and `OutboxUnavailable` when the queue can't be opened.
    """

    def __init__(
        self,
        log: EventLog,
        data_directory: Path,
        transport: NotifierTransport,
        settings: NotificationSettings,
        clock: Clock = system_clock,
    ) -> None:
        urls = checked_urls(settings, transport)
        self._log = log
        self._clock = clock
        self._path = data_directory / FILE_NAME
        self._database = Database(self._path)
        self._outbox = Outbox(self._database)
        self._intake = Intake(self._database, settings)
        self._sender = Sender(self._outbox, transport, urls, RetryPolicy.of(settings), clock)
        self._wakers = {target: threading.Event() for target in urls}
        self._positions: dict[int, int] = {}
        self._keep = timedelta(days=settings.keep_days)
        self._forget_at = clock()
        self._outbox.retire(urls.keys(), clock())

    def step(self) -> int:
        """Read a batch of each partition and send all that is due, in this thread; return how much was done.

        Counts records, summaries and attempts, so 0 means that there is nothing to do before the clock moves. Raises
        `LogUnavailable`, `OutboxUnavailable`.
        """
        done = sum(self._read(partition) for partition in self._log.partitions(TOPIC)) + self._keep_house()
        return done + sum(self._sender.send_due(target) for target in self._wakers)

    def accept(self, records: Sequence[Record]) -> None:
        """Queue what alerts read elsewhere call for; on return that is durable. Idempotent, from any thread.

        For who keeps the place in the log itself. Raises `OutboxUnavailable`, and nothing was queued then.
        """
        self._intake.accept(records, self._clock())
        self._wake()

    def recall(self, records: Iterable[Record]) -> None:
        """Remember alerts that another worker took before this one had their partition: nobody is told again.

        Idempotent, from any thread. Raises `OutboxUnavailable`, and what reading `records` raises; what was read before
        is remembered.
        """
        rest = iter(records)
        while some := tuple(islice(rest, BATCH)):
            self._intake.recall(some)

    def taken_to(self, partition: int) -> int | None:
        """Return up to which offset of the alerts topic everything was accepted or recalled; None where nothing was.

        Raises `OutboxUnavailable`.
        """
        return self._intake.taken_to(partition)

    @property
    def keep(self) -> timedelta:
        """For how long is remembered what people were told."""
        return self._keep

    def run(self, stop: threading.Event, *, reads: bool = True) -> None:
        """Work until `stop` is set. Outages are waited out, and logged. Without `reads` alerts come through `accept`.

        Raises what a thread of it died of, and `LogUnavailable` when the partitions can't be listed at the start.
        """
        halt = threading.Event()
        partitions = self._log.partitions(TOPIC) if reads else ()
        workers = [
            *(Worker(f"alerts-{one}", partial(self._read_on, one, halt)) for one in partitions),
            *(Worker(f"send-{one.route}-{one.url_index}", partial(self._send_on, one, halt)) for one in self._wakers),
        ]
        if not reads:
            workers.append(Worker("alerts-house", partial(self._keep_house_on, halt)))
        for worker in workers:
            worker.start()
        while not stop.wait(IDLE_SECONDS) and all(worker.error is None for worker in workers):
            pass
        halt.set()
        self._wake()
        deadline = monotonic() + STOP_SECONDS
        for worker in workers:
            worker.join(max(0.0, deadline - monotonic()))
        for worker in workers:
            if worker.error is not None:
                raise worker.error

    def status(self) -> NotifierStatus:
        """Return how the queue stands."""
        return read_status(self._path)

    def failed(self, limit: int = 100) -> tuple[FailedSend, ...]:
        """Return the messages given up, the newest first."""
        return read_failed(self._path, limit)

    def retry_failed(self) -> int:
        """Make every message given up pending again; return how many those were."""
        renewed = self._outbox.retry_failed(self._clock())
        self._wake()
        return renewed

    def behind(self) -> int:
        """Return how many records of the alerts topic are still to be read. Raises `LogUnavailable`."""
        partitions = self._log.partitions(TOPIC)
        return sum(self._log.end(TOPIC, one) - self._log.position(GROUP, TOPIC, one) for one in partitions)

    def close(self) -> None:
        """Close the queue's file. Idempotent; the log and the transport belong to the caller."""
        self._database.close()

    def _read(self, partition: int) -> int:
        """Queue what the next records call for; only then is the place in the log moved."""
        if partition not in self._positions:
            self._positions[partition] = self._log.position(GROUP, TOPIC, partition)
        records = self._log.read(TOPIC, partition, self._positions[partition], BATCH)
        if records:
            self.accept(records)
            self._log.commit_position(GROUP, Position(TOPIC, partition, records[-1].offset + 1))
            self._positions[partition] = records[-1].offset + 1
        return len(records)

    def _keep_house(self) -> int:
        """Queue summaries that are due and forget what is old; return how many summaries that were."""
        now = self._clock()
        summaries = self._intake.summarise(now)
        if summaries:
            self._wake()
        if now >= self._forget_at:
            self._intake.forget(now - self._keep)
            self._forget_at = now + FORGET_EVERY
        return summaries

    def _read_on(self, partition: int, halt: threading.Event) -> None:
        while not halt.is_set():
            try:
                read = self._read(partition)
                self._keep_house()
                if not read:
                    self._log.wait(TOPIC, partition, self._positions[partition], IDLE_SECONDS)
            except (LogUnavailable, OutboxUnavailable) as error:
                _logger.warning("alerts can't be read now", partition=partition, error=str(error))
                halt.wait(PAUSE_SECONDS)

    def _keep_house_on(self, halt: threading.Event) -> None:
        while not halt.wait(IDLE_SECONDS):
            try:
                self._keep_house()
            except OutboxUnavailable as error:
                _logger.warning("the queue can't be kept now", error=str(error))

    def _send_on(self, target: Target, halt: threading.Event) -> None:
        waker = self._wakers[target]
        while not halt.is_set():
            # Cleared before looking: what is queued after the look sets it again, so no wake-up is lost.
            waker.clear()
            try:
                if (send := self._sender.take(target)) is None:
                    waker.wait(self._seconds_to_wait(target))
                    continue
            except OutboxUnavailable as error:
                _logger.warning(
                    "messages can't be taken now", route=target.route, url=target.url_index, error=str(error)
                )
                halt.wait(PAUSE_SECONDS)
                continue
            self._record(self._sender.attempt(target, send), target, halt)

    def _record(self, outcome: Outcome, target: Target, halt: threading.Event) -> None:
        """Write the outcome down, however long that takes: a message taken from the queue anew would be sent again."""
        if outcome.error:
            _logger.warning("message not sent", route=target.route, url=target.url_index, error=outcome.error)
        while True:
            try:
                self._sender.settle(outcome)
                return
            except OutboxUnavailable as error:
                _logger.warning("outcome can't be recorded now", route=target.route, error=str(error))
                if halt.wait(PAUSE_SECONDS):
                    return

    def _seconds_to_wait(self, target: Target) -> float:
        due = self._outbox.next_due(target)
        return IDLE_SECONDS if due is None else min(IDLE_SECONDS, max(0.0, (due - self._clock()).total_seconds()))

    def _wake(self) -> None:
        for waker in self._wakers.values():
            waker.set()
