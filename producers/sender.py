"""The sending half of the device library: an outbox's events in order to the log, for as long as it takes."""

import random
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import structlog

from producers.outbox import Outbox, OutboxUnusable, Refused, Waiting
from producers.transports import Receipt, TooLarge, Transport, Undelivered
from schemas.errors import PitwatchError

_log = structlog.get_logger(__name__)


class EpochReused(PitwatchError):
    """Raised when the log already holds other events under these identities: the table's outbox was lost and replaced.

    Nothing more is sent and nothing is forgotten, because the log would take new events for repeats.
    """


@dataclass(frozen=True, slots=True)
class Backoff:
    """How long to wait after failures: twice as long each time, up to a limit, in seconds."""

    first_seconds: float = 0.5
    limit_seconds: float = 60.0

    def delay(self, failures: int, chance: float, at_least: float = 0.0) -> float:
        """Return the seconds to wait after `failures` in a row (from 1).

        `chance` (0 to 1) takes off up to half, so that a floor full of tables doesn't come back all at once; what the
        other side asked for (`at_least`) comes on top.
        """
        # The exponent is bounded because a log may be away for days.
        full: float = min(self.limit_seconds, self.first_seconds * 2.0 ** min(failures - 1, 30))
        return min(at_least, 10 * self.limit_seconds) + full * (1 - chance / 2)


class Sender:
    """Delivers an outbox to a transport: in order, at least once. One for each outbox.

    A request carries at most `batch_events` events and about `batch_bytes` bytes, and fewer after a failure. `chance`
    gives numbers from 0 to 1.
    """

    def __init__(
        self,
        outbox: Outbox,
        transport: Transport,
        *,
        backoff: Backoff | None = None,
        chance: Callable[[], float] = random.random,
        batch_events: int = 500,
        batch_bytes: int = 1_000_000,
    ) -> None:
        self._outbox = outbox
        self._transport = transport
        self._backoff = backoff or Backoff()
        self._chance = chance
        self._batch_events = batch_events
        self._batch_bytes = batch_bytes
        self._limit = batch_events
        self._stopping = threading.Event()
        self.trouble = ""
        """Why the last attempt failed, in words; empty while all is well."""

    def deliver(self) -> int:
        """Send the oldest waiting events once and return how many were settled; 0 where none waits.

        Raises `Undelivered` (try again later), `EpochReused` (give up) and `OutboxUnusable`.
        """
        batch = self._outbox.oldest(self._limit, self._batch_bytes)
        if not batch:
            return 0
        try:
            receipts = self._transport.send([waiting.event for waiting in batch])
        except Undelivered as error:
            # Fewer next time, whatever it was: over a bad line or a strict proxy only a short request gets through.
            self._limit = max(1, len(batch) // 2)
            if len(batch) > 1 or not isinstance(error, TooLarge):
                raise
            receipts = [Receipt("rejected", "too_long", str(error))]
        self._limit = min(self._batch_events, self._limit * 2)
        self._settle(batch, receipts)
        return len(batch)

    def _settle(self, batch: list[Waiting], receipts: list[Receipt]) -> None:
        pairs = list(zip(batch, receipts, strict=True))
        conflict = next((place for place, (_, receipt) in enumerate(pairs) if receipt.reason == "conflicting"), None)
        rejected = [(waiting, receipt) for waiting, receipt in pairs[:conflict] if receipt.status == "rejected"]
        self._outbox.settle(
            [waiting for waiting, receipt in pairs[:conflict] if receipt.status != "rejected"],
            [Refused(*waiting, f"{receipt.reason}: {receipt.detail}") for waiting, receipt in rejected],
        )
        for waiting, receipt in rejected:
            _log.warning(
                "event_refused", table=self._outbox.table_id, epoch=waiting.epoch, seq=waiting.seq, why=receipt
            )
        if conflict is not None:
            first = batch[conflict]
            raise EpochReused(
                f"table {self._outbox.table_id}: the log holds another event as epoch {first.epoch}, seq {first.seq}. "
                f"This outbox replaced a lost one: start a new file with first_epoch above the last epoch the log "
                f"knows; {self._outbox.path} keeps what was not sent"
            )

    def run(self) -> None:
        """Deliver until `stop`, waiting longer after each failure in a row. Raises `EpochReused`."""
        failures = 0
        while not self._stopping.is_set():
            try:
                if not self.deliver():
                    self._outbox.wait_for_events(unless=self._stopping.is_set)
                failures, self.trouble = 0, ""
            except (Undelivered, OutboxUnusable) as error:
                failures += 1
                self._note(error, failures)
                at_least = error.retry_after_seconds if isinstance(error, Undelivered) else 0.0
                self._stopping.wait(self._backoff.delay(failures, self._chance(), at_least))
            except EpochReused as error:
                self._note(error, failures + 1)
                raise

    def _note(self, error: PitwatchError, failures: int) -> None:
        self.trouble = str(error)
        # The first failure is news, and so is each doubling; an outage of hours need not fill a disk with the rest.
        if failures & (failures - 1) == 0:
            _log.warning("not_delivered", table=self._outbox.table_id, failures=failures, why=self.trouble)

    def stop(self) -> None:
        """Let `run` end after the attempt under way. Idempotent."""
        self._stopping.set()
        self._outbox.wake()

    @contextmanager
    def running(self) -> Iterator[None]:
        """Deliver from a thread of its own for the length of a ``with`` block; what still waits then stays kept."""
        thread = threading.Thread(target=self.run, name=f"sender-{self._outbox.table_id}", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self.stop()
            thread.join()
