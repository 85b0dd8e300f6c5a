"""``python -m benchmarks.streams``: what `pitwatch worker` does a second, and how much memory its windows take.

Its streams get the rounds of a floor at once, as if they were played in the last hour; nobody is told of alerts. Its
watch over silent tables reads the floor's events, alone. Both on a broker of their own.
"""

import argparse
import logging
import os
import re
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from itertools import cycle, islice
from pathlib import Path
from typing import Final, NamedTuple, cast

import httpx
import msgspec
import structlog

from benchmarks.alone import alone, held
from benchmarks.broker import own_broker, simulated
from benchmarks.kafka_latency import PARTITIONS, wait_until_it_follows
from benchmarks.report import MIB, Quantity, print_quantities
from benchmarks.topics import make_topics
from pitwatch.progress import counting_bar
from processors.live.windows import Windows
from processors.logs.kafka import KafkaLog
from processors.reconstruct.fold import FoldSettings, TableFold
from processors.settings import WorkerSettings
from processors.streams.silence_watch import GROUP as WATCHERS
from processors.streams.silence_watch import Membership, SilenceWatch
from schemas.facts import Fact, RoundFact
from schemas.log import Record
from schemas.topics import FACT_TOPICS, TABLE_EVENTS
from schemas.wire import decode_fact, encode

ROUNDS: Final = FACT_TOPICS["round"]
APPEND_AT_ONCE: Final = 5_000
LOOK_SECONDS: Final = 0.1
PATIENCE_SECONDS: Final = 600
WINDOW_ROUNDS: Final = 420_000
"""What all of Macau plays in an hour."""

_TAKEN: Final = re.compile(rf'^pitwatch_stream_facts_total{{topic="{ROUNDS}"}} (\S+)$', re.MULTILINE)


class Streams(NamedTuple):
    """What the worker's streams did, and the memory that the process held before and after."""

    rounds: int
    seconds: float
    idle_bytes: int
    held_bytes: int


class Watch(NamedTuple):
    """What the watch over silent tables read."""

    events: int
    seconds: float


def rounds_of(records: Sequence[Record]) -> list[RoundFact]:
    """Return the floor's rounds as they came out first, as if they were played within the last hour."""
    now, settings = datetime.now(UTC), FoldSettings()
    folds: dict[str, TableFold] = {}
    found: list[RoundFact] = []
    for record in records:
        fold = folds.get(record.key) or folds.setdefault(record.key, TableFold(record.key, settings))
        for fact in fold.apply(record):
            if fact.fact == "round" and not fact.revision:
                opened_at = now - timedelta(minutes=len(found) % 50)
                found.append(_changed(fact, opened_at=opened_at))
    return found


def _changed(fact: Fact, **fields: object) -> RoundFact:
    # Facts are typed as the contract's models, and are structs.
    return cast(RoundFact, msgspec.structs.replace(cast(msgspec.Struct, fact), **fields))


def measure_streams(bootstrap: str, rounds: Sequence[RoundFact]) -> Streams:
    """Have a `pitwatch worker`, which waits for them, count these rounds. The cluster has no topics yet."""
    from tests.kafka.programs import running

    make_topics(bootstrap, PARTITIONS)
    messages = [(round_.table_id, encode(round_)) for round_ in rounds]
    with (
        tempfile.TemporaryDirectory(prefix="pitwatch-bench-") as folder,
        running("worker", "--config", _config(Path(folder), bootstrap)) as worker,
        closing(KafkaLog(bootstrap, worker_id="bench-rounds")) as log,
    ):
        url = worker.told("running")["monitoring"]
        wait_until_it_follows(url)
        idle, begun = held(worker.process.pid), time.perf_counter()
        for start in range(0, len(messages), APPEND_AT_ONCE):
            log.append(ROUNDS, messages[start : start + APPEND_AT_ONCE])
        _wait_until_taken(url, len(messages))
        return Streams(len(messages), time.perf_counter() - begun, idle, held(worker.process.pid))


def _config(folder: Path, bootstrap: str) -> Path:
    config = folder / "pitwatch.toml"
    config.write_text(
        f"""
data_directory = "{folder / "data"}"
[kafka]
bootstrap = "{bootstrap}"
worker_id = "bench"
[monitoring]
port = 0
""",
        encoding="utf-8",
    )
    return config


def _wait_until_taken(url: str, rounds: int) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (taken := _taken(url)) < rounds:
        if time.monotonic() > deadline:
            raise AssertionError(f"the worker has taken {taken:,} of {rounds:,} rounds")
        time.sleep(LOOK_SECONDS)


def _taken(url: str) -> float:
    found = _TAKEN.search(httpx.get(f"{url}/metrics", timeout=PATIENCE_SECONDS).text)
    return float(found[1]) if found else 0


def measure_watch(bootstrap: str, records: Sequence[Record]) -> Watch:
    """Have the watch over silent tables read these events. The cluster has none yet."""
    make_topics(bootstrap, PARTITIONS)
    messages = [(record.key, record.value) for record in records]
    with closing(KafkaLog(bootstrap, worker_id="bench-tables")) as log:
        for start in range(0, len(messages), APPEND_AT_ONCE):
            log.append(TABLE_EVENTS, messages[start : start + APPEND_AT_ONCE])
    return alone(_watch, bootstrap)


def _watch(bootstrap: str) -> Watch:
    # What it tells of goes to standard output, which is the figures'.
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    with closing(KafkaLog(bootstrap, worker_id="bench-watch")) as log:
        begun = 0.0

        def join(group: str, topics: Sequence[str]) -> Membership:
            nonlocal begun
            member = log.join(group, topics)
            while not log.partitions(TABLE_EVENTS):
                member.poll(LOOK_SECONDS)
            # To become a member takes its time once, however much there is to read.
            begun = time.perf_counter()
            return member

        watch = SilenceWatch(log, join)
        while watch.step(datetime.now(UTC)):
            pass
        watch.save(datetime.now(UTC))
        seconds = time.perf_counter() - begun
        return Watch(sum(log.position(WATCHERS, TABLE_EVENTS, one) for one in range(PARTITIONS)), seconds)


def measure_windows(rounds: Sequence[RoundFact], count: int) -> float:
    """Return the bytes that each of `count` rounds takes in the windows of play: these ones, in more and more shoes."""
    return alone(_windows, [encode(round_) for round_ in rounds], count)


def _windows(values: Sequence[bytes], count: int) -> float:
    now = datetime.now(UTC)
    windows = Windows(max(WorkerSettings().windows_minutes), now)
    before = held()
    for fact in _in_other_shoes(values, count):
        windows.take(fact, 0, now)
    assert len(windows) == count, f"{len(windows)} of {count} rounds were counted"
    return (held() - before) / count


def _in_other_shoes(values: Sequence[bytes], count: int) -> Iterator[RoundFact]:
    """Yield so many rounds, each another one; every one is decoded by itself, as it is in the worker."""
    for number, value in enumerate(islice(cycle(values), count)):
        fact = cast(RoundFact, decode_fact(value))
        yield _changed(fact, shoe=fact.shoe + 1_000 * (number // len(values)))


def quantities(records: Sequence[Record], window_rounds: int) -> Iterator[Quantity]:
    """Measure each thing in turn, on brokers of their own."""
    rounds = rounds_of(records)
    with own_broker() as cluster:
        streams = measure_streams(cluster.bootstrap, rounds)
    yield Quantity(f"streams, {streams.rounds:,} rounds at once", streams.rounds / streams.seconds, "rounds/s", None)
    yield Quantity("worker's memory before", streams.idle_bytes / MIB, "MiB", None)
    yield Quantity("worker's memory after", streams.held_bytes / MIB, "MiB", None)
    with own_broker() as cluster:
        watch = measure_watch(cluster.bootstrap, records)
    yield Quantity(f"silence watch, {watch.events:,} events", watch.events / watch.seconds, "events/s", None)
    a_round = measure_windows(rounds, window_rounds)
    yield Quantity(f"a round in the windows, of {window_rounds:,}", a_round, "bytes", None)


def main() -> None:
    """Measure what the command line says."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.streams", description=__doc__)
    parser.add_argument("--events", type=int, default=280_000, help="events of the floor")
    parser.add_argument("--window-rounds", type=int, default=WINDOW_ROUNDS, help="rounds in the longest window")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    arguments = parser.parse_args()
    records = simulated(arguments.events)
    if records is None:
        return
    found: list[Quantity] = []
    with counting_bar("measuring", 5, "figures") as advance:
        for quantity in quantities(records, arguments.window_rounds):
            found.append(quantity)
            advance(len(found))
    print_quantities(found, f"pitwatch worker, {os.cpu_count()} cores", as_json=arguments.json)


if __name__ == "__main__":
    main()
