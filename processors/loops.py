"""The threads of a pipeline, and how they stand: what each waits for, and what one of them died of."""

import threading
from collections.abc import Callable
from typing import Final

import structlog

from processors.metrics import LOOP_RETRIES
from schemas.errors import PitwatchError

FIRST_RETRY_SECONDS: Final = 0.25
LONGEST_RETRY_SECONDS: Final = 10.0

_logger: Final = structlog.get_logger(__name__)


class Standing:
    """How the loops of one pipeline stand. Any thread may use it; those who wait for progress are woken by `tell`."""

    def __init__(self) -> None:
        self.stopping = threading.Event()
        """Set when the loops are to end, or one of them has died."""
        self._changed = threading.Condition()
        self._troubles: dict[str, str] = {}
        self._failure: BaseException | None = None

    def report(self, loop: str, trouble: str) -> bool:
        """Note what a loop says of itself, ``""`` for all well; tell whether that is a new trouble."""
        with self._changed:
            before = self._troubles.get(loop, "")
            self._troubles[loop] = trouble
            if before != trouble:
                self._changed.notify_all()
        if before and not trouble:
            _logger.info("loop_recovered", loop=loop)
        return bool(trouble) and before != trouble

    def fail(self, loop: str, error: BaseException) -> None:
        """End all loops over an error that this one can't wait out."""
        _logger.error("loop_failed", loop=loop, exc_info=error)
        with self._changed:
            self._failure = self._failure or error
            self.stopping.set()
            self._changed.notify_all()

    def tell(self) -> None:
        """Wake those who wait for progress."""
        with self._changed:
            self._changed.notify_all()

    def troubles(self) -> dict[str, str]:
        """Return what each loop that can't work now says is wrong."""
        with self._changed:
            return {loop: trouble for loop, trouble in self._troubles.items() if trouble}

    def raise_failure(self) -> None:
        """Raise what a loop died of, if one did."""
        with self._changed:
            if self._failure is not None:
                raise self._failure

    def wait_for(self, done: Callable[[], bool], timeout_seconds: float) -> bool:
        """Block until `done`, or the time is over; tell whether it is. Asked again at every change."""
        with self._changed:
            return self._changed.wait_for(done, timeout_seconds)


class Loop(threading.Thread):
    """Runs a step again and again until the pipeline stops.

    What `outages` names is waited out with growing pauses, and reported; anything else ends the pipeline. A daemon: a
    step that hangs must not keep the process from ending.
    """

    def __init__(
        self,
        name: str,
        step: Callable[[], bool],
        standing: Standing,
        outages: tuple[type[PitwatchError], ...],
    ) -> None:
        super().__init__(name=name, daemon=True)
        self._step = step
        self._standing = standing
        self._outages = outages

    def run(self) -> None:
        """Work until the pipeline stops."""
        standing = self._standing
        pause = FIRST_RETRY_SECONDS
        while not standing.stopping.is_set():
            try:
                moved = self._step()
            except self._outages as error:
                LOOP_RETRIES.labels(self.name).inc()
                if standing.report(self.name, str(error)):
                    _logger.error("loop_waits", loop=self.name, error=str(error))
                standing.stopping.wait(pause)
                pause = min(2 * pause, LONGEST_RETRY_SECONDS)
            except BaseException as error:  # noqa: BLE001  a loop that dies must not die unheard
                standing.fail(self.name, error)
                return
            else:
                pause = FIRST_RETRY_SECONDS
                standing.report(self.name, "")
                if moved:
                    standing.tell()
