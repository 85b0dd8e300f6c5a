"""Sizes are those of what a floor really left behind, on little."""

from benchmarks.floor import TABLES, floor_records
from benchmarks.sizing import FIGURES, Folding, Kept, kept_by, quantities
from schemas.topics import FACT_TOPICS, TABLE_EVENTS
from tests.kafka.broker import Cluster

EVENTS = 12_000


def test_every_figure_is_measured(kafka_alone: Cluster) -> None:
    found = {one.name: one.value for one in quantities(kafka_alone, floor_records(EVENTS))}
    assert len(found) == FIGURES
    rounds, memory = found.pop("rounds of a table, on average"), found.pop("… and for each table")
    assert 0 < rounds < EVENTS / TABLES
    assert memory >= 0  # A page may serve many tables as small as these.
    assert min(found.values()) > 0
    assert kept_by(kafka_alone, [TABLE_EVENTS]).records == EVENTS
    assert round(found["events a round"] * rounds * TABLES) == EVENTS
    facts = kept_by(kafka_alone, list(FACT_TOPICS.values()))
    assert isinstance(facts, Kept)
    assert facts.records == round(found["facts an event"] * EVENTS)
    # Compressed: an event as it was sent has a few hundred bytes.
    assert found["events of a round in Kafka, bulk load"] < 300 * found["events a round"]
    assert found["events of a round in Kafka, appends of 70"] > found["events of a round in Kafka, bulk load"]


def test_what_a_table_takes_is_told_from_what_the_process_takes() -> None:
    folding = Folding(half_tables=10, half_bytes=130, tables=30, bytes=190)
    assert (folding.table_bytes, folding.own_bytes) == (3, 100)
