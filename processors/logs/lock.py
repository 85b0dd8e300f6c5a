"""One process owns a data directory: its event log and its embedded store admit one writer each."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from schemas.errors import PitwatchError

LOCK_FILE: Final = "LOCK"


class DataDirectoryUnusable(PitwatchError):
    """Raised for a data directory that can't be made or locked; the message says why."""


class DataDirectoryLocked(DataDirectoryUnusable):
    """Raised where another process owns the data directory; the message names it."""


@contextmanager
def lock_data_directory(directory: Path) -> Iterator[None]:
    """Own `directory` during the ``with`` block, making it first if need be. Raises `DataDirectoryUnusable`.

    The operating system gives the lock back whichever way the process ends, so no lock is ever stale.
    """
    descriptor = _open(directory)
    try:
        _take(descriptor, directory)
        _sign(descriptor)
        yield
        os.ftruncate(descriptor, 0)
    finally:
        # Never unlinked: a process could hold the lock on a file that no longer has the name.
        os.close(descriptor)


def _open(directory: Path) -> int:
    with told_unusable(directory):
        # Bets and patrons are nobody else's business on this machine.
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        return os.open(directory / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


@contextmanager
def told_unusable(directory: Path) -> Iterator[None]:
    """Raise what goes wrong with making `directory` as `DataDirectoryUnusable`."""
    try:
        yield
    except OSError as error:
        raise DataDirectoryUnusable(
            f"the data directory {directory} can't be used: {error.strerror}. "
            "Give a directory in which this user may create files"
        ) from error


def _take(descriptor: int, directory: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise DataDirectoryLocked(
            f"the data directory {directory} is in use by {_owner(descriptor)}. "
            "Stop that process, or give this one another directory"
        ) from error
    except OSError as error:
        raise DataDirectoryUnusable(
            f"the data directory {directory} can't be locked: {error.strerror}. Give one on a local file system"
        ) from error


def _sign(descriptor: int) -> None:
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, f"{os.getpid()} {datetime.now(UTC).isoformat(timespec='seconds')}\n".encode(), 0)


def _owner(descriptor: int) -> str:
    """Describe who signed the file; between taking the lock and signing it nobody has."""
    pid, _, since = os.pread(descriptor, 100, 0).decode(errors="replace").strip().partition(" ")
    return f"process {pid} since {since}" if pid and since else "another process"
