"""Kafka's configuration and the commands of its containers, with Kafka itself."""

import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._config import ConfigResource
from confluent_kafka.admin._resource import ResourceType
from confluent_kafka.cimpl import NewTopic

from processors.settings import KafkaSettings
from schemas.log import MAX_MESSAGE_BYTES
from tests.conftest import REPOSITORY
from tests.deploy.broker import (
    BROKERS,
    CLUSTER_ID,
    PROPERTIES,
    SERVICES,
    START_SECONDS,
    Broker,
    as_here,
    environment,
    running_broker,
)
from tests.kafka.fixtures import need_broker


@pytest.mark.parametrize("name", BROKERS)
def test_kafka_formats_its_storage_with_the_configuration(name: str, tmp_path: Path) -> None:
    need_broker()
    service = SERVICES[name]
    assert service.entrypoint == ["bash", "-c"]
    (script,) = service.command
    formatting = as_here(script, tmp_path).partition(" && exec ")[0]
    for _ in range(2):  # A container that starts once more formats once more.
        subprocess.run(["bash", "-c", formatting], env=environment(service), check=True, capture_output=True)
    written = (tmp_path / "data" / "meta.properties").read_text()
    assert f"cluster.id={CLUSTER_ID}" in written
    assert f"node.id={service.environment['KAFKA_NODE']}" in written


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    with running_broker(tmp_path_factory.mktemp("kafka")) as broker:
        yield broker
        # 143 is Java's word for having ended on SIGTERM, as asked.
        assert broker.stop() in {0, 143}


def test_healthy_broker_answers_and_has_the_configuration(running: Broker) -> None:
    admin = AdminClient({"bootstrap.servers": f"127.0.0.1:{running.port}"})
    resource = ConfigResource(ResourceType.BROKER, "1")
    found = {name: entry.value for name, entry in admin.describe_configs([resource])[resource].result().items()}
    assert found["auto.create.topics.enable"] == "false"
    assert found["log.retention.ms"] == "-1"
    assert found["log.flush.interval.messages"] == "1"
    assert found["log.message.timestamp.type"] == "LogAppendTime"
    assert int(found["message.max.bytes"]) > MAX_MESSAGE_BYTES
    assert int(found["replica.fetch.max.bytes"]) > int(found["message.max.bytes"])
    admin.create_topics([NewTopic("table-events")])["table-events"].result()
    deadline = time.monotonic() + START_SECONDS
    # A topic is made before every broker says that it is there.
    while "table-events" not in (topics := admin.list_topics(timeout=30).topics):
        assert time.monotonic() < deadline
    assert len(topics["table-events"].partitions) == KafkaSettings().partitions


def test_properties_ask_for_what_the_services_have() -> None:
    text = PROPERTIES.read_text()
    asked = set(re.findall(r"\$\{env:([A-Z_]+)\}", text))
    for name in BROKERS:
        assert asked <= SERVICES[name].environment.keys(), name


@pytest.mark.parametrize("name", BROKERS)
def test_copies_outlive_a_broker(name: str) -> None:
    made = SERVICES[name].environment
    voters = re.findall(r"(\d)@([a-z0-9-]+):9093", made["KAFKA_VOTERS"] or "")
    assert (made["KAFKA_NODE"], made["KAFKA_HOST"]) in voters
    assert made["KAFKA_HOST"] == name
    assert {host for _, host in voters} <= SERVICES.keys()
    assert int(made["KAFKA_COPIES"] or 0) == len(voters)
    # All but one must have a message before it is acknowledged; one alone syncs it to its disk.
    assert int(made["KAFKA_COPIES_IN_SYNC"] or 0) == max(1, len(voters) - 1)
    assert (made["KAFKA_APPENDS_A_SYNC"] == "1") == (len(voters) == 1)


def test_image_is_the_version_the_tests_run() -> None:
    pom = (REPOSITORY / "tests" / "kafka" / "pom.xml").read_text()
    tested = re.search(r"kafka_2\.13</artifactId>\s*<version>([\d.]+)<", pom)
    assert tested
    assert SERVICES["kafka"].image == f"apache/kafka:{tested[1]}"
