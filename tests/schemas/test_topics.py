"""Topics: one of events, one of snapshots, one for each kind of fact."""

import re

from schemas.facts import FACT_KINDS
from schemas.topics import FACT_TOPICS, TABLE_EVENTS, TABLE_STATES, TOPICS


def test_every_kind_of_fact_has_a_topic_of_its_own() -> None:
    assert FACT_TOPICS.keys() == FACT_KINDS.keys()
    assert len(set(FACT_TOPICS.values())) == len(FACT_TOPICS)


def test_every_topic_is_listed_once_with_its_purpose() -> None:
    names = [topic.name for topic in TOPICS]
    assert sorted(names) == sorted({TABLE_EVENTS, TABLE_STATES, *FACT_TOPICS.values()})
    assert all(topic.purpose.endswith(".") for topic in TOPICS)


def test_only_snapshots_are_kept_by_key() -> None:
    assert [topic.name for topic in TOPICS if topic.compacted] == [TABLE_STATES]


def test_only_what_can_be_worked_out_again_is_dropped_for_its_age() -> None:
    assert {topic.name for topic in TOPICS if not topic.droppable} == {TABLE_EVENTS, TABLE_STATES}


def test_names_are_ones_that_kafka_takes() -> None:
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", topic.name) for topic in TOPICS)
