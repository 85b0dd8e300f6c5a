"""The latencies of the distributed runtime: `pitwatch reconstruct` and `pitwatch worker`, each in a process of its own.

The worker's notifier carries the alerts to a service on this machine over HTTP.
"""

import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

import httpx
from confluent_kafka import Consumer, TopicPartition

from benchmarks.latency import (
    ALERTS_PER_TEN_MINUTES,
    MACAU_EVENTS_PER_SECOND,
    SETTLE_SECONDS,
    Arrival,
    Latency,
    Phone,
    alerts_in,
    latency_of,
    pace,
    told,
)
from benchmarks.topics import make_topics
from processors.logs.kafka import KafkaLog
from processors.reconstructor import GROUP
from processors.settings import KafkaSettings
from schemas.log import Record
from schemas.topics import FACT_TOPICS, TABLE_EVENTS
from schemas.wire import decode_fact

PARTITIONS: Final = KafkaSettings().partitions
"""As many as a site has, unless it says otherwise."""

WAIT_SECONDS: Final = 0.25
READ_AT_ONCE: Final = 10_000


def measure(bootstrap: str, records: Sequence[Record], events_per_second: int = MACAU_EVENTS_PER_SECOND) -> Latency:
    """Send the events at the rate through a cluster without topics. Raises AssertionError where a process ends."""
    with (
        tempfile.TemporaryDirectory(prefix="pitwatch-bench-") as folder,
        closing(KafkaLog(bootstrap, worker_id="bench-tables")) as log,
        _service() as (phone, port),
    ):
        data = Path(folder) / "data"
        config = _config(Path(folder), bootstrap, data, port)
        make_topics(bootstrap, PARTITIONS)
        with _floor_at_work(config), _follower(bootstrap) as facts:
            # The first events find the worker joining its group; they are no part of the measurement.
            log.append(TABLE_EVENTS, [(record.key, record.value) for record in records[:1]])
            _wait_until_folded(log)
            due, seconds = pace(log, records[1:], events_per_second)
            _wait_until_folded(log)
            _wait_until_visible(log, FACT_TOPICS["alert"])
            raised = alerts_in(log)
            phone.wait_for(len(raised))
        return latency_of(due, seconds, facts, told(data, phone, raised))


def _config(folder: Path, bootstrap: str, data: Path, port: int) -> Path:
    """Write the settings of both processes, which have one phone told of everything."""
    config = folder / "pitwatch.toml"
    config.write_text(
        f"""
data_directory = "{data}"
[kafka]
bootstrap = "{bootstrap}"
worker_id = "bench"
[monitoring]
port = 0
[[notifications.routes]]
name = "bench"
urls = ["json://127.0.0.1:{port}"]
minimum_severity = "info"
alerts_per_ten_minutes = {ALERTS_PER_TEN_MINUTES}
""",
        encoding="utf-8",
    )
    return config


@contextmanager
def _service() -> Iterator[tuple[Phone, int]]:
    """Take messages over HTTP, on loopback; yield the phone that notes them, and the port."""
    from tests.processors.notify.http_service import HttpService

    phone = Phone()

    class Noting(HttpService):
        def take(self, path: str, authorization: str, body: dict[str, str]) -> int:
            phone.note()
            return super().take(path, authorization, body)

    with Noting().serving() as service:
        yield phone, service.port


@contextmanager
def _floor_at_work(config: Path) -> Iterator[None]:
    """Run a reconstruct worker and a Faust worker, as a site runs them, both at work when the block begins."""
    from tests.kafka.programs import running

    with running("reconstruct", "--config", config) as folding, running("worker", "--config", config) as telling:
        wait_until_it_follows(telling.told("running")["monitoring"])
        yield
        for program in (folding, telling):
            if program.process.poll() is not None:
                raise AssertionError(f"a worker ended with {program.process.returncode}:\n{program.logs[-5:]}")


def wait_until_it_follows(url: str) -> None:
    """Wait until the Faust worker at `url` has its share of the topics, and read what lay there."""
    deadline = time.monotonic() + SETTLE_SECONDS
    while not ((page := httpx.get(f"{url}/windows", timeout=SETTLE_SECONDS).json())["complete"] and page["partitions"]):
        if time.monotonic() > deadline:
            raise AssertionError("the Faust worker gets no share of the topics")
        time.sleep(WAIT_SECONDS)


@contextmanager
def _follower(bootstrap: str) -> Iterator[list[Arrival]]:
    """Note when facts can be read: by a bare consumer, which costs the machine least."""
    found: list[Arrival] = []
    stop = threading.Event()
    consumer = Consumer(
        {"bootstrap.servers": bootstrap, "group.id": "bench-follower", "isolation.level": "read_committed"}
    )
    consumer.assign([TopicPartition(topic, one, 0) for topic in FACT_TOPICS.values() for one in range(PARTITIONS)])
    thread = threading.Thread(target=_follow, args=(consumer, found, stop), name="follower")
    thread.start()
    try:
        yield found
    finally:
        stop.set()
        thread.join()
        consumer.close()


def _follow(consumer: Consumer, found: list[Arrival], stop: threading.Event) -> None:
    while not stop.is_set():
        messages = consumer.consume(1, WAIT_SECONDS)
        now = time.perf_counter()
        for message in (*messages, *consumer.consume(READ_AT_ONCE, 0)):
            value = message.value()
            if message.error() is None and value is not None:
                fact = decode_fact(value)
                found.append(Arrival(now, (fact.src_partition, fact.src_offset)))


def _wait_until_folded(log: KafkaLog) -> None:
    deadline = time.monotonic() + SETTLE_SECONDS
    while any(
        log.position(GROUP, TABLE_EVENTS, partition) < log.end(TABLE_EVENTS, partition)
        for partition in log.partitions(TABLE_EVENTS)
    ):
        if time.monotonic() > deadline:
            raise AssertionError("the worker doesn't come to the end of the events")
        time.sleep(WAIT_SECONDS)


def _wait_until_visible(log: KafkaLog, topic: str) -> None:
    """Wait until all that was written to a topic can be read: that may be after the position written with it."""
    deadline = time.monotonic() + SETTLE_SECONDS
    ends = [(topic, one, log.written(topic, one)) for one in log.partitions(topic)]
    while not all(log.is_decided(*end) for end in ends):
        if time.monotonic() > deadline:
            raise AssertionError(f"a transaction in {topic} is never decided")
        time.sleep(WAIT_SECONDS)
