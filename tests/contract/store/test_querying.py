"""How every store answers readers."""

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import msgspec
import pytest

from processors.store.clickhouse import MAX_RESULT_ROWS
from processors.store.port import QueryRefused, Store
from tests.contract.store.asking import put, seen
from tests.contract.store.stored_facts import MOMENT, SECOND, fact


class TestQuery:
    def test_what_is_no_text_is_refused_and_not_sent(self, store: Store) -> None:
        with pytest.raises(QueryRefused, match="no Unicode text"):
            store.query("SELECT '\ud800'")
        with pytest.raises(QueryRefused, match="parameter who is no Unicode text"):
            store.query("SELECT {who:String}", {"who": "\udcff"})

    def test_answer_comes_in_the_format_asked_for(self, store: Store) -> None:
        assert store.query("SELECT 1 AS a, 'x' AS b") == b'{"a":1,"b":"x"}\n'
        assert store.query("SELECT 1 AS a, 'x' AS b", fmt="CSVWithNames") == b'"a","b"\n1,"x"\n'

    def test_own_format_of_the_statement_comes_first(self, store: Store) -> None:
        assert store.query("SELECT 1 AS a FORMAT TSV", fmt="JSONEachRow") == b"1\n"
        assert store.query("SELECT ' FORMAT CSV' AS a", fmt="TSV") == b" FORMAT CSV\n"

    def test_semicolon_and_comments_may_follow(self, store: Store) -> None:
        assert store.query("SELECT 1 -- one\n;  ", fmt="TSV") == b"1\n"
        assert store.query("/* two */ SELECT 2 AS `a``b` /* ; */", fmt="TSV") == b"2\n"

    @pytest.mark.parametrize(
        "value", ["x", "'; DROP TABLE rounds_versions; --", "\\", "莊\n\t", "{other:String}", "%s %(a)s"]
    )
    def test_texts_are_bound_not_pasted(self, store: Store, value: str) -> None:
        assert store.rows("SELECT {a:String} AS a", dict, {"a": value}) == [{"a": value}]

    def test_every_type_of_parameter(self, store: Store) -> None:
        values: dict[str, Any] = {
            "i": -(2**62), "m": MOMENT, "d": Decimal("12.34"), "t": ["a'", "b"], "n": [1, 2], "b": True, "o": None,
            "y": MOMENT.date(),
        }  # fmt: skip
        found = store.rows(
            "SELECT {i:Int64} AS i, {m:DateTime64(6, 'UTC')} AS m, {d:Decimal(18, 2)} AS d, {t:Array(String)} AS t,"
            " {n:Array(UInt64)} AS n, {b:Bool} AS b, {o:Nullable(String)} AS o, {y:Date} AS y",
            dict,
            values | {"m": MOMENT.astimezone(timezone(timedelta(hours=8)))},
        )
        assert found == [values]

    @pytest.mark.parametrize(
        ("sql", "parameters", "message"),
        [
            ("SELECT {a:String}", {}, "a"),
            ("SELECT 1", {"a": 1}, "no placeholder"),
            ("SELECT {a:UInt8}", {"a": "x"}, "a"),
            ("SELECT {a:DateTime}", {"a": MOMENT.replace(tzinfo=None)}, "no time zone"),
        ],
    )
    def test_wrong_parameters_are_refused(
        self, store: Store, sql: str, parameters: dict[str, Any], message: str
    ) -> None:
        with pytest.raises(QueryRefused, match=message):
            store.query(sql, parameters)

    @pytest.mark.parametrize(
        "sql", ["", " ", "-- nothing", "SELEC 1", "SELECT", "SELECT nothing", "SELECT * FROM nowhere", "SELECT 1;2"]
    )
    def test_wrong_sql_is_refused(self, store: Store, sql: str) -> None:
        with pytest.raises(QueryRefused) as refused:
            store.query(sql)
        assert "DB::Exception" not in str(refused.value)
        assert "version" not in str(refused.value)

    @pytest.mark.parametrize("fmt", ["", "CSV INTO OUTFILE 'x'", "Nonsense", "CSV;"])
    def test_wrong_format_is_refused(self, store: Store, fmt: str) -> None:
        with pytest.raises(QueryRefused):
            store.query("SELECT 1", fmt=fmt)

    def test_endless_query_is_stopped(self, store: Store) -> None:
        with pytest.raises(QueryRefused, match="took longer"):
            store.query("SELECT count() FROM numbers(1000000000000) WHERE cityHash64(number) = 7")

    def test_boundless_answer_is_refused(self, store: Store) -> None:
        statement = "SELECT number FROM numbers({n:UInt64})"
        assert len(store.query(statement, {"n": MAX_RESULT_ROWS}, "TSV").splitlines()) == MAX_RESULT_ROWS
        with pytest.raises(QueryRefused, match="LIMIT"):
            store.query(statement, {"n": MAX_RESULT_ROWS + 1})

    def test_failed_query_leaves_nothing_in_the_next_answer(self, store: Store) -> None:
        for _ in range(5):
            with pytest.raises(QueryRefused):
                store.query("SELECT number, throwIf(number = 500000) FROM numbers(1000000)", fmt="TSV")
            assert store.query("SELECT 'next'", fmt="TSV") == b"next\n"
            assert store.rows("SELECT 'next' AS answer", dict) == [{"answer": "next"}]

    def test_query_that_takes_all_memory_is_refused(self, store: Store) -> None:
        with pytest.raises(QueryRefused, match="memory"):
            # All at once, so that a slow machine meets this limit and not the one of time.
            store.query("SELECT length(range(450000000))")


class TestRows:
    def test_rows_take_the_shape_asked_for(self, store: Store, table_id: str) -> None:
        class Shown(msgspec.Struct):
            round: int
            opened_at: datetime
            handle: Decimal
            outcome: str | None
            player_cards: tuple[str, ...]

        put(store, fact("round", table_id))
        (row,) = store.rows("SELECT * FROM rounds WHERE table_id = {t:String}", Shown, {"t": table_id})
        assert row == Shown(5, MOMENT - 40 * SECOND, Decimal("1200.00"), "banker", ("AS", "10H"))
        assert row.opened_at.tzinfo is UTC

    def test_no_rows_are_an_empty_list(self, store: Store) -> None:
        assert store.rows("SELECT * FROM rounds WHERE table_id = 'nobody'", dict) == []

    def test_maps_and_lists_come_as_such(self, store: Store, table_id: str) -> None:
        put(store, fact("shoe", table_id))
        assert seen(store, "shoe", table_id, "seen, status") == [{"seen": {"AS": 3, "10H": 8}, "status": "closed"}]
