"""`pitwatch sink`: rows get from a log to a server, whatever is killed or away in between, and none of them twice."""

import json
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from processors.logs.sqlite import LOG_FILE, SqliteLog
from processors.sql.users import mint_password
from processors.store.clickhouse import ClickHouseStore
from schemas.topics import TABLE_EVENTS
from schemas.wire import encode
from tests.contract.reading import PATIENCE_SECONDS
from tests.contract.store.stored_facts import fact
from tests.pitwatch.command_line import ndjson, start
from tests.pitwatch.store_server import Server, serving_store, store_server
from tests.producers.table import event

Start = Callable[[Path], "subprocess.Popen[str]"]

MONITORED = "[monitoring]\nport = 0\n"


@pytest.fixture
def log(tmp_path: Path) -> Iterator[SqliteLog]:
    (tmp_path / "data").mkdir()
    with closing(SqliteLog(tmp_path / "data" / LOG_FILE)) as log:
        yield log


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    with store_server(tmp_path / "server") as server:
        monkeypatch.setenv("STORE_PASSWORD", server.password)
        with server.store() as store:
            store.migrate()
        yield server


@pytest.fixture
def start_sink(repository: Path) -> Iterator[Start]:
    with ExitStack() as started:

        def start_one(config: Path) -> "subprocess.Popen[str]":
            process = started.enter_context(
                start(repository, "sink", "--config", config, "--data", config.parent / "data")
            )
            started.callback(process.kill)
            return process

        yield start_one


def told(process: "subprocess.Popen[str]", event: str) -> dict[str, Any]:
    """Read on in what a sink logs until it tells of this; return the line."""
    assert process.stderr is not None
    for line in process.stderr:
        entry: dict[str, Any] = json.loads(line)
        if entry["event"] == event:
            return entry
    raise AssertionError(f"it ended without telling of {event}")


def put_bets(log: SqliteLog, first: int, last: int) -> None:
    for start_of_batch in range(first, last, 500):
        batch = range(start_of_batch, min(start_of_batch + 500, last))
        log.append("bets", [("BAC-01", encode(fact("bet", "BAC-01", bet_id=f"b-{number}"))) for number in batch])


def bets_in(store: ClickHouseStore) -> int:
    (row,) = store.rows("SELECT count() AS n, uniqExact(bet_id) AS ids FROM bets", dict)
    assert row["n"] == row["ids"], "some are there twice"
    return int(row["n"])


def wait_for(log: SqliteLog, store: ClickHouseStore, count: int, topic: str = "bets") -> None:
    """Block until the sink's group has committed `count` records of a topic."""
    group = f"sink-{store.identity}"
    for _ in range(PATIENCE_SECONDS * 20):
        if log.position(group, topic, 0) >= count:
            return
        log.wait("nothing-comes-here", 0, 0, 0.05)
    raise AssertionError(f"only {log.position(group, topic, 0)} of {count} came")


def test_everything_in_the_log_gets_to_the_server(
    log: SqliteLog, server: Server, start_sink: Start, tmp_path: Path
) -> None:
    log.append(
        TABLE_EVENTS,
        [("BAC-01", event(1, "BAC-01", type="table_opened", follows=(0, 0))), ("BAC-01", event(2, "BAC-01"))],
    )
    put_bets(log, 0, 3)
    sink = start_sink(server.config(tmp_path, MONITORED))
    url = told(sink, "running")["monitoring"]
    with server.store() as store:
        store.attach()
        wait_for(log, store, 3)
        assert bets_in(store) == 3
        assert len(store.rows("SELECT * FROM events", dict)) == 2
    assert httpx.get(f"{url}/healthz").status_code == 200
    text = httpx.get(f"{url}/metrics").text
    assert 'pitwatch_sink_rows_total{kind="bet"} 3.0' in text
    sink.send_signal(signal.SIGTERM)
    assert sink.wait(60) == 0


def test_killed_sinks_lose_nothing_and_count_nothing_twice(
    log: SqliteLog, server: Server, start_sink: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = server.config(tmp_path)
    with server.store() as store:
        store.attach()
        put_bets(log, 0, 30_000)
        for milestone in (1, 20_000, 30_000):
            sink = start_sink(config)
            wait_for(log, store, milestone)
            sink.kill()
            sink.wait(60)
        assert bets_in(store) == 30_000
        put_bets(log, 30_000, 30_010)
        sink = start_sink(config)
        wait_for(log, store, 30_010)
        sink.send_signal(signal.SIGINT)
        assert sink.wait(60) == 0
        assert bets_in(store) == 30_010


def test_several_sinks_do_each_others_work_and_no_harm(
    log: SqliteLog, server: Server, start_sink: Start, tmp_path: Path
) -> None:
    config = server.config(tmp_path)
    sinks = [start_sink(config) for _ in range(2)]
    for sink in sinks:
        told(sink, "running")
    put_bets(log, 0, 2000)
    with server.store() as store:
        store.attach()
        wait_for(log, store, 2000)
        for sink in sinks:
            sink.send_signal(signal.SIGTERM)
        assert [sink.wait(60) for sink in sinks] == [0, 0]
        assert bets_in(store) == 2000


def test_server_that_is_away_is_waited_for(
    log: SqliteLog, start_sink: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    password, sha256 = mint_password()
    monkeypatch.setenv("STORE_PASSWORD", password)
    folder = tmp_path / "server"
    with serving_store(folder, sha256) as url, Server(url, password).store() as store:
        store.migrate()
        identity = store.identity
        port = urlsplit(url).port or 0
    put_bets(log, 0, 5)
    sink = start_sink(Server(url, password).config(tmp_path, MONITORED))
    monitoring = told(sink, "running")["monitoring"]
    assert "can't be reached" in told(sink, "loop_waits")["error"]
    assert httpx.get(f"{monitoring}/healthz").status_code == 503
    assert "pitwatch_sink_troubled 1.0" in httpx.get(f"{monitoring}/metrics").text
    with serving_store(folder, sha256, port), Server(url, password).store() as store:
        told(sink, "loop_recovered")
        store.attach()
        assert store.identity == identity
        wait_for(log, store, 5)
        assert bets_in(store) == 5
        assert httpx.get(f"{monitoring}/healthz").status_code == 200
    sink.send_signal(signal.SIGTERM)
    assert sink.wait(120) == 0


def test_server_without_the_schema_is_waited_for_by_name(
    log: SqliteLog, start_sink: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with store_server(tmp_path / "server") as server:
        monkeypatch.setenv("STORE_PASSWORD", server.password)
        sink = start_sink(server.config(tmp_path))
        assert "pitwatch migrate" in told(sink, "loop_waits")["error"]
        with server.store() as store:
            store.migrate()
        told(sink, "loop_recovered")
        sink.send_signal(signal.SIGTERM)
        assert sink.wait(60) == 0


def run_here(repository: Path, *arguments: str | Path) -> None:
    """Run a command to its end, in a process of its own: this one has the server's folder open."""
    with start(repository, *arguments) as process:
        _, err = process.communicate()
        assert process.returncode == 0, err


def test_store_of_a_log_that_was_replayed_is_made_anew(
    repository: Path, server: Server, start_sink: Start, tmp_path: Path
) -> None:
    """Facts are counted anew by a replay, so what the server has would stand against them."""
    data, events = tmp_path / "data", tmp_path / "events.ndjson"
    events.write_bytes(ndjson([event(1, type="table_opened", follows=(0, 0)), event(2), event(3, type="table_closed")]))
    run_here(repository, "ingest", events, "--data", data)
    config = server.config(tmp_path)
    with server.store() as store, closing(SqliteLog(data / LOG_FILE)) as log:
        store.attach()
        sink = start_sink(config)
        wait_for(log, store, 3, TABLE_EVENTS)
        sink.send_signal(signal.SIGTERM)
        assert sink.wait(60) == 0
        run_here(repository, "replay", "--data", data)
        refused = start_sink(config)
        _, err = refused.communicate()
        assert refused.returncode == 2
        assert "Drop the store's database, run `pitwatch migrate`" in err
        store._writer.command("DROP DATABASE pitwatch", use_database=False)
        store.migrate()
        told(start_sink(config), "filling")


def test_directory_without_a_log_is_refused(server: Server, start_sink: Start, tmp_path: Path) -> None:
    sink = start_sink(server.config(tmp_path))
    _, err = sink.communicate()
    assert sink.returncode == 2
    assert "there is no data in" in err
