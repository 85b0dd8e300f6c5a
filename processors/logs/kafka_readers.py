"""A pool of readers: as many as threads read at the same moment, and each goes on where somebody had stopped."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from processors.logs.kafka_bounded import close_consumers
from processors.logs.kafka_clients import Clients
from processors.logs.kafka_reader import Reader
from schemas.log import LogClosed, Position

# A reader more is cheaper than one that follows a partition back and forth between two places, up to a point.
_MOST_IDLE: Final = 6
_MANY: Final = 1_000_000


class Readers:
    """Lends each reader to one thread at a time; those that are idle go on fetching what they follow."""

    def __init__(self, clients: Clients) -> None:
        self._clients = clients
        self._lock = threading.Lock()
        # The one used last stands last.
        self._idle: list[Reader] = []
        self._closed = False

    @contextmanager
    def reader(self, *places: Position) -> Iterator[Reader]:
        """Lend the reader that suits `places` best. Raises `LogClosed`."""
        reader = self._take(places, lambda idle: _stands(idle, places) - _MANY * _leaves(idle, places))
        try:
            yield reader
        finally:
            self._give_back(reader)

    @contextmanager
    def reader_of(self, *partitions: tuple[str, int]) -> Iterator[Reader]:
        """Lend the reader that knows most of these partitions. Raises `LogClosed`."""
        reader = self._take((), lambda idle: sum(idle.seen(*place) for place in partitions))
        try:
            yield reader
        finally:
            self._give_back(reader)

    def check_open(self) -> None:
        """Raise `LogClosed` where the pool was closed."""
        if self._closed:
            raise LogClosed("the log was closed while it was still read")

    def drop(self, topic: str, partition: int) -> None:
        """Follow a partition no longer that is another worker's now."""
        with self._lock:
            idle, self._idle = self._idle, []
        for reader in idle:
            reader.drop(topic, partition)
            self._give_back(reader)

    def close(self) -> None:
        """Close what is idle now and what is lent once it comes back. Idempotent."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        close_consumers(reader.consumer for reader in idle)

    def _take(self, places: Sequence[Position], worth: Callable[[Reader], int]) -> Reader:
        with self._lock:
            self.check_open()
            found = self._suiting(places, worth)
            if found is not None:
                self._idle.remove(found)
                return found
        return Reader(self._clients)

    def _suiting(self, places: Sequence[Position], worth: Callable[[Reader], int]) -> Reader | None:
        """Return the idle reader of the highest worth, or None where a new one is better than any."""
        if not self._idle:
            return None
        best = max(self._idle, key=worth)
        if not _leaves(best, places):
            return best
        return self._idle[0] if len(self._idle) >= _MOST_IDLE else None

    def _give_back(self, reader: Reader) -> None:
        with self._lock:
            if not self._closed:
                self._idle.append(reader)
                return
        reader.close()


def _stands(reader: Reader, places: Sequence[Position]) -> int:
    """Return at how many of `places` a reader stands already."""
    return sum(reader.is_at(*place) for place in places)


def _leaves(reader: Reader, places: Sequence[Position]) -> int:
    """Return how many partitions a reader would have to leave where it stands for `places`."""
    return sum(reader.follows(place.topic, place.partition) for place in places) - _stands(reader, places)
