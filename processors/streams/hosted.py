"""Everything the worker hosts besides Faust's own streams, opened before them and closed after them.

The log, the windows, the notifier and its send queue, the watch over silent tables, the watchdog and the web pages.
"""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from functools import partial
from typing import Final

import structlog
from pydantic import JsonValue

from processors.logs.kafka import KafkaLog
from processors.logs.kafka_clients import Clients
from processors.logs.kafka_opening import open_kafka_log
from processors.logs.lock import lock_data_directory
from processors.loops import Loop, Standing
from processors.metrics import NOTIFY_FAILED, NOTIFY_WAITING
from processors.monitoring import monitored
from processors.notify.apprise_transport import AppriseTransport
from processors.notify.notifier import Notifier
from processors.notify.port import NotifierTransport
from processors.settings import Settings
from processors.streams.fact_taking import OUTAGES, STREAMS, FactTaking
from processors.streams.floor_now import FloorNow
from processors.streams.recent import Recent
from processors.streams.silence_watch import SilenceWatch
from processors.streams.watchdog import Watchdog
from schemas.log import LogError

GROUP: Final = "faust-floor"
"""The group of Faust's consumers, which keeps their places."""

STOP_SECONDS: Final = 8.0
"""How long a stop waits for the notifier and the watchdog."""

_logger: Final = structlog.get_logger(__name__)


class Hosted:
    """What the streams and timers of a worker use. Made by `hosted`, for the length of its block."""

    def __init__(
        self, settings: Settings, log: KafkaLog, clients: Clients, standing: Standing, notifier: Notifier | None
    ) -> None:
        pits = {entry.configuration.pit for entry in settings.floor.entries()}
        self.log = log
        self.standing = standing
        self.notifier = notifier
        self.floor = FloorNow(settings.worker.windows_minutes, pits, now())
        self.recent = Recent(log, clients)
        self.taking = FactTaking(log, self.floor, notifier, self.recent)
        self.silences = SilenceWatch(log, log.join)
        self.watchdog = Watchdog(log, GROUP, STREAMS, settings.monitoring.stalled_after_seconds, standing.stopping)

    def troubles(self) -> dict[str, str]:
        """Return what can't work now or stands still, for `/healthz`."""
        return self.standing.troubles() | self.watchdog.troubles()

    def windows(self) -> JsonValue:
        """Return the page `/windows`."""
        return self.floor.page(now())

    def show(self) -> None:
        """Tell Prometheus how the windows and the send queue are. Raises `OutboxUnavailable`."""
        self.floor.show(now())
        if self.notifier is not None:
            status = self.notifier.status()
            NOTIFY_WAITING.set(status.pending)
            NOTIFY_FAILED.set(status.failed)

    def loops(self) -> list[Loop]:
        """Return the threads that work beside Faust."""
        steps = {"watchdog": self.watchdog.step}
        if self.notifier is not None:
            steps["notify"] = partial(_notify, self.notifier, self.standing.stopping)
        return [Loop(name, step, self.standing, OUTAGES) for name, step in steps.items()]


def now() -> datetime:
    """Return the time of this machine's clock, in UTC."""
    return datetime.now(UTC)


@contextmanager
def hosted(settings: Settings, transport: NotifierTransport | None = None) -> Iterator[Hosted]:
    """Open it all for the length of a ``with`` block.

    Raises `DataDirectoryUnusable`, `OutboxUnavailable`, `RouteRefused`, `ServingFailed`; Kafka isn't asked yet.
    """
    standing = Standing()
    kafka = settings.kafka
    with ExitStack() as opened:
        # One process works with a send queue.
        opened.enter_context(lock_data_directory(settings.data_directory))
        log = opened.enter_context(open_kafka_log(kafka))
        clients = Clients(kafka.bootstrap, kafka.plain_properties(), "pitwatch-worker", kafka.timeout_seconds)
        notifier = _open_notifier(settings, log, transport, opened)
        worker = Hosted(settings, log, clients, standing, notifier)
        url = opened.enter_context(monitored(settings.monitoring, worker.troubles, {"/windows": worker.windows}))
        _logger.info("running", group=GROUP, monitoring=url, notifying=notifier is not None)
        loops = worker.loops()
        for loop in loops:
            loop.start()
        try:
            yield worker
        finally:
            _logger.info("stopping")
            standing.stopping.set()
            _save(worker.silences)
            for loop in loops:
                loop.join(STOP_SECONDS)
            _logger.info("stopped")


def _open_notifier(
    settings: Settings, log: KafkaLog, transport: NotifierTransport | None, opened: ExitStack
) -> Notifier | None:
    notifications = settings.notifications
    if not notifications.routes:
        _logger.warning("no_notification_routes", why="nobody is told of alerts; they are only in the store")
        return None
    carrier = transport or AppriseTransport(notifications.send_timeout_seconds)
    notifier = Notifier(log, settings.data_directory, carrier, notifications)
    opened.callback(notifier.close)
    return notifier


def _notify(notifier: Notifier, stopping: threading.Event) -> bool:
    notifier.run(stopping, reads=False)
    return False


def _save(watch: SilenceWatch) -> None:
    try:
        watch.save(now())
    except LogError as error:
        # Who takes these tables over reads a little more again.
        _logger.warning("watch_not_saved", error=str(error))
