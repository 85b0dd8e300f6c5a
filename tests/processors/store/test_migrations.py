"""Migrations are taken once, in order, and can be taken up again after a crash at any statement."""

import pytest

from processors.store.migrations import TABLE, Applied, Layout, Migration, check_migrated, migrate, migrations
from processors.store.port import VIEWS, StoreUnavailable
from schemas.facts import FACT_KEYS


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


class TestCluster:
    """Every table is two: its part on each shard, and a Distributed one over the parts under its own name."""

    FLOOR = Layout("floor", "pitwatch")

    @pytest.fixture
    def statements(self) -> list[str]:
        database = Database()
        migrate(database, migrations(), self.FLOOR)
        return database.ran

    def test_every_server_runs_every_statement(self, statements: list[str]) -> None:
        assert all(" ON CLUSTER `floor`" in statement for statement in statements)

    def test_tables_that_hold_rows_are_replicated(self, statements: list[str]) -> None:
        engines = [statement.partition("ENGINE = ")[2].partition("(")[0] for statement in statements]
        assert {engine.split()[0] for engine in engines if engine} == {"ReplicatedReplacingMergeTree", "Distributed"}

    def test_each_has_a_distributed_table_over_it(self, statements: list[str]) -> None:
        parts = [name(statement) for statement in statements if "ENGINE = Replicated" in statement]
        over = {name(statement): statement for statement in statements if "ENGINE = Distributed" in statement}
        assert [f"{table}_local" for table in over] == parts
        for table, statement in over.items():
            key = "version" if table == TABLE else "cityHash64(table_id)"
            assert statement.endswith(f"Distributed('floor', 'pitwatch', '{table}_local', {key})")

    def test_rows_of_one_key_are_in_one_shard(self) -> None:
        """Only a shard by itself collapses the revisions of a key, so the key must tell the shard."""
        for kind, key in FACT_KEYS.items():
            assert "table_id" in key or kind in ("alert", "dead_letter"), kind

    def test_views_are_the_same(self, statements: list[str]) -> None:
        views = [statement for statement in statements if statement.startswith("CREATE VIEW")]
        assert len(views) >= len(VIEWS)
        assert not any("_local" in view for view in views)


def name(statement: str) -> str:
    return statement.removeprefix("CREATE TABLE IF NOT EXISTS ").split()[0]


class TestAttaching:
    """Who only fills a store neither makes it nor changes it."""

    def test_migrated_store_is_taken(self) -> None:
        database = Database()
        migrate(database)
        database.ran.clear()
        check_migrated(database)
        assert database.ran == []

    def test_store_that_lacks_a_step_is_refused(self) -> None:
        database = Database()
        migrate(database, migrations()[:-1])
        with pytest.raises(
            StoreUnavailable, match=f"has not taken the step {migrations()[-1].name}: run `pitwatch mig"
        ):
            check_migrated(database)

    def test_newer_store_is_refused(self) -> None:
        database = Database()
        migrate(database)
        database.taken.append(Applied(len(migrations()) + 1, "9999_new.sql", "x"))
        with pytest.raises(StoreUnavailable, match="a newer pitwatch wrote it"):
            check_migrated(database)


def test_every_statement_of_ours_may_be_run_again() -> None:
    for step in migrations():
        for statement in Layout().render(step.text):
            assert statement.startswith(("CREATE TABLE IF NOT EXISTS ", "CREATE VIEW IF NOT EXISTS ")), step.name
