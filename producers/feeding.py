"""A simulated floor that goes on in the present: each table sends its events to a gateway as they fall due.

The floor is the same at every start, for it follows from its settings. So all there is to keep is how many arrivals of
each table were acknowledged: the next start deals the floor anew and begins behind them. What was acknowledged but not
written down yet is sent once more, and recognised as a repeat.
"""

import random
import threading
from collections.abc import Callable, Iterable
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Final

import structlog

from producers.sender import Backoff
from producers.simulator.controller import Arrival
from producers.transports import Receipt, Transport, Undelivered
from schemas.errors import PitwatchError
from schemas.wire import encode

MOST_AT_ONCE: Final = 500
"""Events in one request."""

LOOK_SECONDS: Final = 60.0
"""How long a table sleeps at most, in case the clock was set meanwhile."""

Clock = Callable[[], datetime]

_log = structlog.get_logger(__name__)


class FeedRefused(PitwatchError):
    """Raised when the gateway already has other events under these identities: the counts were lost, or not these."""


class Count:
    """How many arrivals of a table were acknowledged, in a file. Raises `OSError`, and `ValueError` for no number."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.value = int(path.read_text(encoding="ascii")) if path.exists() else 0

    def add(self, arrivals: int) -> None:
        """Write down that so many more were acknowledged."""
        self.value += arrivals
        unfinished = self._path.with_suffix(".part")
        unfinished.write_text(str(self.value), encoding="ascii")
        unfinished.replace(self._path)


class TableFeed:
    """One table's part of the floor, for one thread. `clock` gives the present, with its zone."""

    def __init__(
        self, table_id: str, arrivals: Iterable[Arrival], transport: Transport, count: Count, clock: Clock
    ) -> None:
        self.table_id = table_id
        self._transport = transport
        self._count = count
        self._clock = clock
        self._arrivals = islice(iter(arrivals), count.value, None)
        self._next = next(self._arrivals, None)
        self._batch: list[Arrival] = []

    @property
    def over(self) -> bool:
        """Whether the table has closed, and all it sent was acknowledged."""
        return self._next is None and not self._batch

    def deliver(self) -> int:
        """Send what is due, `MOST_AT_ONCE` at most, and return how much that was.

        Raises `Undelivered`, after which the next call sends the same, and `FeedRefused`.
        """
        now = self._clock()
        while len(self._batch) < MOST_AT_ONCE and self._next is not None and self._next.arrives_at <= now:
            self._batch.append(self._next)
            self._next = next(self._arrivals, None)
        if not self._batch:
            return 0
        receipts = self._transport.send([encode(arrival.event) for arrival in self._batch])
        self._judge(receipts)
        sent, self._batch = len(self._batch), []
        self._count.add(sent)
        return sent

    def seconds_to_wait(self) -> float:
        """Return how long nothing falls due, `LOOK_SECONDS` at most."""
        if self._next is None:
            return LOOK_SECONDS
        return min(LOOK_SECONDS, max(0.0, (self._next.arrives_at - self._clock()).total_seconds()))

    def run(self, stop: threading.Event, backoff: Backoff | None = None) -> None:
        """Deliver until the table closes or `stop` is set, waiting outages out. Raises `FeedRefused`."""
        backoff = backoff or Backoff()
        failures = 0
        while not (stop.is_set() or self.over):
            try:
                if not self.deliver():
                    stop.wait(self.seconds_to_wait())
                failures = 0
            except Undelivered as error:
                failures += 1
                if failures == 1:
                    _log.warning("not_delivered", table=self.table_id, why=str(error))
                stop.wait(backoff.delay(failures, random.random(), error.retry_after_seconds))

    def close(self) -> None:
        """Close the table's connection."""
        self._transport.close()

    def _judge(self, receipts: list[Receipt]) -> None:
        for arrival, receipt in zip(self._batch, receipts, strict=True):
            if receipt.reason == "conflicting":
                raise FeedRefused(
                    f"table {self.table_id}: the gateway has another event as {arrival.event.event_id}. This floor was"
                    " fed before and its counts are gone: give its tables new names, or begin with an empty log"
                )
            if receipt.status == "rejected":
                _log.warning("event_refused", event_id=arrival.event.event_id, why=receipt.detail or receipt.reason)
