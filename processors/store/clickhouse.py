"""The store in ClickHouse, through clickhouse-connect: embedded in this process now, on servers by the same client.

One client writes. Readers have clients of their own with ``readonly=1`` and limits that no statement can lift, so an
analyst's slow query delays neither the sink nor the console.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from threading import BoundedSemaphore, Lock
from typing import Final, Self, TypeVar

import msgspec
from clickhouse_connect.driver.binding import DT64Param
from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import ClickHouseError, ProgrammingError

from processors.settings import StoreSettings
from processors.store import retention
from processors.store.admission import admit, format_of
from processors.store.connections import Connect, Settings, to_folder, to_server
from processors.store.engine_errors import inserting, managing, plain, querying, refused_path
from processors.store.migrations import ONE_SERVER, TABLE, Applied, Layout, check_migrated, migrate
from processors.store.port import VIEWS, Parameters, QueryRefused, RowsRefused, StoreUnavailable
from processors.store.rows import beyond_64_bits

__all__ = ["MAX_RESULT_ROWS", "ClickHouseStore", "Settings", "reader_settings"]

T = TypeVar("T")

READERS: Final = 4
"""Queries answered at the same time; more wait their turn."""

MAX_RESULT_ROWS: Final = 100_000
MAX_RESULT_BYTES: Final = 256 * 2**20
MAX_QUERY_MEMORY_BYTES: Final = 512 * 2**20

# 26.9 gathers inserts and answers before they are kept, unless it is told not to. What is inserted into a cluster's
# table must have reached its shard.
_WRITER: Final[Settings] = {"async_insert": 0, "distributed_foreground_insert": 1}

_INSERT: Final[Settings] = {
    **_WRITER,
    "wait_end_of_query": 1,
    # What has been inserted before collapses by its key. Recognising whole blocks on top of that would only hide it
    # when a batch is inserted once more on purpose.
    "insert_deduplicate": 0,
    "input_format_skip_unknown_fields": 1,
    "input_format_null_as_default": 0,
    "date_time_input_format": "best_effort",
    # A table with a wrong clock must not stop the others' rows.
    "max_partitions_per_insert_block": 0,
}

_FORMAT: Final = re.compile(r"[A-Za-z][A-Za-z0-9]*")


def reader_settings(max_execution_seconds: int) -> Settings:
    """Return what readers' clients work under; `readonly` comes last, for nothing can be set after it."""
    return {
        "max_execution_time": max_execution_seconds,
        "max_result_rows": MAX_RESULT_ROWS,
        "max_result_bytes": MAX_RESULT_BYTES,
        "result_overflow_mode": "throw",
        "max_memory_usage": MAX_QUERY_MEMORY_BYTES,
        # The only index besides the keys' is the one of the views `..._between`, which leave room around their window.
        # Exact mode would have them read every row of every part that the newest rows' keys lie between.
        "use_skip_indexes_if_final_exact_mode": 0,
        "do_not_merge_across_partitions_select_final": 0,
        "readonly": 1,
    }


class ClickHouseStore:
    """A `Store` in one database of ClickHouse; see the port for each method's contract."""

    def __init__(self, connect: Connect, settings: StoreSettings, name: str) -> None:
        self._connect = connect
        self._settings = settings
        self._name = name
        self._layout = Layout(settings.cluster, settings.database) if settings.cluster else ONE_SERVER
        self._identity = ""
        self._closed = False
        self._state = Lock()
        self._turns = BoundedSemaphore(READERS)
        self._free: list[Client] = []
        self._normal_form = lru_cache(maxsize=512)(self._parse)
        self._writer = connect(_WRITER)

    @classmethod
    def embedded(cls, path: Path, settings: StoreSettings) -> Self:
        """Open the store kept in the folder `path` by the engine in this process. Raises `StoreUnavailable`.

        The folder belongs to one process, and a process has one such folder open at a time.
        """

        try:
            path.mkdir(parents=True, exist_ok=True)
            return cls(to_folder(path), settings, str(path))
        except (ClickHouseError, OSError) as error:
            raise refused_path(path, error) from error

    @classmethod
    def on_server(cls, settings: StoreSettings) -> Self:
        """Use the store on the server, or the cluster, that `settings` name. Raises `StoreUnavailable`."""
        assert settings.url is not None, "checked by the caller"
        with managing(f"the store {settings.url} can't be reached"):
            try:
                return cls(to_server(settings, settings.url), settings, settings.url)
            except ProgrammingError as error:
                # The client's own word, from what the server says of its settings.
                raise StoreUnavailable(
                    f"the user {settings.user!r} of the store {settings.url} may only read, and this needs to write"
                    f" ({plain(error)}). Name the writer under [store]"
                ) from error

    @property
    def identity(self) -> str:
        """The database's UUID, which ClickHouse gave it when it was created; of a cluster, a table's.

        Every server of a cluster has a database of its own, but the tables are the same ones.
        """
        assert self._identity, "known after migrate()"
        return self._identity

    def migrate(self) -> list[str]:
        """Create the database, bring its schema up to date, and put the settings' retention in force."""
        database = self._settings.database
        with managing(f"the store {self._name} could not be brought up to date"):
            create = f"CREATE DATABASE IF NOT EXISTS {database}{self._layout.on_cluster} ENGINE = Atomic"
            self._writer.command(create, use_database=False)
            self._writer.database = database
            taken = migrate(_Schema(self._writer), layout=self._layout)
            retention.apply(self._writer, self._settings.ttl_days, self._layout)
            self._identify()
        return taken

    def attach(self) -> None:
        """Take up a database that was migrated before, and change nothing. Raises `StoreUnavailable` if it was not."""
        with managing(f"the store {self._name} can't be used (was `pitwatch migrate` run?)"):
            self._writer.database = self._settings.database
            check_migrated(_Schema(self._writer))
            self._identify()

    def administer(self, statements: Sequence[str]) -> None:
        """Run statements that make accounts and rights. Raises `StoreUnavailable`, also for want of rights."""
        with managing(f"the users of {self._name} could not be made"):
            for statement in statements:
                self._writer.command(statement)

    def _identify(self) -> None:
        whose = f"tables WHERE database = currentDatabase() AND name = '{TABLE}{self._layout.local}'"
        if not self._layout.cluster:
            whose = "databases WHERE name = currentDatabase()"
        self._identity = str(self._writer.command(f"SELECT uuid FROM system.{whose}"))  # noqa: S608  names of ours

    def insert(self, kind: str, rows: Sequence[bytes]) -> None:
        """Insert rows of one kind as one block."""
        if not rows:
            return
        block = b"\n".join(rows)
        table = f"{VIEWS[kind]}_versions"
        # An event's numbers are bounded by the contract, and its own text lies in the row as a text.
        if kind != "event" and (too_large := beyond_64_bits(rows, block)):
            raise RowsRefused(f"{table}: an integer has more than 64 bits", too_large)
        with inserting(table):
            self._check_open()
            summary = self._writer.raw_insert(table, insert_block=block, settings=dict(_INSERT), fmt="JSONEachRow")
        # In a cluster, rows for this server's own shard are counted once more.
        found = summary.written_rows
        if found < len(rows) if self._layout.cluster else found != len(rows):
            raise RowsRefused(f"{table}: {len(rows)} rows were given, {found} were found in them")

    def query(self, sql: str, parameters: Parameters | None = None, fmt: str = "JSONEachRow") -> bytes:
        """Return the answer to one reading statement in the format it names, or else in `fmt`."""
        if not _FORMAT.fullmatch(fmt):
            raise QueryRefused(f"{fmt[:40]!r} is no format")
        statement = self._normal_form(sql)
        wanted = None if format_of(statement) else fmt
        bound = _bound(statement, parameters)
        with self._reading() as reader:
            return reader.raw_query(statement, parameters=bound, fmt=wanted)

    def rows(self, sql: str, shape: type[T], parameters: Parameters | None = None) -> list[T]:
        """Return the answer's rows as `shape`."""
        statement = self._normal_form(sql)
        bound = _bound(statement, parameters)
        with self._reading() as reader:
            found = reader.query(statement, parameters=bound)
        return msgspec.convert(list(found.named_results()), list[shape])  # type: ignore[valid-type]  # a type at run time

    def close(self) -> None:
        """Close every client; the engine ends with the last."""
        with self._state:
            if self._closed:
                return
            self._closed = True
        for client in [*self._free, self._writer]:
            client.close()

    def _parse(self, sql: str) -> str:
        """Return what readers may run of `sql`: its one statement as ClickHouse understood it."""
        if not _is_text(sql):
            raise QueryRefused("the statement is no Unicode text: it holds half of a surrogate pair")
        with self._reading() as reader:
            found = reader.query("SELECT formatQuerySingleLine({sql:String})", parameters={"sql": sql})
        statement = str(found.result_rows[0][0])
        admit(statement)
        return statement

    @contextmanager
    def _reading(self) -> Iterator[Client]:
        """Lend a reader's client, and say what goes wrong in the store's own words."""
        with self._turns, querying():
            client = self._take_reader()
            try:
                yield client
            except BaseException:
                # What a failed query had written already stays in the embedded engine's connection, and the next
                # query's answer would begin with it (measured on 26.9). So the connection goes with its query.
                client.close()
                raise
            self._give_back(client)

    def _take_reader(self) -> Client:
        with self._state:
            self._check_open()
            if self._free:
                return self._free.pop()
        client = self._connect(reader_settings(self._settings.max_execution_seconds))
        client.database = self._settings.database
        return client

    def _give_back(self, client: Client) -> None:
        with self._state:
            if not self._closed:
                self._free.append(client)
                return
        client.close()

    def _check_open(self) -> None:
        if self._closed:
            raise StoreUnavailable(f"the store {self._name} has been closed")


class _Schema:
    """The database as migrations see it."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def run(self, statement: str) -> None:
        """Run one statement of a migration."""
        self._client.command(statement)

    def applied(self) -> list[Applied]:
        """Return the migrations taken so far."""
        found = self._client.query("SELECT version, name, checksum FROM schema_migrations FINAL ORDER BY version")
        return [Applied(*row) for row in found.result_rows]

    def record(self, applied: Applied) -> None:
        """Note a migration as taken."""
        self._client.insert("schema_migrations", [applied], column_names=Applied._fields)


def _is_text(text: str) -> bool:
    """Tell whether a string can be sent at all: bytes that are no UTF-8 come from a command line as halves."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _bound(statement: str, parameters: Parameters | None) -> dict[str, object] | None:
    """Return the parameters as the client binds them: moments to the microsecond, and only to placeholders."""
    if not parameters:
        return None
    if missing := [name for name in parameters if f"{{{name}:" not in statement]:
        raise QueryRefused(f"the statement has no placeholder {{{missing[0]}:Type}} for the parameter {missing[0]}")
    for name, value in parameters.items():
        if isinstance(value, datetime) and value.tzinfo is None:
            raise QueryRefused(f"the moment {name} has no time zone")
        if isinstance(value, str) and not _is_text(value):
            raise QueryRefused(f"the parameter {name} is no Unicode text: it holds half of a surrogate pair")
    return {name: DT64Param(value) if isinstance(value, datetime) else value for name, value in parameters.items()}
