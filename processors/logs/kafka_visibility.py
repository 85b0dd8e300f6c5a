"""Lets a log read what was committed, though Kafka marks a transaction off only after it has confirmed it.

It does so partition by partition, in no order: a position may be marked before what was written with it.
"""

import threading
import time
from collections.abc import Iterable
from typing import Final

from confluent_kafka import Consumer

from processors.logs.kafka_bounded import close_consumers
from processors.logs.kafka_clients import Clients
from processors.logs.kafka_offsets import offsets
from processors.logs.kafka_reader import GROUP
from processors.logs.kafka_readers import Readers
from schemas.log import LogUnavailable

_PAUSE_SECONDS: Final = 0.002


class Visibility:
    """The partitions that this log wrote to in transactions, and hasn't read since."""

    def __init__(self, clients: Clients, readers: Readers) -> None:
        self._clients = clients
        self._readers = readers
        self._lock = threading.Lock()
        # How many transactions were written, so that one that is written meanwhile isn't taken for seen.
        self._written: dict[tuple[str, int], int] = {}
        self._uncommitted: Consumer | None = None

    def mark(self, partitions: Iterable[tuple[str, int]]) -> None:
        """Note that a transaction was written to `partitions`, whatever became of it."""
        with self._lock:
            for place in partitions:
                self._written[place] = self._written.get(place, 0) + 1

    def wait(self, topic: str, partition: int) -> None:
        """Block until whatever this log wrote to the partition is decided, as it mostly is.

        Gives up after a while: then it is another worker's open transaction that everybody waits for.
        """
        with self._lock:
            written = self._written.get((topic, partition))
        if written is None:
            return
        self._decided_in_time(topic, partition)
        with self._lock:
            if self._written.get((topic, partition)) == written:
                del self._written[topic, partition]

    def settle(self, topic: str, partition: int) -> None:
        """Block until whatever anybody wrote to the partition by now is decided.

        Raises `LogUnavailable` where that takes too long: a killed worker's transaction is aborted by the cluster.
        """
        if not self._decided_in_time(topic, partition):
            raise LogUnavailable(
                f"a transaction in {topic} partition {partition} is neither committed nor aborted yet, as one that a"
                " killed worker left; the cluster aborts it in time, and the log goes on by itself"
            )

    def _decided_in_time(self, topic: str, partition: int) -> bool:
        """Wait, within the time limit, for what was written to the partition by now; tell whether it is decided."""
        end = self.written_end(topic, partition)
        deadline = time.monotonic() + self._clients.timeout_seconds
        while not (decided := self.is_decided(topic, partition, end)) and time.monotonic() < deadline:
            time.sleep(_PAUSE_SECONDS)
        return decided

    def close(self) -> None:
        """Close the consumer, if there ever was one. Idempotent."""
        with self._lock:
            consumer, self._uncommitted = self._uncommitted, None
        if consumer is not None:
            close_consumers([consumer])

    def written_end(self, topic: str, partition: int) -> int:
        """Return the offset behind all that was written to a partition, in open transactions too."""
        with self._lock:
            if self._uncommitted is None:
                self._uncommitted = self._clients.consumer(GROUP, {"isolation.level": "read_uncommitted"})
            consumer = self._uncommitted
        (end,) = offsets(self._clients, consumer, [(topic, partition)], "end")
        return end

    def is_decided(self, topic: str, partition: int, end: int) -> bool:
        """Tell whether every transaction below an offset is committed or aborted."""
        with self._readers.reader_of((topic, partition)) as reader:
            return reader.decided(topic, partition) >= end
