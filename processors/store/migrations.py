"""Brings the store's schema up to date: the numbered files of ``schemas/clickhouse``, each run once, never changed.

ClickHouse has no transactions over DDL, so every statement of a file can be run again after a crash half way.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from importlib.resources import files
from string import Template
from typing import Final, NamedTuple, Protocol

from processors.store.port import StoreUnavailable

_NAME: Final = re.compile(r"([0-9]{4})_[a-z0-9_]+\.sql")
_STATEMENT_END: Final = re.compile(r";\s*$", re.MULTILINE)

TABLE: Final = "schema_migrations"

_CREATE_TABLE: Final = re.compile(r"CREATE TABLE IF NOT EXISTS (\w+)")
_SHARDED_BY: Final = ("cityHash64(table_id)", "version")
"""Expressions that say which shard a row belongs to: of a table of the floor's, and of `TABLE`."""

_CREATE: Final = """
CREATE TABLE IF NOT EXISTS schema_migrations${on_cluster}
(
    version UInt32 COMMENT 'Number of the step, from 1.',
    name String COMMENT 'Name of its file.',
    checksum String COMMENT 'SHA-256 of the file, in hex.',
    applied_at DateTime64(6, 'UTC') DEFAULT now64(6) COMMENT 'When it was taken, UTC.'
)
ENGINE = ${replicated}ReplacingMergeTree
ORDER BY version
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
COMMENT 'Steps that brought the schema to where it is.'
"""


class Migration(NamedTuple):
    """One step: its number, its file's name and its text."""

    version: int
    name: str
    text: str

    @property
    def checksum(self) -> str:
        """Return the SHA-256 of the text, in hex."""
        return hashlib.sha256(self.text.encode()).hexdigest()


class Layout(NamedTuple):
    """What differs between one server and a cluster.

    On one server a template's tables are what they say. In a cluster each of them is replicated under the name with
    `local` behind it, one shard's part on each server; its own name is a Distributed table over all parts, so whoever
    reads or writes need not know. Every row of a table's key is in one shard, which is what ``FINAL`` goes by.
    """

    cluster: str = ""
    database: str = ""

    @property
    def on_cluster(self) -> str:
        """The clause with which every server of the cluster runs a statement, for ``${on_cluster}``."""
        return f" ON CLUSTER `{self.cluster}`" if self.cluster else ""

    @property
    def local(self) -> str:
        """What the names of the tables that hold rows end with."""
        return "_local" if self.cluster else ""

    def render(self, text: str) -> list[str]:
        """Return the statements of a template."""
        replicated = "Replicated" if self.cluster else ""
        rendered = Template(text).substitute(on_cluster=self.on_cluster, replicated=replicated)
        statements = [statement.strip() for statement in _STATEMENT_END.split(rendered) if statement.strip()]
        return [laid for statement in statements for laid in self._lay_out(statement)] if self.cluster else statements

    def _lay_out(self, statement: str) -> Iterator[str]:
        found = _CREATE_TABLE.match(statement)
        if found is None:
            yield statement
            return
        name = found[1]
        part = name + self.local
        yield statement.replace(found[0], f"CREATE TABLE IF NOT EXISTS {part}", 1)
        yield (
            f"CREATE TABLE IF NOT EXISTS {name}{self.on_cluster} AS {part}"
            f" ENGINE = Distributed('{self.cluster}', '{self.database}', '{part}', {_SHARDED_BY[name == TABLE]})"
        )


ONE_SERVER: Final = Layout()


class Applied(NamedTuple):
    """A step that the database has taken."""

    version: int
    name: str
    checksum: str


class Connection(Protocol):
    """What a migration needs of a database."""

    def run(self, statement: str) -> None:
        """Run one statement that returns nothing."""
        ...

    def applied(self) -> Sequence[Applied]:
        """Return the rows of `TABLE`, by version."""
        ...

    def record(self, applied: Applied) -> None:
        """Add a row to `TABLE`."""
        ...


def migrations() -> list[Migration]:
    """Return this program's steps in order."""
    folder = files("schemas") / "clickhouse"
    named = sorted((entry.name, entry) for entry in folder.iterdir() if _NAME.fullmatch(entry.name))
    steps = [Migration(int(name[:4]), name, entry.read_text(encoding="utf-8")) for name, entry in named]
    assert [step.version for step in steps] == list(range(1, len(steps) + 1)), "migrations are numbered without gaps"
    return steps


def creation(layout: Layout) -> list[str]:
    """Return every statement that makes a new store, the database and the notes of the steps included."""
    statements = [
        f"CREATE DATABASE IF NOT EXISTS {layout.database}{layout.on_cluster} ENGINE = Atomic",
        f"USE {layout.database}",
        *layout.render(_CREATE),
    ]
    for step in migrations():
        note = f"({step.version}, '{step.name}', '{step.checksum}')"
        statements += layout.render(step.text)
        statements.append(f"INSERT INTO {TABLE} (version, name, checksum) VALUES {note}")  # noqa: S608  names of ours
    return statements


def migrate(connection: Connection, steps: Sequence[Migration] | None = None, layout: Layout = ONE_SERVER) -> list[str]:
    """Take the steps that the database has not taken; return their names. Raises `StoreUnavailable`."""
    steps = migrations() if steps is None else steps
    for statement in layout.render(_CREATE):
        connection.run(statement)
    done = _done(connection, steps)
    taken = []
    for step in steps:
        if step.version not in done:
            for statement in layout.render(step.text):
                connection.run(statement)
            connection.record(Applied(step.version, step.name, step.checksum))
            taken.append(step.name)
    return taken


def check_migrated(connection: Connection) -> None:
    """Raise `StoreUnavailable` unless the database has taken every step, and no others."""
    steps = migrations()
    done = _done(connection, steps)
    if missing := [step.name for step in steps if step.version not in done]:
        raise StoreUnavailable(f"the store has not taken the step {missing[0]}: run `pitwatch migrate` first")


def _done(connection: Connection, steps: Sequence[Migration]) -> dict[int, Applied]:
    """Return the steps that the database has taken, which must be among `steps`."""
    done = {applied.version: applied for applied in connection.applied()}
    newest = max(done, default=0)
    if newest > len(steps):
        raise StoreUnavailable(
            f"the store has schema {newest} ({done[newest].name}), this pitwatch knows up to {len(steps)}: a newer"
            " pitwatch wrote it. Upgrade this one; the store was left as it is"
        )
    for step in steps:
        applied = done.get(step.version)
        if applied is not None and applied.checksum != step.checksum:
            raise StoreUnavailable(
                f"migration {step.name} differs from the one this store was made with ({applied.name},"
                f" {applied.checksum[:12]}…). Migrations are never changed: put the file back and add a new one"
            )
    return done
