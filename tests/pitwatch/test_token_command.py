"""`pitwatch token`: the secret once, and the line that its table's settings take."""

import hashlib
import json
import tomllib

import pytest

from processors.settings import FloorTable
from tests.pitwatch.command_line import CommandLine


def test_token_and_its_line_for_the_settings(pitwatch: CommandLine) -> None:
    answer = pitwatch("token", "B01")
    assert answer.exit_code == 0
    secret, line = answer.out.decode().splitlines()
    settings = tomllib.loads(line)
    assert settings == {"tokens_sha256": [hashlib.sha256(secret.encode()).hexdigest()]}
    table = FloorTable.model_validate({"table_id": "B01", "configuration": "macau", **settings})
    assert list(table.tokens_sha256) == settings["tokens_sha256"]
    assert secret not in answer.err
    assert "B01" in answer.err


def test_every_token_is_new(pitwatch: CommandLine) -> None:
    assert len({pitwatch("token", "B01").out for _ in range(5)}) == 5


def test_json(pitwatch: CommandLine) -> None:
    answer = pitwatch("token", "B01", "--json")
    found = json.loads(answer.out)
    assert found["table_id"] == "B01"
    assert found["sha256"] == hashlib.sha256(found["token"].encode()).hexdigest()
    assert answer.err == ""


@pytest.mark.parametrize("table", ["", "a b", "-x y", "桌", "x" * 41])
def test_impossible_table_is_refused(pitwatch: CommandLine, table: str) -> None:
    answer = pitwatch("token", "--", table)
    assert (answer.exit_code, answer.out) == (2, b"")
    assert "is no table id" in answer.err
