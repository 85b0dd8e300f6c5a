"""What ClickHouse says when something is wrong, turned into the store's own errors."""

import fcntl
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from clickhouse_connect.driver.exceptions import ClickHouseError, ProgrammingError

from processors.store.port import QueryRefused, RowsRefused, StoreError, StoreUnavailable

# ClickHouse's error codes for rows that don't fit a table; whatever else goes wrong with an insert is the store's
# trouble, and the rows are tried again.
ROW_CODES: Final = frozenset({
    6,  # CANNOT_PARSE_TEXT
    25,  # CANNOT_PARSE_ESCAPE_SEQUENCE
    26,  # CANNOT_PARSE_QUOTED_STRING
    27,  # CANNOT_PARSE_INPUT_ASSERTION_FAILED
    32,  # ATTEMPT_TO_READ_AFTER_EOF
    33,  # CANNOT_READ_ALL_DATA
    38,  # CANNOT_PARSE_DATE
    41,  # CANNOT_PARSE_DATETIME
    53,  # TYPE_MISMATCH
    69,  # ARGUMENT_OUT_OF_BOUND
    72,  # CANNOT_PARSE_NUMBER
    117,  # INCORRECT_DATA
    130,  # CANNOT_READ_ARRAY_FROM_TEXT
    131,  # TOO_LARGE_STRING_SIZE
    349,  # CANNOT_INSERT_NULL_IN_ORDINARY_COLUMN
    467,  # CANNOT_PARSE_BOOL
    469,  # VIOLATED_CONSTRAINT
    652,  # ONLY_NULLS_WHILE_READING_SCHEMA
    691,  # UNKNOWN_ELEMENT_OF_ENUM
})  # fmt: skip

# Codes that say the engine is in trouble and not the query.
TROUBLE_CODES: Final = frozenset({
    74,  # CANNOT_READ_FROM_FILE_DESCRIPTOR
    76,  # CANNOT_OPEN_FILE
    107,  # FILE_DOESNT_EXIST
    173,  # CANNOT_ALLOCATE_MEMORY
    202,  # TOO_MANY_SIMULTANEOUS_QUERIES
    209,  # SOCKET_TIMEOUT
    210,  # NETWORK_ERROR
    236,  # ABORTED
    242,  # TABLE_IS_READ_ONLY
    243,  # NOT_ENOUGH_SPACE
    279,  # ALL_CONNECTION_TRIES_FAILED
    425,  # SYSTEM_ERROR
    516,  # AUTHENTICATION_FAILED
    999,  # KEEPER_EXCEPTION
})  # fmt: skip

_ADVICE: Final[dict[int, str]] = {
    158: "It would read too many rows: narrow it down.",
    159: "It took longer than readers may: narrow it down, for instance by table_id or with rounds_between.",
    164: "Only reading is allowed here.",
    241: "It needs more memory than readers may take: narrow it down or aggregate.",
    396: "It returns more than readers may fetch at once: add LIMIT, or aggregate.",
}

# Prefixes, the version, the address and what a row was being read from: none of it tells a reader anything.
_NOISE: Final = re.compile(
    r"Received ClickHouse exception, code: \d+, server response: |Code: \d+\. |DB::Exception: "
    r"|\s*\(version [^()]*(?:\([^()]*\))?[^()]*\)|\s*\(for url [^()]*\)|\s*: \(in file/uri.*",
    re.DOTALL,
)
_DISK: Final = re.compile(r"No space left on device|NOT_ENOUGH_SPACE|errno: 28\b")


def plain(error: BaseException) -> str:
    """Return ClickHouse's message without its prefixes, version and temporary files."""
    return _NOISE.sub("", str(error)).strip()


def code_of(error: BaseException) -> int | None:
    """Return ClickHouse's error code, None where the error has none."""
    code = getattr(error, "code", None)
    return code if isinstance(code, int) else None


def is_full(error: BaseException) -> bool:
    """Tell whether the disk is full."""
    return _DISK.search(str(error)) is not None


@contextmanager
def inserting(table: str) -> Iterator[None]:
    """Raise what goes wrong with an insert as `RowsRefused` or `StoreUnavailable`."""
    try:
        yield
    except ClickHouseError as error:
        if code_of(error) in ROW_CODES and not is_full(error):
            raise RowsRefused(f"{table}: {plain(error)}") from None
        raise _unavailable(f"nothing could be inserted into {table}", error) from error
    except OSError as error:
        raise _unavailable(f"nothing could be inserted into {table}", error) from error


@contextmanager
def querying() -> Iterator[None]:
    """Raise what goes wrong with a query as `QueryRefused` or `StoreUnavailable`."""
    try:
        yield
    except ClickHouseError as error:
        code = code_of(error)
        # Without a code it is the client that speaks: of a wrong call, or of a connection that failed.
        if is_full(error) or code in TROUBLE_CODES or (code is None and not isinstance(error, ProgrammingError)):
            raise _unavailable("the query could not be answered", error) from error
        advice = _ADVICE.get(code or 0, "")
        raise QueryRefused(f"{advice} ({plain(error)})" if advice else plain(error)) from None


@contextmanager
def managing(what: str) -> Iterator[None]:
    """Raise what goes wrong with opening or migrating as `StoreUnavailable`."""
    try:
        yield
    except (ClickHouseError, OSError) as error:
        raise _unavailable(what, error) from error


def refused_path(path: Path, error: BaseException) -> StoreError:
    """Say why the embedded engine would not open `path`, and what to do."""
    if holder := _holder(path):
        return StoreUnavailable(
            f"the store {path} belongs to another running process ({holder}). Ask that one, or stop it: an embedded"
            " ClickHouse folder admits one process, readers included"
        )
    if "already initialized with path" in str(error):
        return StoreUnavailable(
            f"this process has another embedded store open, so {path} has to wait: close that one first"
        )
    return _unavailable(f"the store {path} can't be opened", error)


def _holder(path: Path) -> str:
    """Return what the engine that has `path` open says of itself, empty where none has; the error doesn't tell."""
    try:
        with (path / "status").open(encoding="utf-8") as status:
            try:
                fcntl.flock(status, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return status.readline().strip()
    except OSError:
        pass
    return ""


def _unavailable(what: str, error: BaseException) -> StoreUnavailable:
    if is_full(error):
        return StoreUnavailable(f"{what}: the disk is full. Make room; nothing is lost, and work goes on by itself")
    return StoreUnavailable(f"{what}: {_network_error(error) or plain(error)}")


def _network_error(error: BaseException) -> str:
    """Return what the system said of a connection that failed; the client's own words hold addresses and attempts."""
    # With a code it is the server that speaks.
    cause = None if code_of(error) is not None else error.__cause__
    while cause is not None:
        if isinstance(cause, OSError):
            return cause.strerror or str(cause)
        cause = cause.__cause__ or cause.__context__
    return ""
