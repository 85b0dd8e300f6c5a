"""A worker that does nothing but fill a store from a log, beside others or alone, on a machine of its own.

It may be killed at any moment, and several may run: positions are committed after inserts, and an insert done twice
changes nothing. Which partitions are whose is the log's to say.
"""

import time
from collections.abc import Callable, Sequence
from typing import Final, Protocol

import structlog

from processors.metrics import SINK_TROUBLED
from processors.store.clickhouse import ClickHouseStore
from processors.store.port import StoreUnavailable
from processors.store.sink import TOPICS, WAIT_SECONDS, Sink, group_of
from processors.watching import UNWATCHED, Watcher
from schemas.errors import PitwatchError
from schemas.log import EventLog, Fenced, LogUnavailable

OUTAGES: Final = (LogUnavailable, StoreUnavailable)
"""What the worker waits out."""

MOVING: Final = "moving of rows"
"""What beats with each batch."""

IDENTITY_SECONDS: Final = 60.0
"""How often it is made sure that the database is still the one that the positions are about."""

_logger: Final = structlog.get_logger(__name__)


class OtherStore(PitwatchError):
    """Raised where the store's database was replaced under a running worker, which must begin anew with it."""


class Membership(Protocol):
    """A worker's place among those that share a log's partitions."""

    def poll(self, seconds: float = 0.0) -> object:
        """Say that this worker is alive, and take part in sharing anew. Raises `LogUnavailable`."""
        ...


Join = Callable[[str, Sequence[str]], Membership]
"""Joins the group of a name, whose workers share the partitions of these topics."""


class Alone:
    """The place of the only worker of a log that isn't shared."""

    def poll(self, seconds: float = 0.0) -> None:
        """Do nothing."""


OnShare = Callable[[str, Sequence[tuple[str, int]]], None]
"""Told, whenever it may be another, of the group and the topics' partitions that are to be moved on now.

None are while the worker waits for the store: who watches it must not take that for standing still.
"""


def untold(_group: str, _places: Sequence[tuple[str, int]]) -> None:
    """Tell nobody."""


Check = Callable[[str], None]
"""Raises what stands against filling the store as the group of this name; asked at the start and now and then."""


def nothing_against(_group: str) -> None:
    """Let the store be filled."""


def alone(_group: str, _topics: Sequence[str]) -> Membership:
    """Join nobody: every partition is this worker's."""
    return Alone()


class SinkWorker:
    """Fills the store that `open_store` opens and `join` shares; one thread steps it.

    `on_share` is told of the partitions that it has, and `watcher` of its progress while it moves batches.
    Opening belongs to the first step, so that a store or a log that is away then is waited for like later.
    """

    def __init__(
        self,
        log: EventLog,
        open_store: Callable[[], ClickHouseStore],
        join: Join = alone,
        check: Check = nothing_against,
        on_share: OnShare = untold,
        clock: Callable[[], float] = time.monotonic,
        watcher: Watcher = UNWATCHED,
    ) -> None:
        self._log = log
        self._open_store = open_store
        self._join = join
        self._check = check
        self._on_share = on_share
        self._told: Sequence[tuple[str, int]] | None = None
        self._clock = clock
        self._watcher = watcher
        self._store: ClickHouseStore | None = None
        self._membership: Membership | None = None
        self._sink: Sink | None = None
        self._checked_at = 0.0

    def step(self) -> bool:
        """Move what there is to move, or wait a moment; tell whether anything was.

        Raises `OUTAGES`, and what no waiting mends: `OtherStore`, and what `check` raises.
        """
        try:
            moved = self._step()
        except OUTAGES:
            SINK_TROUBLED.set(1)
            self._tell(())
            raise
        SINK_TROUBLED.set(0)
        self._tell(self._sink.places() if self._sink is not None else ())
        return moved

    def _tell(self, places: Sequence[tuple[str, int]]) -> None:
        if self._sink is not None and places != self._told:
            self._on_share(self._sink.group, places)
            self._told = places

    def close(self) -> None:
        """Let go of the store; the log is its owner's."""
        if self._store is not None:
            self._store.close()

    def _step(self) -> bool:
        if self._membership is not None:
            # Before anything that may fail: a worker that waits for the store is alive.
            self._membership.poll()
        store = self._attached()
        sink = self._shared(store)
        try:
            moved = sink.step()
        except Fenced as error:
            # Another has these partitions now, and inserts once more what was not committed.
            _logger.info("partitions_given_up", error=str(error))
            return True
        finally:
            self._watcher.rest(MOVING)
        if not moved:
            sink.wait(WAIT_SECONDS)
        return bool(moved)

    def _stay(self) -> None:
        self._watcher.beat(MOVING, asks_log=True)

    def _attached(self) -> ClickHouseStore:
        """Return the store, known to be the same as before."""
        if self._store is None:
            self._store = self._open_store()
        now = self._clock()
        if self._sink is None or now - self._checked_at >= IDENTITY_SECONDS:
            self._store.attach()
            if self._sink is not None and self._sink.group != group_of(self._store):
                raise OtherStore(
                    "the store's database was replaced while it was being filled. Start the sink again: it fills the"
                    " new one from the beginning of the log"
                )
            self._check(group_of(self._store))
            self._checked_at = now
        return self._store

    def _shared(self, store: ClickHouseStore) -> Sink:
        if self._membership is None:
            self._membership = self._join(group_of(store), [topic for _, topic in TOPICS])
            self._membership.poll()
        if self._sink is None:
            # A group whose coordinator is away gives no share, and no error either: ask it something.
            self._log.position(group_of(store), TOPICS[0][1], 0)
            self._sink = Sink(self._log, store, on_batch=self._stay)
            _logger.info("filling", group=self._sink.group)
            # Not only once something was moved: from now on log and store are known to be there.
            self._tell(self._sink.places())
        else:
            self._sink.share()
        return self._sink
