"""What a cluster's statements do, in the engine itself; the contract suite holds the rest of it."""

from collections.abc import Iterator
from contextlib import closing

import pytest
from clickhouse_connect.driver.client import Client

from processors.settings import StoreSettings
from processors.store.clickhouse import ClickHouseStore
from processors.store.connections import Connect
from processors.store.migrations import Layout, migrations
from processors.store.port import VIEWS, StoreUnavailable
from tests.contract.store.asking import put, seen
from tests.contract.store.one_shard import CLUSTER, to_one_shard
from tests.contract.store.stored_facts import fact


@pytest.fixture(scope="module")
def connect(tmp_path_factory: pytest.TempPathFactory) -> Connect:
    return to_one_shard(tmp_path_factory.mktemp("cluster"))


@pytest.fixture(scope="module")
def client(connect: Connect) -> Iterator[Client]:
    with closing(connect({})) as client:
        yield client


def settings(database: str, ttl_days: int | None = None) -> StoreSettings:
    return StoreSettings(database=database, ttl_days=ttl_days, url="http://unused", cluster=CLUSTER)


def test_engine_understands_every_statement_of_a_cluster(client: Client) -> None:
    for step in migrations():
        for statement in Layout(CLUSTER, "pitwatch").render(step.text):
            found = client.query("SELECT formatQuerySingleLine({sql:String})", parameters={"sql": statement})
            assert "ON CLUSTER floor" in found.result_rows[0][0]


@pytest.mark.parametrize("days", [30, None])
def test_rows_are_kept_as_long_as_asked_for(connect: Connect, client: Client, days: int | None) -> None:
    with closing(ClickHouseStore(connect, settings("kept", days), "one shard")) as store:
        store.migrate()
        client.database = "kept"
        for view in VIEWS.values():
            definition = str(client.command(f"SHOW CREATE TABLE {view}_versions_local"))
            assert ("toIntervalDay(30)" in definition) is (days is not None)


def test_worker_attaches_to_what_was_migrated_and_makes_nothing(connect: Connect, client: Client) -> None:
    with closing(ClickHouseStore(connect, settings("attached"), "one shard")) as first:
        with pytest.raises(StoreUnavailable, match="pitwatch migrate"):
            first.attach()
        assert "attached" not in client.query("SELECT name FROM system.databases").result_columns[0]
        first.migrate()
        put(first, fact("round", "T-1"))
        with closing(ClickHouseStore(connect, settings("attached"), "one shard")) as second:
            second.attach()
            assert second.identity == first.identity
            assert len(seen(second, "round", "T-1")) == 1
