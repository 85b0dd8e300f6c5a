"""Ways from a table's outbox to the log: through the device gateway, or straight into a log on the same machine."""

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple, Protocol

import httpx
from pydantic import ValidationError

from producers.gateway.models import PostedEvents, Problem
from schemas.errors import PitwatchError
from schemas.log import EventLog, LogUnavailable
from schemas.topics import TABLE_EVENTS

NDJSON: Final = "application/x-ndjson"


class Undelivered(PitwatchError):
    """Raised when it isn't known that events arrived: send them again, not before `retry_after_seconds`."""

    def __init__(self, message: str, retry_after_seconds: float = 0.0) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class TooLarge(Undelivered):
    """Raised when the other side takes no request of this size: send fewer events at once."""


class Receipt(NamedTuple):
    """What became of one event; `reason` and `detail` say why one was rejected."""

    status: Literal["accepted", "duplicate", "rejected"]
    reason: str = ""
    detail: str = ""


ACCEPTED: Final = Receipt("accepted")


class Transport(Protocol):
    """A way to the log for one table's events."""

    def send(self, events: Sequence[bytes]) -> list[Receipt]:
        """Send events in order and return a receipt for each; may block.

        Whatever has the receipt ``accepted`` or ``duplicate`` is durable. Raises `Undelivered`, after which some events
        may have arrived all the same: the reader drops repeats by their identity.
        """
        ...

    def close(self) -> None:
        """Release everything. Idempotent."""
        ...


class LogTransport:
    """Appends straight to an `EventLog`, for a table that runs in the log's own process."""

    def __init__(self, log: EventLog, table_id: str) -> None:
        self._log = log
        self._table_id = table_id

    def send(self, events: Sequence[bytes]) -> list[Receipt]:
        """Append the events; all are accepted, since this log judges nothing."""
        try:
            self._log.append(TABLE_EVENTS, [(self._table_id, event) for event in events])
        except LogUnavailable as error:
            raise Undelivered(str(error)) from error
        return [ACCEPTED] * len(events)

    def close(self) -> None:
        """Leave the log open: it is its owner's."""


class HttpTransport:
    """Posts to the device gateway at `url` with the table's bearer token.

    `client` replaces the one this makes for itself; whoever made it sets its timeouts.
    """

    def __init__(
        self, url: str, token: str, *, timeout_seconds: float = 30.0, client: httpx.Client | None = None
    ) -> None:
        self._url = url.rstrip("/") + "/v1/events"
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": NDJSON}
        self._client = client or httpx.Client(timeout=timeout_seconds)

    def send(self, events: Sequence[bytes]) -> list[Receipt]:
        """Post the events as NDJSON and read a receipt for each."""
        try:
            response = self._client.post(self._url, content=b"\n".join(events) + b"\n", headers=self._headers)
        except httpx.HTTPError as error:
            raise Undelivered(f"no answer from {self._url}: {str(error) or type(error).__name__}") from error
        if response.status_code == httpx.codes.OK:
            return _receipts(response, len(events))
        message = f"{self._url} answered {response.status_code}: {_reason(response)}"
        if response.status_code == httpx.codes.REQUEST_ENTITY_TOO_LARGE:
            raise TooLarge(message)
        wait = response.headers.get("Retry-After", "")
        raise Undelivered(message, float(wait) if wait.isascii() and wait.isdigit() else 0.0)

    def close(self) -> None:
        """Close the connection."""
        self._client.close()


def _reason(response: httpx.Response) -> str:
    """Return why a request was refused: the problem's detail, or whatever else answered."""
    try:
        return Problem.model_validate_json(response.content).detail
    except ValidationError:
        return response.text[:300]


def _receipts(response: httpx.Response, expected: int) -> list[Receipt]:
    """Read the gateway's answer; anything but one result for each event proves nothing about any of them."""
    try:
        results = PostedEvents.model_validate_json(response.content).results
    except ValidationError as error:
        raise Undelivered(f"{response.url} answered 200 with no list of results") from error
    if [result.line for result in results] != list(range(1, expected + 1)):
        raise Undelivered(f"{response.url} answered {len(results)} results to {expected} events")
    return [Receipt(result.status, result.reason or "", result.detail or "") for result in results]
