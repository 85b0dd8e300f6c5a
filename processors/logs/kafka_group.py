"""The transactional producer of one group: outputs, snapshots and positions together or not at all."""

import time
from collections.abc import Sequence
from typing import Final, NamedTuple

from confluent_kafka import KafkaError, KafkaException, TopicPartition

from processors.logs.kafka_bounded import GRACE_SECONDS, Bounded
from processors.logs.kafka_clients import Clients
from processors.logs.kafka_errors import FENCED, error_of, explained
from schemas.log import Fenced, LogError, LogUnavailable

_ROOM_SECONDS: Final = 0.01


class Output(NamedTuple):
    """A message and the partition it belongs in."""

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
        self._calls = Bounded()
        self._committing = False
        self._spoilt = False
        with clients.told(f"claim group {group}"):
            self._producer.init_transactions(self._seconds)

    def write(self, outputs: Sequence[Output], reading: Reading) -> None:
        """Write all of it in one transaction. Raises `Fenced`, and `LogUnavailable` where nothing was written.

        Where a broker was lost over the commit nobody knows; `settle` finds out.
        """
        self.settle()
        if self._spoilt:
            raise self._fenced("a transaction was neither committed nor aborted for want of an answer")
        deadline = time.monotonic() + self._seconds
        try:
            self._producer.begin_transaction()
            for output in outputs:
                self._produce(output, deadline)
            if reading.offsets:
                self._send_offsets(reading, deadline)
            # The commit waits for the messages too; but if they don't get there, the transaction can still be aborted.
            if self._producer.flush(_left(deadline)):
                raise KafkaException(KafkaError(KafkaError._TIMED_OUT, "messages were not acknowledged"))
        except BaseException as exception:
            self._abort()
            if isinstance(exception, KafkaException):
                raise self._explained(exception) from exception
            raise
        self._committing = True
        self.settle()

    def settle(self) -> None:
        """Learn what became of a commit that wasn't answered, if there is one. Raises `LogUnavailable`, `Fenced`."""
        if not self._committing:
            return
        try:
            self._producer.commit_transaction(self._seconds)
        except KafkaException as exception:
            error = error_of(exception)
            # Else the commit is still under way, and calling again is how to go on.
            if not error.retriable():
                self._committing = False
                self._abort() if error.txn_requires_abort() else self._spoil()
            raise self._explained(exception) from exception
        self._committing = False

    def _abort(self) -> None:
        try:
            self._producer.abort_transaction(self._seconds)
        except KafkaException:
            # The broker gives the transaction up by itself. An abort that was given up can't be taken up again: the
            # broker, which may have dropped the transaction meanwhile, would take this producer for an old one.
            self._spoil()

    def _spoil(self) -> None:
        """Use this producer no more: only a new claim can tell whether the group is still ours."""
        self._spoilt = True

    def _produce(self, output: Output, deadline: float) -> None:
        # Without a report: the commit fails if any message did, and reports on a fenced producer confuse the client.
        topic, partition, key, value = output
        while True:
            try:
                self._producer.produce(topic, value, key.encode(), partition)
                return
            except BufferError:
                if time.monotonic() > deadline:
                    raise KafkaException(KafkaError(KafkaError._QUEUE_FULL)) from None
            self._producer.poll(_ROOM_SECONDS)

    def _send_offsets(self, reading: Reading, deadline: float) -> None:
        # librdkafka keeps the moment of its next attempt in one place for all producers of a process. Where two of them
        # lost their coordinator, one may wait for an attempt that nobody makes any more.
        left = _left(deadline)
        self._calls.call(
            lambda: self._producer.send_offsets_to_transaction(list(reading.offsets), reading.metadata, left),
            left + GRACE_SECONDS,
        )

    def _explained(self, exception: KafkaException) -> LogError:
        error = error_of(exception)
        if error.code() in FENCED or error.fatal():
            return self._fenced(f"{error.name()}: {error.str()}")
        explanation = explained(f"commit a transaction of {self._group}", error, self._clients.trouble())
        if self._committing:
            return LogUnavailable(f"{explanation}. Whether it was committed is found out before anything else")
        return explanation

    def _fenced(self, why: str) -> Fenced:
        return Fenced(
            f"group {self._group} was taken over, or may have been ({why}). Drop what was computed and claim the group "
            "again, or leave it to its new owner"
        )


def _left(deadline: float) -> float:
    return max(0.001, deadline - time.monotonic())
