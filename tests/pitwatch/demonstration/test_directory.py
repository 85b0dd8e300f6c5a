"""A demonstration clears its own directory and nobody else's."""

from pathlib import Path

import pytest

from pitwatch.demonstration.directory import LABELS_FILE, MARKER, NotADemonstration, begin_demonstration
from processors.logs.lock import DataDirectoryLocked, DataDirectoryUnusable, lock_data_directory


def files(directory: Path) -> set[str]:
    return {str(path.relative_to(directory)) for path in directory.rglob("*") if path.is_file()}


def test_a_new_directory_is_marked(tmp_path: Path) -> None:
    begin_demonstration(tmp_path / "new" / "demo")
    assert MARKER in files(tmp_path / "new" / "demo")


def test_an_empty_directory_and_one_with_a_stale_lock_are_taken(tmp_path: Path) -> None:
    with lock_data_directory(tmp_path):
        pass
    begin_demonstration(tmp_path)
    assert files(tmp_path) == {MARKER, "LOCK"}


def test_a_demonstration_is_cleared_of_its_data_and_keeps_what_somebody_added(tmp_path: Path) -> None:
    begin_demonstration(tmp_path)
    (tmp_path / "clickhouse" / "store").mkdir(parents=True)
    for name in ("log.sqlite", "log.sqlite-wal", LABELS_FILE, "clickhouse/store/part.bin", "notes.txt"):
        (tmp_path / name).write_text("x")
    begin_demonstration(tmp_path)
    assert files(tmp_path) == {MARKER, "LOCK", "notes.txt"}


def test_a_floor_data_directory_is_refused_untouched(tmp_path: Path) -> None:
    (tmp_path / "log.sqlite").write_text("precious")
    with pytest.raises(NotADemonstration, match="holds something else"):
        begin_demonstration(tmp_path)
    assert files(tmp_path) == {"log.sqlite"}


def test_a_demonstration_at_work_is_left_alone(tmp_path: Path) -> None:
    begin_demonstration(tmp_path)
    (tmp_path / "log.sqlite").write_text("x")
    with lock_data_directory(tmp_path), pytest.raises(DataDirectoryLocked):
        begin_demonstration(tmp_path)
    assert "log.sqlite" in files(tmp_path)


def test_a_file_in_the_way_is_explained(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataDirectoryUnusable, match="Give another one with --data"):
        begin_demonstration(tmp_path / "file")
