"""`Notifier.run`: woken at once, no URL waits for another, outages are waited out, nothing dies unseen.

Events and conditions order the threads; timeouts only end a test that would hang.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from pathlib import Path

import pytest
from pydantic import SecretStr

from processors.logs.sqlite import SqliteLog
from processors.notify import notifier as module
from processors.notify.database import OutboxUnavailable
from processors.notify.notifier import GROUP, TOPIC, Notifier
from processors.notify.outbox import Outbox
from processors.notify.port import Message
from processors.notify.recording import RecordingTransport
from processors.notify.worker import Worker
from schemas.log import LogUnavailable, Record
from schemas.wire import encode
from tests.processors.notify.conftest import Make, Publish
from tests.processors.notify.samples import ManualClock, alert, route, settings

PATIENCE_SECONDS = 30.0


@contextmanager
def running(notifier: Notifier, *, reads: bool = True) -> Iterator[threading.Event]:
    """Run the notifier in a thread; at the end stop it, and raise what it died of."""
    stop = threading.Event()
    worker = Worker("notifier", partial(notifier.run, stop, reads=reads))
    worker.start()
    try:
        yield stop
    finally:
        stop.set()
        worker.join(PATIENCE_SECONDS)
        assert not worker.is_alive()
        if worker.error is not None:
            raise worker.error


def test_an_alert_appended_while_it_waits_is_sent(make: Make, publish: Publish, transport: RecordingTransport) -> None:
    notifier = make()
    with running(notifier):
        for number in range(1, 6):
            publish(alert(number))
            assert transport.wait_for(number, PATIENCE_SECONDS)
    assert notifier.status().sent == 5


def test_the_reader_waits_on_the_log_itself(
    make: Make, publish: Publish, transport: RecordingTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With idle waits of minutes, only the log's own wake-up can bring the alert through."""
    monkeypatch.setattr(module, "IDLE_SECONDS", 600.0)
    stop, notifier = threading.Event(), make()
    thread = threading.Thread(target=notifier.run, args=(stop,), daemon=True)
    thread.start()
    publish(alert())
    assert transport.wait_for(1, PATIENCE_SECONDS)
    stop.set()
    publish(alert(2))  # ends the reader's wait
    thread.join(PATIENCE_SECONDS)
    assert not thread.is_alive()


def test_a_url_that_hangs_holds_up_no_other(make: Make, publish: Publish) -> None:
    hanging, release = threading.Event(), threading.Event()

    def before(url: str) -> None:
        if url == "test://hangs":
            hanging.set()
            release.wait(PATIENCE_SECONDS)

    transport = RecordingTransport(before)
    with running(make(settings(route("bosses", "test://hangs", "test://works")), transport)):
        publish(alert(1))
        assert hanging.wait(PATIENCE_SECONDS)
        publish(alert(2), alert(3))
        assert transport.wait_for(3, PATIENCE_SECONDS)
        assert [delivery.url for delivery in transport.deliveries] == ["test://works"] * 3
        release.set()
        assert transport.wait_for(6, PATIENCE_SECONDS)


class TickingClock(ManualClock):
    """Is a second later each time it is read."""

    def __call__(self) -> datetime:
        self.advance(seconds=1)
        return self.now


def test_a_failed_send_is_repeated_when_its_time_comes(
    log: SqliteLog, publish: Publish, transport: RecordingTransport, tmp_path: Path
) -> None:
    transport.fail("test://bosses", 2)
    notifier = Notifier(log, tmp_path, transport, settings(stale_after_seconds=86_400), TickingClock())
    publish(alert())
    with running(notifier):
        assert transport.wait_for(1, PATIENCE_SECONDS)
    notifier.close()


class FlakyLog(SqliteLog):
    """A log that is away for its first two reads."""

    away = 2

    def read(self, topic: str, partition: int, offset: int, limit: int) -> list[Record]:
        if self.away:
            self.away -= 1
            raise LogUnavailable("the disk is full")
        return super().read(topic, partition, offset, limit)


def test_an_outage_of_the_log_is_waited_out(
    tmp_path: Path, transport: RecordingTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PAUSE_SECONDS", 0.01)
    log = FlakyLog(tmp_path / "log.sqlite")
    log.append(module.TOPIC, [("B07", encode(alert()))])
    notifier = Notifier(log, tmp_path, transport, settings())
    with running(notifier):
        assert transport.wait_for(1, PATIENCE_SECONDS)
    notifier.close()
    log.close()


def test_a_sent_message_whose_record_fails_is_recorded_later_and_not_sent_again(
    make: Make, publish: Publish, transport: RecordingTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PAUSE_SECONDS", 0.01)
    failures, recorded = iter(range(3)), threading.Event()
    genuine = Outbox.mark_sent

    def mark_sent(self: Outbox, *arguments: object) -> None:
        if next(failures, None) is not None:
            raise OutboxUnavailable("the disk is full")
        genuine(self, *arguments)  # type: ignore[arg-type]  # passed through as they came
        recorded.set()

    monkeypatch.setattr(Outbox, "mark_sent", mark_sent)
    notifier = make()
    with running(notifier):
        publish(alert())
        assert recorded.wait(PATIENCE_SECONDS)
    assert len(transport.deliveries) == 1
    assert notifier.status().sent == 1


def test_a_queue_that_is_away_is_tried_again(
    make: Make, publish: Publish, transport: RecordingTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PAUSE_SECONDS", 0.01)
    failures = iter(range(3))
    genuine = Outbox.next_send

    def next_send(self: Outbox, *arguments: object) -> object:
        if next(failures, None) is not None:
            raise OutboxUnavailable("locked")
        return genuine(self, *arguments)  # type: ignore[arg-type]  # passed through as they came

    monkeypatch.setattr(Outbox, "next_send", next_send)
    with running(make()):
        publish(alert())
        assert transport.wait_for(1, PATIENCE_SECONDS)


def test_what_a_thread_dies_of_is_raised(make: Make, publish: Publish) -> None:
    def before(url: str) -> None:
        raise ZeroDivisionError("a defect in the transport")

    notifier = make(carrier=RecordingTransport(before))
    publish(alert())
    with pytest.raises(ZeroDivisionError, match="a defect in the transport"):
        notifier.run(threading.Event())
    assert notifier.status().pending == 1


def test_it_stops_although_a_send_hangs(make: Make, publish: Publish, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "STOP_SECONDS", 0.01)
    hanging, release = threading.Event(), threading.Event()

    class Hanging(RecordingTransport):
        def send(self, url: SecretStr, message: Message) -> None:
            hanging.set()
            release.wait(PATIENCE_SECONDS)

    notifier = make(carrier=Hanging())
    publish(alert())
    with running(notifier):
        assert hanging.wait(PATIENCE_SECONDS)
    assert notifier.status().pending == 1
    release.set()


# -- alerts that are read elsewhere ----------------------------------------------------------------------------------


def handed_over(log: SqliteLog) -> list[Record]:
    return log.read(TOPIC, 0, 0, 100)


def test_alerts_that_are_handed_over_are_sent_and_nothing_is_read(
    make: Make, publish: Publish, transport: RecordingTransport, log: SqliteLog
) -> None:
    notifier = make()
    publish(alert(1), alert(2))
    records = handed_over(log)
    publish(alert(3))
    with running(notifier, reads=False):
        notifier.accept(records[:1])
        notifier.accept(records)
        assert transport.wait_for(2, PATIENCE_SECONDS)
        # Handing over again what is known already says nothing new.
        notifier.accept(records)
    assert notifier.status().sent == len(transport.deliveries) == 2
    assert log.position(GROUP, TOPIC, 0) == 0


def test_summaries_fall_due_though_nothing_is_read(
    make: Make, publish: Publish, transport: RecordingTransport, log: SqliteLog, clock: ManualClock
) -> None:
    notifier = make(settings(route(alerts_per_ten_minutes=1, summary_seconds=10)))
    publish(alert(1), alert(2))
    notifier.accept(handed_over(log))
    with running(notifier, reads=False):
        assert transport.wait_for(1, PATIENCE_SECONDS)
        clock.advance(seconds=11)
        assert transport.wait_for(2, PATIENCE_SECONDS)


def test_what_cant_be_queued_is_told_to_who_handed_it_over(make: Make, publish: Publish, log: SqliteLog) -> None:
    notifier = make()
    publish(alert())
    notifier.close()
    with pytest.raises(OutboxUnavailable):
        notifier.accept(handed_over(log))


def test_queue_that_is_away_doesnt_end_the_notifier_that_reads_nothing(
    make: Make, publish: Publish, transport: RecordingTransport, log: SqliteLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "IDLE_SECONDS", 0.01)
    notifier = make()
    failed, genuine = threading.Event(), notifier._intake.summarise

    def away(now: datetime) -> int:
        if not failed.is_set():
            failed.set()
            raise OutboxUnavailable("locked")
        return genuine(now)

    monkeypatch.setattr(notifier._intake, "summarise", away)
    publish(alert())
    with running(notifier, reads=False):
        assert failed.wait(PATIENCE_SECONDS)
        notifier.accept(handed_over(log))
        assert transport.wait_for(1, PATIENCE_SECONDS)
