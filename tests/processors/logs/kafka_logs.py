"""What the tests of the Kafka log open, and what they do to a cluster behind the log's back."""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from types import MappingProxyType
from typing import Protocol, TypeVar
from uuid import uuid4

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from processors.logs.kafka import TIMEOUT_SECONDS, KafkaLog
from processors.logs.kafka_properties import Properties
from schemas.log import LogUnavailable
from tests.contract.reading import PATIENCE_SECONDS

T = TypeVar("T")

SILENT = logging.getLogger("tests.kafka.librdkafka")


class OpenKafkaLog(Protocol):
    """Opens one more log on the same cluster and the same topic of snapshots. The fixture closes it."""

    def __call__(
        self,
        *,
        worker_id: str = "",
        properties: Properties = ...,
        timeout_seconds: float = ...,
        make_topics: bool = True,
    ) -> KafkaLog: ...


@contextmanager
def kafka_logs(bootstrap: str, partitions: int = 3) -> Iterator[OpenKafkaLog]:
    """Let logs be opened during the ``with`` block, with a topic of snapshots of their own."""
    states = f"states-{uuid4().hex}"
    make_topic(bootstrap, states, partitions, cleanup_policy="compact")
    with ExitStack() as opened:

        def open_one(
            *,
            worker_id: str = "",
            properties: Properties = MappingProxyType({}),
            timeout_seconds: float = TIMEOUT_SECONDS,
            make_topics: bool = True,
        ) -> KafkaLog:
            log = KafkaLog(
                bootstrap,
                worker_id=worker_id or uuid4().hex,
                properties=properties,
                timeout_seconds=timeout_seconds,
                states_topic=states,
                make_topics=make_topics,
            )
            return opened.enter_context(closing(log))

        yield open_one


def admin(bootstrap: str) -> AdminClient:
    """Return an administrator of the cluster."""
    return AdminClient({"bootstrap.servers": bootstrap}, logger=SILENT)


def make_topic(bootstrap: str, topic: str, partitions: int = 1, **config: str) -> None:
    """Make a topic, and wait until the brokers know it; `config` with underscores for dots."""
    settings = {name.replace("_", "."): value for name, value in config.items()}
    client = admin(bootstrap)
    client.create_topics([NewTopic(topic, partitions, config=settings)])[topic].result()
    while client.list_topics(topic, timeout=PATIENCE_SECONDS).topics[topic].error is not None:
        pass


def stranger(bootstrap: str) -> Producer:
    """Return a transactional producer that is no log's, ready for its first transaction."""
    producer = Producer(
        {"bootstrap.servers": bootstrap, "transactional.id": f"stranger-{uuid4().hex}", "retry.backoff.ms": 10},
        logger=SILENT,
    )
    producer.init_transactions(30)
    return producer


def once_it_answers(ask: Callable[[], T]) -> T:
    """Return what `ask` returns as soon as the log can tell, trying again as its users do."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return ask()
        except LogUnavailable:
            if time.monotonic() > deadline:
                raise
