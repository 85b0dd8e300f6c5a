"""`pitwatch run`: from a table's HTTP request to a row and to somebody's phone, and a clean stop when it is asked."""

import signal
from contextlib import closing
from pathlib import Path

import pytest

from processors.fold_snapshots import read_back
from processors.logs.lock import lock_data_directory
from processors.logs.sqlite import LOG_FILE, SqliteLog
from processors.reconstructor import GROUP
from schemas.topics import TABLE_EVENTS
from schemas.wire import decode_event
from tests.pitwatch.command_line import CommandLine, start
from tests.pitwatch.running_floor import OPENING, TABLE, TOKEN, round_of, rounds, running, write_config
from tests.processors.notify.http_service import HttpService

PATIENCE_SECONDS = 120


def kinds(data: Path) -> list[str]:
    with closing(SqliteLog(data / LOG_FILE)) as log:
        return [decode_event(record.value).type for record in log.read(TABLE_EVENTS, 0, 0, 100_000)]


def assert_stopped_cleanly(data: Path) -> None:
    """Nothing holds the directory, and the next start has nothing to fold again."""
    with lock_data_directory(data), closing(SqliteLog(data / LOG_FILE)) as log:
        end = log.end(TABLE_EVENTS, 0)
        assert log.position(GROUP, TABLE_EVENTS, 0) == end
        assert {key: read_back(snapshot).offset for key, snapshot in log.states(GROUP)} == {TABLE: end}


def test_from_a_tables_request_to_a_row_and_a_message(pitwatch: CommandLine, repository: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    with HttpService().serving() as phone:
        config = write_config(
            tmp_path,
            f'[[notifications.routes]]\nname = "boss"\nurls = ["json://127.0.0.1:{phone.port}/alerts"]\n'
            'minimum_severity = "info"\nlanguages = "en"\n',
        )
        with running(repository, config) as floor:
            answer = floor.post(rounds(2))
            assert answer.json() | {"results": []} == {"accepted": 18, "duplicate": 0, "rejected": 0, "results": []}
            assert floor.post(rounds(2)).json()["duplicate"] == 18
            assert floor.health() == 200
            assert phone.wait_for(1, PATIENCE_SECONDS)
            assert floor.stop() == 0
        assert [entry["event"] for entry in floor.logs if entry["level"] != "info"] == []
    assert f"{TABLE}" in phone.received[0].title + phone.received[0].message
    assert_stopped_cleanly(data)
    found = pitwatch("sql", "SELECT shoe, round, outcome, status FROM rounds ORDER BY round", "--data", data)
    assert found.out.decode().splitlines()[1:] == ["1\t1\tplayer\tsettled", "1\t2\tplayer\tsettled"]
    told = pitwatch("sql", "SELECT code FROM alerts ORDER BY code", "--data", data).out.decode().splitlines()[1:]
    assert "shoe_not_cut" in told
    assert pitwatch("show", TABLE, "1", "2", "--data", data, "--json").exit_code == 0
    assert pitwatch("replay", "--check", "--config", config).exit_code == 0


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT], ids=lambda how: how.name)
def test_stop_is_clean_and_a_start_goes_on(repository: Path, tmp_path: Path, how: signal.Signals) -> None:
    config = write_config(tmp_path)
    with running(repository, config) as floor:
        assert floor.post(OPENING + round_of(1, 3)).json()["accepted"] == 10
        assert floor.stop(how) == 0
    assert [entry["event"] for entry in floor.logs[-2:]] == ["stopping", "stopped"]
    assert floor.logs[-2]["signal"] == how.name
    assert_stopped_cleanly(tmp_path / "data")
    with running(repository, config) as floor:
        again = floor.post(round_of(1, 3) + round_of(2, 11)).json()
        assert (again["accepted"], again["duplicate"]) == (8, 8)
        assert floor.stop(how) == 0
    assert_stopped_cleanly(tmp_path / "data")
    expected = ["configuration_published", *(decode_event(line).type for line in rounds(2))]
    assert kinds(tmp_path / "data") == expected, "the floor's configuration is put in force once"


def test_acknowledged_events_outlive_the_process(pitwatch: CommandLine, repository: Path, tmp_path: Path) -> None:
    config = write_config(tmp_path)
    with running(repository, config) as floor:
        assert floor.post(rounds(3)).json()["accepted"] == 26
        floor.process.kill()
        assert floor.process.wait() == -signal.SIGKILL
    with running(repository, config) as floor:
        assert floor.post(rounds(3)).json()["duplicate"] == 26
        assert floor.stop() == 0
    assert kinds(tmp_path / "data").count("configuration_published") == 1
    assert pitwatch("replay", "--check", "--config", config).exit_code == 0
    counted = pitwatch("sql", "SELECT count() FROM rounds", "--config", config)
    assert counted.out == b"count()\n3\n"


def test_the_example_runs_as_it_is_and_says_what_it_leaves_out(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PITWATCH_DATA_DIRECTORY", str(tmp_path / "data"))
    monkeypatch.setenv("PITWATCH_GATEWAY__PORT", "0")
    with running(repository, repository / "examples" / "pitwatch.toml") as floor:
        assert floor.health() == 200
        assert floor.stop() == 0
    silent, unheard = [entry for entry in floor.logs if entry["level"] == "warning"]
    assert silent["event"] == "tables_without_token"
    assert silent["tables"] == ["BAC-101", "BAC-102", "BAC-201", "VIP-201"]
    assert unheard["event"] == "no_notification_routes"


def test_only_the_tables_token_opens(repository: Path, tmp_path: Path) -> None:
    with running(repository, write_config(tmp_path).absolute()) as floor:
        assert floor.post([rounds(1)[0].replace(TABLE.encode(), b"B02")]).json()["rejected"] == 1
        assert TOKEN.secret not in str(floor.logs)
        assert floor.stop() == 0


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        ("[gateway]\nport = 1\n", "Cannot"),
        ("[[floor.tables]]\ntable_id = 'B01'\nconfiguration = 'macau'\n", "listed twice"),
        ("[nonsense]\n", "no such setting"),
        ("[[notifications.routes]]\nname = 'boss'\nurls = ['nonsense://x']\n", "route 'boss', urls[0]"),
    ],
    ids=["TOML", "table", "setting", "route"],
)
def test_settings_that_cannot_be_used_are_told_in_one_line(
    pitwatch: CommandLine, tmp_path: Path, more: str, complaint: str
) -> None:
    answer = pitwatch("run", "--config", write_config(tmp_path, more))
    assert (answer.exit_code, answer.out) == (2, b"")
    assert complaint in answer.err
    assert "Traceback" not in answer.err


def test_floor_that_runs_keeps_others_out(repository: Path, tmp_path: Path) -> None:
    config = write_config(tmp_path)
    with running(repository, config) as floor:
        with start(repository, "run", "--config", config) as other:
            _, err = other.communicate()
        assert other.returncode == 2
        assert f"in use by process {floor.process.pid} since" in err
        assert floor.stop() == 0


def test_port_that_is_taken_is_told_and_leaves_everything_well(
    pitwatch: CommandLine, repository: Path, tmp_path: Path
) -> None:
    with running(repository, write_config(tmp_path)) as floor:
        port = floor.url.rpartition(":")[2]
        other = tmp_path / "other"
        other.mkdir()
        config = write_config(other)
        config.write_text(config.read_text().replace("port = 0", f"port = {port}"))
        with start(repository, "run", "--config", config) as process:
            _, err = process.communicate()
        assert process.returncode == 2
        assert f"can't listen on 127.0.0.1 port {port}" in err.splitlines()[-1]
        assert floor.stop() == 0
