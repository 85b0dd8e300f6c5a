"""`pitwatch topics`: the topics of a Kafka cluster as Pitwatch declares them, and who may use them."""

from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from socket import gethostname
from typing import TYPE_CHECKING, Annotated

import typer

from pitwatch.exits import FOUND
from pitwatch.progress import remaining_bar, waiting_for
from pitwatch.workplace import kafka_settings_for, server_settings_for

if TYPE_CHECKING:
    from processors.logs.kafka_clients import Clients
    from processors.settings import Settings
    from processors.topics import Difference

app = typer.Typer(
    no_args_is_help=True,
    help="Make and check a Kafka cluster's topics, grant the roles' rights, and have all facts told again.",
)

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


@app.command()
def replay(
    config: Config,
    finish: Annotated[
        bool,
        typer.Option(
            "--finish",
            help="Wait for the workers and the sink, then retract from the \\[store] what wasn't told again.",
        ),
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Begin without asking.")] = False,
) -> None:
    """Have all facts told again from the first event, by the rules of the reconstruct workers that are started next.

    For after a rule was mended. Stop those workers first, start them afterwards, then run it with --finish.
    """
    if finish:
        _finish_replay(config)
    else:
        _begin_replay(config, asks=not yes)


def _begin_replay(config: Path, *, asks: bool) -> None:
    from processors.logs.kafka_groups import members
    from processors.logs.kafka_opening import open_kafka_log
    from processors.replays import ReplayRefused, begin_replay, check_events
    from processors.table_folds import GROUP

    settings = kafka_settings_for(config)
    clients = _clients(settings)
    _refuse_other_topics(settings, clients)
    # Joining would make those who work give up partitions, so it is for when nobody seems to.
    if workers := members(clients, GROUP):
        raise ReplayRefused(f"reconstruct workers are running: {', '.join(workers)}. Stop them; nothing was changed")
    kafka = settings.kafka.model_copy(update={"worker_id": f"{settings.kafka.worker_id or gethostname()}-replay"})
    with open_kafka_log(kafka) as log:
        what = f"all events of {kafka.bootstrap}, about {check_events(log):,},"
        if asks:
            typer.confirm(f"Fold {what} again, and put the facts in the place of those there are?", abort=True)
        with waiting_for("waiting for every partition"):
            begun = begin_replay(log, datetime.now(UTC))
    typer.echo(
        f"{begun.tables:,} tables begin anew, with revision {begun.first_revision}. Start the reconstruct workers, then"
        " run pitwatch topics replay --finish"
    )


def _refuse_other_topics(settings: "Settings", clients: "Clients") -> None:
    """Raise `ReplayRefused` where the cluster's topics aren't as these settings have them: it may be another's."""
    from processors.replays import ReplayRefused
    from processors.topics import check_topics, layouts

    wanted = layouts(settings.kafka, settings.pipeline.keep_facts_days)
    if differences := check_topics(clients, wanted, as_allowed=True):
        raise ReplayRefused(
            f"the topics of {settings.kafka.bootstrap} are not as these settings have them:"
            f" {'; '.join(map(_told, differences))}. Look whether it is the floor's cluster, or mend what differs;"
            " nothing was changed"
        )


def _finish_replay(config: Path) -> None:
    from processors.logs.kafka_opening import open_kafka_log
    from processors.replays import end_replay
    from processors.store.clickhouse import ClickHouseStore

    settings = server_settings_for(None, config)
    with (
        open_kafka_log(kafka_settings_for(config).kafka) as log,
        closing(ClickHouseStore.on_server(settings.store)) as store,
        remaining_bar() as on_wait,
    ):
        store.attach()
        retracted = end_replay(log, store, on_wait)
    for kind, count in retracted.items():
        typer.echo(f"{count:,} facts retracted that were not told again: {kind}")
    typer.echo("the replay has ended: the store shows what was told again, and nothing else")


def _open(config: Path) -> "tuple[Settings, Clients]":
    settings = kafka_settings_for(config)
    return settings, _clients(settings)


def _clients(settings: "Settings") -> "Clients":
    from processors.logs.kafka_clients import Clients

    kafka = settings.kafka
    return Clients(kafka.bootstrap, kafka.plain_properties(), "pitwatch-topics", kafka.timeout_seconds)


def _tell(differences: "list[Difference]") -> None:
    for difference in differences:
        typer.echo(_told(difference))
    if differences:
        raise typer.Exit(FOUND)


def _told(difference: "Difference") -> str:
    topic, what, declared, found = difference
    return f"{topic}: {what} is {found}, and should be {declared}"


def _principals(given: list[str], roles: list[str]) -> dict[str, str]:
    """Return the principal of each role: those given, or, where none is, one for every role."""
    principals = {}
    for text in given:
        role, _, principal = text.partition("=")
        if role not in roles or not principal:
            raise typer.BadParameter(f"{text!r}: write ROLE=PRINCIPAL, with a role of {', '.join(roles)}")
        principals[role] = principal
    return principals or {role: f"User:pitwatch-{role}" for role in roles}
