"""Which statements in ClickHouse's normal form are admitted. What the engine does with them: the contract suite."""

import pytest

from processors.store.admission import admit, admit_write, format_of, has_totals
from processors.store.port import QueryRefused

TEXTS = ("'INTO OUTFILE '", "'it\\'s file('", "`PARALLEL WITH`", "'a\\\\'", "`b\\`c`", "'\\\\\\''")


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_quoted_is_not_read(text: str) -> None:
    admit(f"SELECT {text} FROM rounds")


@pytest.mark.parametrize("text", TEXTS)
def test_quotes_hide_nothing_behind_them(text: str) -> None:
    with pytest.raises(QueryRefused, match="OUTFILE"):
        admit(f"SELECT {text}, 1 INTO OUTFILE 'x'")
    with pytest.raises(QueryRefused, match="function file"):
        admit(f"SELECT {text}, file('x')")


@pytest.mark.parametrize(
    "name", ["file", "FILE", "`file`", "aiGenerate", "AIEmbed", "python", "eval", "sleepEachRow", "cluster"]
)
def test_functions_that_reach_outside_are_refused(name: str) -> None:
    with pytest.raises(QueryRefused, match="not allowed"):
        admit(f"SELECT {name}('x')")


@pytest.mark.parametrize("name", ["profile", "filesystemAvailable", "evaluate", "mail", "argMax"])
def test_functions_with_similar_names_are_not(name: str) -> None:
    admit(f"SELECT {name}(x)")


@pytest.mark.parametrize(
    "statement", ["", "select 1", "SELECTED", "INSERT INTO t FORMAT Values", "``", "(SELECT 1)", "SYSTEM STOP MERGES"]
)
def test_statements_that_do_not_begin_with_a_reading_word_are_refused(statement: str) -> None:
    with pytest.raises(QueryRefused, match="only reading"):
        admit(statement)


@pytest.mark.parametrize(
    ("statement", "own"),
    [
        ("SELECT 1 FORMAT CSV", "CSV"),
        ("SELECT 1 FORMAT CSV SETTINGS max_threads = 1", "CSV"),
        ("SELECT 1", ""),
        ("SELECT ' FORMAT CSV'", ""),
        ("SELECT 1 AS ` FORMAT CSV`", ""),
        ("SELECT a AS FORMAT FROM t", ""),
    ],
)
def test_own_format_is_told_from_texts(statement: str, own: str) -> None:
    assert format_of(statement) == own


def test_totals_are_told_from_texts() -> None:
    assert has_totals("SELECT a, count() FROM t GROUP BY a WITH TOTALS")
    assert not has_totals("SELECT ' WITH TOTALS', count() FROM t GROUP BY a")


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT 1",
        "INSERT INTO t FORMAT JSONEachRow",
        "INSERT INTO p.t (a, `b c`) FORMAT Native",
        "INSERT INTO t (a) SETTINGS async_insert = 0 FORMAT Values",
        "CREATE DATABASE IF NOT EXISTS p ENGINE = Atomic",
        "CREATE TABLE IF NOT EXISTS t (a UInt8) ENGINE = ReplacingMergeTree(a) ORDER BY a",
        "CREATE VIEW IF NOT EXISTS v AS SELECT a FROM t",
        "ALTER TABLE t (MODIFY TTL a + toIntervalDay(3))",
    ],
)
def test_writers_may_do_what_the_schema_and_the_sink_do(statement: str) -> None:
    admit_write(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO t SELECT 1",
        "INSERT INTO t SELECT x FORMAT CSV",
        "INSERT INTO FUNCTION file('x') FORMAT CSV",
        "INSERT INTO t FROM INFILE 'x' FORMAT CSV",
        "SELECT 1 INTO OUTFILE 'x'",
        "CREATE TABLE IF NOT EXISTS t (a UInt8) ENGINE = File(CSV, 'x')",
        "CREATE TABLE IF NOT EXISTS t (a UInt8) ENGINE = URL('http://x', CSV)",
        "CREATE DATABASE IF NOT EXISTS p ENGINE = MySQL('h', 'd', 'u', 'p')",
        "CREATE VIEW IF NOT EXISTS v AS SELECT file('x')",
        "CREATE USER u",
        "GRANT ALL ON *.* TO u",
        "CREATE FUNCTION f AS x -> x",
        "SYSTEM STOP MERGES",
        "SET readonly = 0",
        "ATTACH TABLE t FROM 'x' (a UInt8) ENGINE = MergeTree ORDER BY a",
        "BACKUP TABLE t TO Disk('d', 'x')",
    ],
)
def test_writers_may_do_no_more(statement: str) -> None:
    with pytest.raises(QueryRefused):
        admit_write(statement)
