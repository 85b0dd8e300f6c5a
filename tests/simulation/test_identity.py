"""One file of events, five ways to its facts: on one machine, and through Kafka, whatever happens there."""

import re
from pathlib import Path

import pytest

from tests.kafka.fixtures import need_broker
from tests.simulation.identity.event_file import EventFile, write_event_file
from tests.simulation.identity.outcome import Digest, Outcome, all_alike
from tests.simulation.identity.ways import PORTIONS, WAYS

EVENTS = 8_000
TABLES = 6

WORKER, SINK = r"reconstruct-\d+", r"sink-\d+"
DONE = ("sent", "folded", "stored")

SAID = {
    "embedded": ("ingested",),
    "one worker": DONE,
    "three workers": DONE,
    "workers killed": (*(f"killed {WORKER}, started {WORKER}",) * PORTIONS, *DONE),
    "all broken": (
        f"killed a broker, stalled {SINK}",
        f"started {WORKER}",
        f"stalled {WORKER}",
        f"moved partitions to {WORKER}",
        f"started the broker again, killed {WORKER}",
        f"others had all that {WORKER} and {SINK} had",
        f"let {WORKER} and {SINK} go on",
        f"{WORKER} lost its partitions",
        f"stopped {WORKER}, started {WORKER}",
        f"{WORKER}, {SINK} and {WORKER} have partitions again, and all brokers are there",
        *DONE,
    ),
}
"""What was done to each way. It is said once it was seen, so a way that was left in peace lacks it."""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> EventFile:
    need_broker()
    path = tmp_path_factory.mktemp("file") / "events.ndjson.gz"
    write_event_file(path, EVENTS, TABLES, seed=1)
    return EventFile(path)


# What is newer ends the process: processors/logs/kafka_groups.py.
@pytest.mark.filterwarnings("ignore:list_groups:DeprecationWarning")
def test_all_ways_give_the_same_facts_row_for_row(file: EventFile, tmp_path: Path) -> None:
    said: dict[str, list[str]] = {name: [] for name in WAYS}
    outcomes: dict[str, Outcome] = {
        name: way(file, tmp_path / f"way-{number}", said[name].append)
        for number, (name, way) in enumerate(WAYS.items())
    }
    assert all_alike(outcomes) == []
    # That it is about something, and that what was to disturb it did.
    for name, patterns in SAID.items():
        assert len(said[name]) == len(patterns), said[name]
        for text, pattern in zip(said[name], patterns, strict=True):
            assert re.fullmatch(pattern, text), f"{name}: {text}"
    rows = outcomes["embedded"].rows()
    assert all(count > EVENTS / 4 for count in rows.values()), rows
    assert {"written", "final", "stored"} == rows.keys()


def test_a_difference_is_found() -> None:
    one = Outcome({"rounds": {"B01": Digest(1, "this")}}, {}, {})
    assert all_alike({"a": one, "b": one}) == []
    other = one._replace(written={"rounds": {"B01": Digest(1, "that")}})
    (line,) = all_alike({"a": one, "b": other})
    assert line.startswith("b, unlike a: written rounds B01")
