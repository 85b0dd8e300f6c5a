"""Fixtures of the tests that need a broker: `kafka`, shared by the whole session, `kafka_alone` and `kafka_cluster`.

`KAFKA_BOOTSTRAP` names a broker to use instead of starting one. Where none can be had the tests are skipped, except in
CI or with `PITWATCH_REQUIRE_KAFKA=1`: there they fail.
"""

import os
from collections.abc import Iterator

import pytest

from tests.kafka.broker import Cluster
from tests.kafka.jars import KafkaNotToBeHad, kafka_jars
from tests.kafka.serve import Address, shared_broker


def need_broker() -> None:
    """Skip the test, or fail it where a broker is mandatory, unless this machine can run one."""
    try:
        kafka_jars()
    except KafkaNotToBeHad as reason:
        if os.environ.get("CI", "").lower() in {"1", "true"} or os.environ.get("PITWATCH_REQUIRE_KAFKA") == "1":
            raise
        pytest.skip(str(reason))


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Address]:
    """A broker's address. Whatever tests make on it needs names that no other test uses."""
    if given := os.environ.get("KAFKA_BOOTSTRAP"):
        yield Address(given)
        return
    need_broker()
    # Beside the folders of this session's test processes, which xdist numbers.
    base = tmp_path_factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / "kafka"
    with shared_broker(folder) as address:
        yield address


@pytest.fixture(scope="module")
def kafka_alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A broker of the test module's own, whose topics and rights are nobody else's."""
    need_broker()
    with Cluster(tmp_path_factory.mktemp("alone"), 1) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def kafka_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Three brokers of the test module's own, to be killed and started again."""
    need_broker()
    with Cluster(tmp_path_factory.mktemp("cluster"), 3) as cluster:
        yield cluster
