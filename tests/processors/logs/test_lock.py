"""One owner of a data directory at a time, and no lock that outlives its process."""

import fcntl
import os
import stat
from pathlib import Path

import pytest

from processors.logs.lock import LOCK_FILE, DataDirectoryLocked, DataDirectoryUnusable, lock_data_directory
from tests.processors.logs.conftest import StartVictim


def test_second_owner_is_told_who_the_first_is(tmp_path: Path) -> None:
    with (
        lock_data_directory(tmp_path),
        pytest.raises(DataDirectoryLocked, match=rf"in use by process {os.getpid()} since \d{{4}}-.*\+00:00"),
        lock_data_directory(tmp_path),
    ):
        pass


def test_refused_owner_leaves_the_first_ones_name(tmp_path: Path) -> None:
    with lock_data_directory(tmp_path):
        for _ in range(2):
            with pytest.raises(DataDirectoryLocked, match=str(os.getpid())), lock_data_directory(tmp_path):
                pass


def test_lock_is_free_after_its_block(tmp_path: Path) -> None:
    for _ in range(2):
        with lock_data_directory(tmp_path):
            pass
    assert (tmp_path / LOCK_FILE).read_bytes() == b""


def test_lock_is_free_after_a_block_that_failed(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), lock_data_directory(tmp_path):
        raise ZeroDivisionError
    with lock_data_directory(tmp_path):
        pass


def test_killed_owner_leaves_no_lock(tmp_path: Path, start_victim: StartVictim) -> None:
    owner = start_victim("lock", tmp_path)
    assert owner.stdout is not None
    owner.stdout.readline()
    with pytest.raises(DataDirectoryLocked, match=f"process {owner.pid} since"), lock_data_directory(tmp_path):
        pass
    owner.kill()
    owner.wait()
    with lock_data_directory(tmp_path):
        assert (tmp_path / LOCK_FILE).read_text().startswith(f"{os.getpid()} ")


def test_owner_that_has_not_signed_yet_is_another_process(tmp_path: Path) -> None:
    with (tmp_path / LOCK_FILE).open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(DataDirectoryLocked, match="another process"), lock_data_directory(tmp_path):
            pass


def test_directory_is_made_and_kept_private(tmp_path: Path) -> None:
    with lock_data_directory(tmp_path / "floors" / "one"):
        assert stat.S_IMODE((tmp_path / "floors" / "one").stat().st_mode) == 0o700


def test_directories_are_locked_apart(tmp_path: Path) -> None:
    with lock_data_directory(tmp_path / "one"), lock_data_directory(tmp_path / "two"):
        pass


def test_path_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DataDirectoryUnusable, match="File exists"), lock_data_directory(tmp_path / "file"):
        pass


def test_file_system_without_locks_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(descriptor: int, operation: int) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(DataDirectoryUnusable, match=r"No locks available.*local file system"):
        lock_data_directory(tmp_path).__enter__()
