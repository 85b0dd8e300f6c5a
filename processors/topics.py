"""Makes the topics that `schemas.topics` declares, and finds where a cluster has them otherwise."""

import time
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from confluent_kafka import KafkaError, KafkaException, TopicCollection
from confluent_kafka.admin import ConfigResource, NewTopic, ResourceType, TopicDescription

from processors.logs.kafka_clients import MESSAGE_BYTES, Clients
from processors.settings import KafkaSettings
from schemas.topics import TOPICS, Topic

_PAUSE_SECONDS: Final = 0.1
_DAY_MS: Final = 86_400_000

_ALL_TOPICS: Final = {
    "max.message.bytes": str(MESSAGE_BYTES),
    # Gaps are timed by the log's own clock.
    "message.timestamp.type": "LogAppendTime",
    # A replica that missed something must not become the leader: what it missed would be lost without a word.
    "unclean.leader.election.enable": "false",
    "retention.bytes": "-1",
}
_COMPACTED: Final = {
    "cleanup.policy": "compact",
    # Snapshots are long and replaced all the time: clean up early, in segments that soon aren't the newest.
    "min.cleanable.dirty.ratio": "0.2",
    "segment.bytes": str(64 * 2**20),
}


class Layout(NamedTuple):
    """How a topic is to be; a replication factor of None is the brokers' own affair."""

    partitions: int
    replication_factor: int | None
    config: Mapping[str, str]


class Difference(NamedTuple):
    """Where a cluster differs from what is declared."""

    topic: str
    what: str
    declared: str
    found: str


def layouts(kafka: KafkaSettings, keep_facts_days: int | None) -> dict[str, Layout]:
    """Return how each topic is to be, by its name."""
    return {topic.name: _layout(topic, kafka, keep_facts_days) for topic in TOPICS}


def create_topics(clients: Clients, wanted: Mapping[str, Layout]) -> list[str]:
    """Make the topics that aren't there; return their names once they are known. What is there stays as it is."""
    admin = clients.admin()
    made = []
    with clients.told("make the topics", admin):
        new = [
            NewTopic(name, layout.partitions, layout.replication_factor or -1, config=dict(layout.config))
            for name, layout in wanted.items()
        ]
        for name, future in admin.create_topics(new, request_timeout=clients.timeout_seconds).items():
            try:
                future.result()
                made.append(name)
            except KafkaException as exception:
                if exception.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                    raise
    deadline = time.monotonic() + clients.timeout_seconds
    while not _describe(clients, wanted).keys() >= set(made) and time.monotonic() < deadline:
        time.sleep(_PAUSE_SECONDS)
    return made


def check_topics(clients: Clients, wanted: Mapping[str, Layout], *, as_allowed: bool = False) -> list[Difference]:
    """Return every difference between the cluster's topics and what is declared.

    With `as_allowed`, the settings of topics are left out whose settings this user may not read: no worker's role may.
    """
    found = _describe(clients, wanted)
    configs = _configs(clients, found, as_allowed=as_allowed)
    return [
        difference
        for name, layout in wanted.items()
        for difference in (
            _compare(name, layout, found[name], configs.get(name))
            if name in found
            else [Difference(name, "topic", "there", "missing")]
        )
    ]


def _layout(topic: Topic, kafka: KafkaSettings, keep_facts_days: int | None) -> Layout:
    days = keep_facts_days if topic.droppable else None
    config = dict(_ALL_TOPICS)
    if topic.compacted:
        config |= _COMPACTED
    else:
        config |= {"cleanup.policy": "delete", "retention.ms": "-1" if days is None else str(days * _DAY_MS)}
    if kafka.replication_factor is not None:
        # One broker may be away without anything stopping, and what is acknowledged is on two at least.
        config["min.insync.replicas"] = str(min(2, kafka.replication_factor))
    return Layout(kafka.partitions, kafka.replication_factor, config)


def _describe(clients: Clients, wanted: Mapping[str, Layout]) -> dict[str, TopicDescription]:
    admin = clients.admin()
    found = {}
    with clients.told("describe the topics", admin):
        asked = TopicCollection(list(wanted))
        for name, future in admin.describe_topics(asked, request_timeout=clients.timeout_seconds).items():
            try:
                found[name] = future.result()
            except KafkaException as exception:
                if exception.args[0].code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
                    raise
    return found


def _configs(clients: Clients, found: Mapping[str, TopicDescription], *, as_allowed: bool) -> dict[str, dict[str, str]]:
    """Return the settings in force for each topic, the brokers' defaults among them."""
    admin = clients.admin()
    asked = [ConfigResource(ResourceType.TOPIC, name) for name in found]
    configs: dict[str, dict[str, str]] = {}
    if not asked:
        return configs
    with clients.told("read the topics' settings", admin):
        for resource, future in admin.describe_configs(asked, request_timeout=clients.timeout_seconds).items():
            try:
                configs[resource.name] = {name: str(entry.value) for name, entry in future.result().items()}
            except KafkaException as exception:
                if not as_allowed or exception.args[0].code() != KafkaError.TOPIC_AUTHORIZATION_FAILED:
                    raise
    return configs


def _compare(
    name: str, layout: Layout, found: TopicDescription, config: Mapping[str, str] | None
) -> Iterator[Difference]:
    if len(found.partitions) != layout.partitions:
        yield Difference(name, "partitions", str(layout.partitions), str(len(found.partitions)))
    copies = min(len(partition.replicas) for partition in found.partitions)
    if layout.replication_factor is not None and copies != layout.replication_factor:
        yield Difference(name, "replication factor", str(layout.replication_factor), str(copies))
    if config is None:
        return
    for key, value in layout.config.items():
        if config.get(key) != value:
            yield Difference(name, key, value, config.get(key, "unknown"))
    in_sync = int(config.get("min.insync.replicas", 1))
    if "min.insync.replicas" not in layout.config and copies > 1 and in_sync < 2:
        yield Difference(name, "min.insync.replicas", "2 or more", str(in_sync))
