"""The rates of the log on Kafka are those of what they name, on little."""

from benchmarks.floor import floor_records
from benchmarks.kafka_rates import PASSES, TOPIC, measure
from processors.logs.kafka import KafkaLog
from schemas.topics import TOPICS
from tests.kafka.broker import Cluster
from tests.kafka.programs import records


def test_each_call_has_a_rate_and_did_what_it_names(kafka_alone: Cluster) -> None:
    messages = [(record.key, record.value) for record in floor_records(300)]
    rates, delays = measure(kafka_alone.bootstrap, messages, sizes=(1, 100), calls=3)
    named = {rate.name: rate for rate in rates}
    assert list(named) == [
        "bare produce, without waiting", "bare consume", "read, pages of 5,000",
        "append of 1", "append of 100", "transaction of 1", "transaction of 100",
    ]  # fmt: skip
    assert min(rate.messages_per_second for rate in rates) > 0
    assert [name for name, rate in named.items() if rate.share is None] == list(named)[:2]
    assert min(rate.share for rate in rates if rate.share is not None) > 0
    assert all(0 < delay.middle <= delay.high for delay in delays)
    log = KafkaLog(kafka_alone.bootstrap, worker_id="looking")
    # One, then all of them again and again, produced; each call once to begin with and three times; three handed over.
    assert len(records(log, TOPIC)) == 1 + PASSES * 300 + 2 * (4 * 1 + 4 * 100) + 3
    assert [len(records(log, topic.name)) for topic in TOPICS] == [4] * len(TOPICS)
    log.close()
