"""`pitwatch notifications`: what waits, what was sent and what was given up, beside the process that sends."""

import json
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from processors.logs.lock import lock_data_directory
from processors.logs.sqlite import LOG_FILE, SqliteLog
from processors.notify.database import FILE_NAME, Database
from processors.notify.outbox import Outbox, Target
from processors.notify.port import Message
from tests.pitwatch.command_line import CommandLine

NOON = datetime(2026, 1, 15, 12, tzinfo=UTC)
LATER = NOON + timedelta(seconds=90)


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    """A data directory with a log and no queue."""
    SqliteLog(tmp_path / LOG_FILE).close()
    return tmp_path


@pytest.fixture
def data(empty: Path) -> Iterator[Path]:
    """A directory in use: one message sent, one given up, one that waits after an error, one for another URL."""
    with lock_data_directory(empty), closing(Database(empty / FILE_NAME)) as database:
        outbox, bosses = Outbox(database), Target("bosses", 1)
        for number in range(3):
            outbox.enqueue(bosses, f"alert {number}", 0, Message(f"title {number}", "body"), NOON)
        ids = [send for (send,) in database.rows("SELECT send_id FROM sends ORDER BY send_id")]
        outbox.mark_sent(ids[0], NOON)
        outbox.mark_failed(ids[1], "refused", None, NOON)
        outbox.mark_failed(ids[2], "away", LATER, LATER)
        outbox.enqueue(Target("desk", 0), "alert 0", 0, Message("title", "body"), NOON)
        yield empty


def test_every_url_is_told_with_its_last_error(pitwatch: CommandLine, data: Path) -> None:
    answer = pitwatch("notifications", "--data", data)
    assert (answer.exit_code, answer.err) == (0, "")
    assert answer.out.decode().splitlines() == [
        (
            "bosses (URL 2): 1 pending, 1 sent, 1 failed; oldest pending since 2026-01-15 12:00:00 UTC;"
            " last sent 2026-01-15 12:00:00 UTC"
        ),
        "  last error 2026-01-15 12:01:30 UTC: away",
        "desk (URL 1): 1 pending, 0 sent, 0 failed; oldest pending since 2026-01-15 12:00:00 UTC",
    ]


def test_messages_given_up_are_listed(pitwatch: CommandLine, data: Path) -> None:
    said = b"2026-01-15 12:00:00 UTC bosses (URL 2): title 1, given up after 1 attempt: refused\n"
    assert pitwatch("notifications", "--failed", "--data", data) == (0, said, "")


def test_json(pitwatch: CommandLine, data: Path) -> None:
    told = json.loads(pitwatch("notifications", "--json", "--data", data).out)
    assert (told["pending"], told["sent"], told["failed"], "given_up" in told) == (2, 1, 1, False)
    assert [(one["route"], one["url_index"], one["last_error"]) for one in told["targets"]] == [
        ("bosses", 1, "away"),
        ("desk", 0, ""),
    ]
    [given_up] = json.loads(pitwatch("notifications", "--failed", "--json", "--data", data).out)["given_up"]
    assert (given_up["alert_id"], given_up["failed_at"]) == ("alert 1", "2026-01-15T12:00:00+00:00")


@pytest.mark.parametrize(("arguments", "said"), [([], b"no messages: "), (["--failed"], b"no message was given up")])
def test_an_empty_queue_says_so(pitwatch: CommandLine, empty: Path, arguments: list[str], said: bytes) -> None:
    answer = pitwatch("notifications", *arguments, "--data", empty)
    assert (answer.exit_code, answer.out.startswith(said)) == (0, True)
    assert not (empty / FILE_NAME).exists()


def test_a_directory_without_data_is_named(pitwatch: CommandLine, tmp_path: Path) -> None:
    answer = pitwatch("notifications", "--data", tmp_path / "nowhere")
    assert (answer.exit_code, answer.out) == (2, b"")
    assert f"there is no data in {tmp_path / 'nowhere'}" in answer.err
