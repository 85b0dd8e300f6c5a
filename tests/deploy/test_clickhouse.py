"""ClickHouse's users as the engine itself reads them: what each may do, and what it is stopped from doing."""

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from processors.store.access import SCREEN_SECONDS
from processors.store.clickhouse import reader_settings
from processors.store.migrations import migrations as steps
from processors.store.port import VIEWS
from tests.conftest import REPOSITORY
from tests.deploy.compose import read
from tests.deploy.engine import asked_of

FOLDER = REPOSITORY / "deploy" / "clickhouse"
FILES = sorted(FOLDER.glob("*.xml"))
READERS = ("grafana", "analyst")

HASHES = {f"CLICKHOUSE_{name}_SHA256": "ab" * 32 for name in ("WRITER", "GRAFANA", "ANALYST")}

DENIED = "ACCESS_DENIED"
READ_ONLY = "READONLY"

GRAFANAS_DEADLINE = 65
"""Seconds that its data source asks for where nobody set its deadline: a minute, and five more."""


def asked(folder: Path, user: str, *statements: str) -> list[object]:
    """Return what becomes of statements when `user` runs them in the store of `folder`."""
    return asked_of("tests.deploy.engine_user", folder, user, statements=statements, environment=HASHES)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that Pitwatch's own user made and migrated."""
    folder = tmp_path_factory.mktemp("clickhouse")
    assert asked(folder, "pitwatch", "SELECT name FROM system.databases") == [[["pitwatch"]]]
    return folder


def test_writer_can_do_its_work_and_no_more(store: Path) -> None:
    answers = asked(
        store,
        "pitwatch",
        "SELECT count() FROM pitwatch.schema_migrations",
        "SELECT getSetting('async_insert')",
        "INSERT INTO pitwatch.dead_letters_versions (table_id) SELECT 'B01'",
        "SELECT count() FROM pitwatch.dead_letters",
        "CREATE DATABASE other",
        "DROP DATABASE pitwatch",
        "CREATE USER somebody",
        "SYSTEM SHUTDOWN",
        "SELECT * FROM url('http://127.0.0.1:1/', 'CSV', 'a Int8')",
        "SELECT * FROM file('/etc/passwd', 'LineAsString')",
        "SELECT count() FROM system.users",
    )
    taken, asynchronous, _, rows, *denied = answers
    assert taken == [[len(steps())]]
    assert asynchronous == [[False]]
    assert rows == [[1]]
    assert denied == [DENIED] * len(denied)


def test_writer_can_make_a_clusters_tables_and_readers_read_them(store: Path) -> None:
    shards = "Distributed('pitwatch', 'pitwatch', 'dead_letters_versions', cityHash64(table_id))"
    made, rows = asked(
        store,
        "pitwatch",
        f"CREATE TABLE IF NOT EXISTS pitwatch.everywhere AS pitwatch.dead_letters_versions ENGINE = {shards}",
        "SELECT count() >= 0 FROM pitwatch.everywhere",
    )
    assert isinstance(made, list), made
    assert rows == [[True]]
    for user in READERS:
        assert asked(store, user, "SELECT count() >= 0 FROM pitwatch.everywhere FINAL") == [[[True]]]


@pytest.mark.parametrize("user", READERS)
def test_reader_sees_every_view(store: Path, user: str) -> None:
    answers = asked(store, user, *(f"SELECT count() >= 0 FROM pitwatch.{view}" for view in VIEWS.values()))
    assert answers == [[[True]]] * len(VIEWS)


@pytest.mark.parametrize("user", READERS)
def test_reader_changes_nothing_and_reaches_nothing_else(store: Path, user: str) -> None:
    forbidden = {
        "INSERT INTO pitwatch.dead_letters_versions (table_id) SELECT 'B01'": {DENIED, READ_ONLY},
        "ALTER TABLE pitwatch.dead_letters_versions DELETE WHERE 1": {DENIED, READ_ONLY},
        "DROP TABLE pitwatch.dead_letters_versions": {DENIED, READ_ONLY},
        "CREATE TABLE pitwatch.mine (a Int8) ENGINE = Memory": {DENIED, READ_ONLY},
        "CREATE DATABASE other": {DENIED, READ_ONLY},
        "SELECT * FROM url('http://127.0.0.1:1/', 'CSV', 'a Int8')": {DENIED, READ_ONLY},
        "SELECT * FROM file('/etc/passwd', 'LineAsString')": {DENIED, READ_ONLY},
        "SELECT * FROM remote('127.0.0.1:1', 'system', 'one')": {DENIED, READ_ONLY},
        "SELECT count() FROM system.users": {DENIED},
        "SYSTEM STOP MERGES pitwatch.alerts_versions": {DENIED},
        "SELECT 1 SETTINGS max_memory_usage = 0": {READ_ONLY},
        "SELECT 1 SETTINGS readonly = 0": {READ_ONLY},
        "SET max_result_rows = 0": {READ_ONLY},
    }
    answers = dict(zip(forbidden, asked(store, user, *forbidden), strict=True))
    assert {statement: word for statement, word in answers.items() if str(word) not in forbidden[statement]} == {}


@pytest.mark.parametrize(("user", "seconds"), [("grafana", 30.0), ("analyst", 120.0)])
def test_readers_limits_are_in_force(store: Path, user: str, seconds: float) -> None:
    settings, rows = asked(
        store,
        user,
        "SELECT getSetting('readonly'), getSetting('max_execution_time'), getSetting('max_memory_usage') > 0",
        "SELECT number FROM numbers(1000001)",
    )
    assert settings == [[1, seconds, True]]
    assert rows == "TOO_MANY_ROWS_OR_BYTES"


def test_profiles_and_quotas_of_the_users_are_there() -> None:
    tree = ET.parse(FOLDER / "users.xml")
    for kind in ("profile", "quota"):
        known = {element.tag for element in tree.find(f"{kind}s") or []} | {"default"}
        assert {element.text for element in tree.iterfind(f"users/*/{kind}")} <= known
    assert tree.findtext("users/analyst/quota") == "analyst"
    assert int(tree.findtext("quotas/analyst/interval/queries") or 0) > 0


def with_users(folder: Path, users: str, user: str, *statements: str) -> "subprocess.CompletedProcess[str]":
    """Run statements as `user` in a store of its own, with other users than those of the file."""
    changed = folder.with_name(f"{folder.name}.xml")
    changed.write_text(users)
    program = (
        "import sys; from pathlib import Path; from tests.deploy import engine_user as e;"
        "e.USERS = Path(sys.argv[3]); e.main(Path(sys.argv[1]), sys.argv[2])"
    )
    return subprocess.run(
        [sys.executable, "-c", program, str(folder), user, str(changed)],
        input="".join(f"{statement}\n" for statement in statements),
        env=os.environ | HASHES,
        cwd=REPOSITORY,
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_wrong_setting_would_be_noticed(tmp_path: Path) -> None:
    """The checks here rest on the engine's refusing what it doesn't know."""
    users = (FOLDER / "users.xml").read_text().replace("max_result_rows>", "max_result_rowz>")
    ran = with_users(tmp_path / "wrong", users, "analyst")
    assert ran.returncode != 0
    assert "max_result_rowz" in ran.stderr


def test_grafana_may_change_its_time_limit_within_bounds(tmp_path: Path) -> None:
    """It may though it only reads; here that is said of the file, for the engine alone knows no such constraint."""
    users = (FOLDER / "users.xml").read_text()
    profile = ET.fromstring(users).find("profiles/grafana/constraints/max_execution_time")
    assert profile is not None
    assert profile.find("changeable_in_readonly") is not None
    assert profile.findtext("max") == str(SCREEN_SECONDS)
    server = ET.parse(FOLDER / "config.xml")
    assert server.findtext("access_control_improvements/settings_constraints_replace_previous") == "true"
    asking = [
        f"SELECT 1 SETTINGS max_execution_time = {seconds}" for seconds in (GRAFANAS_DEADLINE, SCREEN_SECONDS + 1)
    ]
    ran = with_users(tmp_path / "free", users.replace("<readonly>1</readonly>", ""), "grafana", *asking)
    assert json.loads(ran.stdout) == [[[1]], "SETTING_CONSTRAINT_VIOLATION"], ran.stderr


def test_readers_work_under_what_the_views_need() -> None:
    profile = ET.parse(FOLDER / "users.xml").find("profiles/reader")
    assert profile is not None
    ours = reader_settings(max_execution_seconds=30)
    for name in ("readonly", "result_overflow_mode", "max_execution_time"):
        assert profile.findtext(name) == str(ours[name])
    for name in ("use_skip_indexes_if_final_exact_mode", "do_not_merge_across_partitions_select_final"):
        assert profile.findtext(name) == str(ours[name]), name


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_secrets_come_from_the_environment(path: Path) -> None:
    for element in ET.parse(path).iter():
        if element.tag.startswith(("password", "secret")):
            assert element.attrib.keys() == {"from_env"}, element.tag
            assert not (element.text or "").strip()


def test_there_is_no_default_user() -> None:
    users = ET.parse(FOLDER / "users.xml").find("users")
    assert users is not None
    assert [(user.tag, user.attrib) for user in users if user.tag == "default"] == [("default", {"remove": "remove"})]
    assert {user.tag for user in users} == {"default", "pitwatch", *READERS}


def test_cluster_names_the_services_that_are_there() -> None:
    cluster, keeper = ET.parse(FOLDER / "cluster.xml"), ET.parse(FOLDER / "keeper.xml")
    hosts = [*cluster.iter("host"), *keeper.iter("hostname")]
    assert {host.text for host in hosts} == {"clickhouse-1", "clickhouse-2", "keeper"}
    assert {host.text for host in hosts} <= read().services.keys()
    assert cluster.findtext("zookeeper/node/port") == keeper.findtext("keeper_server/tcp_port")
    asked_for = {
        element.attrib["from_env"]
        for path in FILES
        if path.name != "keeper.xml"
        for element in ET.parse(path).iter()
        if "from_env" in element.attrib
    }
    assert asked_for <= read().services["clickhouse-1"].environment.keys()
