"""`pitwatch sink`: a worker that fills a ClickHouse server from the log."""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import structlog
import typer

from pitwatch.logs import configure_logs
from pitwatch.signals import Stop
from pitwatch.workplace import server_settings_for

if TYPE_CHECKING:
    from processors.settings import Settings
    from schemas.log import EventLog

STOP_SECONDS = 60.0
"""How long a stop waits for the insert under way."""


def sink(
    config: Annotated[Path, typer.Option("--config", help="Settings, TOML, with a [store] url.", dir_okay=False)],
    data: Annotated[
        Path | None, typer.Option("--data", help="Data directory whose log to read.", file_okay=False)
    ] = None,
) -> None:
    """Copy events and facts from the log into the store's server, until SIGTERM or SIGINT. Several may run."""
    from processors.loops import Loop, Standing
    from processors.monitoring import monitored
    from processors.sink_worker import OUTAGES, SinkWorker
    from processors.store.clickhouse import ClickHouseStore

    configure_logs()
    logger = structlog.get_logger(__name__)
    settings = server_settings_for(data, config)
    stop, standing = Stop(), Standing()
    with _open_log(settings) as log, monitored(settings.monitoring, standing.troubles) as url:
        worker = SinkWorker(log, lambda: ClickHouseStore.on_server(settings.store))
        loop = Loop("sink", worker.step, standing, OUTAGES)
        loop.start()
        logger.info("running", store=settings.store.url, monitoring=url)
        stop.wait(standing.stopping)
        logger.info("stopping", signal=stop.signal)
        standing.stopping.set()
        loop.join(STOP_SECONDS)
        if not loop.is_alive():
            worker.close()
        standing.raise_failure()
    logger.info("stopped")


def _open_log(settings: "Settings") -> AbstractContextManager["EventLog"]:
    from processors.data_directory import check_there, open_log

    check_there(settings.data_directory)
    return open_log(settings.data_directory)
