"""The notifier's surroundings: a real log in a file, a clock that stands still, a transport that keeps everything."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from processors.logs.sqlite import SqliteLog
from processors.notify.notifier import TOPIC, Notifier
from processors.notify.port import NotifierTransport
from processors.notify.recording import RecordingTransport
from processors.notify.routing import NotificationSettings
from schemas.facts import Fact
from schemas.wire import encode
from tests.processors.notify.samples import ManualClock, settings

Publish = Callable[..., None]
Make = Callable[..., Notifier]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def log(tmp_path: Path, clock: ManualClock) -> Iterator[SqliteLog]:
    event_log = SqliteLog(tmp_path / "log.sqlite", clock=clock)
    yield event_log
    event_log.close()


@pytest.fixture
def transport() -> RecordingTransport:
    return RecordingTransport()


@pytest.fixture
def publish(log: SqliteLog) -> Publish:
    """Append facts to the alerts topic."""

    def append(*facts: Fact) -> None:
        log.append(TOPIC, [(fact.table_id, encode(fact)) for fact in facts])

    return append


@pytest.fixture
def make(log: SqliteLog, transport: RecordingTransport, clock: ManualClock, tmp_path: Path) -> Iterator[Make]:
    """Make a notifier; the one made before it, if any, is closed first, as after a restart."""
    made: list[Notifier] = []

    def build(configured: NotificationSettings | None = None, carrier: NotifierTransport = transport) -> Notifier:
        for earlier in made:
            earlier.close()
        made.append(Notifier(log, tmp_path, carrier, configured or settings(), clock))
        return made[-1]

    yield build
    for notifier in made:
        notifier.close()
