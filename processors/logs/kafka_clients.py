"""Makes librdkafka's clients, all with one cluster, one way of logging and one time limit."""

import logging
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer
from confluent_kafka.admin import AdminClient

from processors.logs.kafka_errors import error_of, explained
from processors.logs.kafka_properties import Properties, check_properties
from schemas.log import MAX_MESSAGE_BYTES

_logger: Final = logging.getLogger("processors.logs.kafka")
# Heard by whoever sets up logging. On a terminal it would only repeat, often, what our own exceptions say once.
_logger.addHandler(logging.NullHandler())

MESSAGE_BYTES: Final = MAX_MESSAGE_BYTES + 65_536
"""What topics and producers are set to: the longest value with its key and Kafka's own bytes around them."""

# Trouble older than this explains nothing any longer.
_TROUBLE_SECONDS: Final = 30.0

Settings = Mapping[str, str | int | float | bool]

_COMMON: Final[Settings] = {
    # 3 are errors; what matters of them is in our own exceptions, which say what was being done.
    "log_level": 3,
    "allow.auto.create.topics": False,
    # A transaction waits for the one before to be marked off; at the default of 100 ms that takes longer than itself.
    "retry.backoff.ms": 10,
    "reconnect.backoff.max.ms": 1_000,
}

# What the site may change comes first, and what the log rests on comes after the site's properties.
_PRODUCER_DEFAULTS: Final[Settings] = {"linger.ms": 1, "compression.type": "lz4"}
_PRODUCER: Final[Settings] = {
    "enable.idempotence": True,
    "acks": "all",
    # The one that Kafka's own clients use, so that every program finds a table in the same partition.
    "partitioner": "murmur2_random",
    "message.max.bytes": MESSAGE_BYTES,
}
_CONSUMER_DEFAULTS: Final[Settings] = {
    # A broker holds an empty answer back for so long, and with it whatever else the reader asks this broker.
    "fetch.wait.max.ms": 50,
    "fetch.queue.backoff.ms": 20,
    "queued.max.messages.kbytes": 32_768,
    # A worker that died is given up after so long, and its tables go on elsewhere.
    "session.timeout.ms": 10_000,
    "heartbeat.interval.ms": 1_000,
}
_CONSUMER: Final[Settings] = {
    "enable.auto.commit": False,
    "enable.auto.offset.store": False,
    "auto.offset.reset": "error",
    "isolation.level": "read_committed",
    "enable.partition.eof": True,
    "message.max.bytes": MESSAGE_BYTES,
}


class Clients:
    """Makes clients of one cluster for one worker, and knows what they last complained of.

    `properties` are librdkafka's, for TLS, SASL and tuning. Raises `ValueError` for a reserved one.
    """

    def __init__(self, bootstrap: str, properties: Properties, worker_id: str, timeout_seconds: float) -> None:
        check_properties(properties)
        self.bootstrap = bootstrap
        self.worker_id = worker_id
        self.timeout_seconds = timeout_seconds
        self._properties = dict(properties)
        self._lock = threading.Lock()
        self._trouble: tuple[KafkaError | None, float] = (None, 0.0)

    def admin(self) -> AdminClient:
        """Return a new admin client."""
        with self.told("connect to Kafka"):
            # Nobody serves an admin client's log, and what goes wrong comes with its answers.
            return AdminClient(self._settings({}, {"log_level": 0}), logger=_logger)

    def producer(self, settings: Settings) -> Producer:
        """Return a new producer, with `settings` beside those that every producer has."""
        own = {**_PRODUCER, "message.timeout.ms": round(self.timeout_seconds * 1000), **settings}
        with self.told("connect to Kafka"):
            return Producer(self._settings(_PRODUCER_DEFAULTS, own), logger=_logger)

    def consumer(self, group: str, settings: Settings) -> Consumer:
        """Return a new consumer that reads what is committed, with `settings` beside those that every consumer has."""
        with self.told("connect to Kafka"):
            own = {**_CONSUMER, "group.id": group, **settings}
            return Consumer(self._settings(_CONSUMER_DEFAULTS, own), logger=_logger)

    @contextmanager
    def told(self, doing: str, admin: AdminClient | None = None) -> Iterator[None]:
        """Turn Kafka's exceptions into the log's, with what the clients last complained of."""
        try:
            yield
        except KafkaException as exception:
            if admin is not None:
                # It complains when asked only, of what kept it from an answer: a refused login, mostly.
                admin.poll(0)
            raise explained(doing, error_of(exception), self.trouble()) from exception

    def trouble(self) -> KafkaError | None:
        """Return what a client last complained of, unless that is long ago."""
        with self._lock:
            error, at = self._trouble
        return error if time.monotonic() - at < _TROUBLE_SECONDS else None

    def _settings(self, defaults: Settings, own: Settings) -> dict[str, Any]:
        return {
            **_COMMON,
            **defaults,
            **self._properties,
            **own,
            # Not below what a broker may hold an answer back for, as librdkafka wants it.
            "socket.timeout.ms": max(2_000, round(self.timeout_seconds * 1000)),
            "bootstrap.servers": self.bootstrap,
            "client.id": self.worker_id,
            "error_cb": self._complain,
        }

    def _complain(self, error: KafkaError) -> None:
        known = self.trouble()
        # That all brokers are down follows each reason why, and would hide it.
        told = known if known and error.code() == KafkaError._ALL_BROKERS_DOWN else error
        with self._lock:
            self._trouble = (told, time.monotonic())
