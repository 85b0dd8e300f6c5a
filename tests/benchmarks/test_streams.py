"""What the Faust worker does is measured with a worker that does it, on little."""

from benchmarks.floor import floor_records
from benchmarks.streams import measure_streams, measure_watch, measure_windows, rounds_of
from tests.kafka.broker import Cluster


def test_the_worker_counts_every_round_of_the_floor(kafka_alone: Cluster) -> None:
    rounds = rounds_of(floor_records(4_000))
    found = measure_streams(kafka_alone.bootstrap, rounds)
    assert found.rounds == len(rounds) > 0
    assert found.seconds > 0
    assert min(found.idle_bytes, found.held_bytes) > 2**20


def test_the_watch_reads_every_event(kafka_alone: Cluster) -> None:
    found = measure_watch(kafka_alone.bootstrap, floor_records(1_000))
    assert found.events == 1_000
    assert found.seconds > 0


def test_a_round_in_the_windows_takes_memory() -> None:
    assert measure_windows(rounds_of(floor_records(4_000)), 20_000) > 0
