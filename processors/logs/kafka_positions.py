"""How far groups have read, as the cluster keeps it, and the word by which the only worker of a group commits."""

import threading
import time
from typing import Final

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from processors.logs.kafka_clients import Clients
from processors.logs.kafka_errors import error_of
from schemas.log import Position

_PAUSE_SECONDS: Final = 0.01


class Positions:
    """A consumer for each group that was asked about. It reads nothing; any thread may use it."""

    def __init__(self, clients: Clients) -> None:
        self._clients = clients
        self._lock = threading.Lock()
        self._consumers: dict[str, Consumer] = {}

    def position(self, group: str, topic: str, partition: int) -> int:
        """Return where `group` goes on reading once every open transaction is decided; 0 where it never committed."""
        deadline = time.monotonic() + self._clients.timeout_seconds
        with self._clients.told(f"read the position of {group}"):
            while (offset := self._committed(group, topic, partition)) is None:
                if time.monotonic() > deadline:
                    raise KafkaException(KafkaError(KafkaError.UNSTABLE_OFFSET_COMMIT, "a transaction is still open"))
                time.sleep(_PAUSE_SECONDS)
        return max(0, offset)

    def commit(self, group: str, position: Position) -> None:
        """Put the place of a group without members."""
        consumer = self._consumer(group)
        with self._clients.told(f"commit the position of {group}"):
            try:
                (place,) = consumer.commit(offsets=[TopicPartition(*position)], asynchronous=False)
            except KafkaException as exception:
                # Where the group is none of this user's business, that is told aside, and the commit just takes long.
                raise _refusal(consumer) or exception from exception
            if place.error is not None:
                raise KafkaException(place.error)

    def metadata(self, group: str) -> bytes:
        """Return what Kafka wants with a transaction of the one log that works for a whole group."""
        metadata: bytes = self._consumer(group).consumer_group_metadata()
        return metadata

    def close(self) -> None:
        """Close the consumers. Idempotent."""
        with self._lock:
            consumers, self._consumers = list(self._consumers.values()), {}
        for consumer in consumers:
            consumer.close()

    def _consumer(self, group: str) -> Consumer:
        with self._lock:
            if group not in self._consumers:
                self._consumers[group] = self._clients.consumer(group, {})
            return self._consumers[group]

    def _committed(self, group: str, topic: str, partition: int) -> int | None:
        """Return the group's offset, or None while a transaction that moves it is being decided."""
        asked = [TopicPartition(topic, partition)]
        try:
            (place,) = self._consumer(group).committed(asked, self._clients.timeout_seconds)
        except KafkaException as exception:
            if error_of(exception).code() == KafkaError.UNSTABLE_OFFSET_COMMIT:
                return None
            raise
        if place.error is None:
            return place.offset
        if place.error.code() == KafkaError.UNSTABLE_OFFSET_COMMIT:
            return None
        raise KafkaException(place.error)


def _refusal(consumer: Consumer) -> KafkaException | None:
    """Return what the cluster refused to a consumer, if that is known."""
    message = consumer.poll(0)
    error = message.error() if message is not None else None
    return None if error is None else KafkaException(error)
