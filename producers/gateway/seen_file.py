"""The file in which the gateway keeps, between starts, which events the log has."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

import msgspec
from pydantic import ValidationError

from schemas.configuration import TableConfiguration
from schemas.errors import PitwatchError

FORMAT: Final = 2

_LAYOUT: Final = f"""
BEGIN;
DROP TABLE IF EXISTS epochs;
DROP TABLE IF EXISTS landmarks;
DROP TABLE IF EXISTS configurations;
CREATE TABLE epochs (
    table_id TEXT, epoch INTEGER, runs BLOB NOT NULL, opening BLOB NOT NULL, latest_seq INTEGER NOT NULL,
    latest BLOB NOT NULL, PRIMARY KEY (table_id, epoch)
) WITHOUT ROWID;
CREATE TABLE landmarks (partition INTEGER PRIMARY KEY, offset INTEGER NOT NULL, digest BLOB NOT NULL);
CREATE TABLE configurations (table_id TEXT PRIMARY KEY, configuration TEXT NOT NULL) WITHOUT ROWID;
PRAGMA user_version = {FORMAT};
COMMIT;
"""

_runs: Final = msgspec.json.Decoder(tuple[tuple[int, int], ...])


class SeenFileUnusable(PitwatchError):
    """Raised when the file can't be read or written. It may be deleted: the log can tell all it held."""


class EpochRow(NamedTuple):
    """One epoch of a table: the runs of seqs seen, and the digests of its first event and of the latest seen."""

    table_id: str
    epoch: int
    runs: tuple[tuple[int, int], ...]
    opening: bytes
    latest_seq: int
    latest: bytes


class Landmark(NamedTuple):
    """A record up to which a partition was read, and the digest of its bytes, by which to know the log again."""

    partition: int
    offset: int
    digest: bytes


class SeenFile:
    """A SQLite file of `EpochRow`s and `Landmark`s, opened for each use.

    Where another process has it locked, that is waited for `timeout_seconds`: the floor waits as well.
    """

    def __init__(self, path: Path, timeout_seconds: float = 1.0) -> None:
        self.path = path
        self._timeout_seconds = timeout_seconds

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(sqlite3.connect(self.path, self._timeout_seconds, isolation_level=None)) as connection:
                if connection.execute("PRAGMA user_version").fetchone() != (FORMAT,):
                    connection.executescript(_LAYOUT)
                yield connection
        except (sqlite3.Error, msgspec.MsgspecError, ValidationError) as error:
            raise SeenFileUnusable(f"{self.path}: {error}; the file may be deleted, the log is read instead") from error

    def epochs(self) -> list[EpochRow]:
        """Return every epoch kept."""
        with self._open() as connection:
            rows = connection.execute("SELECT * FROM epochs")
            return [EpochRow(row[0], row[1], _runs.decode(row[2]), *row[3:]) for row in rows]

    def landmarks(self) -> list[Landmark]:
        """Return the place in each partition up to which the epochs are true."""
        with self._open() as connection:
            return [Landmark._make(row) for row in connection.execute("SELECT * FROM landmarks")]

    def configurations(self) -> dict[str, TableConfiguration]:
        """Return the configuration that was published last for each table."""
        with self._open() as connection:
            rows = connection.execute("SELECT * FROM configurations")
            return {table_id: TableConfiguration.model_validate_json(text) for table_id, text in rows}

    def write(
        self,
        epochs: Sequence[EpochRow],
        landmarks: Sequence[Landmark],
        configurations: Mapping[str, TableConfiguration] = MappingProxyType({}),
    ) -> None:
        """Replace what is given in one step; an epoch without runs is removed."""
        with self._open() as connection:
            connection.execute("BEGIN IMMEDIATE")
            for row in epochs:
                if row.runs:
                    values = (*row[:2], msgspec.json.encode(row.runs), *row[3:])
                    connection.execute("INSERT OR REPLACE INTO epochs VALUES (?, ?, ?, ?, ?, ?)", values)
                else:
                    connection.execute("DELETE FROM epochs WHERE table_id = ? AND epoch = ?", row[:2])
            connection.executemany("INSERT OR REPLACE INTO landmarks VALUES (?, ?, ?)", landmarks)
            configured = [(table_id, one.model_dump_json()) for table_id, one in configurations.items()]
            connection.executemany("INSERT OR REPLACE INTO configurations VALUES (?, ?)", configured)
            connection.execute("COMMIT")

    def clear(self) -> None:
        """Forget everything."""
        with self._open() as connection:
            connection.executescript(_LAYOUT)
