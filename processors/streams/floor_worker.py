"""The process of a worker: Faust's own, with what it hosts opened before and closed after, and with our logs."""

import logging
import os
import signal
import threading
from typing import Any, Final, NoReturn, cast

import faust
import structlog

from processors.streams.floor_app import FloorApp
from processors.streams.hosted import hosted
from processors.structured_logs import configure_logs

QUIET: Final = {
    "faust": logging.WARNING,
    "mode": logging.WARNING,
    "aiokafka": logging.WARNING,
    "mode.timers": logging.ERROR,
}
"""Loggers that tell of every step of theirs, and from which level on they are heard.

A timer whose work took longer than its interval is no news: the next time comes right behind it.
"""

STOP_SECONDS: Final = 20.0
"""How long a stop may take. While brokers are away Faust would wait for their answers for minutes."""

EXIT_CUT_SHORT: Final = 1
"""Exit code where the stop took too long."""

_logger: Final = structlog.get_logger(__name__)


class FloorWorker(faust.Worker):
    """Runs a `FloorApp` until SIGTERM or SIGINT. `faust worker` and `pitwatch worker` both start it."""

    def __init__(self, app: FloorApp, *services: faust.ServiceT, **options: Any) -> None:  # noqa: ANN401 - Faust's own signature
        # Faust's own logging, its banner and its web server stay out: ours are the same in every process.
        app.conf.web_enabled = False
        super().__init__(app, *services, **options | {"override_logging": False, "quiet": True})
        self.spinner = None

    def execute_from_commandline(self) -> NoReturn:
        """Work; exit with 0 after a signal, and with 1 after what no waiting mends."""
        configure_logs()
        for name, level in QUIET.items():
            logging.getLogger(name).setLevel(level)
        app = cast(FloorApp, self.app)
        with hosted(app.floor_settings) as app.hosted:
            super().execute_from_commandline()

    def _schedule_shutdown(self, signal: signal.Signals) -> None:
        super()._schedule_shutdown(signal)
        limit = threading.Timer(STOP_SECONDS, _cut_short)
        limit.daemon = True
        limit.start()


def _cut_short() -> None:
    """End the process: places and messages are durable, and what was under way is done again after the next start."""
    _logger.error("stop_cut_short", after_seconds=STOP_SECONDS)
    os._exit(EXIT_CUT_SHORT)
