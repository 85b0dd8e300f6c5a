"""The last minutes of a partition, found by the log's clock on a real broker."""

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from threading import Event
from uuid import uuid4

import pytest

from processors.logs.kafka import KafkaLog
from processors.logs.kafka_clients import Clients
from processors.streams import recent as module
from processors.streams.recent import Recent
from tests.kafka.serve import Address
from tests.processors.logs.kafka_logs import make_topic

EARLIEST = datetime(2020, 1, 1, tzinfo=UTC)


@pytest.fixture
def log(kafka: Address) -> Iterator[KafkaLog]:
    with closing(KafkaLog(kafka.bootstrap, worker_id=uuid4().hex)) as log:
        yield log


@pytest.fixture
def recent(kafka: Address, log: KafkaLog) -> Recent:
    return Recent(log, Clients(kafka.bootstrap, {}, "tests", 30))


@pytest.fixture
def topic(kafka: Address) -> str:
    name = f"recent-{uuid4().hex}"
    make_topic(kafka.bootstrap, name, message_timestamp_type="LogAppendTime")
    return name


def append(log: KafkaLog, topic: str, *values: bytes) -> datetime:
    """Append in a transaction, which leaves a mark, a moment after whatever came before; return the log's time."""
    Event().wait(0.01)
    with log.transaction("tests") as transaction:
        transaction.publish(topic, [("BAC-01", value) for value in values])
    return log.read(topic, 0, 0, 10_000)[-1].appended_at


def values(recent: Recent, topic: str, since: datetime) -> list[bytes]:
    return [record.value for record in recent.records(topic, 0, since)]


def test_records_since_a_moment_are_found_and_none_before(
    log: KafkaLog, recent: Recent, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PAGE_RECORDS", 2)
    append(log, topic, b"1", b"2")
    moment = append(log, topic, b"3")
    append(log, topic, b"4", b"5", b"6")
    assert values(recent, topic, EARLIEST) == [b"1", b"2", b"3", b"4", b"5", b"6"]
    assert values(recent, topic, moment) == [b"3", b"4", b"5", b"6"]
    assert values(recent, topic, moment + timedelta(days=1)) == []


def test_empty_partition_has_no_past(recent: Recent, topic: str) -> None:
    assert values(recent, topic, EARLIEST) == []


def test_what_came_before_a_record_is_read_from_a_place_or_a_moment_on(
    log: KafkaLog, recent: Recent, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PAGE_RECORDS", 2)
    append(log, topic, b"1", b"2")
    moment = append(log, topic, b"3", b"4")
    append(log, topic, b"5", b"6")
    first, _, _, fourth, _, sixth = log.read(topic, 0, 0, 10)

    def before(offset: int | None) -> list[bytes]:
        return [record.value for record in recent.before(sixth, moment, offset)]

    assert before(None) == [b"3", b"4", b"5"]
    assert before(fourth.offset) == [b"4", b"5"]
    assert before(first.offset) == [b"1", b"2", b"3", b"4", b"5"]
    assert before(sixth.offset) == before(sixth.offset + 1) == []
