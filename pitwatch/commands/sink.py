"""`pitwatch sink`: a worker that fills a ClickHouse server from the log."""

from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import structlog
import typer

from pitwatch.logs import configure_logs
from pitwatch.signals import Stop
from pitwatch.workplace import server_settings_for

if TYPE_CHECKING:
    from processors.settings import Settings
    from processors.sink_worker import SinkWorker

STOP_SECONDS = 60.0
"""How long a stop waits for the insert under way."""


def sink(
    config: Annotated[Path, typer.Option("--config", help="Settings, TOML, with a [store] url.", dir_okay=False)],
    data: Annotated[
        Path | None,
        typer.Option("--data", help="Data directory whose log to read, instead of Kafka's.", file_okay=False),
    ] = None,
) -> None:
    """Copy events and facts from the log into the store's server, until SIGTERM or SIGINT. Several may run."""
    from processors.loops import Loop, Standing
    from processors.monitoring import monitored
    from processors.sink_worker import OUTAGES

    configure_logs()
    logger = structlog.get_logger(__name__)
    settings = server_settings_for(data, config)
    stop, standing = Stop(), Standing()
    with ExitStack() as opened:
        worker = _worker(settings, opened, from_kafka=data is None)
        url = opened.enter_context(monitored(settings.monitoring, standing.troubles))
        loop = Loop("sink", worker.step, standing, OUTAGES)
        loop.start()
        logger.info("running", store=settings.store.url, monitoring=url)
        stop.wait(standing.stopping)
        logger.info("stopping", signal=stop.signal)
        standing.stopping.set()
        loop.join(STOP_SECONDS)
        standing.raise_failure()
    logger.info("stopped")


def _worker(settings: "Settings", opened: ExitStack, *, from_kafka: bool) -> "SinkWorker":
    from processors.sink_worker import SinkWorker
    from processors.store.clickhouse import ClickHouseStore

    def open_store() -> ClickHouseStore:
        return ClickHouseStore.on_server(settings.store)

    if from_kafka:
        from processors.logs.kafka_opening import open_kafka_log

        shared = opened.enter_context(open_kafka_log(settings.kafka))
        return opened.enter_context(closing(SinkWorker(shared, open_store, shared.join)))
    from processors.data_directory import check_fillable, check_there, open_log

    directory = settings.data_directory
    check_there(directory)
    log = opened.enter_context(open_log(directory))
    check = partial(check_fillable, log, directory)
    return opened.enter_context(closing(SinkWorker(log, open_store, check=check)))
