"""``python -m benchmarks.kafka_rates``: what `KafkaLog` reads, appends and commits a second, beside bare clients.

A broker of its own, one partition, the messages of a floor. Then once more on a broker that syncs each append to its
disk, as the layout with a single broker has it.
"""

import argparse
import json
import os
import statistics
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Final, NamedTuple

from confluent_kafka import Consumer, Producer, TopicPartition
from rich.console import Console
from rich.table import Table

from benchmarks.broker import own_broker, simulated
from benchmarks.latency import percentile
from benchmarks.topics import make_topics
from pitwatch.progress import counting_bar
from processors.logs.kafka import KafkaLog
from processors.topics import Layout
from schemas.topics import TOPICS

TOPIC: Final = "rates"
GROUP: Final = "bench-rates"
PAGE_RECORDS: Final = 5_000
CONSUME_AT_ONCE: Final = 10_000
APPENDS: Final = (1, 100, 1_000, 5_000)
TRANSACTIONS: Final = (*APPENDS, 20_000)
MOST_CALLS: Final = 200
"""How often a call is made at most: those with one message would else take longest of all."""

FEWEST_CALLS: Final = 3
WAIT_SECONDS: Final = 30.0
PASSES: Final = 5
"""How often all messages are produced, and so how many of them are read: a client fetches some ahead of the clock."""

TURNS: Final = 3
"""How often reading is measured; the middle counts."""

SYNCED: Final = {"log.flush.interval.messages": 1}
"""What `make up` gives a broker that is alone."""

Messages = Sequence[tuple[str, bytes]]


class Rate(NamedTuple):
    """What was done a second; `share` is that of a bare client's rate, where there is one to compare with."""

    name: str
    messages_per_second: float
    share: float | None = None


class Delay(NamedTuple):
    """How long something took, in seconds: at the median, and 99 of 100 times at most."""

    name: str
    middle: float
    high: float


class Found(NamedTuple):
    """Rates and delays on one broker."""

    rates: list[Rate]
    delays: list[Delay]


def measure(bootstrap: str, messages: Messages, sizes: Sequence[int] = TRANSACTIONS, calls: int = MOST_CALLS) -> Found:
    """Write messages in calls of these sizes, each at most `calls` times, and read them. The cluster has no topics."""
    make_topics(bootstrap, 1, {TOPIC: Layout(1, 1, {})})
    with closing(KafkaLog(bootstrap, worker_id="bench-rates")) as log:
        produced = _produce(bootstrap, messages)
        there = PASSES * len(messages)
        # In turn: a broker that was just started reads slowest.
        both = [(_consume(bootstrap, there), _read(log, there)) for _ in range(TURNS)]
        consumed, read = (statistics.median(rates) for rates in zip(*both, strict=True))
        rates = [Rate("bare produce, without waiting", produced), Rate("bare consume", consumed)]
        rates.append(Rate(f"read, pages of {PAGE_RECORDS:,}", read, read / consumed))
        for name, known, work in (("append", APPENDS, _append), ("transaction", TRANSACTIONS, _write)):
            for size in [size for size in sizes if size in known]:
                rate = _rate(log, work, messages[:size], min(calls, max(FEWEST_CALLS, len(messages) // size)))
                rates.append(Rate(f"{name} of {size:,}", rate, rate / produced))
        return Found(rates, [_transactions(log, messages[0], calls), _handing_over(bootstrap, log, messages[0], calls)])


def _rate(log: KafkaLog, work: Callable[[KafkaLog, Messages], None], messages: Messages, calls: int) -> float:
    """Return the messages a second of so many calls, after one that finds everything new."""
    work(log, messages)
    begun = time.perf_counter()
    for _ in range(calls):
        work(log, messages)
    return calls * len(messages) / (time.perf_counter() - begun)


def _append(log: KafkaLog, messages: Messages) -> None:
    log.append(TOPIC, messages)


def _write(log: KafkaLog, messages: Messages) -> None:
    with log.transaction(GROUP) as transaction:
        transaction.publish(TOPIC, messages)


def _produce(bootstrap: str, messages: Messages) -> float:
    """Produce with a client set as ours are, which waits for nothing but the end."""
    producer = Producer(
        {
            "bootstrap.servers": bootstrap,
            "linger.ms": 1,
            "compression.type": "lz4",
            "enable.idempotence": True,
            # Its retries at the start are nobody's business.
            "log_level": 0,
        }
    )
    # The first one finds the broker and the topic.
    producer.produce(TOPIC, messages[0][1], messages[0][0])
    producer.flush()
    begun = time.perf_counter()
    for _ in range(PASSES):
        for key, value in messages:
            while not _has_taken(producer, key, value):
                producer.poll(0.01)
    producer.flush()
    return PASSES * len(messages) / (time.perf_counter() - begun)


def _has_taken(producer: Producer, key: str, value: bytes) -> bool:
    try:
        producer.produce(TOPIC, value, key)
    except BufferError:
        return False
    return True


def _consume(bootstrap: str, messages: int) -> float:
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "bench-bare"})
    consumer.assign([TopicPartition(TOPIC, 0, 0)])
    try:
        consumer.consume(1, WAIT_SECONDS)
        seen, begun = 0, time.perf_counter()
        while seen < messages:
            seen += len(consumer.consume(min(CONSUME_AT_ONCE, messages - seen), WAIT_SECONDS))
        return seen / (time.perf_counter() - begun)
    finally:
        consumer.close()


def _read(log: KafkaLog, messages: int) -> float:
    offset = first = log.read(TOPIC, 0, 0, 1)[-1].offset + 1
    begun = time.perf_counter()
    while offset < first + messages:
        offset = log.read(TOPIC, 0, offset, min(PAGE_RECORDS, first + messages - offset))[-1].offset + 1
    return messages / (time.perf_counter() - begun)


def _delay(name: str, taken: Sequence[float]) -> Delay:
    return Delay(name, statistics.median(taken), percentile(sorted(taken), 0.99))


def _transactions(log: KafkaLog, message: tuple[str, bytes], times: int) -> Delay:
    """Time transactions that write to every topic that Pitwatch has, a partition of each."""
    taken = []
    # The first finds everything new.
    for _ in range(1 + times):
        begun = time.perf_counter()
        with log.transaction(GROUP) as transaction:
            for topic in TOPICS:
                transaction.publish(topic.name, [message])
        taken.append(time.perf_counter() - begun)
    return _delay(f"a transaction over {len(TOPICS)} partitions", taken[1:])


def _handing_over(bootstrap: str, log: KafkaLog, message: tuple[str, bytes], times: int) -> Delay:
    """Time it from an append until a reader that waits in another log has the message."""
    sent: list[float] = []
    waiting = threading.Semaphore(0)

    def follow() -> list[float]:
        taken, offset = [], other.end(TOPIC, 0)
        for _ in range(times):
            waiting.release()
            other.wait(TOPIC, 0, offset, WAIT_SECONDS)
            (record,) = other.read(TOPIC, 0, offset, 1)
            taken.append(time.perf_counter())
            offset = record.offset + 1
        return taken

    with closing(KafkaLog(bootstrap, worker_id="bench-waiting")) as other, ThreadPoolExecutor(1) as threads:
        following = threads.submit(follow)
        for _ in range(times):
            waiting.acquire(timeout=WAIT_SECONDS)
            sent.append(time.perf_counter())
            log.append(TOPIC, [message])
        taken = following.result()
    return _delay("append to a waiting reader in another log", [at - due for at, due in zip(taken, sent, strict=True)])


def _print(found: dict[str, Found], what: str, *, as_json: bool) -> None:
    if as_json:
        figures = {
            name: {"rates": [one._asdict() for one in rates], "delays": [one._asdict() for one in delays]}
            for name, (rates, delays) in found.items()
        }
        print(json.dumps(figures))
        return
    console = Console()
    for name, (rates, delays) in found.items():
        table = Table(title=f"{name}: {what}, {os.cpu_count()} cores", title_justify="left")
        for heading in ("KafkaLog", "messages/s", "× bare client"):
            table.add_column(heading, justify="left" if heading == "KafkaLog" else "right")
        for rate in rates:
            share = "" if rate.share is None else f"{rate.share:.2f}"
            table.add_row(rate.name, f"{rate.messages_per_second:,.0f}", share)
        for delay in delays:
            table.add_row(delay.name, f"p50 {delay.middle * 1000:,.0f} ms", f"p99 {delay.high * 1000:,.0f} ms")
        console.print(table)


def main() -> None:
    """Measure what the command line says."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kafka_rates", description=__doc__)
    parser.add_argument("--events", type=int, default=100_000, help="messages for each kind of call; 1 at least")
    parser.add_argument("--calls", type=int, default=MOST_CALLS, help="times a call is made at most")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    arguments = parser.parse_args()
    records = simulated(arguments.events)
    if records is None:
        return
    messages = [(record.key, record.value) for record in records]
    length = statistics.mean(len(value) for _, value in messages)
    found = {}
    brokers = {"a broker": {}, "a broker that syncs each append": SYNCED}
    with counting_bar("measuring", len(brokers), "brokers") as advance:
        for name, settings in brokers.items():
            with own_broker(settings) as cluster:
                found[name] = measure(cluster.bootstrap, messages, calls=arguments.calls)
            advance(len(found))
    what = f"{len(messages):,} messages of {length:,.0f} bytes, one partition"
    _print(found, what, as_json=arguments.json)


if __name__ == "__main__":
    main()
