"""The event log's implementations, each behind one way of opening it, so that one suite holds them all."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from pathlib import Path
from uuid import uuid4

import pytest

from processors.logs.sqlite import SqliteLog
from schemas.log import EventLog
from tests.kafka.serve import Address

OpenLog = Callable[[], EventLog]
"""Opens one more log on the same storage, as another process or a restarted one would. The fixture closes it."""


@contextmanager
def sqlite_logs(request: pytest.FixtureRequest) -> Iterator[OpenLog]:
    folder: Path = request.getfixturevalue("tmp_path")
    with ExitStack() as opened:
        yield lambda: opened.enter_context(closing(SqliteLog(folder / "log.sqlite")))


@contextmanager
def kafka_logs(request: pytest.FixtureRequest) -> Iterator[OpenLog]:
    from processors.logs.kafka import KafkaLog

    broker: Address = request.getfixturevalue("kafka")
    states = f"states-{uuid4().hex}"
    with ExitStack() as opened:

        def open_one() -> EventLog:
            log = KafkaLog(broker.bootstrap, worker_id=uuid4().hex, states_topic=states, make_topics=True)
            return opened.enter_context(closing(log))

        yield open_one


IMPLEMENTATIONS: dict[str, Callable[[pytest.FixtureRequest], AbstractContextManager[OpenLog]]] = {
    "sqlite": sqlite_logs,
    "kafka": kafka_logs,
}


@pytest.fixture(params=IMPLEMENTATIONS)
def open_log(request: pytest.FixtureRequest) -> Iterator[OpenLog]:
    with IMPLEMENTATIONS[request.param](request) as open_one:
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
