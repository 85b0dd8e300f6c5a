"""The device gateway as the settings describe it, in front of whichever log."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import structlog

if TYPE_CHECKING:
    from fastapi import FastAPI

    from processors.settings import Settings
    from producers.gateway.appender import Opening
    from producers.gateway.models import EventResult
    from schemas.log import EventLog


def gateway_app(settings: "Settings", log: "EventLog", opening: "Opening | None" = None) -> "FastAPI":
    """Return the gateway over `log` for the floor of `settings`; see `create_app` for `opening`."""
    from producers.gateway.app import create_app
    from producers.gateway.appender import nothing_first
    from producers.gateway.auth import TableToken
    from producers.gateway.limits import GatewayLimits

    tokens = [TableToken(table_id=table, sha256=digest) for digest, table in settings.floor.token_hashes().items()]
    limits = GatewayLimits(
        seen_path=settings.data_directory / "gateway.sqlite",
        max_body_bytes=settings.gateway.max_body_bytes,
        max_events=settings.gateway.max_events,
        max_waiting_events=settings.gateway.max_waiting_events,
        body_timeout_seconds=settings.gateway.body_timeout_seconds,
    )
    return create_app(log, tokens, limits, opening=opening or nothing_first, on_append=count_results)


def count_results(results: "Sequence[EventResult]", seconds: float) -> None:
    """Count an append and what became of its events."""
    from processors.metrics import GATEWAY_APPEND_SECONDS, GATEWAY_EVENTS

    GATEWAY_APPEND_SECONDS.observe(seconds)
    for status, count in Counter(result.status for result in results).items():
        GATEWAY_EVENTS.labels(status=status).inc(count)


def warn_of_silent_tables(settings: "Settings") -> None:
    """Tell which tables can't send: it is allowed, and easily an oversight."""
    silent = [table.table_id for table in settings.floor.tables if not table.tokens_sha256]
    if silent:
        logger = structlog.get_logger(__name__)
        logger.warning("tables_without_token", tables=silent, why="they can't send: `pitwatch token TABLE` makes one")
