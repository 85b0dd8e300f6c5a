"""`pitwatch sql`: questions to the store."""

import sys
from typing import Annotated, Final

import typer

from pitwatch.workplace import DataOption, settings_for

FORMATS: Final = "PrettyCompact, JSON, JSONEachRow, CSVWithNames, TabSeparatedWithNames, Markdown, Parquet, Arrow"


def sql(
    query: Annotated[str, typer.Argument(help="One reading statement of ClickHouse's SQL.")],
    data: DataOption = None,
    output_format: Annotated[str, typer.Option("--format", help=f"Any ClickHouse format, such as {FORMATS}.")] = "",
) -> None:
    """Query the store: views rounds, bets, commissions, roads, shoes, table_hours, alerts, dead_letters, events."""
    from processors.embedded import open_store
    from processors.logs.lock import lock_data_directory

    settings = settings_for(data)
    fmt = output_format or ("PrettyCompact" if sys.stdout.isatty() else "TabSeparatedWithNames")
    with lock_data_directory(settings.data_directory), open_store(settings.data_directory, settings) as store:
        answer = store.query(query, fmt=fmt)
    sys.stdout.buffer.write(answer)
    sys.stdout.buffer.flush()
