"""ClickHouse's own client for Python, in a process of its own, and Grafana's way of asking."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from processors.sql.native import reframed
from tests.conftest import REPOSITORY
from tests.processors.sql.conftest import ANA, ROUNDS, Ask

CLIENT = Path(__file__).with_name("client.py")


@pytest.fixture(scope="module")
def answered(url: str) -> dict[str, dict[str, Any]]:
    ran = subprocess.run(
        [sys.executable, str(CLIENT), str(urlsplit(url).port), *ANA],
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    found: dict[str, dict[str, Any]] = json.loads(ran.stdout)
    return found


@pytest.mark.parametrize("compressed", ["True", "False"])
def test_clickhouse_connect_gets_what_a_server_gives(answered: dict[str, dict[str, Any]], compressed: str) -> None:
    assert answered[compressed] == {
        "version": 3,
        "rows": [[1, "1200.00"], [2, "1200.00"]],
        "names": ["table_id", "shoe", "round"],
        "frame": [ROUNDS, 2],
        "arrow": ROUNDS,
        "command": ROUNDS,
        "texts": [["x'\\\n\t莊", 50_000]],
        "external": 164,
        "raw": "1\n",
        "stream": 1_500_000,
        "whole": 1_500_000,
        "late": 395,
        "late_in_stream": 395,
        "summary": "1",
    }


FIELDS = {"default_format": "Native", "client_protocol_version": "54460", "max_execution_time": "65"}


class TestGrafana:
    """Its data source asks through clickhouse-go, which names a version of the protocol and wants gzip."""

    def test_its_greeting_is_answered(self, ask: Ask) -> None:
        answer = ask("SELECT displayName(), version(), revision(), timezone()", **FIELDS)
        assert answer.headers["x-clickhouse-format"] == "Native"
        assert answer.content.startswith(b"\x01\x00\x02\xff\xff\xff\xff\x00\x04\x01\x0ddisplayName()\x06String\x00")

    @pytest.mark.parametrize("statement", ["SELECT * FROM rounds ORDER BY round", "SHOW TABLES", "DESCRIBE rounds"])
    def test_blocks_are_framed_for_it(self, ask: Ask, statement: str) -> None:
        framed = ask(statement, headers={"Accept-Encoding": "gzip"}, **FIELDS)
        plain = ask(statement, default_format="Native")
        assert framed.headers["content-encoding"] == "gzip"
        assert framed.content == reframed(plain.content)

    def test_others_get_blocks_as_they_are(self, ask: Ask) -> None:
        """clickhouse-connect names a version too, but looks whether it was heard."""
        asked_for = ask("SELECT 1 AS check", default_format="Native", client_protocol_version="54405")
        assert asked_for.content.startswith(b"\x01\x01\x05check")
