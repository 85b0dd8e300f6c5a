"""From an alert in the log, through Apprise and a socket, to a service: also while that service is in trouble."""

import logging
import threading
from collections.abc import Iterator

import pytest
from apprise.plugins import NotifyBase
from pydantic import SecretStr

from processors.notify.apprise_transport import AppriseTransport
from processors.notify.notifier import Notifier
from processors.notify.port import Message, TransportError
from processors.notify.worker import Worker
from tests.processors.notify.conftest import Make, Publish
from tests.processors.notify.http_service import HttpService
from tests.processors.notify.samples import ManualClock, alert, route, settings

PATIENCE_SECONDS = 30.0
SECRETS = ("hunter-2-secret", "token-in-the-path")


@pytest.fixture
def service() -> Iterator[HttpService]:
    with HttpService().serving() as serving:
        yield serving


@pytest.fixture
def apprise() -> AppriseTransport:
    return AppriseTransport(timeout_seconds=10)


def url_of(port: int, query: str = "") -> str:
    return f"json://boss:{SECRETS[0]}@127.0.0.1:{port}/{SECRETS[1]}{query}"


def notifier_to(make: Make, carrier: AppriseTransport, *urls: str, languages: str = "both") -> Notifier:
    return make(settings(route("bosses", *urls, languages=languages)), carrier)


def test_the_service_gets_the_alert_as_it_reads(
    make: Make, publish: Publish, service: HttpService, apprise: AppriseTransport
) -> None:
    notifier = notifier_to(make, apprise, url_of(service.port))
    publish(alert())
    notifier.step()
    [received] = service.received
    assert received.path == f"/{SECRETS[1]}"
    assert received.authorization.startswith("Basic ")
    assert received.kind == "failure"
    assert received.title == "危急 CRITICAL · B07 · 靴 shoe 3 局 round 1"
    assert received.message == (
        "莊 多派：應派 1,000，實派 2,000\n"
        "Banker overpaid: due 1,000, paid 2,000\n"
        "應派 due HKD 1,000.00 · 實派 paid HKD 2,000.50\n"
        "閒 player 9♥ 4♦ · 莊 banker K♠ 7♣ 10♦\n"
        "荷官 dealer D17 · 座位 seat 5\n"
        "PIT-1 · art. 17 · 12:00:01"
    )


def test_a_service_that_fails_gets_it_when_it_recovers(
    make: Make,
    publish: Publish,
    service: HttpService,
    apprise: AppriseTransport,
    clock: ManualClock,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
) -> None:
    caplog.set_level(logging.DEBUG)
    service.statuses = [500, 503]
    notifier = notifier_to(make, apprise, url_of(service.port))
    publish(alert())
    notifier.step()
    [target] = notifier.status().targets
    assert (target.pending, target.sent) == (1, 0)
    assert "500" in target.last_error
    for _ in range(2):
        clock.advance(minutes=1)
        notifier.step()
    assert len(service.received) == 1
    [target] = notifier.status().targets
    assert (target.pending, target.sent) == (0, 1)
    everything_written = caplog.text + "".join(capsys.readouterr()) + repr(notifier.status())
    assert not [secret for secret in SECRETS if secret in everything_written]


def test_a_service_that_is_down_gets_it_when_it_comes_up(
    make: Make, publish: Publish, apprise: AppriseTransport, clock: ManualClock
) -> None:
    unused = HttpService()
    with unused.serving():
        port = unused.port
    notifier = notifier_to(make, apprise, url_of(port))
    publish(alert())
    notifier.step()
    [target] = notifier.status().targets
    assert target.last_error == "JSON: A Connection error occurred sending JSON notification to 127.0.0.1."
    late = HttpService(port)
    clock.advance(minutes=1)
    with late.serving():
        notifier.step()
    assert len(late.received) == 1


def test_a_service_too_slow_is_tried_again(
    make: Make, publish: Publish, service: HttpService, apprise: AppriseTransport, clock: ManualClock
) -> None:
    service.open.clear()
    notifier = notifier_to(make, apprise, url_of(service.port, "?rto=0.05"))
    publish(alert())
    notifier.step()
    assert notifier.status().pending == 1
    service.open.set()
    clock.advance(minutes=1)
    for _ in range(20):  # the answer must come within the 50 ms that the URL allows
        notifier.step()
        clock.advance(minutes=5)
    assert notifier.status().sent == 1


def test_a_slow_service_does_not_delay_another(
    make: Make, publish: Publish, service: HttpService, apprise: AppriseTransport
) -> None:
    stop = threading.Event()
    with HttpService().serving() as slow:
        slow.open.clear()
        notifier = notifier_to(make, apprise, url_of(slow.port), url_of(service.port))
        worker = Worker("notifier", lambda: notifier.run(stop))
        worker.start()
        publish(alert(1), alert(2))
        assert service.wait_for(2, PATIENCE_SECONDS)
        assert slow.received == []
        slow.open.set()
        assert slow.wait_for(2, PATIENCE_SECONDS)
        stop.set()
        worker.join(PATIENCE_SECONDS)
    assert worker.error is None
    assert notifier.status().sent == 4


def test_a_failure_that_the_url_calls_optional_is_still_a_failure(
    service: HttpService, apprise: AppriseTransport
) -> None:
    service.statuses = [500]
    with pytest.raises(TransportError, match="500"):
        apprise.send(SecretStr(url_of(service.port, "?optional=yes")), Message("title", "body"))


def test_the_urls_own_timeouts_win(apprise: AppriseTransport, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[float, float]] = []

    def send(service: NotifyBase, **message: object) -> bool:
        seen.append(service.request_timeout)
        return True

    monkeypatch.setattr("apprise.plugins.custom_json.NotifyJSON.send", send)
    for query in ("", "?rto=3", "?cto=2"):
        apprise.send(SecretStr(f"json://localhost/{query}"), Message("title", "body"))
    assert seen == [(10, 10), (10, 3), (2, 10)]


def test_a_service_that_crashes_is_a_failed_send(apprise: AppriseTransport, monkeypatch: pytest.MonkeyPatch) -> None:
    def send(service: NotifyBase, **message: object) -> bool:
        raise RuntimeError(f"cannot reach {SECRETS[0]}")

    monkeypatch.setattr("apprise.plugins.custom_json.NotifyJSON.send", send)
    with pytest.raises(TransportError) as failed:
        apprise.send(SecretStr(url_of(1)), Message("title", "body"))
    assert SECRETS[0] not in str(failed.value)
