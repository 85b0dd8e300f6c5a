"""`pitwatch run`: a floor's embedded pipeline on what its tables send."""

import signal
import threading
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Final

import structlog
import typer

from pitwatch.logs import configure_logs

if TYPE_CHECKING:
    from fastapi import FastAPI

    from processors.embedded import EmbeddedPipeline

LOOK_SECONDS: Final = 0.25
"""How often a signal, or the pipeline's end, is looked for."""


class Stop:
    """Whether somebody asked this process to stop, with SIGTERM or SIGINT."""

    def __init__(self) -> None:
        self.signal = ""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._ask)

    def _ask(self, number: int, _: FrameType | None) -> None:
        # No more than this: a handler runs between any two steps of the main thread, which may be holding a lock.
        self.signal = signal.Signals(number).name

    def wait(self, pipeline: "EmbeddedPipeline", event: threading.Event) -> bool:
        """Block until `event` is set, the pipeline ends or a signal came; tell whether to go on."""
        while not (self.signal or pipeline.stopping.is_set() or event.wait(LOOK_SECONDS)):
            pass
        return not self.signal and not pipeline.stopping.is_set()


def run(
    config: Annotated[
        Path, typer.Option("--config", help="Settings, TOML; examples/pitwatch.toml is one.", dir_okay=False)
    ],
) -> None:
    """Take events from table controllers, reconstruct every round and send alerts, until SIGTERM or SIGINT."""
    from processors.embedded import EmbeddedPipeline
    from processors.settings_file import load_settings
    from producers.gateway.server import run_gateway

    configure_logs()
    logger = structlog.get_logger(__name__)
    settings = load_settings(config)
    stop = Stop()
    with EmbeddedPipeline(settings, live=True) as pipeline:
        pipeline.start()
        # No table is to be heard before its configuration is in the log.
        if stop.wait(pipeline, pipeline.configured):
            with run_gateway(_gateway(pipeline), settings.gateway.host, settings.gateway.port) as url:
                logger.info(
                    "running", gateway=url, tables=len(settings.floor.tables), data=str(settings.data_directory)
                )
                stop.wait(pipeline, pipeline.stopping)
        logger.info("stopping", signal=stop.signal)
        pipeline.raise_failure()
    logger.info("stopped")


def _gateway(pipeline: "EmbeddedPipeline") -> "FastAPI":
    from producers.gateway.app import create_app
    from producers.gateway.auth import TableToken
    from producers.gateway.limits import GatewayLimits

    settings = pipeline.settings
    tokens = [TableToken(table_id=table, sha256=digest) for digest, table in settings.floor.token_hashes().items()]
    limits = GatewayLimits(
        seen_path=settings.data_directory / "gateway.sqlite",
        max_body_bytes=settings.gateway.max_body_bytes,
        max_events=settings.gateway.max_events,
        max_waiting_events=settings.gateway.max_waiting_events,
        body_timeout_seconds=settings.gateway.body_timeout_seconds,
    )
    return create_app(pipeline.log, tokens, limits)
