"""Migrations are taken once, in order, and can be taken up again after a crash at any statement."""

import pytest

from processors.store.migrations import TABLE, Applied, Layout, Migration, migrate, migrations
from processors.store.port import StoreUnavailable


class Crash(Exception):
    """The power went."""


class Database:
    """A database that notes what is run, and may crash after so many statements."""

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.taken: list[Applied] = []
        self.left: int | None = None

    def run(self, statement: str) -> None:
        if self.left is not None:
            if self.left == 0:
                raise Crash
            self.left -= 1
        self.ran.append(statement)

    def applied(self) -> list[Applied]:
        return list(self.taken)

    def record(self, applied: Applied) -> None:
        self.taken.append(applied)


STEPS = [
    Migration(1, "0001_one.sql", "CREATE TABLE IF NOT EXISTS a;\n\nCREATE VIEW IF NOT EXISTS b;\n"),
    Migration(2, "0002_two.sql", "CREATE TABLE IF NOT EXISTS c"),
]


def ours(database: Database) -> list[str]:
    return [statement for statement in database.ran if TABLE not in statement]


def test_steps_are_taken_in_order_and_once() -> None:
    database = Database()
    assert migrate(database, STEPS) == ["0001_one.sql", "0002_two.sql"]
    assert migrate(database, STEPS) == []
    assert ours(database) == [
        "CREATE TABLE IF NOT EXISTS a",
        "CREATE VIEW IF NOT EXISTS b",
        "CREATE TABLE IF NOT EXISTS c",
    ]
    assert [applied.version for applied in database.taken] == [1, 2]


def test_new_step_is_taken_alone() -> None:
    database = Database()
    migrate(database, STEPS[:1])
    database.ran.clear()
    assert migrate(database, STEPS) == ["0002_two.sql"]
    assert ours(database) == ["CREATE TABLE IF NOT EXISTS c"]


@pytest.mark.parametrize("statements", range(4))
def test_crash_at_any_statement_is_taken_up(statements: int) -> None:
    database = Database()
    database.left = statements
    with pytest.raises(Crash):
        migrate(database, STEPS)
    database.left = None
    migrate(database, STEPS)
    assert [applied.version for applied in database.taken] == [1, 2]
    assert set(ours(database)) == {
        "CREATE TABLE IF NOT EXISTS a",
        "CREATE VIEW IF NOT EXISTS b",
        "CREATE TABLE IF NOT EXISTS c",
    }


def test_changed_step_is_refused_and_nothing_is_run() -> None:
    database = Database()
    migrate(database, STEPS[:1])
    database.ran.clear()
    changed = [STEPS[0]._replace(text="CREATE TABLE IF NOT EXISTS other"), STEPS[1]]
    with pytest.raises(StoreUnavailable, match=r"0001_one\.sql differs .* never changed"):
        migrate(database, changed)
    assert ours(database) == []


def test_newer_schema_is_refused_and_nothing_is_run() -> None:
    database = Database()
    migrate(database, STEPS)
    database.ran.clear()
    with pytest.raises(StoreUnavailable, match=r"schema 2 \(0002_two\.sql\).* knows up to 1.*Upgrade"):
        migrate(database, STEPS[:1])
    assert ours(database) == []


def test_semicolon_ends_a_statement_at_the_end_of_a_line_only() -> None:
    assert Layout().render("a COMMENT 'x; y'\n;\n b; \n\nc") == ["a COMMENT 'x; y'", "b", "c"]


def test_cluster_is_a_matter_of_the_layout() -> None:
    database = Database()
    migrate(database, migrations(), Layout(on_cluster=" ON CLUSTER floor", replicated="Replicated"))
    for statement in database.ran:
        assert " ON CLUSTER floor" in statement
        assert "ENGINE" not in statement or "ENGINE = ReplicatedReplacingMergeTree" in statement


def test_every_statement_of_ours_may_be_run_again() -> None:
    for step in migrations():
        for statement in Layout().render(step.text):
            assert statement.startswith(("CREATE TABLE IF NOT EXISTS ", "CREATE VIEW IF NOT EXISTS ")), step.name
