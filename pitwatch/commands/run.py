"""`pitwatch run`: a floor's embedded pipeline on what its tables send."""

import signal
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import structlog
import typer

from pitwatch.logs import configure_logs
from schemas.topics import TABLE_EVENTS

if TYPE_CHECKING:
    from fastapi import FastAPI

    from processors.embedded import EmbeddedPipeline


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
    with EmbeddedPipeline(settings, clock_events=True) as pipeline:
        _stop_on_signals(pipeline)
        now = datetime.now(UTC)
        if events := pipeline.reconstructor.to_publish(settings.floor.entries(), now):
            pipeline.log.append(TABLE_EVENTS, events)
        pipeline.start()
        with run_gateway(_gateway(pipeline), settings.gateway.host, settings.gateway.port) as url:
            logger.info("running", gateway=url, tables=len(settings.floor.tables), data=str(settings.data_directory))
            pipeline.wait_until_stopped()
    logger.info("stopped")


def _gateway(pipeline: "EmbeddedPipeline") -> "FastAPI":
    from producers.gateway.app import create_app
    from producers.gateway.auth import TableToken
    from producers.gateway.limits import GatewayLimits

    settings = pipeline.settings
    tokens = [
        TableToken(table.table_id, token_hash) for table in settings.floor.tables for token_hash in table.tokens_sha256
    ]
    limits = GatewayLimits(
        seen_path=settings.data_directory / "gateway.sqlite",
        max_body_bytes=settings.gateway.max_body_bytes,
        max_events=settings.gateway.max_events,
        max_waiting_events=settings.gateway.max_waiting_events,
        body_timeout_seconds=settings.gateway.body_timeout_seconds,
    )
    return create_app(pipeline.log, tokens, limits)


def _stop_on_signals(pipeline: "EmbeddedPipeline") -> None:
    def stop(number: int, _: FrameType | None) -> None:
        structlog.get_logger(__name__).info("stopping", signal=signal.Signals(number).name)
        pipeline.stopping.set()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
