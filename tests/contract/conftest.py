"""The event log's implementations, each behind one way of opening it, so that one suite holds them all."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from pathlib import Path
from uuid import uuid4

import pytest

from processors.logs.sqlite import SqliteLog
from schemas.log import EventLog

OpenLog = Callable[[], EventLog]
"""Opens one more log on the same storage, as another process or a restarted one would. The fixture closes it."""


@contextmanager
def sqlite_logs(folder: Path) -> Iterator[OpenLog]:
    with ExitStack() as opened:
        yield lambda: opened.enter_context(closing(SqliteLog(folder / "log.sqlite")))


IMPLEMENTATIONS: dict[str, Callable[[Path], AbstractContextManager[OpenLog]]] = {"sqlite": sqlite_logs}


@pytest.fixture(params=IMPLEMENTATIONS)
def open_log(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[OpenLog]:
    with IMPLEMENTATIONS[request.param](tmp_path) as open_one:
        yield open_one


@pytest.fixture
def log(open_log: OpenLog) -> EventLog:
    return open_log()


# Names that no other test used: a broker outlives the test.
@pytest.fixture
def topic() -> str:
    return f"topic-{uuid4().hex}"


@pytest.fixture
def group() -> str:
    return f"group-{uuid4().hex}"
