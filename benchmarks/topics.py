"""The topics of a broker that was started for a measurement."""

from collections.abc import Mapping

from processors.logs.kafka_clients import Clients
from processors.settings import KafkaSettings
from processors.topics import Layout, create_topics, layouts


def make_topics(bootstrap: str, partitions: int, others: Mapping[str, Layout] | None = None) -> None:
    """Make every topic as `pitwatch topics create` does, one copy of each, and `others` beside them."""
    kafka = KafkaSettings(bootstrap=bootstrap, partitions=partitions, replication_factor=1)
    create_topics(Clients(bootstrap, {}, "bench", kafka.timeout_seconds), {**layouts(kafka, None), **(others or {})})
