"""How far groups have read, as the cluster keeps it, and the word by which the only worker of a group commits.

Through consumers, not through the admin client, whose requests to a group's coordinator end the whole process when an
answer comes after its time (librdkafka 2.16: ``Assertion `eonce->refcnt > 0' failed``).
"""

import threading
import time
from collections.abc import Callable
from typing import Final

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from processors.logs.kafka_bounded import Bounded, close_consumers
from processors.logs.kafka_clients import Clients
from processors.logs.kafka_errors import error_of
from schemas.log import Position

_PAUSE_SECONDS: Final = 0.01

# A transaction that is being decided, or a coordinator that moves or starts: a matter of milliseconds to seconds.
_SOON_OVER: Final = frozenset({
    KafkaError.UNSTABLE_OFFSET_COMMIT,
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.NOT_COORDINATOR,
})  # fmt: skip


class Positions:
    """A consumer for each group that was asked about. It reads nothing; any thread may use it."""

    def __init__(self, clients: Clients) -> None:
        self._clients = clients
        self._lock = threading.Lock()
        self._consumers: dict[str, Consumer] = {}
        self._calls = Bounded()
        # Groups whose coordinator answers, and what was refused for others.
        self._answered: set[str] = set()
        self._refusals: dict[str, KafkaException] = {}

    def position(self, group: str, topic: str, partition: int) -> int:
        """Return where `group` goes on reading once every open transaction is decided; 0 where it never committed."""
        with self._clients.told(f"read the position of {group}"):
            return max(0, self._committed(group, TopicPartition(topic, partition)).offset)

    def commit(self, group: str, position: Position) -> None:
        """Put the place of a group without members."""
        consumer = self._consumer(group)
        place = TopicPartition(*position)
        deadline = time.monotonic() + self._clients.timeout_seconds

        def commit() -> None:
            self._patiently(lambda: consumer.commit(offsets=[place], asynchronous=False))

        with self._clients.told(f"commit the position of {group}"):
            if group not in self._answered:
                # A commit would wait for the coordinator past every limit, and keep the reason from being heard.
                self._committed(group, place)
            self._calls.call(commit, deadline - time.monotonic())

    def metadata(self, group: str) -> bytes:
        """Return what Kafka wants with a transaction of the one log that works for a whole group."""
        metadata: bytes = self._consumer(group).consumer_group_metadata()
        return metadata

    def close(self) -> None:
        """Close the consumers. Idempotent."""
        with self._lock:
            consumers, self._consumers = list(self._consumers.values()), {}
        close_consumers(consumers)

    def _consumer(self, group: str) -> Consumer:
        with self._lock:
            if group not in self._consumers:
                self._consumers[group] = self._clients.consumer(group, {})
            return self._consumers[group]

    def _committed(self, group: str, asked: TopicPartition) -> TopicPartition:
        consumer = self._consumer(group)
        try:
            (place,) = self._patiently(lambda: consumer.committed([asked], self._clients.timeout_seconds))
        except KafkaException as exception:
            # Where the group is none of this user's business, that is told aside, and once; an answer just never comes.
            if refusal := _refusal(consumer):
                self._refusals[group] = refusal
            raise self._refusals.get(group, exception) from exception
        self._refusals.pop(group, None)
        self._answered.add(group)
        return place

    def _patiently(self, ask: Callable[[], list[TopicPartition]]) -> list[TopicPartition]:
        """Return what `ask` returns, asking again within the time limit while the cluster is changing over."""
        deadline = time.monotonic() + self._clients.timeout_seconds
        while True:
            try:
                return _checked(ask())
            except KafkaException as exception:
                if error_of(exception).code() not in _SOON_OVER or time.monotonic() > deadline:
                    raise
            time.sleep(_PAUSE_SECONDS)


def _checked(places: list[TopicPartition]) -> list[TopicPartition]:
    """Return `places`. Raises `KafkaException` for an error in one of them."""
    for place in places:
        if place.error is not None:
            raise KafkaException(place.error)
    return places


def _refusal(consumer: Consumer) -> KafkaException | None:
    """Return what the cluster refused to a consumer, if that is known."""
    message = consumer.poll(0)
    error = message.error() if message is not None else None
    return None if error is None else KafkaException(error)
