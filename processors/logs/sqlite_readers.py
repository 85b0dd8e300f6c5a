"""Connections for reading: each is used by one thread at a time, and threads read side by side."""

import sqlite3
import threading
from collections.abc import Sequence
from typing import Any

from processors.logs.sqlite_errors import told
from processors.logs.sqlite_file import LogFile
from schemas.log import LogClosed

Row = tuple[Any, ...]


class Readers:
    """A pool which grows to as many connections as threads ever read at the same moment."""

    def __init__(self, file: LogFile) -> None:
        self._file = file
        self._guard = threading.Lock()
        self._idle: list[sqlite3.Connection] = []
        self._closed = False

    def rows(self, doing: str, statement: str, parameters: Sequence[str | int]) -> list[Row]:
        """Return what `statement` selects of the committed rows. Raises `LogUnavailable`, `LogClosed`."""
        connection = self._take()
        try:
            with told(self._file.path, doing):
                # All at once: a read left open would keep the write-ahead log from being cleared.
                rows = connection.execute(statement, parameters).fetchall()
        except BaseException:
            connection.close()
            raise
        self._give_back(connection)
        return rows

    def close(self) -> None:
        """Close what is idle now and what is in use once it is given back. Idempotent."""
        with self._guard:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _take(self) -> sqlite3.Connection:
        with self._guard:
            if self._closed:
                raise LogClosed(f"the log {self._file.path} was closed while it was still read")
            if self._idle:
                return self._idle.pop()
        return self._file.open_reader()

    def _give_back(self, connection: sqlite3.Connection) -> None:
        with self._guard:
            if not self._closed:
                self._idle.append(connection)
                return
        connection.close()
