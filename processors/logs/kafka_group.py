"""The transactional producer of one group: outputs, snapshots and positions together or not at all."""

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from confluent_kafka import KafkaError, KafkaException, TopicPartition

from processors.logs.kafka_clients import Clients
from processors.logs.kafka_errors import FENCED, error_of, explained
from processors.logs.transaction import Messages
from schemas.log import Fenced, LogError, LogUnavailable

_ROOM_SECONDS: Final = 0.01


class Snapshot(NamedTuple):
    """A message to the topic of snapshots, and the partition it belongs in."""

    topic: str
    partition: int
    key: str
    value: bytes


class Reading(NamedTuple):
    """Where the group goes on reading, and Kafka's word for who says so: the member and the generation of the group."""

    offsets: Sequence[TopicPartition]
    metadata: bytes


class GroupProducer:
    """Works for a group under `transactional_id`; whoever did so before is fenced. Raises `LogUnavailable`.

    One thread uses it at a time.
    """

    def __init__(self, clients: Clients, group: str, transactional_id: str) -> None:
        self._clients = clients
        self._group = group
        self._seconds = clients.timeout_seconds
        # Kafka gives a transaction up after so long: later than we do, and soon enough for whoever takes over.
        limit_ms = round(2_000 * self._seconds)
        self._producer = clients.producer({"transactional.id": transactional_id, "transaction.timeout.ms": limit_ms})
        self._undecided: str | None = None
        with clients.told(f"claim group {group}"):
            self._producer.init_transactions(self._seconds)

    def write(self, messages: Mapping[str, Messages], snapshots: Sequence[Snapshot], reading: Reading | None) -> None:
        """Write all of it in one transaction. Raises `Fenced`, and `LogUnavailable` where nothing was written.

        Where a broker was lost over the commit nobody knows; `settle` finds out.
        """
        self.settle()
        deadline = time.monotonic() + self._seconds
        try:
            self._producer.begin_transaction()
            for topic, key, value, partition in _all(messages, snapshots):
                self._produce(topic, key, value, partition, deadline)
            if reading is not None and reading.offsets:
                self._producer.send_offsets_to_transaction(list(reading.offsets), reading.metadata, _left(deadline))
            # The commit waits for the messages too; but if they don't get there, the transaction can still be aborted.
            if self._producer.flush(_left(deadline)):
                raise KafkaException(KafkaError(KafkaError._TIMED_OUT, "messages were not acknowledged"))
        except BaseException as exception:
            self._abort()
            if isinstance(exception, KafkaException):
                raise self._explained(exception) from exception
            raise
        self._undecided = "commit"
        self.settle()

    def settle(self) -> None:
        """Learn what became of a commit that wasn't answered. Raises `LogUnavailable` while nobody answers, `Fenced`.

        Where nothing is open that costs nothing.
        """
        if self._undecided is None:
            return
        try:
            if self._undecided == "commit":
                self._producer.commit_transaction(self._seconds)
            else:
                self._producer.abort_transaction(self._seconds)
        except KafkaException as exception:
            error = error_of(exception)
            if error.txn_requires_abort():
                self._abort()
            elif not error.retriable():
                self._undecided = None
            raise self._explained(exception) from exception
        self._undecided = None

    def _abort(self) -> None:
        """Abort, now or, where the broker is away, before anything else is written."""
        self._undecided = "abort"
        try:
            self._producer.abort_transaction(self._seconds)
        except KafkaException as exception:
            if error_of(exception).retriable():
                return
            # Fenced, or dead: the next use finds that out again.
        self._undecided = None

    def _produce(self, topic: str, key: str, value: bytes, partition: int, deadline: float) -> None:
        while True:
            try:
                self._producer.produce(topic, value, key.encode(), partition)
                return
            except BufferError:
                if time.monotonic() > deadline:
                    raise KafkaException(KafkaError(KafkaError._QUEUE_FULL)) from None
            self._producer.poll(_ROOM_SECONDS)

    def _explained(self, exception: KafkaException) -> LogError:
        error = error_of(exception)
        # A producer that had a fatal error is of no use any longer, whatever the reason: only a new claim helps.
        if error.code() in FENCED or error.fatal():
            return Fenced(
                f"group {self._group} was taken over ({error.name()}: {error.str()}), and nothing was written. "
                "Drop what was computed and claim the group again, or leave it to its new owner"
            )
        explanation = explained(f"commit a transaction of {self._group}", error, self._clients.trouble())
        if self._undecided == "commit":
            return LogUnavailable(f"{explanation}. Whether it was committed is found out before anything else")
        return explanation


def _all(messages: Mapping[str, Messages], snapshots: Sequence[Snapshot]) -> Iterator[tuple[str, str, bytes, int]]:
    """Yield topic, key, value and partition (−1: by the key) of everything to be written."""
    for topic, outputs in messages.items():
        for key, value in outputs:
            yield topic, key, value, -1
    for snapshot in snapshots:
        yield snapshot.topic, snapshot.key, snapshot.value, snapshot.partition


def _left(deadline: float) -> float:
    return max(0.001, deadline - time.monotonic())
