"""The embedded runtime: log, fold, store and notifier of one floor in one process, each loop in a thread of its own.

The loops meet in the log alone. Each keeps its own position there, so a slow store or a phone that doesn't answer
delays nobody, and a process killed at any moment goes on where every loop had committed.
"""

import threading
from collections.abc import Callable, Collection
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import Final, NamedTuple, Self

import structlog

from processors.data_directory import STORE_FOLDER, check_finished, open_log, open_store
from processors.fact_retention import FactRetention
from processors.interpreter import tuned
from processors.logs.lock import lock_data_directory
from processors.loops import Loop, Standing
from processors.notify.apprise_transport import AppriseTransport
from processors.notify.database import OutboxUnavailable
from processors.notify.notifier import GROUP as ALERTS_READ
from processors.notify.notifier import Notifier
from processors.notify.port import NotifierTransport
from processors.reconstruct.fold import FoldSettings
from processors.reconstructor import OnFacts, Reconstructor
from processors.settings import Settings
from processors.store.port import RowsRefused, StoreUnavailable
from processors.store.sink import Sink
from schemas.log import LogUnavailable
from schemas.topics import TABLE_EVENTS

__all__ = ["STORE_FOLDER", "EmbeddedPipeline", "Health", "open_log"]

WAIT_SECONDS: Final = 0.25
"""How long an idle loop waits for something to do before it looks whether it should stop."""

STOP_SECONDS: Final = 30.0
"""How long a stop waits for each loop. One that hangs for longer is left behind: it has committed what counts."""

OUTAGES: Final = (LogUnavailable, StoreUnavailable, OutboxUnavailable, RowsRefused)
"""What loops wait out: the disk is full, a file is locked, a service is away.

The store refuses rows only where it refuses their dead letters as well: its schema is wrong, and the rest can go on.
"""

_logger: Final = structlog.get_logger(__name__)


class Health(NamedTuple):
    """How the pipeline stands. `troubles` holds what each loop that can't work now says is wrong."""

    events_behind: int
    facts_behind: int
    troubles: dict[str, str]


class EmbeddedPipeline:
    """A floor's pipeline in this process; use it as a context.

    `live` turns on what files have no use for: the clocks that write `gap_expired` and `table_silent` events, the
    floor's configurations, put in force once everything in the log is folded, and the notifier. `replaying` is for who
    ends a replay. `on_facts` is told of each committed batch's facts by the reconstruct loop, which waits for it.
    Raises on entering `DataDirectoryUnusable`, `StoreUnavailable`, `LogUnavailable`, `OutboxUnavailable`,
    `RouteRefused`, `UnfinishedReplay`.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        transport: NotifierTransport | None = None,
        live: bool = False,
        replaying: bool = False,
        on_facts: OnFacts | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.settings = settings
        self._transport = transport
        self._live = live
        self._replaying = replaying
        self._on_facts = on_facts
        self._clock = clock
        self._resources = ExitStack()
        self._loops: list[Loop] = []
        self._standing = Standing()
        self._next_look: datetime | None = None
        self._draining = False
        self.configured = threading.Event()
        """Set once every table of a live floor has its configuration in the log."""

    @property
    def stopping(self) -> threading.Event:
        """Set it to have the loops end; set when one of them has died."""
        return self._standing.stopping

    def __enter__(self) -> Self:
        with ExitStack() as opened:
            directory = self.settings.data_directory
            opened.enter_context(lock_data_directory(directory))
            self.log = opened.enter_context(open_log(directory))
            if not self._replaying:
                check_finished(self.log, directory)
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
            self._open_notifier(opened)
            self.retention = self._fact_retention()
            self.retention.check()
            self._resources = opened.pop_all()
        return self

    def _open_notifier(self, opened: ExitStack) -> None:
        self.notifier: Notifier | None = None
        notifications = self.settings.notifications
        if self._live and notifications.routes:
            transport = self._transport or AppriseTransport(notifications.send_timeout_seconds)
            self.notifier = Notifier(self.log, self.settings.data_directory, transport, notifications, self._clock)
            opened.callback(self.notifier.close)

    def _fact_retention(self) -> FactRetention:
        days = self.settings.pipeline.keep_facts_days
        # Nothing is dropped while files are read or history is told again: only who is live knows who else reads.
        keep = timedelta(days=days) if days is not None and self._live else None
        alert_groups = [] if self.notifier is None else [ALERTS_READ]
        return FactRetention(self.log, self.sink.group, alert_groups, keep, self._clock)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.stop()
        finally:
            self._resources.close()

    def start(self) -> None:
        """Start the loops. Raises `LogUnavailable`."""
        self.reconstructor.claim()
        self.reconstructor.take_up_all()
        self.reconstructor.listen_from(self._clock())
        steps = {"reconstruct": self._reconstruct, "sink": self._sink}
        if self.notifier is not None:
            steps["notify"] = self._notify
        self._loops = [Loop(name, step, self._standing, OUTAGES) for name, step in steps.items()]
        self._resources.enter_context(tuned())
        for loop in self._loops:
            loop.start()

    def stop(self) -> None:
        """Stop the loops where they are, and write the folds down. Idempotent."""
        self.stopping.set()
        self._standing.tell()
        for loop in self._loops:
            loop.join(STOP_SECONDS)
        hanging = [loop.name for loop in self._loops if loop.is_alive()]
        if hanging:
            _logger.error("loops_hang", loops=hanging)
        if self._loops and "reconstruct" not in hanging:
            self._save()
        self._loops = []

    def _save(self) -> None:
        try:
            self.reconstructor.save_all()
        except LogUnavailable as error:
            # Only the snapshots are older for it: the next start folds a little more again.
            _logger.warning("folds_not_saved", error=str(error))

    # -- the loops' steps --------------------------------------------------------------------------------------------

    def _reconstruct(self) -> bool:
        done = self.reconstructor.step()
        # Only who has read the log to its end knows who is silent, and what is in force.
        if self._live and done.events < self.settings.pipeline.batch_events:
            self._decide()
        if not done.events:
            self.reconstructor.wait(WAIT_SECONDS)
        return bool(done.events)

    def _decide(self) -> None:
        """Write what the clock and the house's word call for to the log, where that is due."""
        now, interval = self._clock(), self.settings.timers.interval
        # A clock that was set back must not stop the looks until it is where it was.
        if self._next_look is not None and self._next_look - interval <= now < self._next_look:
            return
        events = self.reconstructor.overdue(now)
        if not self.configured.is_set():
            events += self.reconstructor.to_publish(self.settings.floor.entries(), now)
        self.log.append(TABLE_EVENTS, events)
        self.configured.set()
        self._next_look = now + interval

    def _sink(self) -> bool:
        # Who waits for the end has nothing to gain from gathering rows.
        hurried = self._draining and not self.reconstructor.behind()
        moved = self.sink.drain() if hurried else self.sink.step()
        self.retention.sweep()
        if not moved:
            self.sink.wait(WAIT_SECONDS)
        return bool(moved)

    def _notify(self) -> bool:
        assert self.notifier is not None
        self.notifier.run(self.stopping)
        return False

    # -- how it stands -----------------------------------------------------------------------------------------------

    def health(self) -> Health:
        """Return how far the loops are behind, and what troubles them. Raises `LogUnavailable`."""
        return Health(self.reconstructor.behind(), self.sink.behind(), self.troubles())

    def troubles(self) -> dict[str, str]:
        """Return what each loop that can't work now says is wrong."""
        return self._standing.troubles()

    def raise_failure(self) -> None:
        """Raise what a loop died of, if one did."""
        self._standing.raise_failure()

    def drain(self, on_wait: Callable[[Health], None] | None = None) -> None:
        """Block until everything in the log is folded and stored. Raises what a loop died of or can't get past.

        `on_wait` is told now and then how far the loops are, and at the end.
        """
        self._draining = True
        try:
            while not self._standing.wait_for(self._is_drained, WAIT_SECONDS):
                if on_wait is not None:
                    on_wait(self.health())
        finally:
            self._draining = False
        if on_wait is not None:
            on_wait(self.health())

    def _is_drained(self) -> bool:
        self._standing.raise_failure()
        for loop, trouble in self._standing.troubles().items():
            raise LogUnavailable(f"{loop}: {trouble}")
        return not self.reconstructor.behind() and not self.sink.behind()

    def finish_input(
        self, table_ids: Collection[str] | None = None, on_wait: Callable[[Health], None] | None = None
    ) -> None:
        """Drain a source that has come to its end: its tables' gaps, which nothing will fill, are given up in the log.

        Of all tables, where none are named.
        """
        self.drain(on_wait)
        tables = self.reconstructor.folds.keys() if table_ids is None else table_ids
        if events := self.reconstructor.waiting(self._clock(), tables):
            self.log.append(TABLE_EVENTS, events)
            self.drain(on_wait)
