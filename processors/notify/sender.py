"""One message to one URL: take it from the queue, send it, write down what became of it."""

from collections.abc import Mapping
from typing import NamedTuple

from pydantic import SecretStr

from processors.metrics import NOTIFY_SENDS
from processors.notify.outbox import Outbox, Send, Target
from processors.notify.port import Clock, InvalidUrl, NotifierTransport, TransportError
from processors.notify.retry import RetryPolicy
from processors.notify.routing import NotificationSettings
from schemas.errors import PitwatchError


class RouteRefused(PitwatchError):
    """A configured URL can never work; the message names the route and the URL's place in it."""


class Outcome(NamedTuple):
    """What became of a send; no error means that the service took it."""

    target: Target
    send: Send
    error: str | None


class Sender:
    """Sends what is due. `take` and `settle` raise `OutboxUnavailable`; `attempt` blocks for as long as the service."""

    def __init__(
        self,
        outbox: Outbox,
        transport: NotifierTransport,
        urls: Mapping[Target, SecretStr],
        retry: RetryPolicy,
        clock: Clock,
    ) -> None:
        self._outbox = outbox
        self._transport = transport
        self._urls = urls
        self._retry = retry
        self._clock = clock

    def take(self, target: Target) -> Send | None:
        """Return what is due for `target`, if anything is."""
        return self._outbox.next_send(target, self._clock())

    def attempt(self, target: Target, send: Send) -> Outcome:
        """Send it now."""
        try:
            self._transport.send(self._urls[target], send.message)
        except TransportError as error:
            return Outcome(target, send, str(error))
        return Outcome(target, send, None)

    def settle(self, outcome: Outcome) -> None:
        """Write the outcome down. Idempotent."""
        now, send = self._clock(), outcome.send
        if outcome.error is None:
            self._outbox.mark_sent(send.send_id, now)
            came = "sent"
        else:
            again = self._retry.next_attempt(send.attempts + 1, send.enqueued_at, now)
            self._outbox.mark_failed(send.send_id, outcome.error, again, now)
            came = "failed" if again is None else "retried"
        NOTIFY_SENDS.labels(route=outcome.target.route, outcome=came).inc()

    def send_due(self, target: Target) -> int:
        """Send everything due for `target`, one after another; return how many attempts that were."""
        attempts = 0
        while (send := self.take(target)) is not None:
            self.settle(self.attempt(target, send))
            attempts += 1
        return attempts


def checked_urls(settings: NotificationSettings, transport: NotifierTransport) -> dict[Target, SecretStr]:
    """Return every route's URLs, each of which the transport understands. Raises `RouteRefused`."""
    urls: dict[Target, SecretStr] = {}
    for route in settings.routes:
        for url_index, url in enumerate(route.urls):
            try:
                transport.check(url)
            except InvalidUrl as error:
                raise RouteRefused(f"route {route.name!r}, urls[{url_index}]: {error}") from error
            urls[Target(route.name, url_index)] = url
    return urls
