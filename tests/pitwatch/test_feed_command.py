"""`pitwatch feed`, against the gateway itself."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from deploy.make_env import complete
from pitwatch.cli import app
from pitwatch.commands.feed import (
    TOKENS,
    UnusableFeed,
    feeds_of,
    new_floor,
    remembered_floor,
    run_all,
    tokens_for,
)
from processors.logs.sqlite import SqliteLog
from processors.settings_file import load_settings
from producers.gateway.app import create_app
from producers.gateway.auth import TableToken
from producers.gateway.server import run_gateway
from schemas.configuration import TableEntry, preset
from schemas.topics import TABLE_EVENTS
from schemas.wire import decode_event
from tests.deploy.test_make_env import values_of

MAIN = "from pitwatch.cli import main; main()"
START = datetime(2026, 1, 5, 12, tzinfo=UTC)
ENTRIES = tuple(
    TableEntry(table_id=f"T0{place}", configuration=preset(name))
    for place, name in enumerate(("macau", "sjm", "commission_free"), start=1)
)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The floor and tokens of a fresh .env, in the environment as the simulator's container has them."""
    values = values_of(complete("", "single"))
    monkeypatch.setenv("PITWATCH_FLOOR__TABLES", values["PITWATCH_FLOOR__TABLES"])
    monkeypatch.setenv(TOKENS, values["SIMULATOR_TOKENS"])
    return values


def events_of(log: SqliteLog) -> dict[str, list[str]]:
    """Return the identities in the log, by table."""
    found: dict[str, list[str]] = {}
    for record in log.read(TABLE_EVENTS, 0, 0, 1_000_000):
        found.setdefault(record.key, []).append(decode_event(record.value).event_id)
    return found


def test_floor_of_a_fresh_deployment_is_dealt_at_and_stops_on_sigterm(
    made: dict[str, str], tmp_path: Path, repository: Path
) -> None:
    settings = load_settings()
    tokens = [TableToken(table_id=table, sha256=digest) for digest, table in settings.floor.token_hashes().items()]
    config = tmp_path / "pitwatch.toml"
    config.write_text("")
    log = SqliteLog(tmp_path / "log.sqlite")
    with run_gateway(create_app(log, tokens), port=0) as url:
        command = [sys.executable, "-c", MAIN, "feed", url, "--config", str(config), "--state", str(tmp_path / "s")]
        for _ in range(2):
            first = sum(map(len, events_of(log).values()))
            running = subprocess.Popen(command, cwd=repository, env=os.environ, stderr=subprocess.PIPE)
            while sum(map(len, events_of(log).values())) <= first and running.poll() is None:
                log.wait(TABLE_EVENTS, 0, log.end(TABLE_EVENTS, 0), 1.0)
            running.send_signal(signal.SIGTERM)
            _, said = running.communicate(timeout=60)
            assert running.returncode == 0, said
    found = events_of(log)
    assert found.keys() <= {entry.table_id for entry in settings.floor.entries()}
    assert all(len(ids) == len(set(ids)) for ids in found.values())
    log.close()


def test_every_table_gets_through_the_gateway(tmp_path: Path) -> None:
    tokens = {entry.table_id: f"token of {entry.table_id}" for entry in ENTRIES}
    known = [
        TableToken(table_id=table, sha256=hashlib.sha256(token.encode()).hexdigest()) for table, token in tokens.items()
    ]
    floor = new_floor(ENTRIES, 1, START).model_copy(update={"hours": 0.1})
    log = SqliteLog(tmp_path / "log.sqlite")
    with run_gateway(create_app(log, known), port=0) as url:
        for _ in range(2):  # The second time there is nothing left to send.
            run_all(feeds_of(floor, url, tokens, tmp_path, lambda: START + timedelta(hours=2)), threading.Event())
    found = events_of(log)
    assert found.keys() == tokens.keys()
    assert all(len(ids) == len(set(ids)) > 10 for ids in found.values())
    log.close()


def test_presets_of_the_deployment_can_be_dealt(made: dict[str, str]) -> None:
    floor = new_floor(load_settings().floor.entries(), 1, START)
    assert len(floor.tables) == 8
    assert {table.deviations is None for table in floor.tables} == {True, False}


def test_state_keeps_the_floor(tmp_path: Path) -> None:
    first = remembered_floor(tmp_path / "state", ENTRIES, 1, START)
    assert remembered_floor(tmp_path / "state", ENTRIES, 1, START + timedelta(days=3)) == first
    with pytest.raises(UnusableFeed, match="another seed"):
        remembered_floor(tmp_path / "state", ENTRIES, 2, START)
    with pytest.raises(UnusableFeed, match="other tables"):
        remembered_floor(tmp_path / "state", ENTRIES[:2], 1, START)


def test_state_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file")
    with pytest.raises(UnusableFeed, match="can't be used"):
        remembered_floor(tmp_path / "state", ENTRIES, 1, START)


def test_what_cannot_be_simulated_is_told(tmp_path: Path) -> None:
    commission = preset("macau").commission.model_copy(update={"rounding": "exact"})
    exact = preset("macau").model_copy(update={"configuration_id": "exact", "commission": commission})
    with pytest.raises(UnusableFeed, match="can't be simulated"):
        remembered_floor(tmp_path / "state", (TableEntry(table_id="T01", configuration=exact),), 1, START)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no token for table T01"),
        ("{", "is no JSON"),
        ("[]", "JSON object"),
        ('{"T01": 1}', "JSON object"),
        ('{"T01": "a", "T02": "b"}', "no token for table T03"),
    ],
)
def test_tokens_that_are_no_use_are_told(text: str, reason: str) -> None:
    with pytest.raises(UnusableFeed, match=reason):
        tokens_for(ENTRIES, text)


def test_no_table_is_told() -> None:
    with pytest.raises(UnusableFeed, match="no tables"):
        tokens_for((), "{}")


def test_tokens_of_the_tables_are_taken() -> None:
    assert tokens_for(ENTRIES[:1], json.dumps({"T01": "a", "T99": "b"})) == {"T01": "a"}


def test_what_one_table_dies_of_ends_the_command(tmp_path: Path) -> None:
    stop = threading.Event()

    class Broken:
        table_id = "T01"
        closed = False

        def run(self, _: threading.Event) -> None:
            raise OSError("the disk is full")

        def close(self) -> None:
            self.closed = True

    broken = Broken()
    with pytest.raises(OSError, match="disk is full"):
        run_all([broken], stop)  # type: ignore[list-item]  # all it is asked for
    assert broken.closed
    assert stop.is_set()


def test_settings_without_tables_are_refused(tmp_path: Path) -> None:
    config = tmp_path / "pitwatch.toml"
    config.write_text("")
    ran = CliRunner().invoke(app, ["feed", "http://127.0.0.1:1", "--config", str(config), "--state", str(tmp_path)])
    assert isinstance(ran.exception, UnusableFeed)
