"""Fixtures of the tests that need a broker: `kafka`, shared by the whole session, and those of a test module's own.

`KAFKA_BOOTSTRAP` names a broker that `kafka` is to be instead of one that is started. It is somebody's, so nothing is
killed there and nobody's rights are changed: `kafka_alone`, `kafka_secured` and `kafka_cluster` start their own all the
same. Where none can be started, tests that need one are skipped, except in CI or with `PITWATCH_REQUIRE_KAFKA=1`: there
they fail.
"""

import os
from collections.abc import Iterator

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, ConfigResource, ResourceType

from tests.kafka.broker import Cluster, silent
from tests.kafka.jars import KafkaNotToBeHad, kafka_jars
from tests.kafka.secured import SecuredCluster
from tests.kafka.serve import Address, shared_broker

GIVEN = "KAFKA_BOOTSTRAP"
"""The environment's name for a broker that is there already."""

MANDATORY = ("CI", "PITWATCH_REQUIRE_KAFKA")
"""The environment's names for switches with which no test may go without a broker."""

_ANSWER_SECONDS = 10.0


def need_broker() -> None:
    """Skip the test, or fail it where a broker is mandatory, unless this machine can run one."""
    try:
        kafka_jars()
    except KafkaNotToBeHad as reason:
        if any(os.environ.get(switch, "").lower() in {"1", "true"} for switch in MANDATORY):
            raise
        own = f"this test needs a broker of its own, beside that of {GIVEN}: " if os.environ.get(GIVEN) else ""
        pytest.skip(f"{own}{reason}")


def answering(bootstrap: str) -> Address:
    """Return the address of the broker that was given, or fail."""
    try:
        AdminClient({"bootstrap.servers": bootstrap}, logger=silent).list_topics(timeout=_ANSWER_SECONDS)
    except KafkaException as error:
        # One that was named is meant to be used: its absence is a failure, never a reason to skip.
        pytest.fail(f"{GIVEN} names {bootstrap}, and no broker answers there: {error}", pytrace=False)
    return Address(bootstrap)


def need_sessions_of(milliseconds: int, broker: Address) -> None:
    """Skip the test where the broker that was given keeps a worker that stalled for longer than that."""
    if broker.sasl_bootstrap is not None:
        return  # Ours takes what tests ask for.
    admin = AdminClient({"bootstrap.servers": broker.bootstrap}, logger=silent)
    node = str(next(iter(admin.list_topics(timeout=_ANSWER_SECONDS).brokers)))
    (described,) = admin.describe_configs([ConfigResource(ResourceType.BROKER, node)]).values()
    shortest = int(described.result()["group.min.session.timeout.ms"].value)
    if shortest > milliseconds:
        pytest.skip(
            f"the broker of {GIVEN} has group.min.session.timeout.ms={shortest}, and this test needs {milliseconds}"
        )


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Address]:
    """A broker's address. Whatever tests make on it needs names that no other test uses."""
    if given := os.environ.get(GIVEN):
        yield answering(given)
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
def kafka_secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredCluster]:
    """A broker of the test module's own that speaks TLS too."""
    need_broker()
    with SecuredCluster(tmp_path_factory.mktemp("secured")) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def kafka_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Three brokers of the test module's own, to be killed and started again."""
    need_broker()
    with Cluster(tmp_path_factory.mktemp("cluster"), 3) as cluster:
        yield cluster
