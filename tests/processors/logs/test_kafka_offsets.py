"""Offsets of partitions are asked until the consumer knows where these are, and no longer than it makes sense."""

from collections.abc import Callable
from typing import cast

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from processors.logs.kafka_clients import Clients
from processors.logs.kafka_offsets import offsets
from schemas.log import LogUnavailable

PLACES = [("t", 1), ("t", 0)]


class FakeConsumer:
    """A consumer that says what it is told to, one after the other, and counts how often it learnt of all topics."""

    def __init__(self, *answers: int | None) -> None:
        self._answers = iter(answers)
        self.refreshed = 0

    def list_topics(self, *, timeout: float) -> None:
        assert timeout > 0
        self.refreshed += 1

    def offsets_for_times(self, asked: list[TopicPartition], timeout: float) -> list[TopicPartition]:
        assert timeout > 0
        code = next(self._answers)
        if code is not None and code < 0:
            raise KafkaException(KafkaError(code, "local"))
        for one in asked:
            one.offset = 10 + one.partition
        return asked if code is None else [Refused(asked[0], code), *asked[1:]]  # type: ignore[list-item]


class Refused:
    """A partition that comes back with an error, as no program can make one."""

    def __init__(self, asked: TopicPartition, code: int) -> None:
        self.topic, self.partition, self.offset = asked.topic, asked.partition, -1
        self.error = KafkaError(code, "refused")


Ask = Callable[..., list[int]]


@pytest.fixture
def ask() -> tuple[Ask, list[FakeConsumer]]:
    made: list[FakeConsumer] = []

    def asking(*answers: int | None, seconds: float = 30.0) -> list[int]:
        made.append(FakeConsumer(*answers))
        clients = Clients("127.0.0.1:1", {}, "test", seconds)
        return offsets(clients, cast(Consumer, made[-1]), PLACES, "end")

    return asking, made


def test_each_partition_has_its_own(ask: tuple[Ask, list[FakeConsumer]]) -> None:
    asking, made = ask
    assert asking(None) == [11, 10]
    assert made[0].refreshed == 0


@pytest.mark.parametrize("code", [KafkaError.NOT_LEADER_FOR_PARTITION, KafkaError.LEADER_NOT_AVAILABLE])
def test_leader_that_moves_is_waited_for(ask: tuple[Ask, list[FakeConsumer]], code: int) -> None:
    asking, made = ask
    assert asking(code, code, None) == [11, 10]
    assert made[0].refreshed == 2, "what it knows may be stale each time"
    with pytest.raises(LogUnavailable, match="find the end of t"):
        asking(code, seconds=1e-9)


@pytest.mark.parametrize(
    ("code", "word"),
    [
        (KafkaError._UNKNOWN_PARTITION, "topics check"),
        (KafkaError._UNKNOWN_TOPIC, "topics check"),
        (KafkaError._TIMED_OUT, "no broker answers"),
        (KafkaError._TRANSPORT, "no broker answers"),
    ],
)
def test_what_a_consumer_no_longer_knows_it_asks_for_anew_and_once(
    ask: tuple[Ask, list[FakeConsumer]], code: int, word: str
) -> None:
    """Once a leader had died it said so for ever, and who asked it waited for ever."""
    asking, made = ask
    assert asking(code, None) == [11, 10]
    assert made[0].refreshed == 1
    assert asking(code, KafkaError.LEADER_NOT_AVAILABLE, None) == [11, 10]
    with pytest.raises(LogUnavailable, match=word):
        asking(code, code)


@pytest.mark.parametrize("code", [KafkaError._AUTHENTICATION, KafkaError.TOPIC_AUTHORIZATION_FAILED])
def test_whatever_else_is_wrong_is_told_at_once(ask: tuple[Ask, list[FakeConsumer]], code: int) -> None:
    asking, made = ask
    with pytest.raises(LogUnavailable):
        asking(code)
    assert made[0].refreshed == 0
