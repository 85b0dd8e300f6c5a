"""The data dictionary: what a migrated store's own comments say of its views, tables and columns, as Markdown."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Final

import msgspec

from processors.store.port import VIEWS, Store

_INTRODUCTION: Final = """\
# Data dictionary

<!-- Generated from the comments in schemas/clickhouse by processors.store.dictionary; edit those. -->

What the store holds, as analysts and screens read it. Amounts are `Decimal(18, 2)` in the currency that stands beside
them, moments are UTC to the microsecond. Each view shows of every row the newest revision, and none that was retracted.

A view with parameters is called like a function, and is the quick way to a window of time:
`SELECT pit, sum(house_win) FROM rounds_between(since = '2026-03-01', until = '2026-03-02') GROUP BY pit`.
Without a window, ask by the first columns of a table's key, such as `table_id` and `shoe`; sums over many tables and
days are in `table_hours` already.
"""

_TABLES: Final = """
SELECT name, comment, sorting_key, partition_key, parameterized_view_parameters.name AS parameters
FROM system.tables WHERE database = currentDatabase() ORDER BY name
"""
_COLUMNS: Final = """
SELECT table, name, type, comment FROM system.columns WHERE database = currentDatabase() ORDER BY table, position
"""


class _Column(msgspec.Struct):
    table: str
    name: str
    type: str
    comment: str


class _Table(msgspec.Struct):
    name: str
    comment: str
    sorting_key: str
    partition_key: str
    parameters: list[str]


def page(store: Store) -> str:
    """Return the dictionary of a migrated store as a Markdown page."""
    tables = {table.name: table for table in store.rows(_TABLES, _Table)}
    found = groupby(store.rows(_COLUMNS, _Column), attrgetter("table"))
    columns = {name: list(group) for name, group in found}
    lines = [_INTRODUCTION, "## Views", ""]
    for view in VIEWS.values():
        lines += _section(tables[view], columns[view])
    lines += ["## Views with parameters", ""]
    lines += _table("view", "meaning", ((table.name, table.comment) for table in tables.values() if table.parameters))
    lines += ["## Tables", "", "What the views are made of; nobody but Pitwatch needs them.", ""]
    for table in tables.values():
        if table.sorting_key:
            view = table.name.removesuffix("_versions")
            seen = {column.name for column in columns[view]} if view != table.name else set()
            lines += _section(table, [column for column in columns[table.name] if column.name not in seen])
            lines += [f"Key: `{table.sorting_key}`." + _partition(table), ""]
    return "\n".join(lines).rstrip() + "\n"


def _section(table: _Table, columns: Sequence[_Column]) -> Iterator[str]:
    yield from (f"### {table.name}", "", table.comment, "")
    if columns:
        yield from ("| column | type | meaning |", "|---|---|---|")
        yield from (f"| {column.name} | `{' '.join(column.type.split())}` | {column.comment} |" for column in columns)
        yield ""


def _table(first: str, second: str, rows: Iterator[tuple[str, str]]) -> Iterator[str]:
    yield from (f"| {first} | {second} |", "|---|---|")
    yield from (f"| {name} | {meaning} |" for name, meaning in rows)
    yield ""


def _partition(table: _Table) -> str:
    return f" Partition: `{table.partition_key}`." if table.partition_key else ""
