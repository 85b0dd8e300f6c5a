"""Full disks, locks, damage and wrong files: told with a way out, nothing half appended, and well again afterwards."""

import os
import sqlite3
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from processors.logs.sqlite import SqliteLog
from processors.logs.sqlite_file import APPLICATION_ID, FORMAT, LogFile
from schemas.log import EventLog, LogUnavailable, Position
from tests.processors.logs.conftest import StartVictim

NOBODY = 65534


def values(log: EventLog) -> list[bytes]:
    return [record.value for record in log.read("events", 0, 0, 100_000)]


def keep_appending(log: EventLog, taken: list[bytes]) -> None:
    """Append for ever; `taken` holds the values that the log took."""
    while True:
        value = b"%06d" % len(taken) + b"x" * 5_000
        log.append("events", [("B01", value)])
        taken.append(value)


def fill(log: EventLog) -> list[bytes]:
    """Append until the disk is full; return the values that the log took."""
    taken: list[bytes] = []
    with pytest.raises(LogUnavailable, match=r"append to events in .*: the disk is full .* Free some space"):
        keep_appending(log, taken)
    return taken


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of half a megabyte."""
    folder = tmp_path / "disk"
    folder.mkdir()
    try:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", folder], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("mounting a small file system takes the right to mount")
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


def test_full_disk_takes_nothing_and_the_log_goes_on_once_there_is_room(small_disk: Path) -> None:
    ballast = small_disk / "ballast"
    ballast.write_bytes(b"x" * 150_000)
    with closing(SqliteLog(small_disk / "log.sqlite")) as log:
        taken = fill(log)
        assert taken
        assert values(log) == taken
        ballast.unlink()
        assert log.append("events", [("B01", b"after")])[0].offset == len(taken)
        assert values(log) == [*taken, b"after"]


def test_full_disk_undoes_a_transaction_wholly(small_disk: Path) -> None:
    ballast = small_disk / "ballast"
    ballast.write_bytes(b"x" * 150_000)
    with closing(SqliteLog(small_disk / "log.sqlite")) as log:
        log.claim("group")
        taken = fill(log)

        def transact() -> None:
            with log.transaction("group") as transaction:
                transaction.publish("facts", [("B01", b"x" * 5_000)] * 20)
                transaction.save_state("B01", b"state")
                transaction.commit(Position("events", 0, len(taken)))

        with pytest.raises(LogUnavailable, match="commit a transaction of group"):
            transact()
        assert (log.end("facts", 0), log.state("group", "B01"), log.position("group", "events", 0)) == (0, None, 0)
        ballast.unlink()
        transact()
        assert (log.end("facts", 0), log.state("group", "B01")) == (20, b"state")
        assert log.position("group", "events", 0) == len(taken)


def test_log_that_may_not_grow_takes_nothing_and_goes_on_once_it_may(tmp_path: Path) -> None:
    """The same on every machine, where nothing can be mounted: SQLite's own limit says that the disk is full."""
    with closing(SqliteLog(tmp_path / "log.sqlite")) as log:
        assert log._writer is not None
        log._writer._connection.execute("PRAGMA max_page_count = 50")
        taken = fill(log)
        assert values(log) == taken
        log._writer._connection.execute("PRAGMA max_page_count = 1000")
        log.append("events", [("B01", b"after")])
        assert values(log) == [*taken, b"after"]


def test_refusing_disk_takes_nothing_and_the_log_goes_on_once_it_gives_in(
    tmp_path: Path, start_victim: StartVictim
) -> None:
    """A limit on the file's length makes the system refuse the write itself, wherever in a commit it falls."""
    process = start_victim("outgrow", tmp_path / "log.sqlite")
    output, _ = process.communicate()
    number, _, message = output.partition(" ")
    assert "the disk or its quota refused (SQLITE_IOERR_WRITE" in message
    with closing(SqliteLog(tmp_path / "log.sqlite")) as log:
        expected = [b"%06d" % n + b"x" * 5_000 for n in range(int(number))]
        assert values(log) == [*expected, b"%06d" % int(number)]


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the file's write lock as another process would."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield


def test_locked_file_is_named_and_the_log_goes_on_once_it_is_free(tmp_path: Path) -> None:
    path = tmp_path / "log.sqlite"
    with closing(SqliteLog(path, lock_timeout_seconds=0)) as log:
        log.append("events", [("B01", b"before")])
        with locked(path):
            with pytest.raises(LogUnavailable, match=rf"append to events in {path}: another process keeps"):
                log.append("events", [("B01", b"refused")])
            with pytest.raises(LogUnavailable, match="open the log"):
                SqliteLog(path, lock_timeout_seconds=0)
            assert values(log) == [b"before"]
        log.append("events", [("B01", b"after")])
        assert values(log) == [b"before", b"after"]


def damage(path: Path) -> None:
    """Overwrite the file's pages behind the first, which hold the records."""
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xa5" * (path.stat().st_size - 4096))


def written(path: Path) -> Path:
    with closing(SqliteLog(path)) as log:
        log.append("events", [("B01", b"%d" % number + b"x" * 500) for number in range(200)])
    return path


def test_damaged_file_is_told_by_readers_and_writers(tmp_path: Path) -> None:
    path = written(tmp_path / "log.sqlite")
    damage(path)
    with closing(SqliteLog(path)) as log:
        with pytest.raises(LogUnavailable, match=r"the file is damaged.*restore a backup"):
            log.read("events", 0, 0, 10)
        with pytest.raises(LogUnavailable, match=r"the file is damaged.*restore a backup"):
            log.append("events", [("B01", b"1")])


def test_file_cut_short_is_told(tmp_path: Path) -> None:
    path = written(tmp_path / "log.sqlite")
    os.truncate(path, 8192)
    with (
        pytest.raises(LogUnavailable, match="the file is damaged"),
        closing(SqliteLog(path)) as log,
    ):
        log.read("events", 0, 0, 1_000)


def foreign_database(path: Path) -> None:
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE theirs (x)")


def empty_foreign_database(path: Path) -> None:
    with closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA application_id = 7")


def newer_log(path: Path) -> None:
    written(path)
    with closing(sqlite3.connect(path)) as other:
        other.execute(f"PRAGMA user_version = {FORMAT + 1}")


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda path: path.write_text("Dear sir or madam, this is a letter and no database.\n" * 100), "no SQLite"),
        (foreign_database, "somebody else's SQLite database"),
        (empty_foreign_database, "somebody else's SQLite database"),
        (newer_log, f"is a log of format {FORMAT + 1}, and this pitwatch writes format {FORMAT}"),
        (Path.mkdir, "can't be opened|SQLITE_IOERR"),
    ],
    ids=["no database", "foreign", "foreign and empty", "newer", "a folder"],
)
@pytest.mark.parametrize("read_only", [False, True], ids=["to write", "to read"])
def test_file_that_is_no_log_of_ours_is_refused_and_left_alone(
    tmp_path: Path, make: Callable[[Path], object], complaint: str, read_only: bool
) -> None:
    path = tmp_path / "log.sqlite"
    make(path)
    before = path.is_file() and path.read_bytes()
    with pytest.raises(LogUnavailable, match=complaint) as raised:
        SqliteLog(path, read_only=read_only)
    assert str(path) in str(raised.value)
    assert (path.is_file() and path.read_bytes()) == before


def test_file_system_that_readers_cannot_share_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A database in memory has no WAL either, so it stands in for a network's file system."""
    monkeypatch.setattr(LogFile, "_connect", lambda *_: sqlite3.connect(":memory:"))
    with pytest.raises(LogUnavailable, match="Keep the log on a local file system"):
        SqliteLog(tmp_path / "log.sqlite")


def test_missing_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(LogUnavailable, match="Check that its folder is there"):
        SqliteLog(tmp_path / "nowhere" / "log.sqlite")


def test_reader_makes_no_file(tmp_path: Path) -> None:
    path = tmp_path / "log.sqlite"
    with pytest.raises(LogUnavailable, match="can't be opened"):
        SqliteLog(path, read_only=True)
    assert not path.exists()


def test_reader_of_an_empty_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "log.sqlite").touch()
    with pytest.raises(LogUnavailable, match="no log was ever written there"):
        SqliteLog(tmp_path / "log.sqlite", read_only=True)


def test_writer_makes_a_log_of_an_empty_file(tmp_path: Path) -> None:
    (tmp_path / "log.sqlite").touch()
    written(tmp_path / "log.sqlite")
    with closing(sqlite3.connect(tmp_path / "log.sqlite")) as file:
        assert file.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)


@contextmanager
def as_somebody_without_rights() -> Iterator[None]:
    """Root may write everywhere, so root becomes nobody for a while."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


@pytest.fixture
def protected() -> Iterator[Path]:
    """A log in a folder that its reader may enter but not write; not in `tmp_path`, which is closed to others."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        written(folder / "log.sqlite").chmod(0o444)
        folder.chmod(0o555)
        yield folder
        folder.chmod(0o755)


def test_folder_without_the_right_to_write_is_told(protected: Path) -> None:
    with as_somebody_without_rights(), pytest.raises(LogUnavailable, match="can't be opened"):
        SqliteLog(protected / "new.sqlite")
    assert not (protected / "new.sqlite").exists()


def test_file_without_the_right_to_write_is_told(protected: Path) -> None:
    with as_somebody_without_rights(), pytest.raises(LogUnavailable, match=r"Check .* rights|may read and write"):
        SqliteLog(protected / "log.sqlite")


def test_error_that_is_a_defect_of_ours_is_not_disguised(tmp_path: Path) -> None:
    with closing(SqliteLog(tmp_path / "log.sqlite")) as log:
        with pytest.raises(sqlite3.OperationalError, match="no such table"):
            log._rows("read", "SELECT * FROM nowhere", ())
        assert log.append("events", [("B01", b"1")])
