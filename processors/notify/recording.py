"""A transport that keeps what it is given: to try routes without disturbing anybody, and for tests."""

import threading
from collections import defaultdict
from collections.abc import Callable
from typing import NamedTuple

from pydantic import SecretStr

from processors.notify.port import InvalidUrl, Message, Tone, TransportError


class Delivery(NamedTuple):
    """A message as it arrived."""

    url: str
    title: str
    body: str
    tone: Tone


class RecordingTransport:
    """A `NotifierTransport` that delivers into a list. `before` runs in each send and may block or raise."""

    def __init__(self, before: Callable[[str], None] | None = None) -> None:
        self._before = before
        self._arrived = threading.Condition()
        self._deliveries: list[Delivery] = []
        self._failures: dict[str, int] = defaultdict(int)

    @property
    def deliveries(self) -> list[Delivery]:
        """What arrived so far, in order."""
        with self._arrived:
            return list(self._deliveries)

    def fail(self, url: str, times: int) -> None:
        """Refuse the next `times` messages to `url`."""
        with self._arrived:
            self._failures[url] += times

    def wait_for(self, count: int, timeout_seconds: float) -> bool:
        """Block until `count` messages have arrived or the time is over; tell whether they have."""
        with self._arrived:
            return self._arrived.wait_for(lambda: len(self._deliveries) >= count, timeout_seconds)

    def check(self, url: SecretStr) -> None:
        """Raise `InvalidUrl` for text that is no URL."""
        if "://" not in url.get_secret_value():
            raise InvalidUrl("no URL: write schema://...")

    def send(self, url: SecretStr, message: Message) -> None:
        """Keep the message. Raises `TransportError` as often as `fail` asked for."""
        self.check(url)
        text = url.get_secret_value()
        if self._before is not None:
            self._before(text)
        with self._arrived:
            if self._failures[text]:
                self._failures[text] -= 1
                raise TransportError("refused, as asked for")
            self._deliveries.append(Delivery(text, *message))
            self._arrived.notify_all()
