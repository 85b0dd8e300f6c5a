"""The command line: it parses, calls and prints. Everything heavy is imported where it is needed, not here."""

import logging
import sys
from typing import Annotated, Final, NoReturn

import typer

from pitwatch import __version__
from pitwatch.commands import (
    bench,
    demo,
    feed,
    gateway,
    import_hands,
    ingest,
    migrate,
    notifications,
    odds,
    password,
    reconstruct,
    replay,
    roads,
    run,
    schema,
    settle,
    show,
    simulate,
    sink,
    sql,
    token,
    topics,
    worker,
)
from pitwatch.exits import UNUSABLE
from pitwatch.extras import how_to_install
from pitwatch.logs import configure_logs
from schemas.errors import PitwatchError

app: Final = typer.Typer(
    name="pitwatch",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"pitwatch {__version__}")
        raise typer.Exit


@app.callback()
def whole(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Baccarat table telemetry: from card and bet events to rounds, money, roads and alerts."""


app.command()(demo.demo)
app.command()(run.run)
app.command()(ingest.ingest)
app.command("import-hands")(import_hands.import_hands)
app.command()(roads.roads)
app.command()(odds.odds)
app.command()(settle.settle)
app.command()(show.show)
app.command()(replay.replay)
app.command()(sql.sql)
app.command()(notifications.notifications)
app.command()(password.password)
app.command()(migrate.migrate)
app.command()(gateway.gateway)
app.command()(reconstruct.reconstruct)
app.command()(sink.sink)
app.command()(worker.worker)
app.command()(token.token)
app.command()(simulate.simulate)
app.command()(feed.feed)
app.command()(bench.bench)
app.add_typer(schema.app, name="schema")
app.add_typer(topics.app, name="topics")


def main() -> None:
    """Run the command line. What Pitwatch itself refuses, and what isn't installed, is one line and exit code 2."""
    # Only what asks for attention: a command's own words say how it goes. `run` and its like log more.
    configure_logs(logging.WARNING)
    try:
        app()
    except PitwatchError as error:
        _refuse(str(error))
    except ImportError as error:
        advice = how_to_install(error)
        if advice is None:
            raise
        _refuse(advice)


def _refuse(why: str) -> NoReturn:
    typer.echo(f"pitwatch: {why}", err=True)
    sys.exit(UNUSABLE)
