"""A server's accounts: one writes, the others read, and nobody does more. Held against the engine's own rights.

The embedded engine makes no accounts. So each statement is parsed by it, and the grants among them are given to its
only user, who then tries what the account would.
"""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import ClickHouseError
from pydantic import SecretStr

from processors.settings import StoreSettings
from processors.sql.settings import SqlUser
from processors.store.access import reader_statements, writer_statements
from processors.store.clickhouse import ClickHouseStore
from tests.contract.store.asking import put, seen
from tests.contract.store.one_shard import CLUSTER, to_one_shard
from tests.contract.store.stored_facts import fact

SERVER = StoreSettings(url="http://unused", user="filler", password=SecretStr("secret"), ttl_days=36_500)
SERVERS = SERVER.model_copy(update={"cluster": CLUSTER})
ANALYST, SCREEN = (SqlUser(name=name, password_sha256=digit * 64) for name, digit in (("ana", "a"), ("grafana", "b")))


def granted(statements: list[str]) -> list[str]:
    """Return the grants among statements as a server's file of users has them."""
    grants = [statement.partition(" TO ")[0] for statement in statements if statement.startswith("GRANT")]
    return [grant.replace(f" ON CLUSTER `{CLUSTER}`", "") for grant in grants]


def denied(client: Client, statement: str) -> bool:
    try:
        client.command(statement)
    except ClickHouseError as error:
        return "ACCESS_DENIED" in str(error)
    return False


@pytest.fixture(scope="module", params=[SERVER, SERVERS], ids=["server", "cluster"])
def filled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, StoreSettings]:
    """A store that somebody with the writer's rights alone has made and filled."""
    settings: StoreSettings = request.param
    folder = tmp_path_factory.mktemp("access")
    connect = to_one_shard(folder, granted(writer_statements(settings)))
    with closing(ClickHouseStore(connect, settings, "writer")) as store:
        store.migrate()
        assert store.migrate() == []
        put(store, fact("round", "T-1"))
    return folder, settings


OUT_OF_BOUNDS = (
    "CREATE DATABASE other",
    "CREATE TABLE default.t (a UInt8) ENGINE = MergeTree ORDER BY a",
    "SELECT * FROM url('http://127.0.0.1:1', 'LineAsString')",
    "DROP DATABASE pitwatch",
    "DROP TABLE rounds_versions",
    "TRUNCATE TABLE rounds_versions",
    "CREATE USER x",
    "GRANT SELECT ON *.* TO default",
    "SYSTEM SHUTDOWN",
)


@contextmanager
def working(folder: Path, settings: StoreSettings, statements: list[str]) -> Iterator[Client]:
    """Lend a client of the store with the rights that the grants among `statements` give. One at a time."""
    with closing(to_one_shard(folder, granted(statements))({})) as client:
        client.database = settings.database
        yield client


def test_writer_fills_its_database_and_does_no_more(filled: tuple[Path, StoreSettings]) -> None:
    folder, settings = filled
    with working(folder, settings, writer_statements(settings)) as client:
        assert [statement for statement in OUT_OF_BOUNDS if not denied(client, statement)] == []


def test_reader_reads_the_database_and_nothing_else(filled: tuple[Path, StoreSettings]) -> None:
    folder, settings = filled
    grants = granted(reader_statements(settings, [ANALYST]))
    assert grants == ["GRANT SELECT ON pitwatch.*"]
    with closing(ClickHouseStore(to_one_shard(folder, grants), settings, "reader")) as store:
        store.attach()
        assert len(seen(store, "round", "T-1")) == 1
    with working(folder, settings, reader_statements(settings, [ANALYST])) as client:
        writing = ("INSERT INTO rounds_versions (shoe) VALUES (1)", "DROP TABLE rounds", "ALTER TABLE x DELETE WHERE 1")
        assert [statement for statement in (*writing, *OUT_OF_BOUNDS) if not denied(client, statement)] == []


def test_engine_understands_every_statement(filled: tuple[Path, StoreSettings]) -> None:
    folder, settings = filled
    made = [*writer_statements(settings), *reader_statements(settings, [ANALYST, SCREEN])]
    with working(folder, settings, made) as client:
        for statement in made:
            found = client.query("SELECT formatQuerySingleLine({sql:String})", parameters={"sql": statement})
            assert (f"ON CLUSTER {CLUSTER}" in found.result_rows[0][0]) is (settings.cluster is not None)


def test_every_reader_is_made_with_the_readers_limits() -> None:
    profile, *accounts = reader_statements(SERVER, [ANALYST, SCREEN])
    assert "readonly = 1" in profile
    assert "max_execution_time = 30 MIN 1 MAX 90 CHANGEABLE_IN_READONLY" in profile
    assert profile.count("CHANGEABLE_IN_READONLY") == 1
    for limit in ("max_result_rows", "max_result_bytes", "max_memory_usage"):
        assert f"{limit} = " in profile
    created = [account for account in accounts if account.startswith("CREATE USER")]
    assert [account.split("`")[1] for account in created] == ["ana", "grafana"]
    assert all("SETTINGS PROFILE 'pitwatch_reader'" in account for account in created)
    assert f"IDENTIFIED WITH sha256_hash BY '{ANALYST.password_sha256}'" in created[0]


def test_password_is_in_no_statement() -> None:
    assert "secret" not in " ".join(writer_statements(SERVER))


def test_slow_reader_may_be_as_slow_as_the_settings_say() -> None:
    patient = SERVER.model_copy(update={"max_execution_seconds": 600})
    assert "MAX 600" in reader_statements(patient, [])[0]
