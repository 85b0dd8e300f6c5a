"""Appends messages, each call durable when it returns, for any number of threads."""

import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Final

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from processors.logs.kafka_clients import MESSAGE_BYTES, Clients
from processors.logs.kafka_errors import error_of, explained
from processors.logs.transaction import Messages
from schemas.log import LogClosed, MessageTooLong, Position

_REPORT_SECONDS: Final = 0.05
_IDLE_SECONDS: Final = 1.0
"""How often the thread that takes reports looks after the producer while nothing is being appended."""

_ROOM_SECONDS: Final = 0.01

# Kafka counts a message's own head too; this is above what it comes to.
_HEAD_BYTES: Final = 256


class _Reports:
    """The reports on one call's messages, which come in any order and from another thread."""

    def __init__(self, topic: str, count: int) -> None:
        self._topic = topic
        self._missing = count
        self._places: list[Position | None] = [None] * count
        self._lock = threading.Lock()
        self.error: KafkaError | None = None
        self.failed = 0
        self.complete = threading.Event()

    def take(self, index: int, error: KafkaError | None, message: Message) -> None:
        """Note what became of the message of that index."""
        if error is None:
            partition, offset = message.partition(), message.offset()
            assert partition is not None
            assert offset is not None
            self._places[index] = Position(self._topic, partition, offset)
        self._count(1, error)

    def give_up(self, error: KafkaError, count: int | None = None) -> None:
        """Count off the last messages, which are never sent, or all of which nothing will be heard any more."""
        self._count(self._missing if count is None else count, error)

    def _count(self, messages: int, error: KafkaError | None) -> None:
        with self._lock:
            if error is not None:
                self.error = self.error or error
                self.failed += messages
            self._missing -= messages
            if self._missing <= 0:
                self.complete.set()

    def places(self) -> list[Position]:
        """Return the messages' places, in the order of the call."""
        return [place for place in self._places if place is not None]


class Appender:
    """An idempotent producer, and the thread that takes its reports."""

    def __init__(self, clients: Clients) -> None:
        self._clients = clients
        self._producer = clients.producer({})
        self._lock = threading.Lock()
        self._under_way: set[_Reports] = set()
        self._closed = False
        self._awaited = threading.Event()
        self._thread = threading.Thread(target=self._take_reports, name="kafka-reports", daemon=True)
        self._thread.start()

    def append(self, topic: str, messages: Messages) -> list[Position]:
        """Append `messages`; return their places. Raises `LogUnavailable` unless every one of them is durable.

        Some of them may be in the log even so: a repeat is told from a new event by its identity.
        """
        reports = _Reports(topic, len(messages))
        producer = self._begin(reports)
        try:
            self._send(producer, topic, messages, reports)
            # The producer reports on every message within its time limit, whatever becomes of it.
            reports.complete.wait()
        finally:
            self._end(reports)
        if reports.error is not None:
            count = f"{reports.failed} of {len(messages)} messages" if len(messages) > 1 else "a message"
            raise explained(f"append {count} to {topic}", reports.error, self._clients.trouble())
        return reports.places()

    def close(self) -> None:
        """End the thread. What is still being appended is waited for. Idempotent."""
        with self._lock:
            self._closed = True
        self._awaited.set()
        self._thread.join()

    def _begin(self, reports: _Reports) -> Producer:
        with self._lock:
            if self._closed:
                raise LogClosed("the log was closed while it was still written")
            self._under_way.add(reports)
            return self._producer

    def _end(self, reports: _Reports) -> None:
        with self._lock:
            self._under_way.discard(reports)
        if self._closed:
            self._awaited.set()

    def _send(self, producer: Producer, topic: str, messages: Messages, reports: _Reports) -> None:
        deadline = time.monotonic() + self._clients.timeout_seconds
        for index, (key, value) in enumerate(messages):
            try:
                while not self._has_taken(producer, topic, key, value, partial(reports.take, index)):
                    if time.monotonic() > deadline:
                        raise KafkaException(KafkaError(KafkaError._QUEUE_FULL))
            except KafkaException as exception:
                error = error_of(exception)
                # Nothing behind it is sent either, so that what is appended is at least in order. Why a producer takes
                # nothing any more, only who polls it is told, and gives all of it up.
                if error.code() != KafkaError._FATAL:
                    reports.give_up(error, len(messages) - index)
                break
        self._awaited.set()

    def _has_taken(
        self,
        producer: Producer,
        topic: str,
        key: str,
        value: bytes,
        report: Callable[[KafkaError | None, Message], None],
    ) -> bool:
        """Hand a message over; wait a moment and return false where the producer's queue is full."""
        try:
            producer.produce(topic, value, key.encode(), on_delivery=report)
        except BufferError:
            # What fills the queue is being reported on by the other thread.
            self._awaited.set()
            time.sleep(_ROOM_SECONDS)
            return False
        return True

    def _take_reports(self) -> None:
        while self._under_way or not self._closed:
            self._awaited.wait(_IDLE_SECONDS)
            self._awaited.clear()
            try:
                self._producer.poll(0)
                while len(self._producer):
                    self._producer.poll(_REPORT_SECONDS)
            except Exception as error:  # noqa: BLE001 - told to everybody whom it concerns
                self._start_anew(error)

    def _start_anew(self, error: Exception) -> None:
        """Put a new producer in the place of one that had a fatal error, and tell those who wait for its reports.

        Such a producer raises, and reports in part or not at all.
        """
        known = error_of(error) if isinstance(error, KafkaException) else KafkaError(KafkaError._FATAL, str(error))
        with self._lock:
            under_way, self._producer = list(self._under_way), self._clients.producer({})
        for reports in under_way:
            reports.give_up(known)


def check_sizes(messages: Messages) -> None:
    """Raise `MessageTooLong` for a message that a topic doesn't take though its value is short enough: by its key."""
    for key, value in messages:
        if len(key.encode()) + len(value) + _HEAD_BYTES > MESSAGE_BYTES:
            raise MessageTooLong(f"a message of {key[:100]}… has a key so long that Kafka doesn't take it")
