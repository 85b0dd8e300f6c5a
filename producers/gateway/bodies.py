"""Request bodies: read within bounds, and taken apart into one piece of bytes for each event."""

import asyncio
from collections.abc import Callable
from http import HTTPStatus
from typing import Final

import msgspec
from fastapi import Request
from starlette.requests import ClientDisconnect

from producers.gateway.problems import Refusal, body_too_large, too_many_events

NDJSON: Final = "application/x-ndjson"
JSON: Final = "application/json"

_array: Final = msgspec.json.Decoder(list[msgspec.Raw])

# Inside JSON, a line break can only stand between tokens; as blanks, a record of the log stays one line.
_ONE_LINE: Final = bytes.maketrans(b"\r\n", b"  ")


async def read_body(request: Request, max_bytes: int, timeout_seconds: float) -> bytes:
    """Return the request's body. Raises `Refusal`: 413 as soon as it is too large, 408 when it takes too long."""
    declared = request.headers.get("content-length", "")
    if declared.isascii() and declared.isdigit() and len(declared) < 20 and int(declared) > max_bytes:
        raise body_too_large(max_bytes)
    body = bytearray()
    try:
        async with asyncio.timeout(timeout_seconds):
            async for chunk in request.stream():
                if len(body) + len(chunk) > max_bytes:
                    raise body_too_large(max_bytes)
                body += chunk
    except TimeoutError:
        detail = f"The body did not arrive within {timeout_seconds:g} s."
        raise Refusal(HTTPStatus.REQUEST_TIMEOUT, "body-too-slow", detail) from None
    except ClientDisconnect:
        raise Refusal(HTTPStatus.BAD_REQUEST, "body-incomplete", "The connection ended inside the body.") from None
    return bytes(body)


def split_lines(body: bytes, max_events: int) -> list[bytes]:
    """Return the lines of newline-delimited JSON, blank ones as empty. Raises `Refusal` for too many."""
    body = body.removesuffix(b"\n")
    if body.count(b"\n") >= max_events:
        raise too_many_events(max_events)
    return [line.strip(b" \t\r") for line in body.split(b"\n")]


def split_array(body: bytes, max_events: int) -> list[bytes]:
    """Return the elements of a JSON array, unparsed. Raises `Refusal`: 400 for no JSON, 422 for JSON but no array."""
    try:
        elements = _array.decode(body)
    except msgspec.ValidationError:
        detail = "The body must be a JSON array of events; for single lines send application/x-ndjson."
        raise Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, "no-array", detail) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Refusal(HTTPStatus.BAD_REQUEST, "not-json", f"The body is no JSON: {error}.") from None
    if len(elements) > max_events:
        raise too_many_events(max_events)
    return [bytes(element).translate(_ONE_LINE) for element in elements]


Splitter = Callable[[bytes, int], list[bytes]]
"""Takes a body apart into at most so many events."""

SPLITTERS: Final[dict[str, Splitter]] = {NDJSON: split_lines, JSON: split_array}
"""Media type → how its bodies are taken apart."""


def splitter(request: Request) -> Splitter:
    """Return how this request's body is taken apart. Raises `Refusal` (415)."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    coding = request.headers.get("content-encoding", "identity").strip().lower()
    if media_type not in SPLITTERS or coding != "identity":
        detail = f"Send {' or '.join(SPLITTERS)}, in UTF-8 and not compressed."
        headers = {"Accept-Post": ", ".join(SPLITTERS)}
        raise Refusal(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "unsupported-media-type", detail, headers)
    return SPLITTERS[media_type]
