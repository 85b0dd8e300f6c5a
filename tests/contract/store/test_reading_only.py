"""Readers' SQL reads the database, and does nothing else."""

from pathlib import Path

import pytest

from processors.store.port import QueryRefused, Store
from tests.contract.store.asking import put, seen
from tests.contract.store.stored_facts import fact


class TestReadingOnly:
    @pytest.mark.parametrize(
        "sql",
        [
            "INSERT INTO schema_migrations (version) VALUES (99)",
            "DROP TABLE rounds_versions",
            "DROP DATABASE pitwatch",
            "TRUNCATE TABLE rounds_versions",
            "ALTER TABLE rounds_versions DELETE WHERE 1",
            "DELETE FROM rounds_versions WHERE 1",
            "OPTIMIZE TABLE rounds_versions FINAL",
            "CREATE TABLE x (a UInt8) ENGINE = Memory",
            "CREATE TEMPORARY TABLE x (a UInt8)",
            "SET readonly = 0",
            "USE system",
            "SYSTEM STOP MERGES",
            "SYSTEM SHUTDOWN",
            "KILL QUERY WHERE 1",
            "CHECK TABLE rounds_versions",
            "SELECT 1; DROP TABLE rounds_versions",
            "SELECT 1 SETTINGS readonly = 0",
            "SELECT 1 SETTINGS max_execution_time = 0",
            "EXPLAIN AST DROP TABLE rounds_versions",
            "SELECT 1 PARALLEL WITH SELECT 2",
        ],
    )
    def test_nothing_but_reading_is_done(self, store: Store, table_id: str, sql: str) -> None:
        put(store, fact("round", table_id))
        with pytest.raises(QueryRefused):
            store.query(sql)
        with pytest.raises(QueryRefused):
            store.rows(sql, dict)
        assert len(seen(store, "round", table_id)) == 1

    @pytest.mark.parametrize(
        "call",
        [
            "file('{}')",
            "`file`('{}')",
            "FILE('{}')",
            "(SELECT file('{}'))",
            "identity(file('{}'))",
            # A function handed to another stands without a bracket.
            "arrayMap(file, ['{}'])",
            "arrayMap(`file`, ['{}'])",
            "arrayMap(`fi\\x6ce`, ['{}'])",
            "* APPLY(file) FROM (SELECT '{}' AS path)",
            "COLUMNS('path') APPLY(\"file\") FROM (SELECT '{}' AS path)",
        ],
    )
    def test_no_file_is_read(self, store: Store, tmp_path: Path, call: str) -> None:
        secret = tmp_path / "secret"
        secret.write_text("hidden")
        with pytest.raises(QueryRefused, match=r"(?i)file"):
            store.query(f"SELECT {call.format(secret)}")

    @pytest.mark.parametrize(
        "sql",
        [
            "SELECT * FROM file('{}', 'LineAsString')",
            "DESCRIBE file('{}')",
            "DESCRIBE TABLE `file`('{}')",
            "SELECT * FROM url('http://127.0.0.1:1/', 'LineAsString')",
            "DESCRIBE url('http://127.0.0.1:1/', 'LineAsString')",
            "DESCRIBE (SELECT * FROM url('http://127.0.0.1:1/', 'LineAsString'))",
            "EXPLAIN SELECT * FROM url('http://127.0.0.1:1/', 'LineAsString')",
            "SELECT * FROM view(SELECT file('{}') AS x)",
            "WITH (SELECT file('{}')) AS x SELECT x",
            "SELECT * FROM eval('SELECT 1')",
            "SELECT * FROM python(x)",
            "SELECT * FROM remote('127.0.0.1', system.one)",
            "SELECT * FROM cluster('default', system.one)",
            "SELECT * FROM executable('cat', 'TSV', 'a String')",
            "SELECT * FROM sqlite('{}', 't')",
            "SELECT aiGenerate('x')",
            "SELECT sleep(1)",
        ],
    )
    def test_nothing_outside_the_database_is_reached(self, store: Store, tmp_path: Path, sql: str) -> None:
        (tmp_path / "secret").write_text("hidden")
        with pytest.raises(QueryRefused):
            store.query(sql.format(tmp_path / "secret"))

    @pytest.mark.parametrize("end", ["", " TRUNCATE", " AND STDOUT", " FORMAT CSV", " COMPRESSION 'none' FORMAT TSV"])
    def test_no_file_is_written(self, store: Store, tmp_path: Path, end: str) -> None:
        target = tmp_path / "written"
        with pytest.raises(QueryRefused, match="OUTFILE"):
            store.query(f"SELECT 1 INTO OUTFILE '{target}'{end}")
        assert not target.exists()

    @pytest.mark.parametrize(
        "sql",
        [
            "SELECT count() FROM rounds",
            "WITH 1 AS a SELECT a",
            "(SELECT 1) UNION ALL (SELECT 2)",
            "FROM rounds SELECT count()",
            "SHOW TABLES",
            "SHOW CREATE TABLE rounds",
            "DESCRIBE rounds",
            "DESC TABLE rounds",
            "EXISTS TABLE rounds",
            "EXPLAIN SELECT count() FROM rounds",
            "EXPLAIN indexes = 1 SELECT count() FROM rounds",
            "SELECT 'INTO OUTFILE ; DROP file(' AS `file(`",
            "SELECT * FROM numbers(3)",
            "SELECT format('{} {}', 'a', 'b')",
        ],
    )
    def test_reading_is_done(self, store: Store, sql: str) -> None:
        assert store.query(sql, fmt="TSV")
