"""`pitwatch gateway`: takes in what tables send, without the pipeline behind it."""

import threading
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import structlog
import typer

from pitwatch.logs import configure_logs
from pitwatch.signals import Stop

if TYPE_CHECKING:
    from processors.settings import Settings
    from producers.gateway.appender import Opening


def gateway(
    config: Annotated[
        Path,
        typer.Option("--config", help="Settings, TOML, with the floor and, under \\[kafka], the log.", dir_okay=False),
    ],
) -> None:
    """Take events from table controllers into the log, until SIGTERM or SIGINT. Several may run on Kafka.

    Without kafka.bootstrap it writes the data directory's log, while no pipeline runs there.
    """
    from pitwatch.gateway import gateway_app, warn_of_silent_tables
    from processors.event_log import event_log
    from processors.monitoring import monitored
    from processors.settings_file import load_settings
    from producers.gateway.server import run_gateway

    configure_logs()
    logger = structlog.get_logger(__name__)
    settings = load_settings(config)
    warn_of_silent_tables(settings)
    stop = Stop()
    with ExitStack() as opened:
        log = opened.enter_context(event_log(settings))
        app = gateway_app(settings, log, _configurations_first(settings))
        url = opened.enter_context(run_gateway(app, settings.gateway.host, settings.gateway.port))
        monitoring = opened.enter_context(monitored(settings.monitoring, app.state.gateway.troubles))
        logger.info("running", gateway=url, monitoring=monitoring, tables=len(settings.floor.tables))
        stop.wait(threading.Event())
        logger.info("stopping", signal=stop.signal)
    logger.info("stopped")


def _configurations_first(settings: "Settings") -> "Opening":
    from processors.floor_configurations import to_publish
    from processors.own_events import OwnEvents

    own, entries = OwnEvents(), settings.floor.entries()
    return lambda published: to_publish(entries, published, own, datetime.now(UTC))
