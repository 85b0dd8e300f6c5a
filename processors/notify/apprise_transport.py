"""Sending through Apprise: one library for the messengers, mail gateways and webhooks a casino uses."""

import threading
from typing import Final
from urllib.parse import parse_qs

from apprise import Apprise, AppriseAsset, NotifyFormat, NotifyType
from apprise.plugins import NotifyBase
from pydantic import SecretStr

from processors.notify.port import InvalidUrl, Message, Tone, TransportError
from processors.notify.redaction import Redaction

_TYPES: Final[dict[Tone, NotifyType]] = {
    "alarm": NotifyType.FAILURE,
    "warning": NotifyType.WARNING,
    "info": NotifyType.INFO,
    "relief": NotifyType.SUCCESS,
}


class AppriseTransport:
    """A `NotifierTransport` over Apprise. Each URL keeps its service, and with it the pace that service asks for."""

    def __init__(self, timeout_seconds: float = 10) -> None:
        self._timeout_seconds = timeout_seconds
        self._redaction = Redaction()
        self._redaction.guard_logs()
        self._services: dict[str, NotifyBase] = {}
        self._lock = threading.Lock()
        # Without a limit of its own Apprise sends in the caller's thread; with one, it would send in a pool that all
        # URLs share, and a few that hang would hold up the rest.
        self._asset: Final = AppriseAsset(app_id="Pitwatch", app_desc="Pitwatch", service_timeout=0)

    def check(self, url: SecretStr) -> None:
        """Raise `InvalidUrl` for a URL that no Apprise service understands."""
        self._service(url)

    def send(self, url: SecretStr, message: Message) -> None:
        """Send through the URL's service, in this thread. Raises `TransportError` with Apprise's own reason."""
        service = self._service(url)
        sender = Apprise(asset=self._asset)
        sender.add(service)
        result = sender.notify(message.body, message.title, _TYPES[message.tone], body_format=NotifyFormat.TEXT)
        # A URL may say `optional=yes`, which turns every result into a success: only the attempt itself tells.
        attempts = [attempt for one in result for attempt in one.attempts]
        if not attempts or not attempts[-1]:
            reasons = [entry.message for entry in result.logs()]
            raise TransportError(
                self._redaction.redact(f"{service.service_name}: {' '.join(reasons) or 'not accepted'}")
            )

    def _service(self, url: SecretStr) -> NotifyBase:
        text = url.get_secret_value()
        with self._lock:
            if text not in self._services:
                self._redaction.learn(text)
                self._services[text] = self._load(text)
            return self._services[text]

    def _load(self, text: str) -> NotifyBase:
        service = Apprise.instantiate(text, asset=self._asset)
        if service is None:
            schema, separator, _ = text.partition("://")
            # What has no schema may be a bare token, so nothing of it is shown.
            what = f"this {schema[:20]!r} URL" if separator else "this: it is no URL"
            raise InvalidUrl(f"Apprise can't use {what}. Its documentation says what each service's URL needs")
        given = parse_qs(text.partition("?")[2])
        if "cto" not in given:
            service.socket_connect_timeout = self._timeout_seconds
        if "rto" not in given:
            service.socket_read_timeout = self._timeout_seconds
        return service
