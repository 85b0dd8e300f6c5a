"""Half a minute of the soak that `make soak` has ten of."""

from pathlib import Path

from tests.kafka.fixtures import need_broker
from tests.simulation.soak import soak


def test_floor_goes_through_while_everything_is_killed(tmp_path: Path) -> None:
    need_broker()
    verdict = soak(tmp_path, seconds=25, events_per_second=150, seed=7, say=lambda _: None)
    assert verdict.faults == []
    assert verdict.counts["kills"] >= 2
    assert verdict.counts["events acknowledged"] > 1_500
    assert verdict.counts["alerts to tell"] > 0
