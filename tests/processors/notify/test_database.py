"""The queue's file: whole transactions or nothing, and plain words when it can't be used."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.notify.database import SCHEMA_VERSION, Database, OutboxUnavailable, from_stored, to_stored
from processors.notify.outbox import Outbox, Target
from processors.notify.port import Message
from processors.notify.status import read_failed, read_status
from tests.processors.notify.samples import NOON

TARGET = Target("bosses", 0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "notify.sqlite"


def test_a_transaction_that_fails_leaves_nothing(path: Path) -> None:
    database = Database(path)
    outbox = Outbox(database)

    def interrupted() -> None:
        with database.transaction():
            outbox.enqueue(TARGET, "a", 0, Message("title", "body"), NOON)
            raise KeyError("interrupted")

    with pytest.raises(KeyError, match="interrupted"):
        interrupted()
    assert outbox.next_due(TARGET) is None
    outbox.enqueue(TARGET, "a", 0, Message("title", "body"), NOON)
    assert outbox.next_due(TARGET) == NOON
    database.close()


def test_a_message_is_queued_once(path: Path) -> None:
    database = Database(path)
    outbox = Outbox(database)
    for text in ("first", "second"):
        outbox.enqueue(TARGET, "a", 0, Message(text, ""), NOON)
    send = outbox.next_send(TARGET, NOON)
    assert send is not None
    assert send.message.title == "first"
    outbox.mark_sent(send.send_id, NOON)
    outbox.mark_sent(send.send_id, NOON)
    outbox.mark_failed(send.send_id, "too late", None, NOON)
    assert outbox.next_send(TARGET, NOON) is None
    assert (read_status(path).sent, read_status(path).failed) == (1, 0)
    database.close()


def test_a_committed_message_survives_reopening(path: Path) -> None:
    first = Database(path)
    Outbox(first).enqueue(TARGET, "a", 0, Message("title", "body"), NOON)
    first.close()
    second = Database(path)
    assert Outbox(second).next_due(TARGET) == NOON
    second.close()


def test_every_commit_waits_for_the_disk(path: Path) -> None:
    database = Database(path)
    assert database.one("PRAGMA journal_mode") == ("wal",)
    assert database.one("PRAGMA synchronous") == (2,)  # FULL
    database.close()


def test_a_file_of_the_first_layout_is_brought_up_to_date(path: Path) -> None:
    with closing(Database(path)) as database:
        Outbox(database).enqueue(TARGET, "a", 0, Message("title", "body"), NOON)
        database.change("ALTER TABLE sends DROP COLUMN tone")
        database.change("DROP INDEX notices_held")
        database.change("ALTER TABLE notices DROP COLUMN replayed")
        database.change("ALTER TABLE notices DROP COLUMN stood")
        database.change("DROP TABLE taken")
        database.change("PRAGMA user_version = 1")
    with closing(Database(path)) as database:
        assert Outbox(database).next_due(TARGET) == NOON
        waiting = Outbox(database).next_send(TARGET, NOON)
        assert waiting is not None
        assert waiting.message == Message("title", "body", "info")
        assert database.rows("SELECT * FROM taken") == []
        assert database.rows("SELECT replayed, stood FROM notices") == []
        assert database.one("PRAGMA user_version") == (SCHEMA_VERSION,)


def test_a_file_of_a_newer_pitwatch_is_refused(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    with pytest.raises(OutboxUnavailable, match="written by a newer Pitwatch"):
        Database(path)


@pytest.mark.parametrize("read", [Database, read_status, read_failed])
def test_what_is_no_queue_is_named(path: Path, read: type[Database]) -> None:
    path.write_bytes(b"no database at all, but long enough to be looked at as one" * 20)
    with pytest.raises(OutboxUnavailable, match=r"notify\.sqlite: file is not a database"):
        read(path)


def test_a_closed_queue_says_so(path: Path) -> None:
    database = Database(path)
    database.close()
    with pytest.raises(OutboxUnavailable, match="closed"):
        Outbox(database).next_due(TARGET)


@given(st.datetimes(timezones=st.just(NOON.tzinfo)))
def test_instants_are_kept_to_the_microsecond(instant: object) -> None:
    assert from_stored(to_stored(instant)) == instant  # type: ignore[arg-type]  # the strategy's type is too wide
