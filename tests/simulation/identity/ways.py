"""The five ways: on one machine, and through Kafka undisturbed and disturbed."""

import multiprocessing
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random

from processors.logs.kafka import KafkaLog
from processors.logs.kafka_opening import open_kafka_log
from processors.logs.sqlite import LOG_FILE, SqliteLog
from processors.reconstructor import GROUP
from processors.settings import KafkaSettings
from processors.sql.users import mint_password
from processors.store.sink import TOPICS, group_of
from schemas.log import LogUnavailable
from schemas.topics import TABLE_EVENTS
from tests.kafka.broker import Cluster
from tests.kafka.programs import SESSION, is_behind, make_topics, running, wait_for
from tests.pitwatch.store_server import Server, serving_store
from tests.simulation.identity.crew import PARTITIONS, Crew, Say, Site
from tests.simulation.identity.disturbances import Breakage, Disturb, kill_workers, undisturbed
from tests.simulation.identity.event_file import EventFile
from tests.simulation.identity.outcome import Outcome, outcome

PORTIONS = 10
"""The file is sent in so many portions; what disturbs comes between them."""

PIPELINE = "[pipeline]\ngap_limit_ms = 3600000\n"
"""No wait for a missing event comes to its end: each log has a clock of its own, and the file lacks none."""

PATIENCE_SECONDS = 3_600.0


@contextmanager
def store_process(folder: Path) -> Iterator[Server]:
    """Run a server on the rows in `folder` in a process of its own, for a process opens one such folder only."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    password, sha256 = mint_password()
    process = context.Process(target=_serve, args=(folder, sha256, theirs))
    process.start()
    theirs.close()
    try:
        yield Server(ours.recv(), password)
    finally:
        ours.close()
        process.join()


def _serve(folder: Path, sha256: str, told: Connection) -> None:
    with serving_store(folder, sha256) as url:
        told.send(url)
        try:
            told.recv()
        except EOFError:
            return


def embedded(file: EventFile, folder: Path, say: Say) -> Outcome:
    """Send the file through `pitwatch ingest`."""
    folder.mkdir()
    config = folder / "floor.toml"
    config.write_text(PIPELINE)
    data = folder / "data"
    with running("ingest", file.path, "--data", data, "--config", config) as ingest:
        # Broken lines are what it exits with 1 for.
        assert ingest.process.wait(PATIENCE_SECONDS) == 1, ingest.logs
    say("ingested")
    with (
        closing(SqliteLog(data / LOG_FILE, read_only=True)) as log,
        store_process(data / "clickhouse") as server,
        server.store() as store,
    ):
        store.attach()
        return outcome(file, log, store)


def through_kafka(
    file: EventFile,
    folder: Path,
    say: Say,
    *,
    brokers: int = 1,
    workers: int = 1,
    sinks: int = 1,
    disturb: Disturb = undisturbed,
    seed: int = 1,
) -> Outcome:
    """Send the file through a cluster of its own, with so many workers and sinks, disturbed between the portions."""
    folder.mkdir()
    with (
        Cluster(folder / "kafka", brokers) as cluster,
        store_process(folder / "store") as server,
        server.store() as store,
        open_kafka_log(KafkaSettings(bootstrap=cluster.bootstrap, worker_id="sender", timeout_seconds=30)) as log,
    ):
        make_topics(cluster.bootstrap, PARTITIONS)
        store.migrate()
        config = _write_config(folder, cluster.bootstrap, server)
        site = Site(cluster, config, log, server.password, group_of(store))
        with Crew(site, Random(seed), say) as crew:
            for _ in range(workers):
                crew.add_worker()
            for _ in range(sinks):
                crew.add_sink()
            _send(file, crew, disturb)
            say("sent")
            wait_for(lambda: _is_done(crew, GROUP, [TABLE_EVENTS]), PATIENCE_SECONDS)
            say("folded")
            topics = [topic for _, topic in TOPICS]
            wait_for(lambda: _is_done(crew, site.sink_group, topics), PATIENCE_SECONDS)
            say("stored")
            crew.stop()
        return outcome(file, log, store)


def _send(file: EventFile, crew: Crew, disturb: Disturb) -> None:
    """Send the file in portions, each of which has begun to be folded before the next disturbance."""
    batches = list(file.batches())
    sent = 0
    for portion in range(PORTIONS):
        for batch in batches[portion * len(batches) // PORTIONS : (portion + 1) * len(batches) // PORTIONS]:
            _append(crew.log, batch)
            sent += len(batch)
        # From a tenth to nearly nothing of it is still to be folded then.
        expected = round(sent * crew.rng.uniform(0.9, 1.0))
        wait_for(lambda expected=expected: crew.folded() >= expected, PATIENCE_SECONDS)  # type: ignore[misc]
        disturb(crew, portion)


def _append(log: KafkaLog, batch: list[tuple[str, bytes]]) -> None:
    """Append until it is acknowledged, as a table does; nobody has to know what an unanswered attempt left."""
    while True:
        try:
            log.append(TABLE_EVENTS, batch)
        except LogUnavailable:
            continue
        return


def _is_done(crew: Crew, group: str, topics: list[str]) -> bool:
    crew.check()
    try:
        return not is_behind(crew.log, group, topics)
    except LogUnavailable:
        return False


def _write_config(folder: Path, bootstrap: str, server: Server) -> Path:
    properties = ", ".join(f'"{name}" = "{value}"' for name, value in SESSION.items())
    return server.config(
        folder,
        f'[kafka]\nbootstrap = "{bootstrap}"\ntimeout_seconds = 5\nproperties = {{{properties}}}\n{PIPELINE}'
        "batch_events = 2000\nsnapshot_interval_events = 1000\n[monitoring]\nport = 0\n",
    )


Way = Callable[[EventFile, Path, Say], Outcome]

WAYS: dict[str, Way] = {
    "embedded": embedded,
    "one worker": through_kafka,
    "three workers": lambda file, folder, say: through_kafka(file, folder, say, workers=3),
    "workers killed": lambda file, folder, say: through_kafka(file, folder, say, workers=3, disturb=kill_workers),
    "all broken": lambda file, folder, say: through_kafka(
        file, folder, say, brokers=3, workers=3, sinks=2, disturb=Breakage()
    ),
}
"""Name → the way."""
