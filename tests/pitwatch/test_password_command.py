"""`pitwatch password`: the secret once, and the lines that the settings take."""

import hashlib
import json
import tomllib

import pytest

from processors.sql.settings import SqlSettings
from tests.pitwatch.command_line import CommandLine


def test_password_and_its_lines_for_the_settings(pitwatch: CommandLine) -> None:
    answer = pitwatch("password", "ana")
    assert answer.exit_code == 0
    secret, *lines = answer.out.decode().splitlines()
    users = SqlSettings.model_validate(tomllib.loads("\n".join(lines))["sql"]).users
    assert [(user.name, user.password_sha256) for user in users] == [
        ("ana", hashlib.sha256(secret.encode()).hexdigest())
    ]
    assert secret not in answer.err


def test_every_password_is_new(pitwatch: CommandLine) -> None:
    assert len({pitwatch("password", "ana").out for _ in range(5)}) == 5


def test_json(pitwatch: CommandLine) -> None:
    found = json.loads(pitwatch("password", "grafana", "--json").out)
    assert found["name"] == "grafana"
    assert found["password_sha256"] == hashlib.sha256(found["password"].encode()).hexdigest()


@pytest.mark.parametrize("name", ["", "a b", "1a", "莊", "x" * 64, "a'; DROP"])
def test_impossible_name_is_refused(pitwatch: CommandLine, name: str) -> None:
    answer = pitwatch("password", "--", name)
    assert (answer.exit_code, answer.out) == (2, b"")
    assert "is no user's name" in answer.err
