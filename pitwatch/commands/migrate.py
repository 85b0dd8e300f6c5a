"""`pitwatch migrate`: a ClickHouse server's schema, brought up to date, and who may use it."""

from pathlib import Path
from typing import Annotated

import typer

from pitwatch.workplace import server_settings_for


def migrate(
    config: Annotated[Path, typer.Option("--config", help="Settings, TOML, with a \\[store] url.", dir_okay=False)],
    users: Annotated[
        bool, typer.Option("--users", help="Make the readers of [[sql.users]] as well, who see and change no more.")
    ] = False,
    only_print: Annotated[
        bool,
        typer.Option(
            "--print",
            help="Print the statements instead of running them; with --users, those that make the \\[store] user too,"
            " for an administrator to run.",
        ),
    ] = False,
) -> None:
    """Create the store on a ClickHouse server, or bring it to this program's schema. Safe to run again."""
    from processors.store.access import reader_statements, writer_statements
    from processors.store.clickhouse import ClickHouseStore
    from processors.store.migrations import Layout, creation

    settings = server_settings_for(None, config)
    store = settings.store
    readers = reader_statements(store, settings.sql.users) if users else []
    if only_print:
        schema = creation(Layout(store.cluster or "", store.database))
        statements = [*(writer_statements(store) if users else []), *schema, *readers]
        typer.echo("".join(f"{statement};\n" for statement in statements), nl=False)
        return
    server = ClickHouseStore.on_server(store)
    try:
        taken = server.migrate()
        server.administer(readers)
    finally:
        server.close()
    typer.echo(f"{store.url}: " + (", ".join(taken) if taken else "up to date already"))
    for user in settings.sql.users if users else ():
        typer.echo(f"reader {user.name}")
