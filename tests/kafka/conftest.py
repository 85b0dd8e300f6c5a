"""A broker of a test module's own, with the topics that its programs need."""

from collections.abc import Iterator

import pytest

from processors.logs.kafka import KafkaLog
from processors.logs.kafka_opening import open_kafka_log
from processors.settings import KafkaSettings
from tests.kafka.broker import Cluster
from tests.kafka.programs import make_topics


@pytest.fixture(scope="module")
def bootstrap(kafka_alone: Cluster, request: pytest.FixtureRequest) -> str:
    """The address; topics have as many partitions as the module says in `PARTITIONS`."""
    make_topics(kafka_alone.bootstrap, request.module.PARTITIONS)
    return kafka_alone.bootstrap


@pytest.fixture(scope="module")
def log(bootstrap: str) -> Iterator[KafkaLog]:
    """A log that may do everything."""
    with open_kafka_log(KafkaSettings(bootstrap=bootstrap, worker_id="tests")) as opened:
        yield opened
