"""Appends over producers that no broker is needed for: ones whose queue is full, that fail halfway, or that break."""

from collections.abc import Callable, Iterator
from contextlib import closing

import pytest
from confluent_kafka import KafkaError, KafkaException, Message

from processors.logs.kafka_clients import Clients
from processors.logs.kafka_producer import Appender
from schemas.log import LogClosed, LogUnavailable
from tests.contract.reading import messages

Report = Callable[[KafkaError | None, Message], None]


class ScriptedProducer:
    """A producer that takes messages until `room` is used up, and then does what a test has it do."""

    def __init__(self) -> None:
        self.room = 1_000
        self.reports: list[Report] = []
        self.refusal: KafkaException | None = None
        self.breakdown: Exception | None = None
        self.result: KafkaError | None = None
        self.placed = 0

    def produce(self, topic: str, value: bytes, key: bytes, on_delivery: Report) -> None:
        if self.refusal is not None:
            raise self.refusal
        if len(self.reports) >= self.room:
            raise BufferError
        self.reports.append(on_delivery)

    def poll(self, seconds: float) -> int:
        if self.breakdown is not None and (self.reports or self.refusal):
            raise self.breakdown
        reports, self.reports = self.reports, []
        for report in reports:
            report(self.result, Message(topic="t", partition=0, offset=self.placed))
            self.placed += 1
        return len(reports)

    def __len__(self) -> int:
        return len(self.reports)


class ScriptedClients(Clients):
    """Hands out scripted producers, and remembers them."""

    def __init__(self, timeout_seconds: float) -> None:
        super().__init__("127.0.0.1:1", {}, "tests", timeout_seconds)
        self.producers: list[ScriptedProducer] = []

    def producer(self, settings: object) -> ScriptedProducer:  # type: ignore[override] # only what an appender uses
        self.producers.append(ScriptedProducer())
        return self.producers[-1]


@pytest.fixture
def clients() -> ScriptedClients:
    return ScriptedClients(0.2)


@pytest.fixture
def appender(clients: ScriptedClients) -> Iterator[Appender]:
    with closing(Appender(clients)) as opened:
        yield opened


def test_a_full_queue_is_waited_for(clients: ScriptedClients, appender: Appender) -> None:
    clients.producers[0].room = 3
    places = appender.append("t", messages(20))
    assert [place.offset for place in places] == list(range(20))


def test_a_producer_that_broke_a_moment_ago_says_why(clients: ScriptedClients, appender: Appender) -> None:
    """It refuses whatever it is given without a reason, which only who polls it is told, once."""
    broken = clients.producers[0]
    broken.breakdown = KafkaException(KafkaError(KafkaError.CLUSTER_AUTHORIZATION_FAILED, "no idempotent writes"))
    broken.refusal = KafkaException(KafkaError(KafkaError._FATAL))
    with pytest.raises(LogUnavailable, match="2 of 2 messages to t: this user may not do that"):
        appender.append("t", messages(2))
    assert len(appender.append("t", messages(2))) == 2


def test_a_message_that_is_refused_stops_what_is_behind_it(clients: ScriptedClients, appender: Appender) -> None:
    clients.producers[0].refusal = KafkaException(KafkaError(KafkaError._UNKNOWN_TOPIC))
    with pytest.raises(LogUnavailable, match="5 of 5 messages to t: the topic isn't there"):
        appender.append("t", messages(5))


def test_failed_reports_are_counted(clients: ScriptedClients, appender: Appender) -> None:
    clients.producers[0].result = KafkaError(KafkaError._MSG_TIMED_OUT)
    with pytest.raises(LogUnavailable, match=r"append 2 of 2 messages to t: no broker answers \(_MSG_TIMED_OUT"):
        appender.append("t", messages(2))


@pytest.mark.parametrize(
    "breakdown", [KafkaException(KafkaError(KafkaError._FATAL, "worn out", fatal=True)), SystemError("confused")]
)
def test_a_producer_that_breaks_down_is_replaced_and_its_appends_are_told(
    clients: ScriptedClients, appender: Appender, breakdown: Exception
) -> None:
    clients.producers[0].breakdown = breakdown
    with pytest.raises(LogUnavailable, match="3 of 3 messages"):
        appender.append("t", messages(3))
    assert len(appender.append("t", messages(3))) == 3
    assert len(clients.producers) == 2


def test_a_queue_that_stays_full_is_given_up(clients: ScriptedClients, appender: Appender) -> None:
    clients.producers[0].room = 0
    with pytest.raises(LogUnavailable, match="_QUEUE_FULL"):
        appender.append("t", messages(2))


def test_nothing_is_appended_once_it_is_closed(appender: Appender) -> None:
    appender.close()
    appender.close()
    with pytest.raises(LogClosed):
        appender.append("t", messages(1))
