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
    from collections.abc import Mapping, Sequence

    from processors.loops import Standing
    from processors.settings import Settings
    from processors.sink_worker import SinkWorker
    from processors.streams.watchdog import Watchdog

STOP_SECONDS = 20.0
"""How long a stop waits for the insert under way."""


def sink(
    config: Annotated[Path, typer.Option("--config", help="Settings, TOML, with a \\[store] url.", dir_okay=False)],
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
        watch = _Watch(settings, opened, standing, shared=data is None)
        worker = _worker(settings, opened, watch, from_kafka=data is None)
        url = opened.enter_context(monitored(settings.monitoring, watch.troubles))
        loop = Loop("sink", worker.step, standing, OUTAGES)
        loop.start()
        logger.info("running", store=settings.store.url, monitoring=url)
        stop.wait(standing.stopping)
        logger.info("stopping", signal=stop.signal)
        standing.stopping.set()
        loop.join(STOP_SECONDS)
        standing.raise_failure()
    logger.info("stopped")


class _Watch:
    """Tells how a sink stands, which has yet to start until it has its first share.

    Where sinks share Kafka's partitions a watchdog minds them, once the store has told which group that is.
    """

    def __init__(self, settings: "Settings", opened: ExitStack, standing: "Standing", *, shared: bool) -> None:
        from processors.streams.watchdog import STARTING

        self._settings = settings
        self._opened = opened
        self._standing = standing
        self._shared = shared
        self._starting: Mapping[str, str] = STARTING
        self._dog: Watchdog | None = None

    def troubles(self) -> dict[str, str]:
        """Return what can't work now, or stands still; before the first share, that it starts."""
        watched = self._dog.troubles() if self._dog is not None else self._starting
        return {**self._standing.troubles(), **watched}

    def share(self, group: str, places: "Sequence[tuple[str, int]]") -> None:
        """Watch these partitions from now on, unless the log is this machine's alone."""
        from processors.streams.watchdog import Share

        if not self._shared:
            self._starting = {}
            return
        if self._dog is None:
            self._dog = self._start(group)
        self._dog.assigned(Share(*place) for place in places)

    def beat(self, name: str, *, asks_log: bool = False) -> None:
        """Note that something is alive."""
        if self._dog is not None:
            self._dog.beat(name, asks_log=asks_log)

    def rest(self, name: str) -> None:
        """Note that something has ended."""
        if self._dog is not None:
            self._dog.rest(name)

    def _start(self, group: str) -> "Watchdog":
        from processors.logs.kafka_opening import open_kafka_log
        from processors.loops import Loop
        from processors.sink_worker import OUTAGES
        from processors.store.sink import TOPICS
        from processors.streams.watchdog import Watchdog

        # A client of its own: what the worker's client believes is what is in doubt.
        log = self._opened.enter_context(open_kafka_log(self._settings.kafka))
        limit_seconds = self._settings.monitoring.stalled_after_seconds
        dog = Watchdog(log, group, [topic for _, topic in TOPICS], limit_seconds, self._standing.stopping)
        loop = Loop("watchdog", dog.step, self._standing, OUTAGES)
        loop.start()
        # It ends before its log does.
        self._opened.callback(loop.join, STOP_SECONDS)
        return dog


def _worker(settings: "Settings", opened: ExitStack, watch: _Watch, *, from_kafka: bool) -> "SinkWorker":
    from processors.sink_worker import SinkWorker
    from processors.store.clickhouse import ClickHouseStore

    def open_store() -> ClickHouseStore:
        return ClickHouseStore.on_server(settings.store)

    if from_kafka:
        from processors.logs.kafka_opening import open_kafka_log

        shared = opened.enter_context(open_kafka_log(settings.kafka))
        worker = SinkWorker(shared, open_store, shared.join, on_share=watch.share, watcher=watch)
        return opened.enter_context(closing(worker))
    from processors.data_directory import check_fillable, check_there, open_log

    directory = settings.data_directory
    check_there(directory)
    log = opened.enter_context(open_log(directory))
    check = partial(check_fillable, log, directory)
    return opened.enter_context(closing(SinkWorker(log, open_store, check=check, on_share=watch.share)))
