"""A worker's place in a group whose workers share the partitions of some topics between them.

Kafka's cooperative rebalancing moves as few partitions as it can, and takes none away before its owner has let go of
it, unless the owner was not heard of for the length of a session. Such a one is fenced: every transaction carries the
group's generation, and the broker refuses one of a member that is none any longer.
"""

import threading
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import structlog
from confluent_kafka import OFFSET_END, Consumer, KafkaError, KafkaException, TopicPartition

from processors.logs.kafka_bounded import Bounded, close_consumers
from processors.logs.kafka_clients import Clients, Settings
from processors.logs.kafka_errors import FENCED, error_of, explained
from schemas.log import Fenced, LogClosed, Position

_SETTINGS: Final[Settings] = {
    "partition.assignment.strategy": "cooperative-sticky",
    "group.protocol": "classic",
    # Nothing is read through a member; what is fetched before its partitions are paused is thrown away.
    "queued.min.messages": 1,
    "queued.max.messages.kbytes": 64,
    "enable.partition.eof": False,
    "auto.offset.reset": "latest",
}


class Partition(NamedTuple):
    """A partition of a topic."""

    topic: str
    partition: int


class Change(NamedTuple):
    """What a rebalance did to a worker: partitions it owns now, and partitions it owns no longer."""

    gained: tuple[Partition, ...] = ()
    lost: tuple[Partition, ...] = ()


OnRelease = Callable[[Sequence[Partition]], None]
"""Told of partitions that are about to be given up, while their positions can still be committed."""

_logger: Final = structlog.get_logger(__name__)

OnChange = Callable[[Change], None]


class KafkaMember:
    """Membership in `group`. The thread that works polls it at least every `max.poll.interval.ms` (five minutes).

    `on_release` may write a transaction for what is given up; what it raises, `poll` raises once the partitions are.
    """

    def __init__(
        self, clients: Clients, group: str, topics: Sequence[str], on_release: OnRelease | None, on_change: OnChange
    ) -> None:
        self.group = group
        self.topics = tuple(topics)
        self._clients = clients
        self._on_release = on_release or _nothing
        self._on_change = on_change
        self._owned: set[Partition] = set()
        self._gained: list[Partition] = []
        self._lost: list[Partition] = []
        self._failure: Exception | None = None
        self._member_id: str | None = None
        self._lock = threading.Lock()
        self._closed = False
        self._calls = Bounded()
        self._consumer: Consumer = clients.consumer(group, _SETTINGS)
        with clients.told(f"join group {group}"):
            self._consumer.subscribe(
                list(topics), on_assign=self._assigned, on_revoke=self._revoked, on_lost=self._lost_all
            )

    def poll(self, seconds: float = 0.0) -> Change:
        """Tell the group that this worker is alive, and take part in rebalances; return what these changed.

        Waits for at most `seconds` for something to happen. Raises `LogUnavailable` for what a member can't do, such as
        reading a topic without the right to, and `LogClosed`.
        """
        if self._closed:
            raise LogClosed(f"the worker left group {self.group}")
        with self._clients.told(f"take part in group {self.group}"):
            message = self._consumer.poll(seconds)
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure
        error = message.error() if message is not None else None
        # A worker that was too slow hears so here; the next poll brings the loss of its partitions, or did already.
        if error is not None and error.code() != KafkaError._MAX_POLL_EXCEEDED and not error.retriable():
            raise explained(f"take part in group {self.group}", error, self._clients.trouble())
        with self._lock:
            change = Change(tuple(self._gained), tuple(self._lost))
            self._gained, self._lost = [], []
        if change.gained or change.lost:
            self._on_change(change)
        return change

    def partitions(self, topic: str) -> list[int]:
        """Return the partitions of `topic` that this worker owns."""
        with self._lock:
            return sorted(partition for owned, partition in self._owned if owned == topic)

    def owned(self) -> list[Partition]:
        """Return every partition that this worker owns."""
        with self._lock:
            return sorted(self._owned)

    def metadata(self) -> bytes:
        """Return Kafka's word for this membership, which a transaction carries. Raises `Fenced` where it is over.

        A worker that was given up for dead has a new identity, or none, before it hears of it. What it wrote then could
        be let through by the broker, which knows no generation of a nameless member.
        """
        with self._clients.told(f"take part in group {self.group}"):
            metadata, member_id = self._calls.call(self._identity, self._clients.timeout_seconds)
        if not self._owned or member_id != self._member_id:
            raise self._fenced("the group gave this worker up")
        return metadata

    def commit(self, position: Position) -> None:
        """Put the group's place in a partition, alone. Raises `LogUnavailable`, and `Fenced` where it is another's."""
        self.metadata()
        place = TopicPartition(*position)
        try:
            self._calls.call(lambda: self._commit(place), self._clients.timeout_seconds)
        except KafkaException as exception:
            error = error_of(exception)
            if error.code() in FENCED:
                raise self._fenced(error.str()) from exception
            doing = f"commit the position of {self.group}"
            raise explained(doing, error, self._clients.trouble()) from exception

    def leave(self) -> None:
        """Give everything up, and let the others share it at once. Idempotent, and raises nothing.

        What can't be written down for want of a broker, the next owner works out again.
        """
        if self._closed:
            return
        self._closed = True
        owned = self.owned()
        try:
            if owned:
                self._on_release(owned)
        except Exception as error:  # noqa: BLE001 - whatever it is, the partitions are given up
            _logger.warning("release_failed", group=self.group, error=repr(error))
        self._on_release = _nothing
        close_consumers([self._consumer])

    def _identity(self) -> tuple[bytes, str]:
        # In this order: an identity that is still the same afterwards was the same before.
        metadata: bytes = self._consumer.consumer_group_metadata()
        return metadata, self._consumer.memberid()

    def _commit(self, place: TopicPartition) -> None:
        self._consumer.commit(offsets=[place], asynchronous=False)

    def _fenced(self, why: str) -> Fenced:
        return Fenced(
            f"group {self.group} has given this worker's partitions to others ({why}), and nothing was written. "
            "Drop what was computed and poll the membership"
        )

    def _assigned(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        # Paused and at the end: records are read elsewhere.
        consumer.incremental_assign([TopicPartition(one.topic, one.partition, OFFSET_END) for one in partitions])
        consumer.pause(partitions)
        self._member_id = consumer.memberid()
        gained = _named(partitions)
        with self._lock:
            self._owned.update(gained)
            self._gained += gained

    def _revoked(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        try:
            self._on_release(_named(partitions))
        except Exception as error:  # noqa: BLE001 - raised by `poll`: an exception must not stop the rebalance
            self._failure = error
        self._give_up(consumer, partitions)

    def _lost_all(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        self._give_up(consumer, partitions)

    def _give_up(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        consumer.incremental_unassign(partitions)
        lost = _named(partitions)
        with self._lock:
            self._owned.difference_update(lost)
            self._lost += lost


def _named(partitions: list[TopicPartition]) -> list[Partition]:
    return [Partition(one.topic, one.partition) for one in partitions]


def _nothing(_: Sequence[Partition]) -> None:
    """Release without anything to write down."""
