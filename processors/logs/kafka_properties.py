"""Which of librdkafka's properties are a site's to set, and which the log's guarantees rest on.

Nothing of Kafka is imported here, so that settings can be checked where it isn't installed.
"""

from collections.abc import Iterable, Mapping
from typing import Final

Properties = Mapping[str, str]

RESERVED: Final[dict[str, str]] = {
    "bootstrap.servers": "it is kafka.bootstrap",
    "metadata.broker.list": "it is kafka.bootstrap",
    "client.id": "it is kafka.worker_id",
    "group.id": "each group of workers has its own",
    "transactional.id": "it fences the former owner of the work",
    "transaction.timeout.ms": "it is kafka.timeout_seconds",
    "socket.timeout.ms": "it is kafka.timeout_seconds",
    "message.timeout.ms": "it is kafka.timeout_seconds",
    "delivery.timeout.ms": "it is kafka.timeout_seconds",
    "enable.idempotence": "without it a retry could repeat or reorder events",
    "acks": "an append is durable when it returns",
    "request.required.acks": "an append is durable when it returns",
    "partitioner": "every program must find a table in the same partition",
    "message.max.bytes": "every log takes messages of the same length",
    "enable.auto.commit": "positions are committed with the work",
    "enable.auto.offset.store": "positions are committed with the work",
    "auto.offset.reset": "a reader is never moved silently",
    "isolation.level": "readers see committed records only",
    "enable.partition.eof": "readers count on being told of the end",
    "allow.auto.create.topics": "topics are made by `pitwatch topics create`",
    "partition.assignment.strategy": "all workers of a group must share partitions in one way",
    "group.protocol": "all workers of a group must share partitions in one way",
    "delivery.report.only.error": "appends count on every report",
}
"""Property → why it isn't a site's to set."""


def check_properties(properties: Iterable[str]) -> None:
    """Raise `ValueError` for the name of a property which the log sets itself."""
    for name in properties:
        if name in RESERVED:
            raise ValueError(f"{name!r} can't be set: {RESERVED[name]}")
