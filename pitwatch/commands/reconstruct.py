"""`pitwatch reconstruct`: a worker that folds its share of a Kafka log's tables into facts."""

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import structlog
import typer

from pitwatch.logs import configure_logs
from pitwatch.signals import Stop
from pitwatch.workplace import kafka_settings_for

STOP_SECONDS = 20.0
"""How long a stop waits for the batch under way."""


def reconstruct(
    config: Annotated[
        Path, typer.Option("--config", help="Settings, TOML, with the cluster under \\[kafka].", dir_okay=False)
    ],
) -> None:
    """Fold tables' events into facts, until SIGTERM or SIGINT. Start more, and they share the tables."""
    from processors.interpreter import tuned
    from processors.logs.kafka_opening import open_kafka_log
    from processors.loops import Loop, Standing
    from processors.monitoring import monitored
    from processors.reconstruct_worker import OUTAGES, ReconstructWorker
    from processors.reconstructor import GROUP
    from processors.streams.watchdog import Share, Watchdog
    from schemas.topics import TABLE_EVENTS

    configure_logs()
    logger = structlog.get_logger(__name__)
    settings = kafka_settings_for(config)
    stop, standing = Stop(), Standing()
    with ExitStack() as opened:
        log = opened.enter_context(open_kafka_log(settings.kafka))
        # A client of its own: what the worker's client believes is what is in doubt.
        seen_from_outside = opened.enter_context(open_kafka_log(settings.kafka))
        limit_seconds = settings.monitoring.stalled_after_seconds
        watchdog = Watchdog(seen_from_outside, GROUP, [TABLE_EVENTS], limit_seconds, standing.stopping)
        worker = ReconstructWorker(
            log,
            settings,
            lambda partitions: watchdog.assigned(Share(TABLE_EVENTS, one) for one in partitions),
            watcher=watchdog,
        )
        url = opened.enter_context(monitored(settings.monitoring, lambda: standing.troubles() | watchdog.troubles()))
        opened.enter_context(tuned())
        loop = Loop("reconstruct", worker.step, standing, OUTAGES)
        watching = Loop("watchdog", watchdog.step, standing, OUTAGES)
        for one in (loop, watching):
            one.start()
        logger.info("running", kafka=settings.kafka.bootstrap, monitoring=url)
        stop.wait(standing.stopping)
        logger.info("stopping", signal=stop.signal)
        standing.stopping.set()
        for one in (loop, watching):
            one.join(STOP_SECONDS)
        if loop.is_alive():
            logger.error("loop_hangs", loop=loop.name)
            worker.abandon()
        worker.close()
        standing.raise_failure()
    logger.info("stopped")
