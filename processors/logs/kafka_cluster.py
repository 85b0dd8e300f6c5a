"""What is asked of a Kafka cluster beside records: its topics' partitions, and how far groups have read."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Final, TypeVar

from confluent_kafka import ConsumerGroupTopicPartitions, IsolationLevel, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin._listoffsets import OffsetSpec
from confluent_kafka.cimpl import NewTopic, murmur2

from processors.logs.kafka_clients import Clients
from processors.logs.kafka_errors import error_of, explained
from schemas.log import LogUnavailable, Position

T = TypeVar("T")

LATEST: Final = OffsetSpec.latest()  # type: ignore[no-untyped-call] # the package left that one out

_KNOWN_SECONDS: Final = 60.0
"""How long a topic's partitions are remembered; they hardly ever change, and then by an administrator."""

_PAUSE_SECONDS: Final = 0.01

# A transaction that is being marked off, or a coordinator that moves: a matter of milliseconds to seconds.
_SOON_OVER: Final = frozenset({
    KafkaError.UNSTABLE_OFFSET_COMMIT,
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.NOT_COORDINATOR,
    KafkaError.REBALANCE_IN_PROGRESS,
})  # fmt: skip


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

    def written_end(self, topic: str, partition: int) -> int:
        """Return the offset behind all that was written to a partition, in transactions that are open too."""
        place = TopicPartition(topic, partition)

        def ask() -> int:
            asked = {place: LATEST}
            futures = self._admin.list_offsets(
                asked, isolation_level=IsolationLevel.READ_UNCOMMITTED, **self._timeout()
            )
            return int(futures[place].result().offset)

        return self.patiently(f"find the end of {topic}", ask)

    def position(self, group: str, topic: str, partition: int) -> int:
        """Return where `group` goes on reading once every open transaction is decided; 0 where it never committed."""
        if not self.partitions(topic):
            return 0
        asked = ConsumerGroupTopicPartitions(group, [TopicPartition(topic, partition)])

        def ask() -> int:
            futures = self._admin.list_consumer_group_offsets([asked], require_stable=True, **self._timeout())
            return _checked(futures[group]).offset

        return max(0, self.patiently(f"read the position of {group}", ask))

    def commit_position(self, group: str, position: Position) -> None:
        """Put the place of a group without members."""
        place = TopicPartition(position.topic, position.partition, position.offset)

        def put() -> None:
            asked = [ConsumerGroupTopicPartitions(group, [place])]
            _checked(self._admin.alter_consumer_group_offsets(asked, **self._timeout())[group])

        self.patiently(f"commit the position of {group}", put)

    def patiently(self, doing: str, ask: Callable[[], T]) -> T:
        """Return what `ask` returns, asking again while the cluster is changing over.

        Raises `LogUnavailable` at the end of the time limit, and at once for whatever doesn't pass by itself.
        """
        deadline = time.monotonic() + self._clients.timeout_seconds
        while True:
            try:
                return ask()
            except KafkaException as exception:
                error = error_of(exception)
                if error.code() not in _SOON_OVER or time.monotonic() > deadline:
                    raise explained(doing, error, self._clients.trouble()) from exception
            time.sleep(_PAUSE_SECONDS)

    def _look_up(self, topic: str) -> int:
        with self._clients.told(f"look up topic {topic}"):
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
                self._admin.create_topics([NewTopic(topic)], **self._timeout())[topic].result()
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

    def _timeout(self) -> dict[str, float]:
        return {"request_timeout": self._clients.timeout_seconds}


def _checked(answer: "Future[ConsumerGroupTopicPartitions]") -> TopicPartition:
    """Return the one partition of an answer. Raises `KafkaException` for an error in it."""
    places = answer.result().topic_partitions
    assert places is not None
    (place,) = places
    if place.error is not None:
        raise KafkaException(place.error)
    return place
