"""`pitwatch simulate`: the same arguments give the same files, limits hold, and the labels are what the events show."""

import gzip
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pitwatch.cli import app
from pitwatch.commands.simulate import START
from pitwatch.exits import GOOD, UNUSABLE
from pitwatch.scoring import score
from processors.data_directory import open_log
from producers.simulator import read_labels
from schemas.facts import AlertFact
from schemas.log import EventLog
from schemas.wire import decode_event, decode_fact

runner = CliRunner()


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def simulated(*arguments: str) -> str:
    result = runner.invoke(app, ["simulate", *arguments])
    assert result.exit_code == GOOD, result.output
    return result.stdout


def rounds_of(path: Path) -> dict[str, set[tuple[int, int]]]:
    rounds: dict[str, set[tuple[int, int]]] = {}
    for line in path.read_bytes().splitlines():
        event = json.loads(line)
        if event["type"] == "round_opened" and event["kind"] == "live":
            rounds.setdefault(event["table_id"], set()).add((event["shoe"], event["round"]))
    return rounds


def test_the_same_arguments_give_the_same_files(tmp_path: Path) -> None:
    for name in ("one", "two"):
        simulated("--out", f"{name}.ndjson", "--tables", "2", "--hours", "0.2", "--seed", "9", "--faults")
    for ending in ("ndjson", "labels.ndjson"):
        assert (tmp_path / f"one.{ending}").read_bytes() == (tmp_path / f"two.{ending}").read_bytes()
    simulated("--out", "three.ndjson", "--tables", "2", "--hours", "0.2", "--seed", "10", "--faults")
    assert (tmp_path / "one.ndjson").read_bytes() != (tmp_path / "three.ndjson").read_bytes()


def test_the_counts_are_those_of_the_files(tmp_path: Path) -> None:
    printed = simulated("--out", "floor.ndjson.gz", "--tables", "2", "--rounds", "15")
    events = gzip.decompress((tmp_path / "floor.ndjson.gz").read_bytes()).splitlines()
    labels = list(read_labels(tmp_path / "floor.labels.ndjson"))
    assert printed.splitlines() == [
        f"{len(events):,} events: floor.ndjson.gz",
        f"{len(labels):,} labels: floor.labels.ndjson",
    ]
    assert all(decode_event(event) for event in events)
    assert f"{decode_event(events[0]).occurred_at:%Y-%m-%d}" == START[:10]


def test_rounds_end_every_table(tmp_path: Path) -> None:
    simulated("--out", "floor.ndjson", "--tables", "3", "--rounds", "7")
    assert {table_id: len(rounds) for table_id, rounds in rounds_of(tmp_path / "floor.ndjson").items()} == {
        "BAC-101": 7,
        "BAC-102": 7,
        "BAC-103": 7,
    }


def test_events_break_the_stream_off(tmp_path: Path) -> None:
    simulated("--out", "short.ndjson", "--events", "500")
    simulated("--out", "long.ndjson", "--events", "700")
    short, long = ((tmp_path / name).read_bytes().splitlines() for name in ("short.ndjson", "long.ndjson"))
    assert len(short) == 500
    assert long[:500] == short


def test_an_hour_is_simulated_where_nothing_else_is_said(tmp_path: Path) -> None:
    simulated("--out", "floor.ndjson", "--tables", "1")
    last = decode_event((tmp_path / "floor.ndjson").read_bytes().splitlines()[-1])
    assert last.type == "table_closed"
    assert f"{last.occurred_at:%H}" == "01"


def test_a_clean_floor_has_no_labels_and_a_dirty_one_at_half_its_tables(tmp_path: Path) -> None:
    simulated("--out", "clean.ndjson", "--tables", "4", "--rounds", "20", "--clean")
    assert (tmp_path / "clean.labels.ndjson").read_bytes() == b""
    simulated("--out", "dirty.ndjson", "--tables", "4", "--rounds", "20", "--labels", "apart.ndjson")
    assert {label.table_id for label in read_labels(tmp_path / "apart.ndjson")} == {"BAC-101", "BAC-102"}


def test_what_the_pipeline_makes_of_a_file_is_what_its_labels_say(tmp_path: Path) -> None:
    simulated("--out", "floor.ndjson", "--tables", "4", "--rounds", "30", "--seed", "2", "--faults")
    result = runner.invoke(app, ["ingest", "floor.ndjson", "--data", "data"])
    assert result.exit_code == GOOD, result.output
    with open_log(tmp_path / "data") as log:
        alerts = newest_alerts(log)
    held = score(read_labels(tmp_path / "floor.labels.ndjson"), alerts.values())
    assert held.agrees, (held.missed, held.unexpected)
    assert held.found


def newest_alerts(log: EventLog) -> dict[str, AlertFact]:
    found: dict[str, AlertFact] = {}
    offset = 0
    while records := log.read("alerts", 0, offset, 1000):
        for record in records:
            alert = decode_fact(record.value)
            assert alert.fact == "alert"
            found[alert.alert_id] = alert  # type: ignore[attr-defined, assignment]  # told by its kind
        offset = records[-1].offset + 1
    return found


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--out", "f.ndjson", "--hours", "1", "--rounds", "2"], "--hours, --rounds, --events"),
        (["--out", "f.ndjson", "--rounds", "1", "--events", "2"], "--hours, --rounds, --events"),
        (["--out", "f.ndjson", "--labels", "./f.ndjson"], "events and labels need a file each"),
        (["--out", "no/such/f.ndjson"], "--out, --labels"),
        (["--out", "f.ndjson", "--start", "yesterday"], "is no instant"),
        (["--out", "f.ndjson", "--start", "2025-01-01T00:00:00"], "has no zone"),
        (["--out", "f.ndjson", "--tables", "0"], "--tables"),
        ([], "--out"),
    ],
    ids=["two limits", "two others", "one file", "no folder", "no instant", "no zone", "no tables", "no file"],
)
def test_what_can_not_be_is_explained(arguments: list[str], said: str) -> None:
    result = runner.invoke(app, ["simulate", *arguments], env={"COLUMNS": "200"})
    assert result.exit_code == UNUSABLE
    assert said in result.output
