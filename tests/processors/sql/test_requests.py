"""The endpoint as curl sees it: what may be asked in which way, and what comes back."""

import gzip
import json
import zlib
from collections.abc import Callable

import httpx
import pytest
from backports import zstd
from lz4 import frame as lz4

from tests.processors.sql.conftest import ANA, ROUNDS, Ask


class TestAnswers:
    def test_answer_has_everything_that_clients_read(self, ask: Ask) -> None:
        answer = ask("SELECT count() AS rounds FROM rounds", query_id="q-1")
        assert (answer.status_code, answer.text) == (200, f"{ROUNDS}\n")
        assert answer.headers["x-clickhouse-format"] == "TabSeparated"
        assert answer.headers["x-clickhouse-query-id"] == "q-1"
        assert answer.headers["x-clickhouse-timezone"]
        assert answer.headers["content-type"] == "text/tab-separated-values; charset=UTF-8"
        summary = json.loads(answer.headers["x-clickhouse-summary"])
        assert summary["result_rows"] == "1"
        assert int(summary["read_rows"]) >= 1
        assert int(summary["elapsed_ns"]) > 0

    def test_queries_without_an_id_get_one_of_their_own(self, ask: Ask) -> None:
        ids = {ask("SELECT 1").headers["x-clickhouse-query-id"] for _ in range(3)}
        assert len(ids) == 3

    @pytest.mark.parametrize("fmt", ["JSON", "CSVWithNames", "JSONEachRow", "Parquet", "PrettyCompact", "ArrowStream"])
    def test_format_may_be_named_anywhere(self, ask: Ask, fmt: str) -> None:
        answers = [
            ask("SELECT 1 AS a", default_format=fmt),
            ask("SELECT 1 AS a", headers={"X-ClickHouse-Format": fmt}),
            ask(f"SELECT 1 AS a FORMAT {fmt}", default_format="TSV"),
        ]
        assert [answer.headers["x-clickhouse-format"] for answer in answers] == [fmt] * 3
        assert all(answer.content for answer in answers)

    def test_parameters_are_bound_not_pasted(self, ask: Ask) -> None:
        answer = ask(
            "SELECT {a:String} AS a, {n:Array(UInt8)} AS n FORMAT JSONEachRow", param_a="'; DROP --", param_n="[1,2]"
        )
        assert answer.json() == {"a": "'; DROP --", "n": [1, 2]}

    def test_parameters_come_escaped_as_clickhouse_wants_them(self, ask: Ask) -> None:
        assert ask("SELECT {a:String} AS a FORMAT JSONEachRow", param_a=r"x\'y\tz\\").json() == {"a": "x'y\tz\\"}

    def test_other_database_may_be_meant(self, ask: Ask) -> None:
        assert ask("SELECT count() > 0 FROM tables", database="system").text == "1\n"
        assert ask("SELECT currentDatabase()", headers={"X-ClickHouse-Database": "system"}).text == "system\n"
        missing = ask("SELECT 1", database="x` ; DROP")
        assert (missing.status_code, missing.headers["x-clickhouse-exception-code"]) == (404, "81")

    def test_settings_shape_the_answer(self, ask: Ask) -> None:
        quoted = ask("SELECT 1::UInt64 AS a FORMAT JSONEachRow", output_format_json_quote_64bit_integers="1")
        assert quoted.text == '{"a":"1"}\n'
        assert ask("SELECT number FROM numbers(9)", limit="2").text == "0\n1\n"

    def test_settings_of_one_request_are_not_the_nexts(self, ask: Ask) -> None:
        ask("SELECT 1", limit="0", session_timezone="Asia/Macau", session_id="same")
        assert (
            ask("SELECT count(), timezone() FROM (SELECT number FROM numbers(9))", session_id="same").text
            == "9\tEtc/UTC\n"
        )

    def test_totals_and_extremes_are_not_lost(self, ask: Ask) -> None:
        assert (
            ask("SELECT number % 2 AS a, count() FROM numbers(4) GROUP BY a WITH TOTALS ORDER BY a").text
            == "0\t2\n1\t2\n\n0\t4\n"
        )
        assert ask("SELECT number FROM numbers(3)", extremes="1").text == "0\n1\n2\n\n0\n2\n"

    @pytest.mark.parametrize("statement", ["SHOW TABLES", "DESCRIBE rounds", "EXPLAIN SELECT 1", "EXISTS TABLE rounds"])
    def test_other_reading_statements_are_answered(self, ask: Ask, statement: str) -> None:
        for fmt in ("TSV", "Native", "JSON"):
            assert ask(statement, default_format=fmt, client_protocol_version="54460").status_code == 200

    def test_answer_without_rows_is_empty_and_not_coded(self, ask: Ask) -> None:
        answer = ask("SELECT * FROM rounds WHERE 0 FORMAT Native", headers={"Accept-Encoding": "gzip"})
        assert (answer.headers["content-length"], answer.content) == ("0", b"")
        assert "content-encoding" not in answer.headers


PACKED: dict[str, tuple[Callable[[bytes], bytes], Callable[[bytes], bytes]]] = {
    "gzip": (gzip.compress, gzip.decompress),
    "deflate": (zlib.compress, zlib.decompress),
    "zstd": (zstd.compress, zstd.decompress),
    "lz4": (lz4.compress, lz4.decompress),
}


class TestCodings:
    @pytest.mark.parametrize("coding", PACKED)
    @pytest.mark.parametrize("rows", [10, 1_000_000])
    def test_answer_comes_in_the_coding_asked_for(self, url: str, coding: str, rows: int) -> None:
        statement, accepting = f"SELECT number FROM numbers({rows})", {"Accept-Encoding": coding}
        with httpx.stream("POST", url, content=statement, auth=ANA, headers=accepting, timeout=60) as answer:
            assert answer.headers["content-encoding"] == coding
            assert "Accept-Encoding" in answer.headers["vary"]
            packed = b"".join(answer.iter_raw())
        assert PACKED[coding][1](packed) == b"".join(b"%d\n" % number for number in range(rows))

    def test_answer_is_plain_when_that_is_asked_for(self, ask: Ask) -> None:
        answer = ask("SELECT 1", headers={"Accept-Encoding": "gzip"}, enable_http_compression="0")
        assert "content-encoding" not in answer.headers

    @pytest.mark.parametrize("coding", PACKED)
    def test_statement_may_come_packed(self, ask: Ask, coding: str) -> None:
        assert ask(PACKED[coding][0](b"SELECT 7"), headers={"Content-Encoding": coding}).text == "7\n"

    def test_packed_bomb_is_refused(self, ask: Ask) -> None:
        bomb = gzip.compress(b"SELECT 1" + b" " * 50_000_000)
        assert ask(bomb, headers={"Content-Encoding": "gzip"}).status_code == 413

    def test_unknown_coding_is_refused(self, ask: Ask) -> None:
        assert ask(b"x", headers={"Content-Encoding": "br"}).status_code == 415


class TestWaysIn:
    def test_get_asks_too(self, url: str) -> None:
        answer = httpx.get(url, params={"query": "SELECT 1"}, auth=ANA)
        assert (answer.status_code, answer.text) == (200, "1\n")

    def test_form_asks_too(self, url: str) -> None:
        fields = {"query": (None, "SELECT {a:String}"), "param_a": (None, "x")}
        answer = httpx.post(url, files=fields, auth=ANA)
        assert answer.text == "x\n"

    def test_ping_and_the_bare_address_need_no_password(self, url: str) -> None:
        for path in ("/ping", "/"):
            answer = httpx.get(url + path)
            assert (answer.status_code, answer.text) == (200, "Ok.\n")

    @pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "HEAD"])
    def test_other_methods_are_refused(self, url: str, method: str) -> None:
        assert httpx.request(method, url, auth=ANA).status_code == 405

    @pytest.mark.parametrize(
        "path", ["/play", "/dashboard", "/metrics", "/replicas_status", "//", "/x?query=SELECT%201"]
    )
    def test_other_paths_are_not_there(self, url: str, path: str) -> None:
        assert httpx.get(url + path, auth=ANA).status_code == 404


class TestErrors:
    @pytest.mark.parametrize(
        ("statement", "code", "status"),
        [
            ("", "36", 400),
            ("SELEC 1", "62", 400),
            ("SELECT nothing", "47", 400),
            ("SELECT * FROM nowhere", "60", 404),
            ("SELECT 1; SELECT 2", "62", 400),
            ("SELECT {a:UInt8}", "456", 500),
            ("SELECT 1 FORMAT Nonsense", "73", 404),
            ("SELECT throwIf(1)", "395", 500),
            ("SELECT 1 SETTINGS max_execution_time = 0", "164", 500),
        ],
    )
    def test_error_has_clickhouses_code_and_its_own_words(
        self, ask: Ask, statement: str, code: str, status: int
    ) -> None:
        answer = ask(statement)
        assert (answer.headers["x-clickhouse-exception-code"], answer.status_code) == (code, status)
        assert answer.text.startswith(f"Code: {code}. DB::Exception: ")
        assert "formatQuery" not in answer.text

    def test_error_within_the_beginning_is_one_from_the_beginning(self, ask: Ask) -> None:
        answer = ask("SELECT number, throwIf(number = 100000) FROM numbers(1000000)")
        assert answer.headers["x-clickhouse-exception-code"] == "395"

    def test_error_anywhere_is_one_for_who_waits_for_the_end(self, ask: Ask) -> None:
        answer = ask("SELECT number, throwIf(number = 2000000) FROM numbers(3000000)", wait_end_of_query="1")
        assert answer.headers["x-clickhouse-exception-code"] == "395"

    @pytest.mark.parametrize("coding", ["identity", "gzip"])
    def test_error_in_what_was_sent_already_leaves_no_whole_answer(self, url: str, coding: str) -> None:
        statement = "SELECT number, throwIf(number = 2000000) FROM numbers(3000000)"
        received: list[bytes] = []
        accepting = {"Accept-Encoding": coding}
        with httpx.stream("POST", url, content=statement, auth=ANA, headers=accepting, timeout=60) as answer:
            assert answer.status_code == 200
            with pytest.raises(httpx.RemoteProtocolError):
                received.extend(answer.iter_bytes())
        body = b"".join(received)
        assert b"__exception__\r\n" + answer.headers["x-clickhouse-exception-tag"].encode() in body
        assert b"Code: 395. DB::Exception: " in body
