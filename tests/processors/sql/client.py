"""Somebody in another process who analyses with clickhouse-connect: ``client.py PORT USER PASSWORD``.

What each question was answered with comes on standard output, in JSON.
"""

import json
import sys
from collections.abc import Callable
from typing import Any

import clickhouse_connect
from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import ClickHouseError


def streamed(client: Client, statement: str) -> int:
    """Return how many rows came in blocks."""
    with client.query_row_block_stream(statement) as blocks:
        return sum(len(block) for block in blocks)


def code_of(work: Callable[[], object]) -> object:
    """Return ClickHouse's code of what goes wrong."""
    try:
        return f"went well: {work()!r}"
    except ClickHouseError as error:
        return getattr(error, "code", None)


def answers(client: Client) -> dict[str, Any]:
    late = "SELECT number, throwIf(number = 2500000) FROM numbers(3000000)"
    texts = {"a": "x'\\\n\t莊", "b": "y" * 50_000}
    return {
        "version": str(client.server_version).count("."),
        "rows": client.query("SELECT round, handle FROM rounds ORDER BY round LIMIT 2").result_rows,
        "names": client.query("SELECT * FROM rounds LIMIT 0").column_names[:3],
        "frame": client.query_df("SELECT round, house_win FROM rounds").shape,
        "arrow": client.query_arrow("SELECT round FROM rounds").num_rows,
        "command": client.command("SELECT count() FROM rounds"),
        "texts": client.query("SELECT {a:String}, length({b:String})", parameters=texts).result_rows,
        "external": code_of(lambda: client.query("INSERT INTO rounds_versions (round) VALUES (1)")),
        "raw": client.raw_query("SELECT 1 FORMAT CSV").decode(),
        "stream": streamed(client, "SELECT number, toString(number) FROM numbers(1500000)"),
        "whole": len(client.query("SELECT number FROM numbers(1500000)").result_columns[0]),
        "late": code_of(lambda: client.query(late)),
        "late_in_stream": code_of(lambda: streamed(client, late)),
        "summary": client.query("SELECT 1").summary["result_rows"],
    }


def main(port: str, user: str, password: str) -> None:
    found = {}
    for compress in (True, False):
        client = clickhouse_connect.get_client(
            host="127.0.0.1", port=int(port), username=user, password=password, compress=compress
        )
        found[str(compress)] = answers(client)
        client.close()
    sys.stdout.write(json.dumps(found, default=str))


if __name__ == "__main__":
    main(*sys.argv[1:])
