"""``python -m benchmarks.sizing``: how much a floor sends and leaves behind, and what it takes to fold and to store it.

On a broker of its own, with as many partitions as a site has: events go in as a bulk load, `pitwatch reconstruct` folds
those of half the tables and then the others', and `pitwatch sink` fills a store that our own SQL endpoint serves.
"""

import argparse
import os
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from benchmarks.alone import peak
from benchmarks.broker import own_broker, simulated
from benchmarks.floor import TABLES
from benchmarks.kafka_latency import PARTITIONS
from benchmarks.latency import APPEND_SECONDS, MACAU_EVENTS_PER_SECOND, pace
from benchmarks.pipeline import EVENTS_PER_APPEND
from benchmarks.report import MIB, Quantity, print_quantities
from benchmarks.topics import make_topics
from pitwatch.progress import counting_bar
from processors.data_directory import STORE_FOLDER
from processors.embedded import EmbeddedPipeline
from processors.interpreter import tuned
from processors.logs.kafka import KafkaLog
from processors.logs.sqlite import LOG_FILE
from processors.reconstructor import GROUP
from processors.settings import StoreSettings
from processors.settings_file import load_settings
from processors.store.connections import to_folder
from processors.store.sink import TOPICS
from processors.topics import Layout
from schemas.log import Record
from schemas.topics import FACT_TOPICS, TABLE_EVENTS

if TYPE_CHECKING:
    from tests.kafka.broker import Cluster

Messages = Sequence[tuple[str, bytes]]

BULK: Final = 5_000
TRICKLE: Final = int(MACAU_EVENTS_PER_SECOND * APPEND_SECONDS)
"""What comes in all of Macau while a gateway gathers one append."""

TRICKLED: Final = "trickled-events"
"""The topic that takes events in small appends, to be compared with a bulk load's."""

TRICKLED_EVENTS: Final = 20_000
PATIENCE_SECONDS: Final = 900


class Folding(NamedTuple):
    """The most memory that `pitwatch reconstruct` ever held, with half of the tables and with all of them."""

    half_tables: int
    half_bytes: int
    tables: int
    bytes: int

    @property
    def table_bytes(self) -> float:
        """What one more table takes."""
        return (self.bytes - self.half_bytes) / (self.tables - self.half_tables)

    @property
    def own_bytes(self) -> float:
        """What it takes without any."""
        return self.half_bytes - self.half_tables * self.table_bytes


class Storing(NamedTuple):
    """How long a sink took, the most memory it ever held, and what the store then kept."""

    seconds: float
    peak_bytes: int
    rounds: int
    kept_bytes: int


class Kept(NamedTuple):
    """Records and bytes in a broker's files, one copy."""

    records: int
    bytes: int


def fold(cluster: "Cluster", messages: Messages) -> Folding:
    """Have `pitwatch reconstruct` fold the events of half the tables, then of all. The cluster has no topics yet."""
    from tests.kafka.programs import running

    make_topics(cluster.bootstrap, PARTITIONS, {TRICKLED: Layout(PARTITIONS, 1, {})})
    tables = sorted({key for key, _ in messages})
    half = set(tables[: len(tables) // 2])
    with (
        tempfile.TemporaryDirectory(prefix="pitwatch-bench-") as folder,
        closing(KafkaLog(cluster.bootstrap, worker_id="bench-tables")) as log,
        running("reconstruct", "--config", _config(Path(folder), cluster.bootstrap)) as worker,
    ):
        worker.told("running")
        held = []
        for chosen in (half, set(tables) - half):
            _append(log, TABLE_EVENTS, [message for message in messages if message[0] in chosen], BULK)
            _wait_until_folded(log)
            held.append(peak(worker.process.pid))
        return Folding(len(half), held[0], len(tables), held[1])


def _config(folder: Path, bootstrap: str) -> Path:
    config = folder / "pitwatch.toml"
    config.write_text(
        f'data_directory = "{folder / "data"}"\n[kafka]\nbootstrap = "{bootstrap}"\n[monitoring]\nport = 0\n',
        encoding="utf-8",
    )
    return config


def _append(log: KafkaLog, topic: str, messages: Messages, at_once: int) -> None:
    for start in range(0, len(messages), at_once):
        log.append(topic, messages[start : start + at_once])


def _wait_until_folded(log: KafkaLog) -> None:
    from tests.kafka.programs import is_behind, wait_for

    wait_for(lambda: not is_behind(log, GROUP, [TABLE_EVENTS]), PATIENCE_SECONDS)


def store(bootstrap: str) -> Storing:
    """Have `pitwatch sink` move what the log holds into an empty store, served by our SQL endpoint in this process."""
    from tests.kafka.programs import is_behind, running, wait_for
    from tests.pitwatch.store_server import store_server

    with tempfile.TemporaryDirectory(prefix="pitwatch-bench-") as name:
        folder = Path(name)
        with (
            store_server(folder / STORE_FOLDER) as server,
            server.store() as kept,
            closing(KafkaLog(bootstrap, worker_id="bench-tables")) as log,
        ):
            kept.migrate()
            config = server.config(folder, f'[kafka]\nbootstrap = "{bootstrap}"\n[monitoring]\nport = 0\n')
            with running("sink", "--config", config, STORE_PASSWORD=server.password) as sink:
                group = sink.told("filling")["group"]
                begun = time.perf_counter()
                wait_for(lambda: not is_behind(log, group, [topic for _, topic in TOPICS]), PATIENCE_SECONDS)
                seconds, held = time.perf_counter() - begun, peak(sink.process.pid)
            rounds = int(kept.query("SELECT count() FROM rounds", fmt="TabSeparated"))
        return Storing(seconds, held, rounds, _parts(folder / STORE_FOLDER, StoreSettings().database))


def behind(bootstrap: str, records: Sequence[Record], events_per_second: int = MACAU_EVENTS_PER_SECOND) -> int:
    """Return how many events wait for the sink when the last of them is folded, where they came at a steady rate.

    The cluster has no topics yet.
    """
    from tests.kafka.programs import running
    from tests.pitwatch.store_server import store_server

    make_topics(bootstrap, PARTITIONS)
    with (
        tempfile.TemporaryDirectory(prefix="pitwatch-bench-") as name,
        store_server(Path(name) / STORE_FOLDER) as server,
        server.store() as kept,
        closing(KafkaLog(bootstrap, worker_id="bench-tables")) as log,
    ):
        kept.migrate()
        config = server.config(Path(name), f'[kafka]\nbootstrap = "{bootstrap}"\n[monitoring]\nport = 0\n')
        with (
            running("reconstruct", "--config", config, STORE_PASSWORD=server.password),
            running("sink", "--config", config, STORE_PASSWORD=server.password) as sink,
        ):
            sink.told("filling")
            # The first event finds the worker joining its group; it is no part of the measurement.
            _append(log, TABLE_EVENTS, [(record.key, record.value) for record in records[:1]], BULK)
            _wait_until_folded(log)
            pace(log, records[1:], events_per_second)
            _wait_until_folded(log)
            return len(records) - int(kept.query("SELECT count() FROM events", fmt="TabSeparated"))


def _parts(path: Path, database: str) -> int:
    """Return the bytes of what the engine keeps, merged as far as it is now."""
    with closing(to_folder(path)({})) as client:
        sql = "SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND database = {database:String}"
        ((found,),) = client.query(sql, {"database": database}).result_rows
        return int(found)


def kept_by(cluster: "Cluster", topics: Sequence[str]) -> Kept:
    """Return what the broker keeps of these topics, snapshots' and indexes' files left out."""
    with closing(KafkaLog(cluster.bootstrap, worker_id="bench-kept")) as log:
        places = [(topic, one) for topic in topics for one in log.partitions(topic)]
        records = sum(_count(log, *place) for place in places)
    folders = [cluster.brokers[0].folder / "data" / f"{topic}-{one}" for topic, one in places]
    return Kept(records, sum(file.stat().st_size for folder in folders for file in folder.glob("*.log")))


def _count(log: KafkaLog, topic: str, partition: int) -> int:
    """Return the records of a partition: its offsets also count the marks of transactions."""
    found = offset = 0
    while page := log.read(topic, partition, offset, BULK):
        found, offset = found + len(page), page[-1].offset + 1
    return found


def trickle(cluster: "Cluster", messages: Messages) -> Kept:
    """Return what the broker keeps of some of the events where each append has but a few."""
    with closing(KafkaLog(cluster.bootstrap, worker_id="bench-tables")) as log:
        _append(log, TRICKLED, messages[:TRICKLED_EVENTS], TRICKLE)
    return kept_by(cluster, [TRICKLED])


def embedded_bytes(messages: Messages) -> float:
    """Return the bytes that `pitwatch run` keeps in its log for each round, once all is folded."""
    with tempfile.TemporaryDirectory(prefix="pitwatch-bench-") as folder:
        settings = load_settings().model_copy(update={"data_directory": Path(folder)})
        with EmbeddedPipeline(settings) as pipeline, tuned():
            pipeline.start()
            for start in range(0, len(messages), EVENTS_PER_APPEND):
                pipeline.log.append(TABLE_EVENTS, messages[start : start + EVENTS_PER_APPEND])
            pipeline.drain()
            rounds = int(pipeline.store.query("SELECT count() FROM rounds", fmt="TabSeparated"))
        # Closed: what was in the file beside it is in the log.
        return (Path(folder) / LOG_FILE).stat().st_size / rounds


def quantities(cluster: "Cluster", records: Sequence[Record]) -> Iterator[Quantity]:
    """Measure each thing in turn on a cluster without topics."""
    messages = [(record.key, record.value) for record in records]
    folding = fold(cluster, messages)
    yield Quantity("reconstruct's memory without tables", folding.own_bytes / MIB, "MiB", None)
    yield Quantity("… and for each table", folding.table_bytes / MIB, "MiB", None)
    storing = store(cluster.bootstrap)
    rounds = storing.rounds
    played = Counter(key for key, _ in messages)
    yield Quantity("rounds of a table, on average", rounds / len(played), "", None)
    events, facts = kept_by(cluster, [TABLE_EVENTS]), kept_by(cluster, list(FACT_TOPICS.values()))
    yield Quantity("sink, own SQL endpoint", (events.records + facts.records) / storing.seconds, "rows/s", None)
    yield Quantity("sink's memory", storing.peak_bytes / MIB, "MiB", None)
    yield Quantity("events a round", events.records / rounds, "", None)
    yield Quantity("facts an event", facts.records / events.records, "", None)
    yield Quantity("events of a round in Kafka, bulk load", events.bytes / rounds, "bytes", None)
    small = trickle(cluster, messages)
    a_round = small.bytes / small.records * events.records / rounds
    yield Quantity(f"events of a round in Kafka, appends of {TRICKLE}", a_round, "bytes", None)
    yield Quantity("facts of a round in Kafka", facts.bytes / rounds, "bytes", None)
    yield Quantity("a round in ClickHouse", storing.kept_bytes / rounds, "bytes", None)
    yield Quantity("events and facts of a round in SQLite", embedded_bytes(messages), "bytes", None)


FIGURES: Final = 12
STEADY_SECONDS: Final = 30
"""How long events come at a steady rate, to see whether a sink keeps up."""


def main() -> None:
    """Measure what the command line says."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sizing", description=__doc__)
    parser.add_argument("--events", type=int, default=300_000, help="events of the floor: 3,300 play 100 rounds")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    arguments = parser.parse_args()
    records = simulated(arguments.events)
    if records is None:
        return
    found: list[Quantity] = []
    with counting_bar("measuring", FIGURES + 1, "figures") as advance:
        with own_broker() as cluster:
            for quantity in quantities(cluster, records):
                found.append(quantity)
                advance(len(found))
        with own_broker() as cluster:
            steady = records[: STEADY_SECONDS * MACAU_EVENTS_PER_SECOND]
            name = f"behind the sink after {len(steady):,} events at {MACAU_EVENTS_PER_SECOND:,}/s"
            found.append(Quantity(name, behind(cluster.bootstrap, steady), "events", None))
    print_quantities(
        found, f"{arguments.events:,} events of {TABLES} tables, {os.cpu_count()} cores", as_json=arguments.json
    )


if __name__ == "__main__":
    main()
