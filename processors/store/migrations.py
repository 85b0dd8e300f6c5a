"""Brings the store's schema up to date: the numbered files of ``schemas/clickhouse``, each run once, never changed.

ClickHouse has no transactions over DDL, so every statement of a file can be run again after a crash half way.
"""

import hashlib
import re
from collections.abc import Sequence
from importlib.resources import files
from string import Template
from typing import Final, NamedTuple, Protocol

from processors.store.port import StoreUnavailable

_NAME: Final = re.compile(r"([0-9]{4})_[a-z0-9_]+\.sql")
_STATEMENT_END: Final = re.compile(r";\s*$", re.MULTILINE)

TABLE: Final = "schema_migrations"

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
    """What differs between one server and a cluster: the texts for ``${on_cluster}`` and ``${replicated}``."""

    on_cluster: str = ""
    replicated: str = ""

    def render(self, text: str) -> list[str]:
        """Return the statements of a template."""
        rendered = Template(text).substitute(self._asdict())
        return [statement.strip() for statement in _STATEMENT_END.split(rendered) if statement.strip()]


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


def migrate(connection: Connection, steps: Sequence[Migration] | None = None, layout: Layout = ONE_SERVER) -> list[str]:
    """Take the steps that the database has not taken; return their names. Raises `StoreUnavailable`."""
    steps = migrations() if steps is None else steps
    for statement in layout.render(_CREATE):
        connection.run(statement)
    done = {applied.version: applied for applied in connection.applied()}
    _check(done, steps)
    taken = []
    for step in steps:
        if step.version not in done:
            for statement in layout.render(step.text):
                connection.run(statement)
            connection.record(Applied(step.version, step.name, step.checksum))
            taken.append(step.name)
    return taken


def _check(done: dict[int, Applied], steps: Sequence[Migration]) -> None:
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
