"""A worker that folds its share of the tables in a Kafka log, beside others of its kind.

It may be killed at any moment, stall, or lose its partitions to another: facts, snapshots and positions are written
together, and only by who owns the partitions. Silent tables are not its business but the timers'; gaps are, because
only who holds the folds knows that something waits.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Final, Protocol

import structlog

from processors.logs.kafka_member import Change, OnRelease, Partition
from processors.metrics import (
    RECONSTRUCT_FENCED,
    RECONSTRUCT_GIVEN_UP,
    RECONSTRUCT_PARTITIONS,
    RECONSTRUCT_TABLES,
    RECONSTRUCT_TROUBLED,
)
from processors.reconstruct.fold import FoldSettings
from processors.reconstructor import GROUP, Reconstructor
from processors.settings import Settings
from processors.watching import UNWATCHED, Watcher
from schemas.log import EventLog, Fenced, LogUnavailable
from schemas.topics import TABLE_EVENTS

TAKING_UP: Final = "taking up of folds"
"""What beats while folds are taken up."""

WAIT_SECONDS: Final = 0.25
"""How long an idle worker waits for something to do before it takes part in its group again."""

OUTAGES: Final = (LogUnavailable,)
"""What the worker waits out."""

_logger: Final = structlog.get_logger(__name__)


class Membership(Protocol):
    """A worker's place among those that share a log's partitions."""

    def poll(self, seconds: float = 0.0) -> Change:
        """Say that this worker is alive, and tell what changed hands. Raises `LogUnavailable`."""
        ...

    def leave(self) -> None:
        """Give everything up, after the partitions' release. Idempotent; raises nothing."""
        ...


class SharedLog(EventLog, Protocol):
    """A log whose partitions are shared between the workers of a group."""

    def join(self, group: str, topics: Sequence[str], on_release: OnRelease | None = None) -> Membership:
        """Become one of the workers; `on_release` is told of partitions that are about to be given up."""
        ...


OnShare = Callable[[Sequence[int]], None]
"""Told of the partitions of the tables' events that a worker has now."""


def untold(_partitions: Sequence[int]) -> None:
    """Tell nobody."""


class ReconstructWorker:
    """Folds what `log` says is this worker's; one thread steps it.

    `on_share` is told of the partitions it has, whenever they may be other ones, and `watcher` of its progress while it
    takes these up; `clock` gives the present, with its zone. Joining the group belongs to the first step, so that a
    cluster that is away then is waited for like later.
    """

    def __init__(
        self,
        log: SharedLog,
        settings: Settings,
        on_share: OnShare = untold,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        watcher: Watcher = UNWATCHED,
    ) -> None:
        pipeline = settings.pipeline
        self._log = log
        self._on_share = on_share
        self._watcher = watcher
        self._clock = clock
        self._batch_events = pipeline.batch_events
        self._interval = settings.timers.interval
        self._next_look: datetime | None = None
        self._member: Membership | None = None
        self._claimed = False
        self._abandoned = False
        # What changed hands while folds were taken up.
        self._gained: list[Partition] = []
        self._lost: list[Partition] = []
        self._share: Sequence[int] | None = None
        self.reconstructor = Reconstructor(
            log,
            FoldSettings(pipeline.gap_limit_ms, pipeline.revision_rounds),
            batch_events=pipeline.batch_events,
            snapshot_events=pipeline.snapshot_interval_events,
            on_page=self._stay,
        )

    def step(self) -> bool:
        """Fold one batch of all partitions, or wait a moment; tell whether there was one. Raises `LogUnavailable`."""
        try:
            moved = self._step()
        except Fenced as error:
            # Another has these partitions now, or may have: what was computed is dropped, and nothing was written.
            _logger.warning("partitions_given_up", error=str(error))
            RECONSTRUCT_FENCED.inc()
            self.reconstructor.forget()
            self._claimed = False
            return True
        except LogUnavailable:
            RECONSTRUCT_TROUBLED.set(1)
            # Tables kept their events while the log was away; they get their time to send what is missing.
            self.reconstructor.listen_from(self._clock())
            raise
        RECONSTRUCT_TROUBLED.set(0)
        return moved

    def close(self) -> None:
        """Write the folds down and leave the group; the log is its owner's. For when no thread steps any more."""
        if self._member is not None:
            self._member.leave()

    def abandon(self) -> None:
        """Have `close` write nothing, for a thread that steps still hangs somewhere."""
        self._abandoned = True

    def _step(self) -> bool:
        self._take_part()
        self._tell_share()
        # To take up what was gained may take long; who watches positions is told of a partition only then.
        self._watcher.beat(TAKING_UP, asks_log=True)
        try:
            self.reconstructor.take_up_all()
            self._tell_share()
            done = self.reconstructor.step()
        finally:
            # What was gained meanwhile, the step has taken up.
            self._watcher.rest(TAKING_UP)
        RECONSTRUCT_PARTITIONS.set(len(self.reconstructor.places()))
        RECONSTRUCT_TABLES.set(len(self.reconstructor.folds))
        if done.events < self._batch_events:
            self._give_up_gaps()
        if not done.events:
            self.reconstructor.wait(WAIT_SECONDS)
        return bool(done.events)

    def _take_part(self) -> None:
        if self._member is None:
            self._member = self._log.join(GROUP, [TABLE_EVENTS], self._release)
        change = self._member.poll()
        change = Change((*self._gained, *change.gained), (*self._lost, *change.lost))
        self._gained, self._lost = [], []
        if not self._claimed:
            # Before anything is read: it ends what a former self of this name may have left open.
            self._log.claim(GROUP)
            self._claimed = True
        if change.gained or change.lost:
            self._take_over(change)

    def _stay(self) -> None:
        """Stay in the group, and show progress, while folds are taken up.

        Raises `Fenced` where they may be another's meanwhile.
        """
        assert self._member is not None
        change = self._member.poll()
        self._watcher.beat(TAKING_UP, asks_log=True)
        self._gained += change.gained
        self._lost += change.lost
        if change.lost:
            raise Fenced(f"partitions {[place.partition for place in change.lost]} were given to another meanwhile")

    def _tell_share(self) -> None:
        # Where there are more workers than partitions it may stay at none.
        share = sorted(self.reconstructor.places())
        if share != self._share:
            self._on_share(share)
            self._share = share

    def _take_over(self, change: Change) -> None:
        """Begin anew with what was gained, from what its former owner committed, and forget what was lost."""
        self.reconstructor.forget({place.partition for place in (*change.gained, *change.lost)})
        owned = self._log.partitions(TABLE_EVENTS)
        _logger.info(
            "partitions_moved",
            gained=[place.partition for place in change.gained],
            lost=[place.partition for place in change.lost],
            owned=list(owned),
        )
        # Nobody listened to these tables for a while.
        self.reconstructor.listen_from(self._clock())

    def _release(self, partitions: Sequence[Partition]) -> None:
        """Write down the folds of what is about to be given up, so that the next owner need not fold much again."""
        if self._abandoned:
            return
        try:
            self.reconstructor.save({place.partition for place in partitions})
        except (Fenced, LogUnavailable) as error:
            # Only the snapshots are older for it.
            _logger.warning("folds_not_saved", error=str(error))

    def _give_up_gaps(self) -> None:
        """Write to the log which gaps were waited for long enough, where everything that came was read."""
        now = self._clock()
        # A clock that was set back must not stop the looks until it is where it was.
        if self._next_look is not None and self._next_look - self._interval <= now < self._next_look:
            return
        self._next_look = now + self._interval
        places = self.reconstructor.places()
        # To ask where each partition ends takes longer than a batch, and hardly ever is there a gap to give up.
        if not self.reconstructor.gaps_overdue(now, places):
            return
        read = [partition for partition, offset in places.items() if self._log.end(TABLE_EVENTS, partition) <= offset]
        events = self.reconstructor.gaps_overdue(now, read)
        self._log.append(TABLE_EVENTS, events)
        RECONSTRUCT_GIVEN_UP.inc(len(events))
