"""The embedded runtime: log, fold, store and notifier of one floor in one process, each loop in a thread of its own.

The loops meet in the log alone. Each keeps its own position there, so a slow store or a phone that doesn't answer
delays nobody, and a process killed at any moment goes on where every loop had committed.
"""

import gc
import shutil
import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Final, NamedTuple, Self

import structlog

from processors.logs.lock import lock_data_directory
from processors.logs.sqlite import SqliteLog
from processors.notify.apprise_transport import AppriseTransport
from processors.notify.notifier import GROUP as ALERTS_READ
from processors.notify.notifier import TOPIC as ALERTS
from processors.notify.notifier import Notifier
from processors.notify.port import NotifierTransport
from processors.reconstruct.fold import FoldSettings
from processors.reconstructor import GROUP, OnFacts, Reconstructor
from processors.settings import Settings
from processors.store.clickhouse import ClickHouseStore
from processors.store.port import StoreUnavailable
from processors.store.sink import Sink
from schemas.errors import PitwatchError
from schemas.log import LogUnavailable, Position
from schemas.topics import FACT_TOPICS, TABLE_EVENTS

LOG_FILE: Final = "log.sqlite"
STORE_FOLDER: Final = "clickhouse"
WAIT_SECONDS: Final = 0.25
"""How long an idle loop waits for something to do before it looks whether it should stop."""

FIRST_RETRY_SECONDS: Final = 0.25
LONGEST_RETRY_SECONDS: Final = 10.0
SWITCH_SECONDS: Final = 0.0005
COLLECT_AFTER: Final = 100_000
"""Container objects made, and not freed, before the collector looks at the newest."""

STOP_SECONDS: Final = 60.0

_logger: Final = structlog.get_logger(__name__)

UNFINISHED: Final = "replay:unfinished"
"""Key of the reconstruct group's snapshots that is no table's: a replay was begun, and not ended."""


class UnfinishedReplay(PitwatchError):
    """Raised for a data directory in which a replay was broken off: its facts are not all there."""


class Health(NamedTuple):
    """How the pipeline stands. `troubles` holds what each loop that can't work now says is wrong."""

    events_behind: int
    facts_behind: int
    troubles: dict[str, str]


class Loop(threading.Thread):
    """Runs a step again and again. Outages are waited out with growing pauses; anything else ends the pipeline."""

    def __init__(self, name: str, step: Callable[[], bool], pipeline: "EmbeddedPipeline") -> None:
        super().__init__(name=name, daemon=True)
        self._step = step
        self._pipeline = pipeline

    def run(self) -> None:
        """Work until the pipeline stops."""
        pause = FIRST_RETRY_SECONDS
        pipeline = self._pipeline
        while not pipeline.stopping.is_set():
            try:
                moved = self._step()
            except (LogUnavailable, StoreUnavailable) as error:
                if pipeline.report(self.name, str(error)):
                    _logger.error("loop_waits", loop=self.name, error=str(error), retry_seconds=pause)
                pipeline.stopping.wait(pause)
                pause = min(2 * pause, LONGEST_RETRY_SECONDS)
            except BaseException as error:  # noqa: BLE001  a loop that dies must not die unheard
                pipeline.fail(self.name, error)
                return
            else:
                pause = FIRST_RETRY_SECONDS
                pipeline.report(self.name, "")
                if moved:
                    pipeline.tell()


class EmbeddedPipeline:
    """A floor's pipeline in this process; use it as a context.

    `replaying` is for work on the past: nobody is told of it. `clock_events` turns the clocks on that write
    `gap_expired` and `table_silent` events: for live input, not for files. `on_facts` is told of each committed batch's
    facts by the reconstruct loop, which waits for it. Raises on entering `DataDirectoryUnusable`, `StoreUnavailable`,
    `LogUnavailable`, `UnfinishedReplay`.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        transport: NotifierTransport | None = None,
        clock_events: bool = False,
        replaying: bool = False,
        on_facts: OnFacts | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.settings = settings
        self._transport = transport
        self._clock_events = clock_events
        self._replaying = replaying
        self._on_facts = on_facts
        self._clock = clock
        self._resources = ExitStack()
        self._threads: list[threading.Thread] = []
        self._changed = threading.Condition()
        self._troubles: dict[str, str] = {}
        self._failure: BaseException | None = None
        self._next_look: datetime | None = None
        self.stopping = threading.Event()

    def __enter__(self) -> Self:
        with ExitStack() as opened:
            directory = self.settings.data_directory
            opened.enter_context(lock_data_directory(directory))
            self.log = opened.enter_context(open_log(directory))
            if not self._replaying and self.log.state(GROUP, UNFINISHED) is not None:
                raise UnfinishedReplay(
                    f"a replay of {directory} was broken off; run `pitwatch replay` again to finish it"
                )
            pipeline = self.settings.pipeline
            self.reconstructor = Reconstructor(
                self.log,
                FoldSettings(pipeline.gap_limit_ms, pipeline.revision_rounds),
                batch_events=pipeline.batch_events,
                snapshot_events=pipeline.snapshot_interval_events,
                on_facts=self._on_facts,
            )
            self.store = opened.enter_context(open_store(directory, self.settings))
            self.sink = Sink(self.log, self.store)
            self._open_notifier(opened, directory)
            self._resources = opened.pop_all()
        return self

    def _open_notifier(self, opened: ExitStack, directory: Path) -> None:
        self.notifier: Notifier | None = None
        if not self._replaying and self.settings.notifications.routes:
            transport = self._transport or AppriseTransport()
            self.notifier = Notifier(self.log, directory, transport, self.settings.notifications)
            opened.callback(self.notifier.close)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.stop()
        finally:
            self._resources.close()

    def start(self) -> None:
        """Start the loops."""
        # A loop that works in Python must not keep those that wait for the disk or a socket waiting for long.
        sys.setswitchinterval(SWITCH_SECONDS)
        _relax_collector()
        self.reconstructor.claim()
        self.reconstructor.take_up_all()
        self._threads = [Loop("reconstruct", self._reconstruct, self), Loop("sink", self._sink, self)]
        if self.notifier is not None:
            self._threads.append(threading.Thread(target=self._notify, name="notify", daemon=True))
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Stop the loops where they are, and write the folds down. Idempotent."""
        self.stopping.set()
        self.tell()
        for thread in self._threads:
            thread.join(STOP_SECONDS)
        if self._threads and self._failure is None:
            try:
                self.reconstructor.save_all()
            except LogUnavailable as error:
                # Only the snapshots are older for it: the next start folds a little more again.
                _logger.warning("folds_not_saved", error=str(error))
        self._threads = []

    def _reconstruct(self) -> bool:
        if self._clock_events:
            self._look_at_clock()
        done = self.reconstructor.step()
        if not done.events:
            self.reconstructor.wait(WAIT_SECONDS)
        return bool(done.events)

    def _look_at_clock(self) -> None:
        now = self._clock()
        if self._next_look is not None and now < self._next_look:
            return
        self._next_look = now + self.settings.timers.interval
        if events := self.reconstructor.overdue(now):
            self.log.append(TABLE_EVENTS, events)

    def _sink(self) -> bool:
        moved = self.sink.step()
        if not moved:
            self.sink.wait(WAIT_SECONDS)
        return bool(moved)

    def _notify(self) -> None:
        assert self.notifier is not None
        try:
            self.notifier.run(self.stopping)
        except BaseException as error:  # noqa: BLE001  a loop that dies must not die unheard
            self.fail("notify", error)

    # -- how it stands -----------------------------------------------------------------------------------------------

    def report(self, loop: str, trouble: str) -> bool:
        """Note what a loop says of itself, ``""`` for all well; tell whether that is news."""
        news = self._troubles.get(loop, "") != trouble
        if news:
            with self._changed:
                self._troubles[loop] = trouble
                self._changed.notify_all()
            if not trouble:
                _logger.info("loop_recovered", loop=loop)
        return news and bool(trouble)

    def fail(self, loop: str, error: BaseException) -> None:
        """End the pipeline over an error that no loop can wait out."""
        _logger.error("loop_failed", loop=loop, exc_info=error)
        with self._changed:
            self._failure = self._failure or error
            self.stopping.set()
            self._changed.notify_all()

    def tell(self) -> None:
        """Wake those who wait for progress."""
        with self._changed:
            self._changed.notify_all()

    def health(self) -> Health:
        """Return how far the loops are behind, and what troubles them."""
        troubles = {loop: trouble for loop, trouble in self._troubles.items() if trouble}
        return Health(self.reconstructor.behind(), self.sink.behind(), troubles)

    def wait_until_stopped(self) -> None:
        """Block until something stops the pipeline. Raises what a loop died of."""
        while not self.stopping.wait(WAIT_SECONDS):
            pass
        if self._failure is not None:
            raise self._failure

    def drain(self, on_wait: Callable[[Health], None] | None = None) -> None:
        """Block until everything in the log is folded and stored. Raises what a loop died of or can't get past.

        `on_wait` is told now and then how far the loops are.
        """
        while True:
            if on_wait is not None:
                on_wait(self.health())
            with self._changed:
                if self._failure is not None:
                    raise self._failure
                if trouble := next((f"{loop}: {what}" for loop, what in self._troubles.items() if what), ""):
                    raise LogUnavailable(trouble)
                if not self.reconstructor.behind() and not self.sink.behind():
                    return
                self._changed.wait(WAIT_SECONDS)

    def finish_input(self) -> None:
        """Drain a source that has come to its end: gaps that nothing will fill are given up, in the log as ever."""
        self.drain()
        if events := self.reconstructor.waiting(self._clock()):
            self.log.append(TABLE_EVENTS, events)
            self.drain()


def _relax_collector() -> None:
    """Look for cyclic garbage less often: the folds keep millions of objects that are none, and make few that are.

    Measured at the defaults, the collector took more time than the rules.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(COLLECT_AFTER, 20, 100)


def begin_replay(directory: Path) -> None:
    """Throw away everything that is derived from a data directory's events, which the caller has locked.

    The store goes first: should this be broken off in between, it is filled again from the facts still in the log.
    """
    shutil.rmtree(directory / STORE_FOLDER, ignore_errors=True)
    with open_log(directory) as log:
        log.start_over(tuple(FACT_TOPICS.values()), GROUP, (UNFINISHED, b"1"))


def end_replay(log: SqliteLog) -> None:
    """Let the pipeline run again. What the replay found is not news: nobody is to be told of it once more."""
    log.commit_position(ALERTS_READ, Position(ALERTS, 0, log.end(ALERTS, 0)))
    log.forget_state(GROUP, UNFINISHED)


def open_log(directory: Path, *, read_only: bool = False) -> closing[SqliteLog]:
    """Return the log of a data directory, closed at the end of a ``with`` block. Raises `LogUnavailable`."""
    return closing(SqliteLog(directory / LOG_FILE, read_only=read_only))


def open_store(directory: Path, settings: Settings) -> closing[ClickHouseStore]:
    """Return the embedded store of a data directory, which the caller has locked. Raises `StoreUnavailable`."""
    store = ClickHouseStore.embedded(directory / STORE_FOLDER, settings.store)
    try:
        store.migrate()
    except BaseException:
        store.close()
        raise
    return closing(store)
