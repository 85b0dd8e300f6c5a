"""What goes back over HTTP: headers of answers, refusals, and the end of an answer that broke off. Pure."""

from typing import Final

from starlette.responses import PlainTextResponse, Response

from processors.sql.answers import Answer
from processors.sql.refusals import REQUIRED_PASSWORD, TOO_MANY_QUERIES, Refused

SERVER: Final = "pitwatch"

_TYPES: Final[dict[str, str]] = {
    "CSV": "text/csv; charset=UTF-8",
    "JSON": "application/json; charset=UTF-8",
    "JSONCompact": "application/json; charset=UTF-8",
    "JSONEachRow": "application/x-ndjson; charset=UTF-8",
    "Native": "application/octet-stream",
    "Parquet": "application/octet-stream",
    "TabSeparated": "text/tab-separated-values; charset=UTF-8",
}
_OTHER_TYPE: Final = "text/plain; charset=UTF-8"


def answer_headers(answer: Answer, timezone: str, tag: str) -> list[tuple[bytes, bytes]]:
    """Return the headers of an answer that has begun; `tag` is what marks an error in one that is still to come."""
    headers = {
        "Content-Type": _TYPES.get(answer.format, _OTHER_TYPE),
        "X-ClickHouse-Query-Id": answer.query_id,
        "X-ClickHouse-Server-Display-Name": SERVER,
        "X-ClickHouse-Summary": answer.summary().decode(),
        "X-ClickHouse-Timezone": timezone,
    }
    if answer.format:
        headers["X-ClickHouse-Format"] = answer.format
    if answer.coding and answer.length != 0:
        headers |= {"Content-Encoding": answer.coding, "Vary": "Accept-Encoding"}
    if answer.length is None:
        headers["X-ClickHouse-Exception-Tag"] = tag
    else:
        headers["Content-Length"] = str(answer.length)
    return [(name.lower().encode("latin-1"), text.encode("latin-1")) for name, text in headers.items()]


def refusal(refused: Refused, version: str) -> Response:
    """Return a refusal as a response."""
    headers = {"X-ClickHouse-Exception-Code": str(refused.fault.code), "X-ClickHouse-Server-Display-Name": SERVER}
    if refused.fault is REQUIRED_PASSWORD:
        headers["WWW-Authenticate"] = 'Basic realm="pitwatch", charset="UTF-8"'
    if refused.fault is TOO_MANY_QUERIES:
        headers["Retry-After"] = "1"
    return PlainTextResponse(refused.text(version), refused.status, headers)


def broken_off(text: str, tag: str) -> bytes:
    """Return an error as clients look for it in an answer that had begun."""
    message = text.encode()
    return b"\r\n__exception__\r\n%b\r\n%b%d %b\r\n__exception__\r\n" % (
        tag.encode(),
        message,
        len(message),
        tag.encode(),
    )
