"""The latencies of the distributed runtime: a reconstruct worker in its own process, and the notifier behind it."""

import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from confluent_kafka import Consumer, TopicPartition

from benchmarks.latency import (
    MACAU_EVENTS_PER_SECOND,
    SETTLE_SECONDS,
    Arrival,
    Latency,
    Phone,
    alerts_in,
    latency_of,
    one_route,
    pace,
    told,
)
from benchmarks.topics import make_topics
from processors.logs.kafka import KafkaLog
from processors.notify.notifier import Notifier
from processors.reconstructor import GROUP
from processors.settings import KafkaSettings
from schemas.log import EventLog, Record
from schemas.topics import FACT_TOPICS, TABLE_EVENTS
from schemas.wire import decode_fact

PARTITIONS: Final = KafkaSettings().partitions
"""As many as a site has, unless it says otherwise."""

WAIT_SECONDS: Final = 0.25
READ_AT_ONCE: Final = 10_000


def measure(bootstrap: str, records: Sequence[Record], events_per_second: int = MACAU_EVENTS_PER_SECOND) -> Latency:
    """Send the events at the rate through a cluster without topics. Raises AssertionError where the worker ends."""
    phone = Phone()
    with tempfile.TemporaryDirectory(prefix="pitwatch-bench-") as folder, _log(bootstrap, "bench-tables") as log:
        directory = Path(folder)
        make_topics(bootstrap, PARTITIONS)
        with _worker(bootstrap, directory), _notifier(bootstrap, directory, phone), _follower(bootstrap) as facts:
            # The first events find the worker joining its group; they are no part of the measurement.
            log.append(TABLE_EVENTS, [(record.key, record.value) for record in records[:1]])
            _wait_until_folded(log)
            due, seconds = pace(log, records[1:], events_per_second)
            _wait_until_folded(log)
            raised = alerts_in(log)
            phone.wait_for(len(raised))
            messages = told(directory, phone, raised)
        return latency_of(due, seconds, facts, messages)


@contextmanager
def _log(bootstrap: str, worker_id: str) -> Iterator[KafkaLog]:
    with closing(KafkaLog(bootstrap, worker_id=worker_id)) as log:
        yield log


@contextmanager
def _worker(bootstrap: str, directory: Path) -> Iterator[None]:
    """Run a reconstruct worker, as a site runs it."""
    config = directory / "pitwatch.toml"
    config.write_text(f'[kafka]\nbootstrap = "{bootstrap}"\nworker_id = "bench"\n', encoding="utf-8")
    command = [sys.executable, "-c", "from pitwatch.cli import main; main()", "reconstruct", "--config", str(config)]
    with (directory / "worker.log").open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output)  # noqa: S603  our own command
    try:
        yield
        if process.poll() is not None:
            raise AssertionError(f"the worker ended with {process.returncode}:\n{output.name}")
    finally:
        process.terminate()
        process.wait()


@contextmanager
def _notifier(bootstrap: str, directory: Path, phone: Phone) -> Iterator[None]:
    stop = threading.Event()
    with _log(bootstrap, "bench-notifier") as log:
        notifier = Notifier(log, directory, phone, one_route())
        thread = threading.Thread(target=notifier.run, args=(stop,), name="notifier")
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()
            notifier.close()


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


def _wait_until_folded(log: EventLog) -> None:
    deadline = time.monotonic() + SETTLE_SECONDS
    while any(
        log.position(GROUP, TABLE_EVENTS, partition) < log.end(TABLE_EVENTS, partition)
        for partition in log.partitions(TABLE_EVENTS)
    ):
        if time.monotonic() > deadline:
            raise AssertionError("the worker doesn't come to the end of the events")
        time.sleep(WAIT_SECONDS)
