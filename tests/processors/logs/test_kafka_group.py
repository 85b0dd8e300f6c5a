"""Transactions over producers that no broker is needed for: ones that hang, that can't abort, that lose a commit."""

import threading
from collections.abc import Iterator

import pytest
from confluent_kafka import KafkaError, KafkaException, TopicPartition

from processors.logs.kafka_clients import Clients
from processors.logs.kafka_group import GroupProducer, Output, Reading
from schemas.log import Fenced, LogUnavailable

READING = Reading([TopicPartition("events", 0, 7)], b"member")
OUTPUTS = [Output("rounds", 0, "B01", b"1"), Output("rounds", 0, "B01", b"2")]


class ScriptedProducer:
    """Notes what it is asked to do, and raises what a test has for each call."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.errors: dict[str, list[KafkaError | BaseException]] = {}
        self.hang = threading.Event()
        self.hang.set()

    def _do(self, call: str) -> None:
        self.calls.append(call)
        if planned := self.errors.get(call):
            error = planned.pop(0)
            raise KafkaException(error) if isinstance(error, KafkaError) else error

    def init_transactions(self, seconds: float) -> None:
        self._do("init")

    def begin_transaction(self) -> None:
        self._do("begin")

    def produce(self, topic: str, value: bytes, key: bytes, partition: int) -> None:
        self._do("produce")

    def poll(self, seconds: float) -> int:
        self._do("poll")
        return 0

    def send_offsets_to_transaction(self, offsets: list[TopicPartition], metadata: bytes, seconds: float) -> None:
        self.hang.wait()
        self._do("offsets")

    def flush(self, seconds: float) -> int:
        self._do("flush")
        return 0

    def commit_transaction(self, seconds: float) -> None:
        self._do("commit")

    def abort_transaction(self, seconds: float) -> None:
        self._do("abort")


class ScriptedClients(Clients):
    """Hands out one scripted producer."""

    def __init__(self) -> None:
        super().__init__("127.0.0.1:1", {}, "tests", 0.1)
        self.scripted = ScriptedProducer()

    def producer(self, settings: object) -> ScriptedProducer:  # type: ignore[override] # only what a group uses
        return self.scripted


@pytest.fixture
def clients() -> Iterator[ScriptedClients]:
    made = ScriptedClients()
    yield made
    made.scripted.hang.set()


@pytest.fixture
def script(clients: ScriptedClients) -> ScriptedProducer:
    return clients.scripted


@pytest.fixture
def producer(clients: ScriptedClients, script: ScriptedProducer) -> GroupProducer:
    made = GroupProducer(clients, "group", "group")
    script.calls.clear()
    return made


def retriable(code: int) -> KafkaError:
    return KafkaError(code, "", retriable=True)


def test_a_transaction_is_written_whole(producer: GroupProducer, script: ScriptedProducer) -> None:
    producer.write(OUTPUTS, READING)
    assert script.calls == ["begin", "produce", "produce", "offsets", "flush", "commit"]


def test_a_full_queue_is_waited_for(producer: GroupProducer, script: ScriptedProducer) -> None:
    script.errors["produce"] = [BufferError()]
    producer.write(OUTPUTS, READING)
    assert script.calls[:4] == ["begin", "produce", "poll", "produce"]


def test_a_coordinator_that_never_answers_is_given_up(producer: GroupProducer, script: ScriptedProducer) -> None:
    script.hang.clear()
    script.errors["abort"] = [retriable(KafkaError._CONFLICT)]
    with pytest.raises(LogUnavailable, match="no answer in time"):
        producer.write(OUTPUTS, READING)
    with pytest.raises(Fenced, match="claim"):
        producer.write(OUTPUTS, READING)


def test_after_an_abort_the_next_one_is_whole(producer: GroupProducer, script: ScriptedProducer) -> None:
    script.errors["flush"] = [KafkaError(KafkaError._TIMED_OUT)]
    with pytest.raises(LogUnavailable):
        producer.write(OUTPUTS, READING)
    script.calls.clear()
    producer.write(OUTPUTS, READING)
    assert script.calls == ["begin", "produce", "produce", "offsets", "flush", "commit"]


def test_a_lost_commit_is_settled_before_anything_else(producer: GroupProducer, script: ScriptedProducer) -> None:
    script.errors["commit"] = [retriable(KafkaError._TIMED_OUT), retriable(KafkaError._TIMED_OUT)]
    with pytest.raises(LogUnavailable, match="found out before anything else"):
        producer.write(OUTPUTS, READING)
    script.calls.clear()
    with pytest.raises(LogUnavailable):
        producer.settle()
    producer.write(OUTPUTS, READING)
    assert script.calls == ["commit", "commit", "begin", "produce", "produce", "offsets", "flush", "commit"]


def test_a_commit_that_must_be_aborted_is(producer: GroupProducer, script: ScriptedProducer) -> None:
    script.errors["commit"] = [KafkaError(KafkaError._INCONSISTENT, "", txn_requires_abort=True)]
    with pytest.raises(LogUnavailable):
        producer.write(OUTPUTS, READING)
    assert script.calls[-2:] == ["commit", "abort"]
    producer.write(OUTPUTS, READING)


@pytest.mark.parametrize("call", ["begin", "produce", "offsets", "flush", "commit"])
def test_whoever_was_fenced_stays_fenced(producer: GroupProducer, script: ScriptedProducer, call: str) -> None:
    fenced = KafkaError(KafkaError._FENCED, "newer instance", fatal=True)
    script.errors |= {call: [fenced], "abort": [fenced]}
    with pytest.raises(Fenced, match="group group was taken over"):
        producer.write(OUTPUTS, READING)
    with pytest.raises(Fenced):
        producer.write(OUTPUTS, READING)


def test_what_is_no_trouble_of_kafkas_passes_through(producer: GroupProducer, script: ScriptedProducer) -> None:
    script.errors["flush"] = [KeyboardInterrupt()]
    with pytest.raises(KeyboardInterrupt):
        producer.write(OUTPUTS, READING)
    assert script.calls[-1] == "abort"
