"""The measurements measure what they say, on little."""

from benchmarks.floor import TABLES, floor_records
from benchmarks.latency import Arrival, latency_of, measure, percentile, summary
from benchmarks.memory import measure as measure_memory
from benchmarks.pipeline import measure as measure_pipeline


def test_every_alert_of_the_floor_is_timed_with_the_event_behind_it() -> None:
    found = measure(floor_records(6_000, dirty=TABLES), events_per_second=20_000)
    assert found.alerts
    assert len(found.facts) > len(found.alerts)
    assert min(found.facts) > 0
    assert min(found.alerts) > 0
    assert [what for what, *_ in summary(found)] == ["event to fact", "event to alert delivered"]


def test_times_count_from_when_an_event_was_due() -> None:
    due = {(0, 7): 10.0, (1, 7): 10.5}
    found = latency_of(due, 0.5, [Arrival(11.0, (1, 7)), Arrival(10.25, (0, 7))], [Arrival(12.0, (0, 7))])
    assert found == ([0.25, 0.5], [2.0], 4.0)


def test_what_pitwatch_wrote_itself_is_not_timed() -> None:
    assert latency_of({(0, 7): 10.0}, 1.0, [Arrival(11.0, (0, 8))], []).facts == []


def test_a_percentile_is_one_of_the_values() -> None:
    values = [float(number) for number in range(100)]
    assert (percentile(values, 0.5), percentile(values, 0.99), percentile([3.0], 0.99)) == (50.0, 99.0, 3.0)


def test_memory_is_that_of_a_process_with_an_engine_in_it() -> None:
    assert measure_memory(floor_records(1_000)) > 50 * 2**20


def test_the_pipeline_is_timed_until_the_last_row() -> None:
    found = measure_pipeline(floor_records(1_000))
    assert found.queryable >= found.append > 0
    assert found.consume > 0
