"""A data directory's replay: marked until it has ended, thrown away whole, and nobody told twice or not at all."""

from contextlib import closing
from pathlib import Path

import pytest

from processors import data_directory
from processors.data_directory import (
    STORE_FOLDER,
    UnfinishedReplay,
    begin_replay,
    check_finished,
    check_there,
    end_replay,
    open_log,
)
from processors.logs.lock import DataDirectoryUnusable
from processors.logs.sqlite import LOG_FILE, SqliteLog
from processors.notify.notifier import GROUP as ALERTS_READ
from processors.reconstructor import GROUP
from schemas.log import Position
from schemas.topics import FACT_TOPICS, TABLE_EVENTS
from schemas.wire import encode
from tests.contract.store.stored_facts import fact

ALERTS = FACT_TOPICS["alert"]


def publish_alerts(log: SqliteLog, *causes: int) -> None:
    """Put an alert into the log for each event that brought one about."""
    log.append(ALERTS, [("T01", encode(fact("alert", "T01", src_offset=cause))) for cause in causes])


@pytest.fixture
def floor(tmp_path: Path) -> Path:
    """Ten events, a fact, some alerts, and a store."""
    with open_log(tmp_path) as log:
        log.append(TABLE_EVENTS, [("T01", b"%d" % number) for number in range(10)])
        log.append("rounds", [("T01", b"{}")])
        publish_alerts(log, 2, 2, 5, 8)
        with log.transaction(GROUP) as transaction:
            transaction.save_state("T01", b"snapshot")
            transaction.commit(Position(TABLE_EVENTS, 0, 10))
    for part in ("data/one.bin", "status"):
        (tmp_path / STORE_FOLDER / part).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / STORE_FOLDER / part).write_bytes(b"x")
    (tmp_path / STORE_FOLDER / "linked").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    (tmp_path / "elsewhere").mkdir()
    return tmp_path


def told_up_to(directory: Path, alert: int) -> None:
    with open_log(directory) as log:
        log.commit_position(ALERTS_READ, Position(ALERTS, 0, alert))


def test_only_looking_makes_no_directory(tmp_path: Path) -> None:
    for directory in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(DataDirectoryUnusable, match=rf"no data in {directory}: `pitwatch run`.*Check --data"):
            check_there(directory)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / LOG_FILE).touch()
    check_there(tmp_path)


def test_who_looks_beside_a_demo_is_told_where_it_is(tmp_path: Path) -> None:
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / LOG_FILE).touch()
    with pytest.raises(DataDirectoryUnusable, match=rf"no data in {tmp_path}: .*in {tmp_path / 'demo'}$"):
        check_there(tmp_path)


def test_beginning_throws_away_all_but_the_events(floor: Path) -> None:
    begin_replay(floor)
    assert list((floor / STORE_FOLDER).iterdir()) == []
    assert (floor / "elsewhere").is_dir(), "a link leads out of the store"
    with open_log(floor) as log:
        assert log.end(TABLE_EVENTS, 0) == 10
        assert [log.end(topic, 0) for topic in FACT_TOPICS.values()] == [0] * len(FACT_TOPICS)
        assert log.position(GROUP, TABLE_EVENTS, 0) == 0
        assert log.state(GROUP, "T01") is None


def test_directory_without_a_store_can_be_replayed(tmp_path: Path) -> None:
    begin_replay(tmp_path)
    with open_log(tmp_path) as log:
        end_replay(log)
        assert log.position(ALERTS_READ, ALERTS, 0) == 0


def test_nobody_works_with_what_is_half_there(floor: Path) -> None:
    with open_log(floor) as log:
        check_finished(log, floor)
    begin_replay(floor)
    with open_log(floor) as log:
        with pytest.raises(UnfinishedReplay, match="run `pitwatch replay` again"):
            check_finished(log, floor)
        end_replay(log)
        check_finished(log, floor)


@pytest.mark.parametrize(
    ("told", "causes", "place"),
    [
        (0, (2, 2, 5, 8), 0),
        (1, (2, 2, 5, 8), 0),
        (2, (2, 2, 5, 8), 0),
        (3, (2, 2, 5, 8), 2),
        (4, (2, 2, 5, 8), 3),
        (3, (1, 2, 5, 8), 2),
        (3, (8,), 0),
        (3, (2, 3), 2),
        (4, (), 0),
    ],
    ids=str,
)
def test_people_are_told_what_they_were_not_told_before(
    floor: Path, told: int, causes: tuple[int, ...], place: int
) -> None:
    """`told` of the alerts 2, 2, 5, 8 were read; a replay finds `causes`, and the notifier goes on at `place`."""
    told_up_to(floor, told)
    begin_replay(floor)
    begin_replay(floor)  # the first was broken off, and what people know is not forgotten over it
    with open_log(floor) as log:
        publish_alerts(log, *causes)
        end_replay(log)
        assert log.position(ALERTS_READ, ALERTS, 0) == place


def test_long_history_of_alerts_is_searched_to_its_end(floor: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_directory, "_ALERTS_PER_READ", 2)
    told_up_to(floor, 4)
    begin_replay(floor)
    with open_log(floor) as log:
        publish_alerts(log, 1, 2, 3, 4, 5, 6)
        end_replay(log)
        assert log.position(ALERTS_READ, ALERTS, 0) == 6


def test_store_that_cannot_be_cleared_is_told_and_stays_unused(floor: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Path) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(data_directory.shutil, "rmtree", refuse)  # type: ignore[attr-defined]  # imported there
    with pytest.raises(DataDirectoryUnusable, match=r"can't be cleared: .*Operation not permitted.*replay again"):
        begin_replay(floor)
    with closing(SqliteLog(floor / LOG_FILE)) as log, pytest.raises(UnfinishedReplay):
        check_finished(log, floor)
