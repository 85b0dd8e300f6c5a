"""`pitwatch topics`: the topics of a Kafka cluster as Pitwatch declares them, and who may use them."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pitwatch.exits import FOUND

if TYPE_CHECKING:
    from processors.logs.kafka_clients import Clients
    from processors.settings import Settings
    from processors.topics import Difference

app = typer.Typer(no_args_is_help=True, help="Make and check a Kafka cluster's topics, and grant the roles' rights.")

Config = Annotated[Path, typer.Option("--config", help="Settings, TOML, with the cluster under \\[kafka].")]


@app.command()
def create(config: Config) -> None:
    """Make the topics that aren't there yet, and tell where the others differ; exit with 1 where they do."""
    from processors.topics import check_topics, create_topics, layouts

    settings, clients = _open(config)
    wanted = layouts(settings.kafka, settings.pipeline.keep_facts_days)
    for name in create_topics(clients, wanted):
        typer.echo(f"{name}: made")
    _tell(check_topics(clients, wanted))


@app.command()
def check(config: Config) -> None:
    """Tell where the cluster's topics differ from what is declared; exit with 1 where they do."""
    from processors.topics import check_topics, layouts

    settings, clients = _open(config)
    _tell(check_topics(clients, layouts(settings.kafka, settings.pipeline.keep_facts_days)))


@app.command()
def acls(
    config: Config,
    principal: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ROLE=PRINCIPAL", help="Who has a role, such as gateway=User:CN=gateway; may be repeated."
        ),
    ] = None,
    create: Annotated[bool, typer.Option("--create", help="Grant the rights instead of only listing them.")] = False,
) -> None:
    """List the rights of every role, or of those named with --principal, and grant them."""
    from processors.acls import RIGHTS, create_acls, grants

    wanted = list(grants(_principals(principal or [], list(RIGHTS))))
    for who, right in wanted:
        pattern = "names beginning with" if right.prefix else "named"
        typer.echo(f"{who} may {right.operation} {right.resource} {pattern} {right.name}")
    if create:
        _, clients = _open(config)
        create_acls(clients, wanted)
        typer.echo(f"{len(wanted)} rights granted", err=True)


def _open(config: Path) -> "tuple[Settings, Clients]":
    from processors.logs.kafka_clients import Clients
    from processors.settings_file import load_settings

    settings = load_settings(config)
    kafka = settings.kafka
    return settings, Clients(kafka.bootstrap, kafka.plain_properties(), "pitwatch-topics", kafka.timeout_seconds)


def _tell(differences: "list[Difference]") -> None:
    for topic, what, declared, found in differences:
        typer.echo(f"{topic}: {what} is {found}, and should be {declared}")
    if differences:
        raise typer.Exit(FOUND)


def _principals(given: list[str], roles: list[str]) -> dict[str, str]:
    """Return the principal of each role: those given, or, where none is, one for every role."""
    principals = {}
    for text in given:
        role, _, principal = text.partition("=")
        if role not in roles or not principal:
            raise typer.BadParameter(f"{text!r}: write ROLE=PRINCIPAL, with a role of {', '.join(roles)}")
        principals[role] = principal
    return principals or {role: f"User:pitwatch-{role}" for role in roles}
