"""A demonstration's data directory: cleared for each run, and only if it is a demonstration's."""

import shutil
from pathlib import Path
from typing import Final

from schemas.errors import PitwatchError

MARKER: Final = "DEMONSTRATION"
"""The file that says that a directory is a demonstration's and may be cleared."""

LABELS_FILE: Final = "labels.ndjson"

_NOTE: Final = "Data of a simulated floor. `pitwatch demo` clears this directory each time it writes here.\n"


class NotADemonstration(PitwatchError):
    """Raised for a directory that holds something else; nothing in it was touched."""


def begin_demonstration(directory: Path) -> None:
    """Make `directory` a demonstration's, empty of an earlier one's log, store and labels.

    Raises `NotADemonstration`, and `DataDirectoryUnusable` where it can't be made or another process works in it.
    """
    from processors.data_directory import STORE_FOLDER
    from processors.logs.lock import LOCK_FILE, DataDirectoryUnusable, lock_data_directory
    from processors.logs.sqlite import LOG_FILE

    try:
        held = {entry.name for entry in directory.iterdir()} if directory.exists() else set()
        if held - {LOCK_FILE} and MARKER not in held:
            raise NotADemonstration(
                f"{directory} holds something else than a demonstration, and a demonstration clears its directory:"
                " give --data a new or empty one"
            )
        with lock_data_directory(directory):
            (directory / MARKER).write_text(_NOTE, encoding="utf-8")
            for name in (LOG_FILE, f"{LOG_FILE}-wal", f"{LOG_FILE}-shm", LABELS_FILE):
                (directory / name).unlink(missing_ok=True)
            if (directory / STORE_FOLDER).exists():
                shutil.rmtree(directory / STORE_FOLDER)
    except OSError as error:
        raise DataDirectoryUnusable(
            f"the data directory {directory} can't be used: {error.strerror}. Give another one with --data"
        ) from error
