"""`pitwatch sql`: questions to the store, in the data directory or over HTTP."""

import os
import re
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Final

import typer

from pitwatch.progress import waiting_for
from pitwatch.workplace import ConfigOption, DataOption, settings_for
from schemas.errors import PitwatchError

if TYPE_CHECKING:
    from processors.settings import Settings
    from processors.store.clickhouse import ClickHouseStore

FORMATS: Final = "PrettyCompact, JSON, JSONEachRow, CSVWithNames, TabSeparatedWithNames, Markdown, Parquet, Arrow"

PRETTY: Final = "PrettyCompact"
"""The format on a terminal. It writes nothing at all where there are no rows."""

PASSWORD_VARIABLE: Final = "PITWATCH_PASSWORD"  # noqa: S105  the variable's name


class QueryFailed(PitwatchError):
    """Raised where a store that is asked over HTTP refuses the query, or doesn't answer."""


def sql(
    query: Annotated[str, typer.Argument(help="One reading statement of ClickHouse's SQL.")],
    data: DataOption = None,
    config: ConfigOption = None,
    output_format: Annotated[str, typer.Option("--format", help=f"Any ClickHouse format, such as {FORMATS}.")] = "",
    url: Annotated[
        str, typer.Option("--url", help="Ask over HTTP: a running `pitwatch run` with SQL users, or ClickHouse.")
    ] = "",
    user: Annotated[
        str, typer.Option("--user", help=f"Whom to log in as there; the password is in {PASSWORD_VARIABLE}, or asked.")
    ] = "",
) -> None:
    """Query the store: views rounds, bets, commissions, roads, shoes, table_hours, alerts, dead_letters, events."""
    fmt = output_format or (PRETTY if sys.stdout.isatty() else "TabSeparatedWithNames")
    settings = settings_for(data, config)
    if url:
        _ask_over_http(url, user, query, fmt, settings)
    else:
        _ask_here(query, fmt, settings)


def _ask_here(query: str, fmt: str, settings: "Settings") -> None:
    from processors.data_directory import check_finished, check_there, open_log, open_store
    from processors.logs.lock import DataDirectoryLocked, lock_data_directory
    from processors.store.sink import Sink

    directory = settings.data_directory
    check_there(directory)
    try:
        with lock_data_directory(directory), open_log(directory, read_only=True) as log:
            check_finished(log, directory)
            with waiting_for("asking the store"), open_store(directory, settings) as store:
                answer = _answer(store, query, fmt)
                behind = Sink(log, store).behind()
    except DataDirectoryLocked as error:
        raise DataDirectoryLocked(f"{error}; or ask it, with --url, where its settings have [[sql.users]]") from None
    _print_all([answer])
    if behind:
        typer.echo(f"{behind:,} records of the log are not stored yet: `pitwatch replay --check` stores them", err=True)


def _ask_over_http(url: str, user: str, query: str, fmt: str, settings: "Settings") -> None:
    import httpx

    name = user or typer.prompt("user", err=True)
    password = os.environ.get(PASSWORD_VARIABLE) or typer.prompt(f"password of {name}", hide_input=True, err=True)
    fields = {"database": settings.store.database, "default_format": fmt}
    waiting = httpx.Timeout(10.0, read=settings.store.max_execution_seconds + 10.0)
    try:
        with httpx.stream(
            "POST", url, params=fields, content=query.encode(), auth=(name, password), timeout=waiting
        ) as answer:
            if answer.is_error:
                raise QueryFailed(f"{url}: {answer.read().decode(errors='replace').strip()}")
            _print_all(answer.iter_bytes())
    except httpx.HTTPError as error:
        # An answer that breaks off ends with what was wrong, in the store's own words.
        raise QueryFailed(f"{url} gave no whole answer: {error}") from None


def _answer(store: "ClickHouseStore", query: str, fmt: str) -> bytes:
    from processors.store.port import QueryRefused

    try:
        return store.query(query, fmt=fmt)
    except QueryRefused as error:
        # The engine in this process adds an error's name each time it passes the error on.
        raise QueryRefused(re.sub(r"( \([A-Z_]+\))(?:\.\1)+", r"\1", str(error))) from None


def _print_all(answer: Iterable[bytes]) -> None:
    written = 0
    for piece in answer:
        written += sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()
    if not written and sys.stdout.isatty():
        typer.echo("0 rows")
