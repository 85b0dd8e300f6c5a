"""A table's outbox goes into whichever log the settings name: nothing changes from one to the other but these."""

from contextlib import closing
from pathlib import Path

import pytest

from pitwatch.publishing import OUTBOXES, Desk, UnknownTable, publishing
from processors.logs.lock import DataDirectoryLocked, DataDirectoryUnusable
from processors.logs.sqlite import LOG_FILE, SqliteLog
from processors.settings_file import load_settings
from schemas.events import Event, RoundOpened
from schemas.log import EventLog
from schemas.topics import TABLE_EVENTS
from schemas.wire import decode_event
from tests.kafka.broker import free_ports
from tests.kafka.programs import PATIENCE_SECONDS, records

PARTITIONS = 3


def write(folder: Path, kafka: str, *tables: str) -> Path:
    """Write the settings of some tables; `kafka` is what they say of the log, which is empty for the directory's."""
    file = folder / "table.toml"
    listed = "".join(f'[[floor.tables]]\ntable_id = "{table}"\nconfiguration = "macau"\n' for table in tables)
    file.write_text(f'data_directory = "{folder / "data"}"\n{kafka}{listed}')
    return file


def on(bootstrap: str) -> str:
    return f'[kafka]\nbootstrap = "{bootstrap}"\ntimeout_seconds = 1\n'


def play(desk: Desk, numbers: range) -> None:
    for number in numbers:
        open_round(desk, number)


def open_round(desk: Desk, number: int) -> None:
    desk.publisher.publish(lambda at: RoundOpened(**at, shoe=1, round=number))


def sent(log: EventLog, table: str) -> list[Event]:
    return [decode_event(one.value) for one in records(log, TABLE_EVENTS) if one.key == table]


def identities(events: list[Event]) -> list[tuple[int, int]]:
    return [(one.epoch, one.seq) for one in events]


def a_table_at_work(config: Path, table: str) -> None:
    """Do what a table's program does, which knows nothing of logs."""
    with publishing(load_settings(config), [table]) as desks:
        play(desks[table], range(1, 200))
        assert desks[table].outbox.wait_until_delivered(PATIENCE_SECONDS)


@pytest.mark.parametrize("which", ["Kafka", "the data directory"])
def test_table_publishes_into_the_log_that_the_settings_name(
    bootstrap: str, log: EventLog, tmp_path: Path, which: str
) -> None:
    table = f"W{len(which)}"
    a_table_at_work(write(tmp_path, on(bootstrap) if which == "Kafka" else "", table), table)
    assert (tmp_path / "data" / LOG_FILE).exists() == (which != "Kafka")
    if which == "Kafka":
        found = sent(log, table)
    else:
        with closing(SqliteLog(tmp_path / "data" / LOG_FILE)) as local:
            found = sent(local, table)
    assert identities(found) == [(1, seq) for seq in range(1, 200)]


def test_outbox_that_one_log_could_not_take_is_delivered_to_the_other(
    bootstrap: str, log: EventLog, tmp_path: Path
) -> None:
    (port,) = free_ports(1)
    with publishing(load_settings(write(tmp_path, on(f"127.0.0.1:{port}"), "S1"))) as desks:
        play(desks["S1"], range(1, 50))
        assert desks["S1"].outbox.waiting_count == 49
    with publishing(load_settings(write(tmp_path, "", "S1"))) as desks:
        play(desks["S1"], range(50, 60))
        assert desks["S1"].outbox.wait_until_delivered(PATIENCE_SECONDS)
    with publishing(load_settings(write(tmp_path, on(bootstrap), "S1"))) as desks:
        play(desks["S1"], range(60, 70))
        assert desks["S1"].outbox.wait_until_delivered(PATIENCE_SECONDS)
    with closing(SqliteLog(tmp_path / "data" / LOG_FILE)) as local:
        first = sent(local, "S1")
    then = sent(log, "S1")
    assert identities(first) == [(1, seq) for seq in range(1, 50)] + [(2, seq) for seq in range(1, 11)]
    assert identities(then) == [(3, seq) for seq in range(1, 11)]
    # Each boot says what went before it, wherever that is.
    assert [first[0].follows, first[49].follows, then[0].follows] == [(0, 0), (1, 49), (2, 10)]


def test_every_table_of_the_floor_has_a_desk(tmp_path: Path) -> None:
    settings = load_settings(write(tmp_path, "", "D1", "D2"))
    with publishing(settings) as desks:
        assert desks.keys() == {"D1", "D2"}
        for desk in desks.values():
            play(desk, range(1, 4))
            assert desk.outbox.wait_until_delivered(PATIENCE_SECONDS)
            assert desk.sender.trouble == ""
        with pytest.raises(DataDirectoryLocked), publishing(settings):
            pass
    folder = tmp_path / "data" / OUTBOXES
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.name for path in folder.glob("*.sqlite")} == {"D1.sqlite", "D2.sqlite"}
    with closing(SqliteLog(tmp_path / "data" / LOG_FILE)) as log:
        assert [len(sent(log, table)) for table in ("D1", "D2")] == [3, 3]


def test_table_that_is_named_twice_has_one_desk(tmp_path: Path) -> None:
    with publishing(load_settings(write(tmp_path, "", "D1", "D2")), ["D2", "D1", "D2"]) as desks:
        assert list(desks) == ["D2", "D1"]
        play(desks["D2"], range(1, 4))
        assert desks["D2"].outbox.wait_until_delivered(PATIENCE_SECONDS)


def test_table_that_the_settings_do_not_list_is_refused(tmp_path: Path) -> None:
    settings = load_settings(write(tmp_path, "", "D1"))
    with pytest.raises(UnknownTable, match="'D9' is not in the settings"), publishing(settings, ["D9"]):
        pass
    assert not (tmp_path / "data").exists()


def test_folder_of_outboxes_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    settings = load_settings(write(tmp_path, "", "D1"))
    settings.data_directory.mkdir()
    (settings.data_directory / OUTBOXES).write_text("")
    with pytest.raises(DataDirectoryUnusable, match="outboxes"), publishing(settings):
        pass
