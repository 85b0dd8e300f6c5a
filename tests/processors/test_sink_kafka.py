"""Workers that fill one store from Kafka: they share its partitions, and take over from one that goes."""

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import cast
from uuid import uuid4

import pytest

from processors.logs.kafka_opening import open_kafka_log
from processors.settings import KafkaSettings
from processors.sink_worker import SinkWorker
from processors.store.clickhouse import ClickHouseStore
from processors.store.sink import TOPICS
from schemas.topics import TABLE_STATES
from schemas.wire import encode
from tests.contract.reading import PATIENCE_SECONDS, TABLES
from tests.contract.store.stored_facts import fact
from tests.kafka.broker import Cluster
from tests.processors.logs.kafka_logs import make_topic
from tests.processors.test_sink_worker import Server

PARTITIONS = 3


@pytest.fixture(scope="module")
def settings(kafka_alone: Cluster) -> KafkaSettings:
    for _, topic in TOPICS:
        make_topic(kafka_alone.bootstrap, topic, PARTITIONS)
    make_topic(kafka_alone.bootstrap, TABLE_STATES, PARTITIONS, cleanup_policy="compact")
    return KafkaSettings(bootstrap=kafka_alone.bootstrap, worker_id="writer")


@pytest.fixture
def server() -> Server:
    server = Server()
    server.identity = uuid4().hex
    return server


@contextmanager
def working(settings: KafkaSettings, server: Server) -> Iterator[SinkWorker]:
    """Run a worker for the length of the block, which then leaves the group."""
    stop = threading.Event()
    with open_kafka_log(settings.model_copy(update={"worker_id": uuid4().hex})) as log:
        worker = SinkWorker(log, lambda: cast(ClickHouseStore, server), log.join)

        def run() -> None:
            while not stop.is_set():
                worker.step()

        thread = threading.Thread(target=run)
        thread.start()
        try:
            yield worker
        finally:
            stop.set()
            thread.join(PATIENCE_SECONDS)


def append(settings: KafkaSettings, first: int, last: int) -> None:
    with open_kafka_log(settings) as log:
        for table in TABLES:
            rows = [(table, encode(fact("bet", table, bet_id=f"{table}-{number}"))) for number in range(first, last)]
            log.append("bets", rows)


def wait_for(holds: Callable[[], bool]) -> None:
    for _ in range(PATIENCE_SECONDS * 20):
        if holds():
            return
        threading.Event().wait(0.05)
    raise AssertionError("it never came about")


def bet_ids(server: Server) -> list[str]:
    return sorted(row["bet_id"] for row in server.rows_of("bet"))


def expected(last: int) -> list[str]:
    return sorted(f"{table}-{number}" for table in TABLES for number in range(last))


def owned(worker: SinkWorker) -> int:
    return sum(len(worker._log.partitions(topic)) for _, topic in TOPICS)


def test_workers_share_partitions_and_take_over_from_each_other(settings: KafkaSettings, server: Server) -> None:
    everything = PARTITIONS * len(TOPICS)
    append(settings, 0, 20)
    with ExitStack() as first, ExitStack() as second:
        one = first.enter_context(working(settings, server))
        wait_for(lambda: bet_ids(server) == expected(20))
        assert owned(one) == everything
        two = second.enter_context(working(settings, server))
        wait_for(lambda: owned(two) > 0 and owned(one) + owned(two) == everything)
        append(settings, 20, 40)
        wait_for(lambda: set(bet_ids(server)) == set(expected(40)))
        first.close()
        wait_for(lambda: owned(two) == everything)
        append(settings, 40, 50)
        wait_for(lambda: set(bet_ids(server)) == set(expected(50)))
    assert server.rows_of("dead_letter") == []


def test_worker_that_comes_back_goes_on_where_it_was(settings: KafkaSettings, server: Server) -> None:
    append(settings, 0, 5)
    for _ in range(2):
        with working(settings, server):
            wait_for(lambda: set(bet_ids(server)) >= set(expected(5)))
    before = len(bet_ids(server))
    with working(settings, server) as worker:
        wait_for(lambda: owned(worker) == PARTITIONS * len(TOPICS))
        append(settings, 900, 901)
        wait_for(lambda: len(bet_ids(server)) >= before + len(TABLES))
    assert len(bet_ids(server)) == before + len(TABLES)
