"""ClickHouse's Native format in newer versions of its protocol, which the embedded engine can't write. Pure.

The engine writes Native as for clients that name no version. clickhouse-go, and so Grafana's data source, names one,
and then expects in front of each block a header, and in front of each column's values a byte that says how they are
serialized. To place that byte one must know where every column ends, and that takes a walk through its values.
"""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from processors.sql.refusals import NOT_IMPLEMENTED, Refused

FROM_REVISION: Final = 54454
"""The version with the byte. Clients that name an older one look whether they get it, and do without."""

# Fields 1 (not overflown) and 2 (no bucket), and the end of the list.
_BLOCK_HEADER: Final = b"\x01\x00\x02\xff\xff\xff\xff\x00"
_SERIALIZED_AS_USUAL: Final = b"\x00"

_SIZES: Final[dict[str, int]] = {
    **dict.fromkeys(("Bool", "Enum8", "Int8", "Nothing", "UInt8"), 1),
    **dict.fromkeys(("BFloat16", "Date", "Enum16", "Int16", "UInt16"), 2),
    **dict.fromkeys(("Date32", "DateTime", "Float32", "IPv4", "Int32", "Time", "UInt32"), 4),
    **dict.fromkeys(("DateTime64", "Float64", "Int64", "Time64", "UInt64"), 8),
    **dict.fromkeys(("IPv6", "Int128", "Point", "UInt128", "UUID"), 16),
    **dict.fromkeys(("Int256", "UInt256"), 32),
}
_DECIMALS: Final = ((9, 4), (18, 8), (38, 16), (76, 32))
_SAME_AS: Final[dict[str, str]] = {
    "Ring": "Array(Point)",
    "LineString": "Array(Point)",
    "Polygon": "Array(Array(Point))",
    "MultiLineString": "Array(Array(Point))",
    "MultiPolygon": "Array(Array(Array(Point)))",
}

_DICTIONARY_BYTES: Final = 8
_INDEX_TYPE: Final = 0xFF
_HAS_KEYS: Final = 0x200

_ARGUMENT: Final = re.compile(r"'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`|[(),]|[^'`(),]+")
_NAMED: Final = re.compile(r"(?:[A-Za-z_]\w*|`(?:[^`\\]|\\.)*`) (.+)", re.DOTALL)


class Type(NamedTuple):
    """A column's type: its family, and what stands in its brackets."""

    family: str
    arguments: tuple[str, ...] = ()


@lru_cache(maxsize=1024)
def typed(kind: str) -> Type:
    """Return a type's name taken apart: ``Map(String, Array(UInt8))`` has the arguments ``String, Array(UInt8)``."""
    family, bracket, rest = kind.partition("(")
    if not bracket:
        return Type(family)
    arguments, depth = [""], 0
    for piece in _ARGUMENT.findall(rest[:-1]):
        depth += (piece == "(") - (piece == ")")
        if piece == "," and not depth:
            arguments.append("")
        else:
            arguments[-1] += piece
    return Type(family, tuple(argument.strip() for argument in arguments if argument.strip()))


def _inner(kind: str) -> Iterator[str]:
    """Yield the types of what a value of this type is made of, without the names that a tuple gives them."""
    family, arguments = typed(kind)
    if family in ("Array", "LowCardinality", "Map", "Nested", "Nullable", "Tuple"):
        for argument in arguments:
            named = _NAMED.fullmatch(argument) if family in ("Nested", "Tuple") else None
            yield named[1] if named else argument
    elif family == "SimpleAggregateFunction":
        yield arguments[-1]


def _size(family: str, arguments: tuple[str, ...]) -> int:
    """Return how many bytes each value of a type takes, 0 where that differs."""
    if family == "Decimal":
        return next(size for digits, size in _DECIMALS if int(arguments[0]) <= digits)
    if family == "FixedString":
        return int(arguments[0])
    return 8 if family.startswith("Interval") else _SIZES.get(family, 0)


def reframed(blocks: bytes) -> bytes:
    """Return blocks written for no version of the protocol as `FROM_REVISION` has them. Raises `Refused`.

    Types whose values tell their own types (`Dynamic`, `JSON`, `Variant`) and states of aggregates are refused.
    """
    walk = _Walk(blocks)
    framed = b"".join(_pieces(walk))
    assert walk.at == len(blocks), "a type's values are not as long as was thought"
    return framed


def _pieces(walk: "_Walk") -> Iterator[bytes]:
    while walk.at < len(walk.data):
        yield _BLOCK_HEADER
        start = walk.at
        columns, rows = walk.number(), walk.number()
        yield walk.data[start : walk.at]
        for _ in range(columns):
            start = walk.at
            walk.skip(walk.number())
            kind = walk.text()
            yield walk.data[start : walk.at]
            yield _SERIALIZED_AS_USUAL
            start = walk.at
            if rows:
                walk.prefix(kind)
                walk.values(kind, rows)
            yield walk.data[start : walk.at]


class _Walk:
    """A place in Native data, and steps over what lies there."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def number(self) -> int:
        """Step over a number of variable length and return it."""
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    def word(self) -> int:
        """Step over 64 bits and return them."""
        self.skip(8)
        return int.from_bytes(self.data[self.at - 8 : self.at], "little")

    def text(self) -> str:
        """Step over a text and return it."""
        length = self.number()
        self.skip(length)
        return self.data[self.at - length : self.at].decode()

    def skip(self, size: int) -> None:
        self.at += size

    def prefix(self, kind: str) -> None:
        """Step over what comes before all of a column's values: a word for each dictionary in its type."""
        kind = _SAME_AS.get(kind, kind)
        if typed(kind).family == "LowCardinality":
            self.skip(_DICTIONARY_BYTES)
            return
        for inner in _inner(kind):
            self.prefix(inner)

    def values(self, kind: str, rows: int) -> None:
        """Step over a column's values."""
        kind = _SAME_AS.get(kind, kind)
        family, arguments = typed(kind)
        if size := _size(family, arguments):
            self.skip(rows * size)
        elif step := _STEPS.get(family):
            step(self, kind, rows)
        else:
            raise Refused(
                NOT_IMPLEMENTED, f"A column of type {kind} can't be sent to this client: convert it, as by toString."
            )

    def texts(self, rows: int) -> None:
        """Step over texts: the only values whose size isn't known before."""
        data, at = self.data, self.at
        for _ in range(rows):
            length = data[at]
            at += 1
            if length > 0x7F:
                self.at = at - 1
                length = self.number()
                at = self.at
            at += length
        self.at = at


def _nullable(walk: _Walk, kind: str, rows: int) -> None:
    walk.skip(rows)
    walk.values(typed(kind).arguments[0], rows)


def _array(walk: _Walk, kind: str, rows: int) -> None:
    """Step over offsets, of which the last is the number of elements, and the elements, each of them whole."""
    if not rows:
        return
    walk.skip(8 * (rows - 1))
    elements = walk.word()
    for inner in _inner(kind):
        walk.values(inner, elements)


def _tuple(walk: _Walk, kind: str, rows: int) -> None:
    if not typed(kind).arguments:
        walk.skip(rows)
    for inner in _inner(kind):
        walk.values(inner, rows)


def _dictionary(walk: _Walk, kind: str, rows: int) -> None:
    """Step over the keys, among which null has a place without being marked, and each value's place among them."""
    if not rows:
        return
    flags = walk.word()
    if flags & _HAS_KEYS:
        keys = typed(kind).arguments[0]
        family, arguments = typed(keys)
        walk.values(arguments[0] if family == "Nullable" else keys, walk.word())
    walk.skip(walk.word() << (flags & _INDEX_TYPE))


_STEPS: Final[dict[str, Callable[[_Walk, str, int], None]]] = {
    "Array": _array,
    "LowCardinality": _dictionary,
    "Map": _array,
    "Nested": _array,
    "Nullable": _nullable,
    "SimpleAggregateFunction": lambda walk, kind, rows: walk.values(typed(kind).arguments[-1], rows),
    "String": lambda walk, _, rows: walk.texts(rows),
    "Tuple": _tuple,
}
