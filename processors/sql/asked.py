"""What a request asks: its statement, parameters and settings, from wherever ClickHouse's clients put them. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import parse_qsl, unquote

from processors.sql.refusals import BAD_ARGUMENTS, NOT_IMPLEMENTED, QUERY_IS_TOO_LARGE, UNKNOWN_FORMAT, Refused

MAX_STATEMENT_BYTES: Final = 1_048_576
"""Four times what the engine parses of a statement; the rest may be parameters."""

MAX_DATA_BYTES: Final = 256 * 2**20
"""Longest body of a writer: the largest batch that the sink inserts, with room to spare."""

MAX_FIELDS: Final = 1000

DEFAULT_FORMAT: Final = "TabSeparated"

# What the interface itself takes, and this one has taken or has no use for.
_TRANSPORT: Final = frozenset({
    "add_http_cors_header", "buffer_size", "cancel_http_readonly_queries_on_client_close", "client_protocol_version",
    "compress", "database", "decompress", "default_format", "enable_http_compression",
    "http_headers_progress_interval_ms", "http_response_buffer_size", "http_write_exception_in_output_format",
    "http_zlib_compression_level", "log_comment", "query", "query_id", "quota_key", "send_progress_in_http_headers",
    "session_check", "session_id", "session_timeout", "wait_end_of_query",
})  # fmt: skip

_PARAMETER: Final = "param_"
_OFF: Final = frozenset({"", "0", "false"})
_WORD: Final = re.compile(r"[A-Za-z][A-Za-z0-9]*")
_QUERY_ID: Final = re.compile(r"[\x21-\x7e]{1,128}")

# An INSERT ends with its format's name, and what comes behind the line's end is data of any kind. VALUES is a format.
_INSERT: Final = re.compile(rb"\s*(INSERT\s.*?\s(?:FORMAT\s+\w+(?=\s|$)|VALUES\b))(?:[ \t]*\r?\n|[ \t]+)?", re.I | re.S)
_LONGEST_HEAD_BYTES: Final = 65_536


@dataclass(frozen=True, slots=True)
class Asked:
    """One request. `data` belongs to an INSERT; `revision` is the protocol version that Native is wanted in."""

    statement: str
    data: bytes = b""
    parameters: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    database: str = ""
    default_format: str = DEFAULT_FORMAT
    query_id: str = ""
    whole: bool = False
    revision: int = 0
    compressed: bool = True
    reading_only: bool = False


def asked(method: str, query_string: bytes, headers: Mapping[str, str], body: bytes) -> Asked:
    """Return what a request asks; `headers` by their names in lower case. Raises `Refused`."""
    fields = _query_fields(query_string)
    content_type = headers.get("content-type", "")
    if content_type.lower().startswith("multipart/form-data"):
        fields |= _form_fields(content_type, body)
        body = b""
    if "user" in fields or "password" in fields:
        raise Refused(BAD_ARGUMENTS, "Send the user and the password in headers: addresses end up in logs.")
    for name in ("compress", "decompress"):
        if fields.get(name, "") not in _OFF:
            raise Refused(NOT_IMPLEMENTED, f"{name}=1 is not spoken here: use Accept-Encoding and Content-Encoding.")
    statement, data = _parted(fields.get("query", ""), body)
    return Asked(
        statement=statement,
        data=data,
        parameters={name[len(_PARAMETER) :]: text for name, text in fields.items() if name.startswith(_PARAMETER)},
        settings={
            name: text for name, text in fields.items() if name not in _TRANSPORT and not name.startswith(_PARAMETER)
        },
        database=fields.get("database") or headers.get("x-clickhouse-database", ""),
        default_format=_format(fields.get("default_format") or headers.get("x-clickhouse-format", DEFAULT_FORMAT)),
        query_id=_query_id(fields.get("query_id", "")),
        whole=fields.get("wait_end_of_query", "") not in _OFF,
        revision=_count("client_protocol_version", fields.get("client_protocol_version") or "0"),
        compressed=fields.get("enable_http_compression", "1") not in _OFF,
        reading_only=method == "GET",
    )


def _query_fields(query_string: bytes) -> dict[str, str]:
    try:
        pairs = parse_qsl(
            query_string.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=MAX_FIELDS
        )
    except UnicodeDecodeError:
        raise Refused(BAD_ARGUMENTS, "The address is no percent-encoded UTF-8.") from None
    except ValueError:
        raise Refused(BAD_ARGUMENTS, f"The address has more than {MAX_FIELDS} fields.") from None
    return dict(pairs)


def _form_fields(content_type: str, body: bytes) -> dict[str, str]:
    """Return the fields of a multipart form. What has a file's name would be a table, and there are none."""
    boundary = re.search(r'boundary="?([^";]+)"?', content_type)
    parts = body.split(b"--" + boundary[1].encode()) if boundary else []
    if len(parts) < 2 or not parts[-1].startswith(b"--"):
        raise Refused(BAD_ARGUMENTS, "The body is no multipart form.")
    if len(parts) > MAX_FIELDS:
        raise Refused(BAD_ARGUMENTS, f"The form has more than {MAX_FIELDS} fields.")
    fields = dict[str, str]()
    for part in parts[1:-1]:
        head, _, text = part.removeprefix(b"\r\n").partition(b"\r\n\r\n")
        name = re.search(rb'\bname="([^"]*)"', head)
        if re.search(rb"\bfilename\*?=", head) or name is None:
            raise Refused(NOT_IMPLEMENTED, "External tables are not taken here: put their rows into the statement.")
        fields[unquote(_text(name[1]))] = _text(text.removesuffix(b"\r\n"))
    return fields


def _parted(query: str, body: bytes) -> tuple[str, bytes]:
    """Return the statement and an INSERT's data: the field and the body are read as one, with a line's end between."""
    whole = b"\n".join(piece for piece in (query.encode(), body) if piece)
    found = _INSERT.match(whole[:_LONGEST_HEAD_BYTES])
    if found:
        return _text(found[1]), whole[found.end() :]
    if len(whole) > MAX_STATEMENT_BYTES:
        raise Refused(QUERY_IS_TOO_LARGE, f"A statement has at most {MAX_STATEMENT_BYTES:,} bytes.")
    return _text(whole), b""


def _text(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise Refused(BAD_ARGUMENTS, "The request is no UTF-8.") from None


def _format(name: str) -> str:
    if not _WORD.fullmatch(name):
        raise Refused(UNKNOWN_FORMAT, f"Unknown format {name[:40]!r}.")
    return name


def _query_id(text: str) -> str:
    if text and not _QUERY_ID.fullmatch(text):
        raise Refused(BAD_ARGUMENTS, "A query_id has at most 128 characters, of ASCII and without blanks.")
    return text


def _count(name: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise Refused(BAD_ARGUMENTS, f"{name} is no number: {text[:40]!r}.")
    return int(text)
