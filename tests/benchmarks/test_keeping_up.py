"""How far a sink is behind is told from what is in the store when all is folded."""

from benchmarks.floor import floor_records
from benchmarks.sizing import behind
from tests.kafka.broker import Cluster


def test_a_sink_is_behind_by_what_is_not_in_the_store(kafka_alone: Cluster) -> None:
    records = floor_records(500)
    assert 0 <= behind(kafka_alone.bootstrap, records, events_per_second=1_000) <= len(records)
