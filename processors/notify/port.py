"""The notifier's port: how a message leaves Pitwatch, whichever product carries it."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Literal, NamedTuple, Protocol

from pydantic import SecretStr

from schemas.errors import PitwatchError

Clock = Callable[[], datetime]
"""Tells the time, in UTC."""


Tone = Literal["alarm", "warning", "info", "relief"]
"""How a message is meant: somebody must act, should look, may want to know, or need not mind any more."""


class Message(NamedTuple):
    """Plain text for one phone, and its tone."""

    title: str
    body: str
    tone: Tone = "info"


class TransportError(PitwatchError):
    """The message may not have arrived: refused, unreachable or too slow. Its text holds no part of a URL's secrets."""


class InvalidUrl(TransportError):
    """The URL can never work: no service knows it, or parts are missing."""


class NotifierTransport(Protocol):
    """Carries messages to URLs. Safe to call from many threads, one of them for each URL."""

    def check(self, url: SecretStr) -> None:
        """Raise `InvalidUrl` for a URL that can never work. Uses no network; called once per URL at start."""
        ...

    def send(self, url: SecretStr, message: Message) -> None:
        """Deliver one message; on return the service has accepted it. Raises `TransportError` only.

        Its tone is shown as the service shows such a thing, by colour, sign or sound, where it has a way to.

        May block for as long as the service takes, and must not hold up another URL meanwhile. Not idempotent: the
        caller repeats a send whose outcome it doesn't know, so a person may read a message twice.
        """
        ...


def system_clock() -> datetime:
    """Return the time of this machine's clock, in UTC."""
    return datetime.now(UTC)
