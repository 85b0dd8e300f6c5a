"""How the app does its work: again and again while what it needs is away, and never past a defect."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from faust.types import EventT

from processors.loops import Standing
from processors.metrics import STREAM_RETRIES
from processors.notify.database import OutboxUnavailable
from processors.settings import KafkaSettings, Settings
from processors.streams import floor_app as module
from processors.streams.fact_taking import STREAMS
from processors.streams.floor_app import FloorApp, make_app, need_topics, record_of, until_done
from processors.streams.hosted import Hosted
from schemas.log import EventLog, LogUnavailable, Record


@pytest.fixture
def app(monkeypatch: pytest.MonkeyPatch) -> FloorApp:
    monkeypatch.setattr(module, "FIRST_RETRY_SECONDS", 0.001)
    monkeypatch.setattr(module, "LONGEST_RETRY_SECONDS", 0.001)
    app = make_app(Settings(data_directory=Path("data"), kafka=KafkaSettings(bootstrap="nowhere:1")))
    app.hosted = cast(Hosted, SimpleNamespace(standing=Standing()))
    return app


class Failing:
    """Work that fails as it is told, attempt by attempt, and then is done."""

    def __init__(self, app: FloorApp, *failures: Exception) -> None:
        self.failures = list(failures)
        self.troubles: list[dict[str, str]] = []
        self._app = app

    def __call__(self) -> None:
        self.troubles.append(self._app.hosted.standing.troubles())
        if self.failures:
            raise self.failures.pop(0)


def test_work_is_repeated_in_place_while_what_it_needs_is_away(app: FloorApp) -> None:
    before = STREAM_RETRIES.labels("alerts")._value.get()
    work = Failing(app, OutboxUnavailable("disk full"), LogUnavailable("no broker"), OutboxUnavailable("disk full"))
    asyncio.run(until_done(app, "alerts", work))
    assert work.troubles == [{}, {"alerts": "disk full"}, {"alerts": "no broker"}, {"alerts": "disk full"}]
    assert app.hosted.standing.troubles() == {}
    assert STREAM_RETRIES.labels("alerts")._value.get() == before + 3


@pytest.mark.parametrize("defect", [ValueError("a defect"), KeyError("pit")])
def test_defect_is_no_outage(app: FloorApp, defect: Exception) -> None:
    work = Failing(app, OutboxUnavailable("locked"), defect)
    with pytest.raises(type(defect)):
        asyncio.run(until_done(app, "alerts", work))
    assert len(work.troubles) == 2


def test_app_needs_what_its_worker_hosts() -> None:
    app = make_app(Settings(kafka=KafkaSettings(bootstrap="nowhere:1")))
    with pytest.raises(AssertionError, match="without what it works with"):
        _ = app.hosted


@pytest.mark.parametrize("missing", STREAMS)
def test_topics_that_are_not_there_are_waited_for(missing: str) -> None:
    def log(there: Callable[[str], bool]) -> EventLog:
        return cast(EventLog, SimpleNamespace(partitions=lambda topic: [0, 1] if there(topic) else []))

    need_topics(log(lambda _: True))
    with pytest.raises(LogUnavailable, match=f"there is no topic {missing} yet: run pitwatch topics create"):
        need_topics(log(lambda topic: topic != missing))


@pytest.mark.parametrize(
    ("key", "value", "record"),
    [
        (b"BAC-01", b"fact", ("BAC-01", b"fact")),
        (None, None, ("", b"")),
        (b"\xff", b"", ("\ufffd", b"")),
    ],
)
def test_message_is_a_record_to_everything_behind_faust(
    key: bytes | None, value: bytes | None, record: tuple[str, bytes]
) -> None:
    moment = datetime(2026, 5, 1, 12, 0, 0, 250_000, tzinfo=UTC)
    message = SimpleNamespace(
        topic="rounds", partition=3, offset=17, timestamp=moment.timestamp(), key=key, value=value
    )
    found = record_of(cast("EventT[bytes]", SimpleNamespace(message=message)))
    assert found == Record("rounds", 3, 17, *record, moment)
