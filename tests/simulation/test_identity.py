"""One file of events, five ways to its facts: on one machine, and through Kafka, whatever happens there."""

from pathlib import Path

import pytest

from tests.kafka.fixtures import need_broker
from tests.simulation.identity.event_file import EventFile, write_event_file
from tests.simulation.identity.outcome import Digest, Outcome, all_alike
from tests.simulation.identity.ways import WAYS

EVENTS = 8_000
TABLES = 6


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> EventFile:
    need_broker()
    path = tmp_path_factory.mktemp("file") / "events.ndjson.gz"
    write_event_file(path, EVENTS, TABLES, seed=1)
    return EventFile(path)


def test_all_ways_give_the_same_facts_row_for_row(file: EventFile, tmp_path: Path) -> None:
    said: list[str] = []
    outcomes: dict[str, Outcome] = {
        name: way(file, tmp_path / f"way-{number}", said.append) for number, (name, way) in enumerate(WAYS.items())
    }
    assert all_alike(outcomes) == []
    # That it is about something, and that what was to disturb it did.
    rows = outcomes["embedded"].rows()
    assert all(count > EVENTS / 4 for count in rows.values()), rows
    assert sum(text.startswith("killed") for text in said) >= 10
    assert {"written", "final", "stored"} == rows.keys()


def test_a_difference_is_found() -> None:
    one = Outcome({"rounds": {"B01": Digest(1, "this")}}, {}, {})
    assert all_alike({"a": one, "b": one}) == []
    other = one._replace(written={"rounds": {"B01": Digest(1, "that")}})
    (line,) = all_alike({"a": one, "b": other})
    assert line.startswith("b, unlike a: written rounds B01")
