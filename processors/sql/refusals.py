"""What is refused, in ClickHouse's own codes and words, since its clients decide by them what to do."""

import re
from http import HTTPStatus
from typing import Final, NamedTuple

from schemas.errors import PitwatchError


class Fault(NamedTuple):
    """A kind of error: ClickHouse's number and name for it."""

    code: int
    name: str


BAD_ARGUMENTS: Final = Fault(36, "BAD_ARGUMENTS")
NOT_IMPLEMENTED: Final = Fault(48, "NOT_IMPLEMENTED")
UNKNOWN_FORMAT: Final = Fault(73, "UNKNOWN_FORMAT")
TIMEOUT_EXCEEDED: Final = Fault(159, "TIMEOUT_EXCEEDED")
READONLY: Final = Fault(164, "READONLY")
REQUIRED_PASSWORD: Final = Fault(194, "REQUIRED_PASSWORD")
TOO_MANY_QUERIES: Final = Fault(202, "TOO_MANY_SIMULTANEOUS_QUERIES")
QUERY_IS_TOO_LARGE: Final = Fault(223, "QUERY_IS_TOO_LARGE")
WAS_CANCELLED: Final = Fault(394, "QUERY_WAS_CANCELLED")
TOO_MUCH_RESULT: Final = Fault(396, "TOO_MANY_ROWS_OR_BYTES")
AUTHENTICATION_FAILED: Final = Fault(516, "AUTHENTICATION_FAILED")
UNSUPPORTED_CODING: Final = Fault(719, "UNSUPPORTED_MEDIA_TYPE")
UNKNOWN_EXCEPTION: Final = Fault(1002, "UNKNOWN_EXCEPTION")

_WRONG: Final = frozenset({6, 10, 15, 25, 26, 27, 36, 38, 41, 43, 44, 47, 53, 62, 72, 117, 167, 168, 306, 427, 675})
_MISSING: Final = frozenset({46, 50, 60, 73, 81, 115, 511})
_STATUSES: Final[dict[int, HTTPStatus]] = {
    **dict.fromkeys(_WRONG, HTTPStatus.BAD_REQUEST),
    **dict.fromkeys(_MISSING, HTTPStatus.NOT_FOUND),
    48: HTTPStatus.NOT_IMPLEMENTED,
    159: HTTPStatus.REQUEST_TIMEOUT,
    # Clients try 503 again by themselves, which is right for these two and for nothing else.
    202: HTTPStatus.SERVICE_UNAVAILABLE,
    209: HTTPStatus.SERVICE_UNAVAILABLE,
    194: HTTPStatus.UNAUTHORIZED,
    223: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    497: HTTPStatus.FORBIDDEN,
    516: HTTPStatus.FORBIDDEN,
    719: HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
}

_ENGINES: Final = re.compile(r"Code: (\d+)\. (?:DB::Exception: )?")
_NAME: Final = re.compile(r"\(([A-Z][A-Z0-9_]+)\)\s*$")
_VERSION: Final = re.compile(r"\s*\(version [^()]*(?:\([^()]*\))?[^()]*\)\s*$")


class Refused(PitwatchError):
    """Raised to answer a request with an error; `fault` is what clients go by, the message is for people."""

    def __init__(self, fault: Fault, message: str) -> None:
        super().__init__(message)
        self.fault = fault

    @property
    def status(self) -> HTTPStatus:
        """The status that ClickHouse answers such an error with."""
        return _STATUSES.get(self.fault.code, HTTPStatus.INTERNAL_SERVER_ERROR)

    def text(self, version: str) -> str:
        """Return the error as a ClickHouse of this version writes it, which is how clients find its name."""
        return f"Code: {self.fault.code}. DB::Exception: {self} ({self.fault.name}) (version {version})\n"


def engines(error: BaseException) -> Refused:
    """Return what the embedded engine says went wrong as a refusal."""
    text = str(error)
    found = _ENGINES.search(text)
    if found is None:
        return Refused(UNKNOWN_EXCEPTION, text)
    message = _VERSION.sub("", text[found.end() :]).strip()
    # It may have been raised twice on its way, each time with a prefix of its own.
    while again := _ENGINES.match(message):
        message = message[again.end() :]
    name = _NAME.search(message)
    fault = Fault(int(found[1]), name[1] if name else UNKNOWN_EXCEPTION.name)
    return Refused(fault, message[: name.start()].rstrip() if name else message)
