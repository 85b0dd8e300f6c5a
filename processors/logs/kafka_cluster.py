"""The topics of a Kafka cluster: which there are, and how each is divided."""

import threading
import time
from typing import Final

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import NewTopic
from confluent_kafka.cimpl import murmur2

from processors.logs.kafka_clients import Clients
from processors.logs.kafka_errors import error_of
from schemas.log import LogUnavailable

_KNOWN_SECONDS: Final = 60.0
"""How long a topic's partitions are remembered; they hardly ever change, and then by an administrator."""

_PAUSE_SECONDS: Final = 0.01


class TopicMissing(LogUnavailable):
    """Raised for a topic that isn't there; it is there once somebody makes it."""


class Cluster:
    """One admin client and what it found out. Any thread may use it; every method may raise `LogUnavailable`.

    `make_topics` makes a topic when it is first written, as the broker's defaults have it.
    """

    def __init__(self, clients: Clients, *, make_topics: bool = False) -> None:
        self._clients = clients
        self._make_topics = make_topics
        self._admin = clients.admin()
        self._lock = threading.Lock()
        self._counts: dict[str, tuple[int, float]] = {}

    def partitions(self, topic: str) -> int:
        """Return how many partitions `topic` has: 0 where it isn't there and would be made when written."""
        count, until = self._counts.get(topic, (0, 0.0))
        if count and time.monotonic() < until:
            return count
        count = self._look_up(topic)
        if not count and not self._make_topics:
            raise TopicMissing(f"the cluster has no topic {topic}. Make it: pitwatch topics create")
        return count

    def need(self, topic: str) -> int:
        """Return how many partitions `topic` has, making it first where that is our business."""
        count = self.partitions(topic)
        if not count:
            # Two threads must not make the same topic.
            with self._lock:
                count = self.partitions(topic) or self._make(topic)
        return count

    def partition_of(self, topic: str, key: str) -> int:
        """Return the partition in which every producer of ours puts `key`."""
        return murmur2(key.encode(), self.need(topic))

    def _look_up(self, topic: str) -> int:
        with self._clients.told(f"look up topic {topic}", self._admin):
            found = self._admin.list_topics(topic, timeout=self._clients.timeout_seconds).topics[topic]
            missing = found.error is not None and found.error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART
            if found.error is not None and not missing:
                raise KafkaException(found.error)
        count = 0 if missing else len(found.partitions)
        self._counts[topic] = (count, time.monotonic() + _KNOWN_SECONDS)
        return count

    def _make(self, topic: str) -> int:
        with self._clients.told(f"make topic {topic}"):
            try:
                self._admin.create_topics([NewTopic(topic)])[topic].result(self._clients.timeout_seconds)
            except KafkaException as exception:
                # Another process was quicker.
                if error_of(exception).code() != KafkaError.TOPIC_ALREADY_EXISTS:
                    raise
        deadline = time.monotonic() + self._clients.timeout_seconds
        while not (count := self._look_up(topic)):
            if time.monotonic() > deadline:
                raise TopicMissing(f"topic {topic} was made, and the cluster doesn't show it")
            time.sleep(_PAUSE_SECONDS)
        return count
