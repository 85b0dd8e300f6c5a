"""`pitwatch migrate`: a server's schema, and the statements that make it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from processors.sql.users import mint_password
from processors.store.migrations import migrations
from tests.pitwatch.command_line import CommandLine
from tests.pitwatch.store_server import Server, serving_store, store_server

USERS = '[[sql.users]]\nname = "ana"\npassword_sha256 = "{}"\n'.format("ab" * 32)


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    with store_server(tmp_path / "server") as server:
        monkeypatch.setenv("STORE_PASSWORD", server.password)
        yield server


def test_schema_is_made_once(pitwatch: CommandLine, server: Server, tmp_path: Path) -> None:
    config = server.config(tmp_path)
    first = pitwatch("migrate", "--config", config)
    assert (first.exit_code, first.err) == (0, "")
    assert all(step.name in first.out.decode() for step in migrations())
    again = pitwatch("migrate", "--config", config)
    assert again.out.decode() == f"{server.url}: up to date already\n"
    with server.store() as store:
        store.attach()
        assert store.rows("SELECT count() AS rounds FROM rounds", dict) == [{"rounds": 0}]


def test_server_that_makes_no_users_says_so(pitwatch: CommandLine, server: Server, tmp_path: Path) -> None:
    answer = pitwatch("migrate", "--users", "--config", server.config(tmp_path, USERS))
    assert answer.exit_code == 2
    assert "the users of" in answer.err


def test_statements_can_be_had_instead(pitwatch: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STORE_PASSWORD", "hidden")
    nowhere = Server("http://127.0.0.1:1", "hidden")
    schema = pitwatch("migrate", "--print", "--config", nowhere.config(tmp_path, USERS)).out.decode()
    assert schema.startswith("CREATE DATABASE IF NOT EXISTS pitwatch ENGINE = Atomic;\n")
    assert schema.count("INSERT INTO schema_migrations") == len(migrations())
    assert "USER" not in schema
    users = pitwatch("migrate", "--print", "--users", "--config", nowhere.config(tmp_path, USERS)).out.decode()
    assert users.index("`filler`") < users.index("CREATE DATABASE") < users.index("`ana`")
    assert "hidden" not in users


def test_printed_statements_make_a_store_that_workers_take(
    pitwatch: CommandLine, server: Server, tmp_path: Path
) -> None:
    printed = pitwatch("migrate", "--print", "--config", server.config(tmp_path)).out.decode()
    with server.store() as store:
        for statement in printed.removesuffix(";\n").split(";\n"):
            if statement == "USE pitwatch":
                store._writer.database = "pitwatch"
            else:
                store._writer.command(statement)
        store.attach()
        assert store.migrate() == []


@pytest.mark.parametrize(("more", "cluster"), [("", False), ('cluster = "floor"\n', True)])
def test_cluster_is_a_setting(
    pitwatch: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: str, cluster: bool
) -> None:
    monkeypatch.setenv("STORE_PASSWORD", "x")
    printed = pitwatch("migrate", "--print", "--config", Server("http://127.0.0.1:1", "x").config(tmp_path, more)).out
    assert (b"ON CLUSTER `floor`" in printed) is (b"ENGINE = Distributed" in printed) is cluster


def test_server_that_is_not_there_is_named(
    pitwatch: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STORE_PASSWORD", "x")
    answer = pitwatch("migrate", "--config", Server("http://127.0.0.1:1", "x").config(tmp_path))
    assert answer == (2, b"", "pitwatch: the store http://127.0.0.1:1 can't be reached: Connection refused\n")


def test_wrong_password_is_named(
    pitwatch: CommandLine, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STORE_PASSWORD", "wrong")
    answer = pitwatch("migrate", "--config", server.config(tmp_path))
    assert answer.exit_code == 2
    assert "Authentication failed" in answer.err
    assert "wrong" not in answer.err


def test_user_that_may_only_read_is_named(
    pitwatch: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    password, sha256 = mint_password()
    monkeypatch.setenv("STORE_PASSWORD", password)
    with serving_store(tmp_path / "server", sha256, writes=False) as url:
        answer = pitwatch("migrate", "--config", Server(url, password).config(tmp_path))
    assert answer.exit_code == 2
    assert "the user 'filler' of the store" in answer.err
    assert "may only read" in answer.err
    assert "can't be reached" not in answer.err


@pytest.mark.parametrize("command", ["migrate", "sink"])
def test_embedded_store_needs_neither(pitwatch: CommandLine, tmp_path: Path, command: str) -> None:
    config = tmp_path / "floor.toml"
    config.write_text("")
    answer = pitwatch(command, "--config", config)
    assert answer.exit_code == 2
    assert "store.url" in answer.err
