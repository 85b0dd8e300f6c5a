"""Native for newer clients: the same values, each column behind a byte of its own, each block behind a header."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from processors.settings import StoreSettings
from processors.sql.embedding import Connection, connect
from processors.sql.native import reframed, typed
from processors.sql.refusals import Refused
from processors.store.clickhouse import ClickHouseStore

HEADER = b"\x01\x00\x02\xff\xff\xff\xff\x00"

COLUMNS = [
    "number", "toInt8(number)", "true", "toFloat32(number)", "toBFloat16(number)", "toInt128(number)",
    "toUInt256(number)", "toString(number)", "repeat('x', number * 100)", "repeat('x', 16384 + number)", "''",
    "toFixedString('ab', 5)", "toDate('2026-03-31') + number", "toDate32('1960-01-01')",
    "toDateTime('2026-03-31 12:00:00', 'Asia/Macau')", "toDateTime64('2026-03-31 12:00:00.123456', 6, 'UTC')",
    "toTime('12:00:00')", "toIntervalDay(number)", "toUUID('61f0c404-5cb3-11e7-907b-a6006ad3dba0')",
    "toIPv4('1.2.3.4')", "toIPv6('::1')", "CAST('a' AS Enum8('a' = 1, '(,\\'' = 2))", "CAST('b' AS Enum16('b' = 300))",
    "toDecimal32(number, 2)", "toDecimal64(number, 2)", "toDecimal128(number, 2)", "toDecimal256(number, 2)",
    # What lies under a null is anything, so it is nothing but nulls, or none, that can be compared.
    "toNullable(number)", "toNullable(toString(number))", "CAST(NULL AS Nullable(String))", "NULL",
    "range(number)", "arrayMap(x -> range(x), range(number))", "arrayMap(x -> toString(x), range(number))",
    "[]::Array(String)", "[NULL]", "map('k', number)", "map('k', map('l', [number]))", "map()::Map(String, UInt8)",
    "tuple()", "(number, 'x')", "(number, [number])::Tuple(a UInt8, `b c` Array(UInt16))",
    "[(1, 'a')]::Nested(a UInt8, b String)", "(1, 2)::Point", "[(1, 2), (3, 4)]::Ring", "[[(1, 2)]]::Polygon",
    "[[[(1, 2)]]]::MultiPolygon", "[(1, 2)]::LineString", "[[(1, 2)]]::MultiLineString",
    "toLowCardinality(toString(number % 2))", "toLowCardinality(if(number = 1, NULL, toString(number)))",
    "toLowCardinality(toFixedString('ab', 3))", "[toLowCardinality('a'), toLowCardinality('b')]",
    "[]::Array(LowCardinality(String))", "map(toLowCardinality('k'), [toLowCardinality('v')])",
    "(toLowCardinality('x'), toLowCardinality(toNullable('y')), 7)", "toLowCardinality(toString(cityHash64(number)))",
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("engine")


@pytest.fixture(scope="module")
def engine(folder: Path) -> Iterator[Connection]:
    with closing(connect(str(folder))) as engine:
        engine.query("SET allow_suspicious_low_cardinality_types = 1, allow_experimental_bfloat16_type = 1", "Null")
        yield engine


def native(engine: Connection, columns: list[str], rows: int) -> bytes:
    named = ", ".join(f"{column} AS c{place}" for place, column in enumerate(columns))
    return engine.query(f"SELECT {named} FROM numbers({rows})", "Native").bytes()


def varint(number: int) -> bytes:
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + varint(number >> 7)


def head(name: str, kind: str) -> bytes:
    return b"".join(varint(len(text.encode())) + text.encode() for text in (name, kind))


def kinds(engine: Connection, columns: list[str]) -> list[str]:
    """Return the columns' types as Native names them."""
    found = []
    for column in columns:
        block = native(engine, [column], 1)
        assert block[:3] == b"\x01\x01\x02", "one column, one row, a name of two letters"
        length, at = block[5], 6
        if length > 127:
            length, at = (length & 127) | (block[6] << 7), 7
        found.append(block[at : at + length].decode())
    return found


@pytest.mark.parametrize("rows", [1, 3, 300])
def test_every_column_gets_its_byte_and_keeps_its_values(engine: Connection, rows: int) -> None:
    """What a column's values are is told by a block of that column alone, which ends where they end."""
    expected = HEADER + varint(len(COLUMNS)) + varint(rows)
    for place, (column, kind) in enumerate(zip(COLUMNS, kinds(engine, COLUMNS), strict=True)):
        alone = engine.query(f"SELECT {column} AS c{place} FROM numbers({rows})", "Native").bytes()
        start = varint(1) + varint(rows) + head(f"c{place}", kind)
        assert alone.startswith(start)
        expected += head(f"c{place}", kind) + b"\x00" + alone[len(start) :]
    assert reframed(native(engine, COLUMNS, rows)) == expected


def test_blocks_in_a_row_are_framed_each(engine: Connection) -> None:
    one, two = native(engine, ["number"], 2), native(engine, ["toString(number)"], 3)
    assert reframed(one + two + one) == reframed(one) + reframed(two) + reframed(one)
    assert reframed(one).startswith(HEADER)


def test_nothing_stays_nothing() -> None:
    assert reframed(b"") == b""


def test_block_without_rows_has_no_values() -> None:
    block = b"\x01\x00" + head("a", "Array(LowCardinality(String))")
    assert reframed(block) == HEADER + block + b"\x00"


@pytest.mark.parametrize("column", ["1::Dynamic", "'{}'::JSON", "1::Variant(UInt8, String)", "sumState(1)"])
def test_types_that_only_their_values_tell_are_refused(engine: Connection, column: str) -> None:
    with pytest.raises(Refused, match="toString"):
        reframed(native(engine, [column], 1))


def test_block_that_ends_too_early_is_a_defect(engine: Connection) -> None:
    with pytest.raises(AssertionError):
        reframed(native(engine, ["number"], 3)[:-1])


@pytest.mark.parametrize(
    ("kind", "family", "arguments"),
    [
        ("UInt8", "UInt8", ()),
        ("Tuple()", "Tuple", ()),
        ("Map(String, Array(UInt8))", "Map", ("String", "Array(UInt8)")),
        ("Enum8('a' = 1, '(,\\')' = 2)", "Enum8", ("'a' = 1", "'(,\\')' = 2")),
        ("Tuple(`a,b` UInt8, c Tuple(UInt8, UInt8))", "Tuple", ("`a,b` UInt8", "c Tuple(UInt8, UInt8)")),
    ],
)
def test_types_are_taken_apart(kind: str, family: str, arguments: tuple[str, ...]) -> None:
    assert typed(kind) == (family, arguments)


def test_every_type_of_the_store_is_walked_through(folder: Path, engine: Connection) -> None:
    with closing(ClickHouseStore.embedded(folder, StoreSettings())) as store:
        store.migrate()
        found = store.rows("SELECT DISTINCT type FROM system.columns WHERE database = currentDatabase()", dict)
    assert len(found) > 10
    for row in found:
        kind = " ".join(row["type"].split()).replace("'", "\\'")
        block = engine.query(f"SELECT defaultValueOfTypeName('{kind}') FROM numbers(3)", "Native").bytes()
        assert len(reframed(block)) == len(HEADER) + len(block) + 1
