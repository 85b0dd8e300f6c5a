"""Structured logs on standard error: one JSON object a line, or coloured text where a person reads them."""

import logging
import sys
from typing import Final

import structlog

_REPEATING: Final = ("urllib3.", "clickhouse_connect.")
"""Loggers that warn of what then fails, and comes as an exception that we tell once and in our own words."""

_OF_CONNECTIONS: Final = "processors.logs.kafka"
"""Tells of every connection that fails, and goes on trying: of use to who runs a service, and not a command."""


def configure_logs(level: int = logging.INFO) -> None:
    """Send Pitwatch's logs, and those of the libraries it uses, through one pipeline.

    What libraries tell of failures that come as our own exceptions is left out.
    """
    shared: list[structlog.typing.Processor] = [
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    renderer: structlog.typing.Processor = (
        structlog.dev.ConsoleRenderer() if sys.stderr.isatty() else structlog.processors.JSONRenderer()
    )
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.stdlib.LoggerFactory(),
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared, processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer]
        )
    )
    handler.addFilter(lambda record: _is_news(record, to_person=level > logging.INFO))
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level)


def _is_news(record: logging.LogRecord, *, to_person: bool) -> bool:
    if record.name == _OF_CONNECTIONS:
        return not to_person
    return record.levelno >= logging.ERROR or not record.name.startswith(_REPEATING)
