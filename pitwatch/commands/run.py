"""`pitwatch run`: a floor's embedded pipeline on what its tables send."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import structlog
import typer

from pitwatch.logs import configure_logs
from pitwatch.signals import Stop

if TYPE_CHECKING:
    from processors.settings import Settings


def run(
    config: Annotated[
        Path, typer.Option("--config", help="Settings, TOML; examples/pitwatch.toml is one.", dir_okay=False)
    ],
) -> None:
    """Take events from table controllers, reconstruct every round and send alerts, until SIGTERM or SIGINT."""
    from pitwatch.gateway import gateway_app
    from processors.embedded import STORE_FOLDER, EmbeddedPipeline
    from processors.monitoring import monitored
    from processors.settings_file import load_settings
    from processors.sql.server import run_sql
    from producers.gateway.server import run_gateway

    configure_logs()
    logger = structlog.get_logger(__name__)
    settings = load_settings(config)
    _warn(settings)
    stop = Stop()
    with (
        EmbeddedPipeline(settings, live=True) as pipeline,
        run_sql(settings.data_directory / STORE_FOLDER, settings) as sql,
        monitored(settings.monitoring, pipeline.troubles) as monitoring,
    ):
        pipeline.start()
        # No table is to be heard before its configuration is in the log.
        stop.wait(pipeline.configured, pipeline.stopping)
        if not stop.signal and not pipeline.stopping.is_set():
            with run_gateway(gateway_app(settings, pipeline.log), settings.gateway.host, settings.gateway.port) as url:
                served = {"gateway": url, "sql": sql, "monitoring": monitoring}
                logger.info("running", tables=len(settings.floor.tables), data=str(settings.data_directory), **served)
                stop.wait(pipeline.stopping)
        logger.info("stopping", signal=stop.signal)
        pipeline.raise_failure()
    logger.info("stopped")


def _warn(settings: "Settings") -> None:
    """Tell what the settings leave out: it is allowed, and easily an oversight."""
    from pitwatch.gateway import warn_of_silent_tables

    warn_of_silent_tables(settings)
    if not settings.notifications.routes:
        logger = structlog.get_logger(__name__)
        logger.warning("no_notification_routes", why="nobody is told of alerts; they are only in the store")
