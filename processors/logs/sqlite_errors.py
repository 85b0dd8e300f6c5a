"""What SQLite's error codes mean to whoever runs the floor."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from schemas.log import LogUnavailable

_PRIMARY_CODE = 0xFF
"""The low byte of an extended result code is the error's kind."""

# What happened, and what to do.
_MEANINGS: Final[dict[int, tuple[str, str]]] = {
    sqlite3.SQLITE_FULL: ("the disk is full", "Free some space; the log goes on by itself"),
    sqlite3.SQLITE_BUSY: ("another process keeps the file locked", "Find it (fuser FILE) and let it finish or stop it"),
    sqlite3.SQLITE_LOCKED: ("another connection keeps a table locked", "Let it finish; the log goes on by itself"),
    sqlite3.SQLITE_IOERR: (
        "the disk or its quota refused",
        "Look for a failing disk (dmesg), a quota or a file size limit; the log goes on by itself once it is gone",
    ),
    sqlite3.SQLITE_CORRUPT: (
        "the file is damaged",
        "Stop pitwatch, keep a copy of the file, then restore a backup or run sqlite3 FILE .recover",
    ),
    sqlite3.SQLITE_NOTADB: ("the file is no SQLite database", "Give another path, or move that file away"),
    sqlite3.SQLITE_CANTOPEN: (
        "the file can't be opened",
        "Check that its folder is there and that this user may read and write both",
    ),
    sqlite3.SQLITE_READONLY: ("the file may not be written", "Check the rights on it and its folder, and the mount"),
    sqlite3.SQLITE_PERM: ("access was refused", "Check the rights on the file and its folder"),
    sqlite3.SQLITE_PROTOCOL: ("the file's locks don't work", "Keep the log on a local file system"),
    sqlite3.SQLITE_NOLFS: ("the file is too long for its file system", "Move the log to a file system for long files"),
}


@contextmanager
def told(path: Path, doing: str) -> Iterator[None]:
    """Turn SQLite's troubles with the file into `LogUnavailable` saying what was being done, where, and the way out.

    Any other error of SQLite's is a defect of ours and passes through.
    """
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
        if (code & _PRIMARY_CODE) not in _MEANINGS:
            raise
        meaning, remedy = _MEANINGS[code & _PRIMARY_CODE]
        raise LogUnavailable(
            f"could not {doing} in {path}: {meaning} ({error.sqlite_errorname}: {error}). {remedy}"
        ) from error
