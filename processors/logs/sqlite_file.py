"""The file behind `SqliteLog`: what it says about itself, and how connections to it are opened."""

import sqlite3
from pathlib import Path
from typing import Final, Literal

from processors.logs.sqlite_errors import told
from processors.logs.sqlite_tables import TABLES
from schemas.log import LogUnavailable

APPLICATION_ID: Final = 0x50495457
"""Says "PITW" in the file's header, so that nobody's other database is taken for a log."""

FORMAT: Final = 1
"""Version of the tables in the file."""

# One statement, so that a log which another process is just making is seen before or after, not in between.
_WHOSE: Final = (
    "SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version), "
    "(SELECT count(*) FROM sqlite_master)"
)

# A burst grows the write-ahead log; after it, more than this is given back to the disk.
_WAL_BYTES_KEPT: Final = 64 * 1024 * 1024


class LogFile:
    """Where a log is kept. Opening raises `LogUnavailable` for whatever is no log of this format."""

    def __init__(self, path: Path, lock_timeout_seconds: float) -> None:
        self.path = path
        self._lock_timeout_seconds = lock_timeout_seconds

    def open_writer(self) -> sqlite3.Connection:
        """Open for writing, durable at every commit, making the file if there is none."""
        with told(self.path, "open the log"):
            connection = self._connect("rwc")
            try:
                self._make_durable(connection)
                self._make_tables(connection)
            except BaseException:
                connection.close()
                raise
            return connection

    def open_reader(self) -> sqlite3.Connection:
        """Open a log that is there for reading."""
        with told(self.path, "open the log for reading"):
            connection = self._connect("ro")
            try:
                if self._is_new(connection):
                    raise LogUnavailable(f"{self.path} is empty: no log was ever written there. Check the path")
            except BaseException:
                connection.close()
                raise
            return connection

    def _connect(self, mode: Literal["ro", "rwc"]) -> sqlite3.Connection:
        # A URI, because its mode refuses to make a file where one is only read. Transactions are opened by hand.
        return sqlite3.connect(
            f"{self.path.absolute().as_uri()}?mode={mode}",
            uri=True,
            timeout=self._lock_timeout_seconds,
            isolation_level=None,
            check_same_thread=False,
        )

    def _make_durable(self, connection: sqlite3.Connection) -> None:
        self._is_new(connection)  # Somebody else's database is refused before anything in it is changed.
        (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        if mode != "wal":
            raise LogUnavailable(
                f"{self.path} lies on a file system without shared memory, so it can't be read while it is written. "
                "Keep the log on a local file system"
            )
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute(f"PRAGMA journal_size_limit = {_WAL_BYTES_KEPT}")

    def _make_tables(self, connection: sqlite3.Connection) -> None:
        connection.execute("BEGIN IMMEDIATE")
        try:
            if self._is_new(connection):
                for statement in TABLES:
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {FORMAT}")
            connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")

    def _is_new(self, connection: sqlite3.Connection) -> bool:
        """Tell whether the file is empty. Raises `LogUnavailable` unless it is that or a log of this format."""
        application, version, tables = connection.execute(_WHOSE).fetchone()
        if application == APPLICATION_ID and version == FORMAT:
            return False
        if application == APPLICATION_ID:
            raise LogUnavailable(
                f"{self.path} is a log of format {version}, and this pitwatch writes format {FORMAT}. "
                "Run the pitwatch that wrote it, or a newer one"
            )
        if application or version or tables:
            raise LogUnavailable(f"{self.path} is somebody else's SQLite database. Give the log another path")
        return True
