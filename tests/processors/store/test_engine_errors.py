"""ClickHouse's errors in our own words: whose fault it is decides what happens next."""

import errno
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest
from clickhouse_connect.driver.exceptions import DatabaseError, OperationalError, ProgrammingError

from processors.store.engine_errors import inserting, managing, plain, querying, refused_path
from processors.store.port import QueryRefused, RowsRefused, StoreUnavailable

PARSE = (
    "Code: 27. DB::Exception: Code: 27. DB::Exception: Cannot parse input: expected ',' before: '.5}': (at row 2)\n"
    ": (in file/uri /somewhere/tmpx.raw): While executing ParallelParsingBlockInputFormat: While executing File: data"
    " for INSERT was parsed from file. (CANNOT_PARSE_INPUT_ASSERTION_FAILED) (version 26.9.2.1 (official build))"
)
FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def database(code: int | None, text: str = "DB::Exception: trouble. (SOME_NAME) (version 26.9.2.1)") -> DatabaseError:
    return DatabaseError(text, code=code)


def test_message_loses_what_tells_nothing() -> None:
    assert plain(database(27, PARSE)) == "Cannot parse input: expected ',' before: '.5}': (at row 2)"
    assert plain(database(60, "Code: 60. DB::Exception: No table x. (UNKNOWN_TABLE) (version 26.9.2.1)")) == (
        "No table x. (UNKNOWN_TABLE)"
    )
    served = (
        "Received ClickHouse exception, code: 60, server response: Code: 60. DB::Exception: No table x. (UNKNOWN_TABLE)"
        " (version 26.9.2.1 (official build)) (for url http://127.0.0.1:8123)"
    )
    assert plain(database(60, served)) == "No table x. (UNKNOWN_TABLE)"


@pytest.mark.parametrize("code", [6, 27, 41, 69, 72, 117, 349])
def test_rows_are_to_blame_for_what_cannot_be_parsed(code: int) -> None:
    with pytest.raises(RowsRefused, match=r"^rounds_versions: trouble"), inserting("rounds_versions"):
        raise database(code)


@pytest.mark.parametrize(
    "error",
    [
        database(243),
        database(60),
        database(252),
        database(None),
        OperationalError("connection refused"),
        FULL,
        database(27, str(FULL)),
    ],
)
def test_store_is_to_blame_for_everything_else(error: Exception) -> None:
    with pytest.raises(StoreUnavailable, match="rounds_versions"), inserting("rounds_versions"):
        raise error


@pytest.mark.parametrize(
    "guard", [partial(inserting, "t"), querying, partial(managing, "it failed")], ids=["insert", "query", "manage"]
)
@pytest.mark.parametrize(
    "error", [database(76, "Code: 76. Cannot open file: No space left on device"), database(243, "NOT_ENOUGH_SPACE")]
)
def test_full_disk_is_called_so(guard: Callable[[], AbstractContextManager[None]], error: Exception) -> None:
    with pytest.raises(StoreUnavailable, match="the disk is full"), guard():
        raise error


@pytest.mark.parametrize(
    ("code", "advice"), [(159, "took longer"), (241, "memory"), (396, "LIMIT"), (164, "Only reading"), (62, "trouble")]
)
def test_reader_is_told_what_to_do(code: int, advice: str) -> None:
    with pytest.raises(QueryRefused, match=advice), querying():
        raise database(code)


def test_wrong_call_is_the_readers_fault_and_a_lost_connection_is_not() -> None:
    with pytest.raises(QueryRefused), querying():
        raise ProgrammingError("no such parameter")
    with pytest.raises(StoreUnavailable), querying():
        raise OperationalError("connection refused")


def after(error: Exception, *causes: Exception) -> Exception:
    """Return an error with what it came of."""
    for one, cause in pairwise((error, *causes)):
        one.__cause__ = cause
    return error


def test_lost_connection_is_told_in_the_systems_words() -> None:
    refused = ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused")
    with pytest.raises(StoreUnavailable, match=r"^it failed: Connection refused$"), managing("it failed"):
        raise after(OperationalError("Error HTTPConnectionPool(…): Max retries exceeded"), RuntimeError(), refused)
    with pytest.raises(StoreUnavailable, match=r"^it failed: timed out$"), managing("it failed"):
        raise after(OperationalError("attempt 2"), TimeoutError("timed out"))
    with pytest.raises(StoreUnavailable, match=r"^it failed: no such user$"), managing("it failed"):
        raise after(OperationalError("no such user"), RuntimeError())
    with pytest.raises(StoreUnavailable, match=r"^it failed: trouble"), managing("it failed"):
        raise after(database(60), refused)


@pytest.mark.parametrize("code", [202, 516, 999])
def test_server_that_answers_nobody_is_in_trouble(code: int) -> None:
    with pytest.raises(StoreUnavailable), querying():
        raise database(code)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "EmbeddedServer already initialized with path '/a', cannot connect with different path",
            "close that one first",
        ),
        ("Permission denied", "can't be opened: Permission denied"),
    ],
)
def test_folder_that_does_not_open_is_explained(text: str, message: str) -> None:
    assert message in str(refused_path(Path("/d"), ProgrammingError(text)))
