"""A floor as files: the same floor is the same file, with its labels beside it."""

import gzip
from datetime import UTC, datetime
from pathlib import Path

import pytest

from producers.simulator import FloorSettings, labels_beside, mixed_floor, read_labels, simulate, write
from schemas.wire import decode_event, encode


@pytest.fixture(scope="module")
def settings() -> FloorSettings:
    return mixed_floor(seed=2, start=datetime(2025, 3, 1, tzinfo=UTC), hours=0.5, tables=3, dirty=3)


def test_one_event_a_line_and_the_labels_beside(settings: FloorSettings, tmp_path: Path) -> None:
    events = tmp_path / "floor.ndjson"
    told: list[int] = []
    written = write(settings, events, progress=told.append)
    arrivals = list(simulate(settings))
    lines = events.read_bytes().splitlines()
    assert lines == [encode(arrival.event) for arrival in arrivals]
    assert [decode_event(line).event_id for line in lines] == [arrival.event.event_id for arrival in arrivals]
    labels = [label for arrival in arrivals for label in arrival.labels]
    assert labels
    assert list(read_labels(tmp_path / "floor.labels.ndjson")) == labels
    assert written == (len(arrivals), len(labels))
    assert told[-1] == written.events


def test_a_compressed_file_is_the_same_every_time(settings: FloorSettings, tmp_path: Path) -> None:
    once, again, plain = tmp_path / "a.ndjson.gz", tmp_path / "b.ndjson.gz", tmp_path / "c.ndjson"
    for path in (once, again, plain):
        write(settings, path)
    assert once.read_bytes() == again.read_bytes()
    assert gzip.decompress(once.read_bytes()) == plain.read_bytes()
    assert (tmp_path / "a.labels.ndjson").read_bytes() == (tmp_path / "c.labels.ndjson").read_bytes()


def test_labels_go_where_they_are_told(settings: FloorSettings, tmp_path: Path) -> None:
    write(settings, tmp_path / "floor.ndjson", tmp_path / "known.ndjson")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["floor.ndjson", "known.ndjson"]


@pytest.mark.parametrize(
    ("events", "labels"),
    [
        ("floor.ndjson", "floor.labels.ndjson"),
        ("floor.ndjson.gz", "floor.labels.ndjson"),
        ("floor.jsonl", "floor.labels.ndjson"),
        ("floor", "floor.labels.ndjson"),
    ],
)
def test_labels_have_the_events_name(events: str, labels: str) -> None:
    assert labels_beside(Path("x") / events) == Path("x") / labels
