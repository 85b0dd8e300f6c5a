"""`pitwatch sql --url`, and the analysts of a floor that runs."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from processors.sql.users import mint_password
from tests.pitwatch.command_line import CommandLine
from tests.pitwatch.running_floor import RunningFloor, rounds, running, write_config

PASSWORD, SHA256 = mint_password()
SQL = f'[sql]\nport = 0\n[[sql.users]]\nname = "ana"\npassword_sha256 = "{SHA256}"\n[monitoring]\nport = 0\n'


@pytest.fixture(scope="module")
def floor(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningFloor]:
    config = write_config(tmp_path_factory.mktemp("floor"), SQL)
    with running(repository, config) as floor:
        assert floor.post(rounds(3)).status_code == 200
        yield floor
        assert floor.stop() == 0


@pytest.fixture
def url(floor: RunningFloor, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("PITWATCH_PASSWORD", PASSWORD)
    return str(next(entry["sql"] for entry in floor.logs if entry["event"] == "running"))


def test_running_floor_is_asked(pitwatch: CommandLine, url: str) -> None:
    answer = pitwatch("sql", "SELECT DISTINCT table_id FROM events", "--url", url, "--user", "ana", "--format", "CSV")
    assert answer == (0, b'"B01"\n', "")


def test_answer_may_be_no_text(pitwatch: CommandLine, url: str) -> None:
    answer = pitwatch("sql", "SELECT 1", "--url", url, "--user", "ana", "--format", "Parquet")
    assert answer.out[:4] == answer.out[-4:] == b"PAR1"


@pytest.mark.parametrize(
    ("query", "complaint"),
    [
        ("DROP TABLE rounds_versions", "only reading is allowed"),
        ("SELECT nothing", "nothing"),
        ("SELEC 1", "Syntax error"),
    ],
)
def test_refusal_is_told(pitwatch: CommandLine, url: str, query: str, complaint: str) -> None:
    answer = pitwatch("sql", query, "--url", url, "--user", "ana")
    assert (answer.exit_code, answer.out) == (2, b"")
    assert complaint in answer.err


def test_answer_that_breaks_off_is_no_success(pitwatch: CommandLine, url: str) -> None:
    statement = "SELECT number, throwIf(number = 2000000) FROM numbers(3000000)"
    answer = pitwatch("sql", statement, "--url", url, "--user", "ana", "--format", "TSV")
    assert answer.exit_code == 2
    assert "no whole answer" in answer.err
    assert b"Code: 395" in answer.out


def test_wrong_password_is_refused(pitwatch: CommandLine, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PITWATCH_PASSWORD", "wrong")
    answer = pitwatch("sql", "SELECT 1", "--url", url, "--user", "ana")
    assert (answer.exit_code, answer.out) == (2, b"")
    assert "Authentication failed" in answer.err


def test_nobody_there_is_told(pitwatch: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PITWATCH_PASSWORD", "x")
    answer = pitwatch("sql", "SELECT 1", "--url", "http://127.0.0.1:1", "--user", "ana")
    assert answer.exit_code == 2
    assert "http://127.0.0.1:1" in answer.err


def test_floor_shows_how_it_is(floor: RunningFloor) -> None:
    import httpx

    url = next(entry["monitoring"] for entry in floor.logs if entry["event"] == "running")
    assert httpx.get(f"{url}/healthz").json() == {"status": "well", "troubles": {}}
    assert 'pitwatch_sink_rows_total{kind="event"}' in httpx.get(f"{url}/metrics").text


def test_data_directory_in_use_says_whom_to_ask(pitwatch: CommandLine, floor: RunningFloor) -> None:
    data = next(entry["data"] for entry in floor.logs if entry["event"] == "running")
    answer = pitwatch("sql", "SELECT 1", "--data", data)
    assert answer.exit_code == 2
    assert "--url" in answer.err
