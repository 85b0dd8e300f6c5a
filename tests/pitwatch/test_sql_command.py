"""`pitwatch sql`: one reading statement, in any format; never a change, and a clear word where it can't be."""

import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from processors.logs.lock import lock_data_directory
from processors.logs.sqlite import LOG_FILE, SqliteLog
from schemas.topics import TABLE_EVENTS
from tests.pitwatch.command_line import CommandLine, ndjson, start
from tests.producers.table import event


@pytest.fixture
def data(pitwatch: CommandLine, tmp_path: Path) -> Path:
    events = [event(1, type="table_opened", follows=(0, 0)), event(2), event(3, type="table_closed")]
    pitwatch("ingest", "-", "--data", tmp_path / "data", stdin=ndjson(events))
    return tmp_path / "data"


QUERY = "SELECT seq, type FROM events ORDER BY seq LIMIT 2"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], b"seq\ttype\n1\ttable_opened\n2\theartbeat\n"),
        (["--format", "CSVWithNames"], b'"seq","type"\n1,"table_opened"\n2,"heartbeat"\n'),
        (["--format", "JSONEachRow"], b'{"seq":1,"type":"table_opened"}\n{"seq":2,"type":"heartbeat"}\n'),
        (["--format", "Markdown"], b"| seq | type |\n|-:|:-|\n| 1 | table_opened |\n| 2 | heartbeat |\n"),
    ],
    ids=["none", "CSV", "JSON", "Markdown"],
)
def test_answer_comes_in_the_format_asked_for(
    pitwatch: CommandLine, data: Path, arguments: list[str], expected: bytes
) -> None:
    assert pitwatch("sql", QUERY, "--data", data, *arguments) == (0, expected, "")


def test_answer_may_be_no_text(pitwatch: CommandLine, data: Path) -> None:
    answer = pitwatch("sql", QUERY, "--data", data, "--format", "Parquet")
    assert answer.out[:4] == answer.out[-4:] == b"PAR1"


@pytest.mark.parametrize(
    ("query", "arguments", "complaint"),
    [
        ("SELECT nothing FROM rounds", [], "nothing"),
        ("SELECT * FROM nowhere", [], "nowhere"),
        ("SELEC 1", [], "Syntax error"),
        ("INSERT INTO rounds_versions SELECT * FROM rounds_versions", [], "only reading is allowed"),
        ("DROP TABLE rounds_versions", [], "only reading is allowed"),
        ("SELECT 1; DROP TABLE rounds_versions", [], ""),
        ("SELECT * FROM file('/etc/passwd', 'LineAsString')", [], "not allowed here"),
        ("SELECT 1 INTO OUTFILE 'out'", [], "INTO OUTFILE"),
        (QUERY, ["--format", "Nonsense"], "Nonsense"),
        (QUERY, ["--format", "CSV; DROP"], "is no format"),
    ],
)
def test_what_cannot_be_answered_is_refused_and_changes_nothing(
    pitwatch: CommandLine, data: Path, query: str, arguments: list[str], complaint: str
) -> None:
    before = pitwatch("sql", "SELECT count() FROM rounds_versions", "--data", data)
    answer = pitwatch("sql", query, "--data", data, *arguments)
    assert (answer.exit_code, answer.out) == (2, b"")
    assert answer.err.startswith("pitwatch: ")
    assert complaint in answer.err
    assert pitwatch("sql", "SELECT count() FROM rounds_versions", "--data", data) == before


def test_an_errors_name_is_told_once(pitwatch: CommandLine, data: Path) -> None:
    answer = pitwatch("sql", QUERY, "--data", data, "--format", "Nonsense")
    assert answer.err == "pitwatch: Unknown format Nonsense. (UNKNOWN_FORMAT)\n"


@pytest.mark.parametrize("terminal", [True, False])
def test_no_rows_are_told_on_a_terminal(
    pitwatch: CommandLine, data: Path, monkeypatch: pytest.MonkeyPatch, terminal: bool
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal)
    query = "SELECT seq FROM events WHERE seq > 9"
    assert pitwatch("sql", query, "--data", data) == (0, b"0 rows\n" if terminal else b"seq\n", "")


def test_what_is_not_stored_yet_is_told(pitwatch: CommandLine, data: Path) -> None:
    with closing(SqliteLog(data / LOG_FILE)) as log:
        log.append(TABLE_EVENTS, [("T01", event(4)), ("T01", event(5))])
    answer = pitwatch("sql", "SELECT count() FROM events", "--data", data)
    assert answer == (
        0,
        b"count()\n3\n",
        "2 records of the log are not stored yet: `pitwatch replay --check` stores them\n",
    )


def test_nothing_is_made_where_nothing_is(pitwatch: CommandLine, tmp_path: Path) -> None:
    answer = pitwatch("sql", "SELECT 1", "--data", tmp_path / "nowhere")
    assert answer.exit_code == 2
    assert f"there is no data in {tmp_path / 'nowhere'}" in answer.err
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def owner(data: Path) -> Iterator[None]:
    with lock_data_directory(data):
        yield


@pytest.mark.parametrize(
    "command", [["sql", "SELECT 1"], ["replay"], ["replay", "--check"], ["ingest", "-"]], ids=" ".join
)
def test_directory_in_use_is_named_with_its_owner(
    repository: Path, data: Path, owner: None, command: list[str]
) -> None:
    with start(repository, *command, "--data", data) as process:
        out, err = process.communicate()
    assert (process.returncode, out) == (2, "")
    pid = (data / "LOCK").read_text().split()[0]
    assert err.startswith(f"pitwatch: the data directory {data} is in use by process {pid} since ")
    assert err.count("\n") == 1


def test_reader_that_goes_away_is_no_error_of_ours(repository: Path, data: Path) -> None:
    with start(repository, "sql", "SELECT number FROM numbers(90000)", "--data", data) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        err = process.stderr.read()
    assert "Traceback" not in err
