"""The Kafka log as the settings describe it."""

import socket
from contextlib import closing

from processors.logs.kafka import KafkaLog
from processors.settings import KafkaSettings


def open_kafka_log(settings: KafkaSettings) -> closing[KafkaLog]:
    """Return a log on the cluster, closed at the end of a ``with`` block. No broker is asked yet."""
    return closing(
        KafkaLog(
            settings.bootstrap,
            worker_id=settings.worker_id or socket.gethostname(),
            properties=settings.plain_properties(),
            timeout_seconds=settings.timeout_seconds,
        )
    )
