"""`pitwatch sql`: questions to the store."""

import sys
from typing import Annotated, Final

import typer

from pitwatch.workplace import ConfigOption, DataOption, settings_for

FORMATS: Final = "PrettyCompact, JSON, JSONEachRow, CSVWithNames, TabSeparatedWithNames, Markdown, Parquet, Arrow"


def sql(
    query: Annotated[str, typer.Argument(help="One reading statement of ClickHouse's SQL.")],
    data: DataOption = None,
    config: ConfigOption = None,
    output_format: Annotated[str, typer.Option("--format", help=f"Any ClickHouse format, such as {FORMATS}.")] = "",
) -> None:
    """Query the store: views rounds, bets, commissions, roads, shoes, table_hours, alerts, dead_letters, events."""
    from processors.data_directory import check_finished, check_there, open_log, open_store
    from processors.logs.lock import lock_data_directory
    from processors.store.sink import Sink

    settings = settings_for(data, config)
    directory = settings.data_directory
    check_there(directory)
    fmt = output_format or ("PrettyCompact" if sys.stdout.isatty() else "TabSeparatedWithNames")
    with lock_data_directory(directory), open_log(directory, read_only=True) as log:
        check_finished(log, directory)
        with open_store(directory, settings) as store:
            answer = store.query(query, fmt=fmt)
            behind = Sink(log, store).behind()
    sys.stdout.buffer.write(answer)
    sys.stdout.buffer.flush()
    if behind:
        typer.echo(f"{behind:,} records of the log are not stored yet: `pitwatch replay --check` stores them", err=True)
