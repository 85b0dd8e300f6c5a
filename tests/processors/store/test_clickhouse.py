"""What is ClickHouse's own in the embedded store: merges, settings of tables, retention, migrations."""

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import clickhouse_connect
import pytest
from clickhouse_connect.driver.client import Client

from processors.settings import StoreSettings
from processors.store.admission import _OUTSIDE, SAFE_TABLE_FUNCTIONS
from processors.store.clickhouse import ClickHouseStore
from processors.store.migrations import ONE_SERVER, migrations
from processors.store.port import VIEWS, StoreUnavailable
from schemas.facts import FACT_KINDS
from schemas.wire import encode
from tests.contract.store.asking import put, seen
from tests.contract.store.stored_facts import MOMENT, SECOND, fact
from tests.contract.store.test_revisions import event_row

DURABLE = {"fsync_after_insert = 1", "fsync_part_directory = 1", "min_rows_to_fsync_after_merge = 1"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("store") / "clickhouse"


@pytest.fixture(scope="module")
def store(folder: Path) -> Iterator[ClickHouseStore]:
    with closing(ClickHouseStore.embedded(folder, StoreSettings())) as store:
        store.migrate()
        yield store


@pytest.fixture(scope="module")
def client(folder: Path, store: ClickHouseStore) -> Iterator[Client]:
    """A client that may do everything, beside the store."""
    with closing(clickhouse_connect.get_client(interface="chdb", path=str(folder))) as client:
        client.database = "pitwatch"
        yield client


@pytest.fixture
def table_id() -> str:
    return f"T-{uuid4().hex[:16]}"


@pytest.mark.parametrize("kind", FACT_KINDS)
def test_merges_keep_what_holds(store: ClickHouseStore, client: Client, table_id: str, kind: str) -> None:
    """A retraction must outlive merges, or an old revision that is inserted once more would come back to life."""
    merge = f"OPTIMIZE TABLE {VIEWS[kind]}_versions FINAL"
    for revision in (2, 1):
        put(store, fact(kind, table_id, revision=revision))
    client.command(merge)
    assert [row["revision"] for row in seen(store, kind, table_id)] == [2]
    put(store, fact(kind, table_id, revision=3, retracted=True))
    client.command(merge)
    assert seen(store, kind, table_id) == []
    put(store, fact(kind, table_id, revision=2))
    client.command(merge)
    assert seen(store, kind, table_id) == []


def test_merges_keep_the_first_copy_of_an_event(store: ClickHouseStore, client: Client, table_id: str) -> None:
    for offset in (9, 7, 8):
        store.insert("event", [event_row(table_id, offset)])
    client.command("OPTIMIZE TABLE events_versions FINAL")
    assert seen(store, "event", table_id, "src_offset") == [{"src_offset": 7}]


@pytest.mark.parametrize("view", VIEWS.values())
def test_inserted_and_merged_rows_survive_a_power_cut(client: Client, view: str) -> None:
    """ClickHouse leaves both to the operating system unless told not to, and this engine drops merged files at once."""
    definition = str(client.command(f"SHOW CREATE TABLE {view}_versions"))
    assert set(definition.partition("SETTINGS ")[2].partition("\\n")[0].split(", ")) >= DURABLE


def test_table_functions_left_to_readers_are_the_known_ones(client: Client) -> None:
    """A new engine may have new ones: look at each before it is called safe."""
    found = client.query("SELECT name FROM system.table_functions WHERE allow_readonly").result_rows
    names = {str(name) for (name,) in found}
    assert {name for name in names if name.lower() not in _OUTSIDE} <= SAFE_TABLE_FUNCTIONS


def test_every_migration_can_be_run_again(store: ClickHouseStore, client: Client, table_id: str) -> None:
    put(store, fact("round", table_id))
    for step in migrations():
        for statement in ONE_SERVER.render(step.text):
            client.command(statement)
    assert len(seen(store, "round", table_id)) == 1


class TestOtherSchemas:
    @pytest.fixture
    def other(self, folder: Path, client: Client) -> Iterator[ClickHouseStore]:
        """A store with a database of its own."""
        name = f"other_{uuid4().hex[:16]}"
        with closing(ClickHouseStore.embedded(folder, StoreSettings(database=name))) as store:
            store.migrate()
            client.database = name
            yield store
            client.database = "pitwatch"

    def test_newer_schema_is_refused(self, other: ClickHouseStore, client: Client) -> None:
        newer = len(migrations()) + 1
        client.command(f"INSERT INTO schema_migrations (version, name, checksum) VALUES ({newer}, 'new.sql', 'x')")
        with pytest.raises(StoreUnavailable, match="a newer pitwatch wrote it"):
            other.migrate()

    def test_changed_migration_is_refused(self, other: ClickHouseStore, client: Client) -> None:
        client.command("INSERT INTO schema_migrations (version, name, checksum) VALUES (1, '0001_events.sql', 'x')")
        with pytest.raises(StoreUnavailable, match=r"0001_events\.sql differs"):
            other.migrate()


class TestRetention:
    def test_nothing_is_deleted_unless_asked_for(self, store: ClickHouseStore, client: Client, table_id: str) -> None:
        put(store, fact("round", table_id, opened_at=datetime(2001, 6, 1, tzinfo=UTC)))
        client.command("OPTIMIZE TABLE rounds_versions FINAL")
        assert len(seen(store, "round", table_id)) == 1

    @pytest.mark.parametrize(
        ("kind", "time"), [("round", "opened_at"), ("table_hour", "hour"), ("alert", "occurred_at")]
    )
    def test_rows_go_after_the_days_asked_for(self, folder: Path, client: Client, kind: str, time: str) -> None:
        name, now = f"kept_{uuid4().hex[:16]}", datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
        days = 40
        client.database = name
        with closing(ClickHouseStore.embedded(folder, StoreSettings(database=name, ttl_days=days))) as store:
            store.migrate()
            for number, age in enumerate((days - 1, days + 2)):
                put(store, fact(kind, f"T-{number}", **{time: now - timedelta(days=age)}, **alert_key(kind, number)))
            client.command(f"OPTIMIZE TABLE {VIEWS[kind]}_versions FINAL")
            assert [len(seen(store, kind, f"T-{number}")) for number in (0, 1)] == [1, 0]
        client.database = "pitwatch"

    def test_change_of_mind_is_taken_over(self, folder: Path, client: Client) -> None:
        name = f"kept_{uuid4().hex[:16]}"
        client.database = name
        for days in (None, 30, 30, 60, None):
            with closing(ClickHouseStore.embedded(folder, StoreSettings(database=name, ttl_days=days))) as store:
                store.migrate()
                for view in VIEWS.values():
                    definition = str(client.command(f"SHOW CREATE TABLE {view}_versions"))
                    assert (f"toIntervalDay({days})" in definition) is (days is not None)
                    assert ("TTL" in definition) is (days is not None)
        client.database = "pitwatch"


def alert_key(kind: str, number: int) -> dict[str, str]:
    """Return what tells two facts of different tables apart where the table is not in the key."""
    return {"alert_id": f"a-{number}"} if kind == "alert" else {}


def test_window_reads_the_days_around_it_and_no_others(store: ClickHouseStore, table_id: str) -> None:
    """Of forty days of one round each, a window of a second needs the files of three days at most."""
    for day in range(40):
        put(store, fact("round", table_id, round=day + 1, opened_at=MOMENT + day * 86_400 * SECOND))
    window = "rounds_between(since = '2026-04-20 00:00:00', until = '2026-04-20 00:00:01')"
    plan = store.query(
        f"EXPLAIN indexes = 1 SELECT count() FROM {window} WHERE table_id = '{table_id}'", fmt="TSVRaw"
    ).decode()
    assert "Skip" in plan
    skipped = plan.partition("by_day")[2]
    assert "PrimaryKeyExpand" not in plan
    assert "Granules: " in skipped
    left = int(skipped.partition("Granules: ")[2].partition("/")[0])
    assert left <= 3


def test_insert_from_the_contract_is_what_the_wire_writes() -> None:
    """The wire's JSON goes in as it is; an indented one would be another format."""
    assert b"\n" not in encode(fact("dead_letter", "T-1"))
