"""What the endpoint keeps readers from: the store's rows, the machine, and each other's turns."""

import json
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from processors.sql import turns as turns_module
from processors.sql.app import Endpoint
from processors.store.clickhouse import ClickHouseStore
from tests.processors.sql.conftest import ANA, ROUNDS, SECRETS, Ask

Answering = Callable[..., AbstractContextManager[tuple[str, Endpoint]]]

ENDLESS = "SELECT count() FROM numbers(1000000000000) WHERE cityHash64(number) = 7"
PATIENCE_SECONDS = 60.0


def post(url: str, statement: str, user: str = "ana", **fields: str) -> httpx.Response:
    return httpx.post(url, content=statement, params=fields, auth=(user, SECRETS[user][0]), timeout=PATIENCE_SECONDS)


def running(store: ClickHouseStore, statement: str) -> int:
    """Return how many queries of this text the engine is at."""
    (row,) = store.rows(
        "SELECT count() AS n FROM system.processes WHERE endsWith(query, {text:String})", dict, {"text": statement}
    )
    return int(row["n"])


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        assert time.monotonic() < deadline, "it never came about"
        time.sleep(0.01)


class TestReadingOnly:
    @pytest.mark.parametrize("method", ["GET", "POST"])
    @pytest.mark.parametrize(
        "statement",
        [
            "INSERT INTO rounds_versions FORMAT JSONEachRow\n{}",
            "INSERT INTO rounds_versions VALUES (1)",
            "DROP TABLE rounds_versions",
            "TRUNCATE TABLE rounds_versions",
            "ALTER TABLE rounds_versions DELETE WHERE 1",
            "CREATE TABLE x (a UInt8) ENGINE = Memory",
            "SET readonly = 0",
            "SYSTEM SHUTDOWN",
            "KILL QUERY WHERE 1",
            "SELECT 1 INTO OUTFILE '/nowhere/x'",
            "SELECT * FROM file('/etc/passwd', 'LineAsString')",
            "SELECT file('/etc/passwd')",
            "SELECT * FROM url('http://127.0.0.1:1/', 'LineAsString')",
            "WITH (SELECT file('/etc/passwd')) AS x SELECT x",
            "SELECT 1 PARALLEL WITH DROP TABLE rounds_versions",
            "SELECT 1 SETTINGS readonly = 0",
            "SELECT sleep(3)",
        ],
    )
    def test_readers_read_the_database_and_nothing_else(self, url: str, ask: Ask, statement: str, method: str) -> None:
        fields, body = ({"query": statement}, b"") if method == "GET" else ({}, statement.encode())
        answer = httpx.request(method, url, params=fields, content=body, auth=ANA)
        assert answer.status_code >= 400
        assert "root:" not in answer.text
        assert ask("SELECT count() FROM rounds WHERE table_id = 'BAC-01'").text == f"{ROUNDS}\n"

    @pytest.mark.parametrize(
        "fields",
        [
            {"readonly": "0"},
            {"allow_ddl": "1"},
            {"format_schema": "/etc/passwd:x"},
            {"output_format_schema": "/tmp/x"},
            {"max_threads": "1', readonly = '0"},
            {"session_timezone": "UTC', readonly = '0"},
            {"max_execution_time = 1, readonly": "0"},
            {"profile": "default"},
            {"role": "admin"},
        ],
    )
    def test_settings_open_no_door(self, ask: Ask, fields: dict[str, str]) -> None:
        answer = ask("SELECT getSetting('readonly')", **fields)
        assert answer.status_code >= 400, answer.text

    def test_every_reader_is_held_to_reading_by_the_engine_too(self, ask: Ask) -> None:
        assert ask("SELECT getSetting('readonly')").text == "1\n"

    def test_reader_takes_its_share_of_the_machine_and_no_more(self, ask: Ask) -> None:
        assert ask("SELECT getSetting('max_threads')", max_threads="64").text == "1\n"

    def test_get_of_a_writer_changes_nothing(self, url: str) -> None:
        answer = httpx.get(url, params={"query": "DROP TABLE rounds_versions"}, auth=("writer", SECRETS["writer"][0]))
        assert answer.headers["x-clickhouse-exception-code"] == "164"

    def test_headers_cannot_be_injected(self, ask: Ask) -> None:
        answer = ask("SELECT 1", query_id="x\r\nX-Evil: 1")
        assert answer.status_code == 400
        assert "x-evil" not in answer.headers

    @pytest.mark.parametrize("name", ["ana", "", "nobody"])
    def test_without_the_password_nothing_is_told(self, url: str, name: str) -> None:
        answer = httpx.post(url, content="SELECT 1", auth=(name, "wrong"))
        assert (answer.status_code, answer.headers["x-clickhouse-exception-code"]) == (403, "516")
        anonymous = httpx.post(url, content="SELECT 1")
        assert (anonymous.status_code, anonymous.headers["x-clickhouse-exception-code"]) == (401, "194")
        assert anonymous.headers["www-authenticate"].startswith("Basic")

    def test_password_in_the_address_is_refused(self, url: str) -> None:
        answer = httpx.post(url, params={"user": "ana", "password": ANA[1]}, content="SELECT 1")
        assert answer.status_code == 401


class TestBounds:
    def test_long_statement_is_refused(self, ask: Ask) -> None:
        assert ask("SELECT 1" + " " * 2_000_000).status_code == 413
        assert ask("SELECT " + "1 + " * 100_000 + "1").headers["x-clickhouse-exception-code"] in ("62", "167")
        assert ask("SELECT " + "(" * 5000 + "1" + ")" * 5000).headers["x-clickhouse-exception-code"] == "306"

    def test_long_parameter_is_taken_in_a_form(self, url: str) -> None:
        fields = {"query": (None, "SELECT length({a:String})"), "param_a": (None, "x" * 500_000)}
        assert httpx.post(url, files=fields, auth=ANA).text == "500000\n"

    def test_endless_query_is_stopped(self, answering: Answering) -> None:
        with answering(seconds=1) as (url, _):
            answer = post(url, ENDLESS, max_execution_time="3600")
            assert (answer.status_code, answer.headers["x-clickhouse-exception-code"]) == (408, "159")

    def test_query_that_takes_all_memory_is_refused(self, ask: Ask) -> None:
        answer = ask("SELECT count() FROM (SELECT groupArray(number) FROM numbers(1000000000))")
        assert answer.headers["x-clickhouse-exception-code"] == "241"

    def test_answer_that_must_be_whole_has_a_limit(self, answering: Answering) -> None:
        with answering(answer_bytes=2**20) as (url, _):
            statement = "SELECT number FROM numbers(1000000)"
            assert post(url, statement, default_format="JSON").headers["x-clickhouse-exception-code"] == "396"
            assert len(post(url, statement, default_format="JSONEachRow").content.splitlines()) == 1_000_000

    def test_long_answer_is_not_kept_in_memory(self, url: str) -> None:
        """A quarter of a gigabyte goes through, and the process gets nowhere near that much larger."""
        before = resident_bytes()
        received, largest = 0, 0
        with httpx.stream(
            "POST", url, content="SELECT number, cityHash64(number) FROM numbers(9000000) FORMAT CSV",
            auth=ANA, timeout=PATIENCE_SECONDS,
        ) as answer:  # fmt: skip
            for piece in answer.iter_bytes():
                received += len(piece)
                largest = max(largest, resident_bytes())
        assert received > 240_000_000
        assert largest - before < 128 * 2**20

    def test_body_that_does_not_come_is_given_up(self, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("processors.sql.app.BODY_SECONDS", 0.2)
        address = urlsplit(url)
        with socket.create_connection((address.hostname or "", address.port or 0)) as connection:
            lines = ["POST / HTTP/1.1", "Host: x", "Content-Length: 10"]
            lines += [f"X-ClickHouse-User: {ANA[0]}", f"X-ClickHouse-Key: {ANA[1]}", "", "SEL"]
            connection.sendall("\r\n".join(lines).encode())
            assert b"408" in connection.recv(1000)


def resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


class TestTogether:
    def test_many_ask_at_once_and_each_gets_its_own_answer(self, url: str) -> None:
        def one(number: int) -> bool:
            user = ("ana", "bob")[number % 2]
            return post(url, f"SELECT {number}, count() FROM numbers(100000)", user).text == f"{number}\t100000\n"

        with ThreadPoolExecutor(16) as pool:
            assert all(pool.map(one, range(100)))

    def test_rows_that_come_in_meanwhile_are_seen(self, ask: Ask, store: ClickHouseStore) -> None:
        from tests.contract.store.asking import put
        from tests.contract.store.stored_facts import fact

        put(store, fact("round", "BAC-99", round=1))
        assert ask("SELECT count() FROM rounds WHERE table_id = 'BAC-99'").text == "1\n"

    def test_who_waits_too_long_is_told_to_come_back(
        self, answering: Answering, store: ClickHouseStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(turns_module, "WAIT_SECONDS", 0.1)
        with answering(queries=1) as (url, endpoint), ThreadPoolExecutor(1) as pool:
            first = pool.submit(post, url, ENDLESS)
            wait_until(lambda: running(store, ENDLESS) == 1)
            refused = post(url, "SELECT 1", "bob")
            assert (refused.status_code, refused.headers["x-clickhouse-exception-code"]) == (503, "202")
            assert refused.headers["retry-after"] == "1"
            endpoint.stop()
            assert first.result().headers["x-clickhouse-exception-code"] == "394"


class TestEnds:
    def test_query_of_a_client_that_hangs_up_is_stopped(self, url: str, store: ClickHouseStore) -> None:
        statement = f"{ENDLESS} AND 1"
        with pytest.raises(httpx.ReadTimeout):
            httpx.post(url, content=statement, auth=ANA, timeout=httpx.Timeout(60, read=1))
        wait_until(lambda: running(store, statement) == 0)

    def test_long_answer_that_nobody_reads_on_is_stopped(self, url: str, store: ClickHouseStore) -> None:
        statement = "SELECT number FROM numbers(100000000000)"
        with httpx.stream("POST", url, content=statement, auth=ANA) as answer:
            next(answer.iter_bytes())
            wait_until(lambda: running(store, statement) == 1)
        wait_until(lambda: running(store, statement) == 0)

    def test_stop_ends_what_runs_and_lets_nothing_begin(self, answering: Answering, store: ClickHouseStore) -> None:
        with answering() as (url, endpoint), ThreadPoolExecutor(3) as pool:
            asked = [pool.submit(post, url, ENDLESS, user) for user in ("ana", "bob", "ana")]
            wait_until(lambda: running(store, ENDLESS) == 3)
            endpoint.stop()
            assert [one.result().headers["x-clickhouse-exception-code"] for one in asked] == ["394"] * 3
            assert post(url, "SELECT 1").status_code == 503
        assert running(store, ENDLESS) == 0
        assert store.query("SELECT 1", fmt="TSV") == b"1\n"

    def test_threads_end_with_the_endpoint(self, answering: Answering) -> None:
        before = threading.active_count()
        with answering() as (url, _):
            post(url, "SELECT 1")
        wait_until(lambda: threading.active_count() <= before)

    def test_what_was_asked_is_counted(self, url: str, ask: Ask) -> None:
        from prometheus_client import generate_latest

        from processors.metrics import REGISTRY

        ask("SELECT 1", user="bob")
        ask("SELEC 1", user="bob")
        text = generate_latest(REGISTRY).decode()
        for code in ("0", "62"):
            assert f'pitwatch_sql_queries_total{{code="{code}",user="bob"}}' in text
        assert json.dumps("nobody") not in text
