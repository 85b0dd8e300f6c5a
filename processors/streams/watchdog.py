"""Ends a worker that is alive and does nothing: consumers have been seen that go on and fetch nothing any more.

It looks at the log from outside Faust, in a thread of its own and with clients of its own: where the group is, and
whether records wait there. Who ends the process leaves nothing behind: places and messages are durable, and what starts
the worker again is whatever keeps it running.
"""

import os
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

import structlog

from processors.live.progress import Progress
from processors.metrics import STREAM_BEHIND
from schemas.log import EventLog, LogUnavailable, Position

EXIT_STALLED: Final = 70
"""Exit code of a worker that stood still."""

LOOKS: Final = 10
"""How often it looks within the time that a stream may stand still."""

SHARING: Final = "sharing of partitions"
"""What stands still while a worker waits for its share."""

STARTING: Final[Mapping[str, str]] = MappingProxyType({SHARING: "starting: has no share yet"})
"""What is wrong with a worker until its first share came: nobody knows whether the cluster can be reached at all."""

_logger: Final = structlog.get_logger(__name__)


class Share(NamedTuple):
    """A partition of a topic."""

    topic: str
    partition: int


def end_process() -> None:
    """End this process at once: what hangs would hang a gentler end too."""
    os._exit(EXIT_STALLED)


class Watchdog:
    """Watches the streams of `group`, which follow `topics`, and whatever must beat regularly.

    One thread steps it; any may tell it something.
    """

    def __init__(
        self,
        log: EventLog,
        group: str,
        topics: Sequence[str],
        limit_seconds: float,
        stopping: threading.Event,
        *,
        end: Callable[[], None] = end_process,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._log = log
        self._group = group
        self._topics = topics
        self._limit_seconds = limit_seconds
        self._stopping = stopping
        self._end = end
        self._clock = clock
        self._lock = threading.Lock()
        self._shares: frozenset[Share] = frozenset()
        self._streams: Progress[Share] = Progress()
        self._shown: set[Share] = set()
        self._beats: Progress[str] = Progress()
        self._log_beats: Progress[str] = Progress()
        self._beaten = 0
        self._sharing_since: float | None = clock()
        self._slow: dict[str, str] = {}
        self._starting: Mapping[str, str] = STARTING

    def assigned(self, shares: Iterable[Share]) -> None:
        """Watch these partitions from now on, and no others."""
        with self._lock:
            self._shares = frozenset(shares)
            self._sharing_since = None
            self._starting = {}

    def sharing(self) -> None:
        """Note that workers share the partitions anew: none is this worker's until `assigned`, which must come soon."""
        with self._lock:
            self._shares = frozenset()
            self._sharing_since = self._clock()

    def beat(self, name: str, *, asks_log: bool = False) -> None:
        """Note that something is alive, which has to say so within the limit from now on.

        What `asks_log` may be late while the log is away.
        """
        with self._lock:
            self._beaten += 1
            beats = self._log_beats if asks_log else self._beats
            beats.note(name, self._beaten, self._clock())

    def rest(self, name: str) -> None:
        """Note that something has ended, and need not say any more that it is alive, until it beats again."""
        with self._lock:
            self._beats.forget(name)
            self._log_beats.forget(name)

    def troubles(self) -> dict[str, str]:
        """Return what has stood still for more than half of the limit; before the first share, that it starts."""
        with self._lock:
            return {**self._starting, **self._slow}

    def step(self) -> bool:
        """Wait for the next look, and look. Raises `LogUnavailable`."""
        if not self._stopping.wait(self._limit_seconds / LOOKS):
            self.look()
        return True

    def look(self) -> None:
        """Look once; end the process where something stood still for too long.

        Raises `LogUnavailable`: while the log is away streams can't move, and nobody is to blame.
        """
        with self._lock:
            shares = self._shares
        try:
            self._look_at(shares)
        except LogUnavailable:
            now = self._clock()
            self._streams.excuse(now)
            with self._lock:
                self._log_beats.excuse(now)
                self._sharing_since = now if self._sharing_since is not None else None
            raise
        finally:
            self._judge()

    def _judge(self) -> None:
        standing = dict(self._standing(self._clock()))
        with self._lock:
            self._slow = {name: f"has stood still for {seconds:.0f} s" for name, seconds in standing.items()}
        stalled = {name: round(seconds) for name, seconds in standing.items() if seconds > self._limit_seconds}
        if stalled:
            _logger.critical("worker_stalled", standing_seconds=stalled, limit_seconds=self._limit_seconds)
            self._end()

    def _standing(self, now: float) -> Iterator[tuple[str, float]]:
        """Yield what has stood still for more than half of the limit."""
        for share, seconds in self._slow_streams():
            yield f"{share.topic}/{share.partition}", seconds
        with self._lock:
            yield from self._beats.standing(now, self._limit_seconds / 2)
            yield from self._log_beats.standing(now, self._limit_seconds / 2)
            since = self._sharing_since
        if since is not None and now - since > self._limit_seconds / 2:
            yield SHARING, now - since

    def _look_at(self, shares: Collection[Share]) -> None:
        if not shares:
            # Who waits for a share must know whether the group's coordinator is there at all.
            self._log.position(self._group, self._topics[0], 0)
        self._streams.keep(shares)
        for share in self._shown.difference(shares):
            # Its new worker shows how far it is behind.
            STREAM_BEHIND.remove(*map(str, share))
        self._shown.intersection_update(shares)
        for share in sorted(shares):
            place = self._log.position(self._group, *share)
            behind = self._log.end(*share) - place
            STREAM_BEHIND.labels(*map(str, share)).set(max(0, behind))
            self._shown.add(share)
            self._streams.note(share, place, self._clock(), waiting=behind > 0)
        # An end may lie behind the last record, so who seems to stand still is asked what it stands before.
        for share, _ in self._slow_streams():
            place = self._log.position(self._group, *share)
            waiting = bool(self._log.wait_any([Position(*share, place)], 0))
            self._streams.note(share, place, self._clock(), waiting=waiting)

    def _slow_streams(self) -> list[tuple[Share, float]]:
        return list(self._streams.standing(self._clock(), self._limit_seconds / 2))
