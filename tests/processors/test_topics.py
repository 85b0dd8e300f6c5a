"""Topics are made as they are declared, and what a cluster has otherwise is found."""

import time
from collections.abc import Mapping
from uuid import uuid4

import pytest
from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

from processors.logs.kafka_clients import Clients
from processors.settings import KafkaSettings
from processors.topics import Difference, Layout, check_topics, create_topics, layouts
from schemas.topics import FACT_TOPICS, TABLE_EVENTS, TABLE_STATES, TOPICS
from tests.contract.reading import PATIENCE_SECONDS
from tests.kafka.serve import Address
from tests.processors.logs.kafka_logs import admin, make_topic


class TestLayouts:
    def test_there_is_one_for_every_topic(self) -> None:
        assert layouts(KafkaSettings(), None).keys() == {topic.name for topic in TOPICS}

    def test_all_topics_are_divided_alike(self) -> None:
        assert {layout.partitions for layout in layouts(KafkaSettings(partitions=7), None).values()} == {7}

    def test_facts_alone_are_dropped_for_their_age(self) -> None:
        found = layouts(KafkaSettings(), 30)
        assert {found[topic].config["retention.ms"] for topic in FACT_TOPICS.values()} == {"2592000000"}
        assert found[TABLE_EVENTS].config["retention.ms"] == "-1"
        assert "retention.ms" not in found[TABLE_STATES].config

    def test_snapshots_alone_are_compacted(self) -> None:
        policies = {name: layout.config["cleanup.policy"] for name, layout in layouts(KafkaSettings(), None).items()}
        assert [name for name, policy in policies.items() if policy == "compact"] == [TABLE_STATES]

    @pytest.mark.parametrize(("copies", "in_sync"), [(1, "1"), (2, "2"), (3, "2"), (5, "2")])
    def test_an_append_is_on_two_brokers_where_there_are_two(self, copies: int, in_sync: str) -> None:
        found = layouts(KafkaSettings(replication_factor=copies), None)
        assert {layout.config["min.insync.replicas"] for layout in found.values()} == {in_sync}

    def test_the_number_of_copies_may_be_the_brokers_own_affair(self) -> None:
        assert not any("min.insync.replicas" in layout.config for layout in layouts(KafkaSettings(), None).values())


class TestCluster:
    @pytest.fixture
    def clients(self, kafka: Address) -> Clients:
        return Clients(kafka.bootstrap, {}, "tests", 30)

    @pytest.fixture
    def wanted(self) -> Mapping[str, Layout]:
        """The topics under names that no other test uses."""
        prefix = uuid4().hex
        return {f"{prefix}-{name}": layout for name, layout in layouts(KafkaSettings(partitions=2), 30).items()}

    @pytest.fixture
    def name(self, wanted: Mapping[str, Layout]) -> str:
        return next(name for name in wanted if name.endswith(TABLE_EVENTS))

    def test_what_is_missing_is_found_made_and_then_as_declared(
        self, clients: Clients, wanted: Mapping[str, Layout]
    ) -> None:
        assert check_topics(clients, wanted) == [Difference(name, "topic", "there", "missing") for name in wanted]
        assert set(create_topics(clients, wanted)) == wanted.keys()
        assert check_topics(clients, wanted) == []

    def test_what_is_there_stays_as_it_is(
        self, kafka: Address, clients: Clients, wanted: Mapping[str, Layout], name: str
    ) -> None:
        make_topic(kafka.bootstrap, name, 5)
        assert set(create_topics(clients, wanted)) == wanted.keys() - {name}
        assert Difference(name, "partitions", "2", "5") in check_topics(clients, wanted)

    def test_every_setting_that_differs_is_told(
        self, kafka: Address, clients: Clients, wanted: Mapping[str, Layout], name: str
    ) -> None:
        create_topics(clients, wanted)
        client = admin(kafka.bootstrap)
        changes = {"retention.ms": "1000", "max.message.bytes": "1000", "message.timestamp.type": "CreateTime"}
        entries = [
            ConfigEntry(key, value, incremental_operation=AlterConfigOpType.SET) for key, value in changes.items()
        ]
        resource = ConfigResource(ResourceType.TOPIC, name, incremental_configs=entries)
        client.incremental_alter_configs([resource])[resource].result()
        expected = {
            Difference(name, "retention.ms", "-1", "1000"),
            Difference(name, "max.message.bytes", "1114112", "1000"),
            Difference(name, "message.timestamp.type", "LogAppendTime", "CreateTime"),
        }
        # The brokers hear of it a moment later.
        deadline = time.monotonic() + PATIENCE_SECONDS
        while set(check_topics(clients, wanted)) != expected:
            assert time.monotonic() < deadline, check_topics(clients, wanted)

    def test_a_number_of_copies_that_differs_is_told(self, clients: Clients, wanted: Mapping[str, Layout]) -> None:
        create_topics(clients, wanted)
        doubled = {name: layout._replace(replication_factor=2) for name, layout in wanted.items()}
        assert check_topics(clients, doubled) == [Difference(name, "replication factor", "2", "1") for name in wanted]
