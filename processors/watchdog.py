"""Notices a worker that has something to read and reads nothing.

Consumers have been seen that are alive, take part in their group, and fetch nothing any more after a broker's trouble.
What they themselves say of the log's end tells nothing then, so it is asked through a client of the watchdog's own.
"""

import time
from collections.abc import Callable, Hashable, Mapping
from typing import Final, NamedTuple

from schemas.errors import PitwatchError
from schemas.log import LogUnavailable

LOOK_SECONDS: Final = 5.0
"""Time between two looks."""

Progress = Callable[[], Mapping[int, Hashable]]
"""Returns how far the worker is in each of its partitions: anything that changes as it moves on."""

Backlog = Callable[[int], int]
"""Returns how many records of a partition wait for the worker. Raises `LogUnavailable`."""


class Stalled(PitwatchError):
    """Raised for a worker that stands still; it ends with this, for its supervisor to start it anew."""


class _Stand(NamedTuple):
    progress: Hashable
    since: float


class Watchdog:
    """Watches one worker. `limit_seconds` is how long a partition may wait without anything being read of it."""

    def __init__(
        self,
        progress: Progress,
        backlog: Backlog,
        limit_seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._progress = progress
        self._backlog = backlog
        self._limit_seconds = limit_seconds
        self._clock = clock
        self._stands: dict[int, _Stand] = {}

    def look(self) -> None:
        """Look at every partition once. Raises `Stalled`, and `LogUnavailable` where nobody could read now."""
        progress = self._progress()
        try:
            behind = {partition: self._backlog(partition) for partition in progress}
        except LogUnavailable:
            # While the log is away nobody gets on, and everybody gets his time afresh when it is back.
            self._stands.clear()
            raise
        now = self._clock()
        before, self._stands = self._stands, {}
        for partition, reached in progress.items():
            stand = before.get(partition)
            if stand is None or stand.progress != reached or behind[partition] <= 0:
                stand = _Stand(reached, now)
            self._stands[partition] = stand
            if now - stand.since >= self._limit_seconds:
                raise Stalled(
                    f"partition {partition} has {behind[partition]:,} records to read, and none was read in"
                    f" {now - stand.since:.0f} s though the log answers. The worker ends, to be started again"
                )
