"""How long the store keeps rows: a TTL on every table of versions, off unless it is asked for."""

import re
from typing import Final

from clickhouse_connect.driver.client import Client

from processors.store.migrations import ONE_SERVER, Layout

_TABLES: Final = """
SELECT name, create_table_query, has_day FROM (
    SELECT name, create_table_query FROM system.tables
    WHERE database = currentDatabase() AND endsWith(name, {ending:String})
) AS tables
INNER JOIN (
    SELECT table, countIf(name = 'utc_day') > 0 AS has_day FROM system.columns
    WHERE database = currentDatabase() GROUP BY table
) AS columns ON tables.name = columns.table
ORDER BY name
"""
_TTL: Final = re.compile(r"\sTTL .*toIntervalDay\((\d+)\)")


def apply(client: Client, ttl_days: int | None, layout: Layout = ONE_SERVER) -> None:
    """Have rows deleted `ttl_days` after the UTC day of what they tell of, or never, where that is not so yet."""
    found_tables = client.query(_TABLES, parameters={"ending": f"_versions{layout.local}"}).result_rows
    for name, definition, has_day in found_tables:
        table = f"{name}{layout.on_cluster}"
        found = _TTL.search(definition)
        if (int(found[1]) if found else None) == ttl_days:
            continue
        if ttl_days is None:
            client.command(f"ALTER TABLE {table} REMOVE TTL")
        else:
            day = "utc_day" if has_day else "toDate(hour)"
            client.command(f"ALTER TABLE {table} MODIFY TTL {day} + toIntervalDay({ttl_days})")
