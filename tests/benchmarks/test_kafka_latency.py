"""The measurement of the distributed runtime runs both workers as a site does, and times what comes of the events."""

from benchmarks.floor import TABLES, floor_records
from benchmarks.kafka_latency import measure
from benchmarks.latency import summary
from tests.kafka.broker import Cluster


def test_every_alert_is_timed_from_its_event_to_the_service_that_was_told(kafka_alone: Cluster) -> None:
    found = measure(kafka_alone.bootstrap, floor_records(6_000, dirty=TABLES), events_per_second=20_000)
    assert len(found.facts) > len(found.alerts) > 0
    assert min(found.facts) > 0
    assert min(found.alerts) > 0
    assert [what for what, *_ in summary(found)] == ["event to fact", "event to alert delivered"]
