"""The five ways: on one machine, and through Kafka undisturbed and disturbed."""

import multiprocessing
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
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
from tests.kafka.programs import SESSION, Program, is_behind, make_topics, running, wait_for
from tests.pitwatch.store_server import Server, serving_store
from tests.simulation.identity.event_file import EventFile
from tests.simulation.identity.outcome import Outcome, outcome

PARTITIONS = 4
PORTIONS = 10
"""The file is sent in so many portions; what disturbs comes between them."""

PIPELINE = "[pipeline]\ngap_limit_ms = 3600000\n"
"""No wait for a missing event comes to its end: each log has a clock of its own, and the file lacks none."""

PATIENCE_SECONDS = 3_600.0

Say = Callable[[str], None]


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


class Crew:
    """The workers and sinks of one way through Kafka, and its brokers."""

    def __init__(self, cluster: Cluster, config: Path, log: KafkaLog, password: str, rng: Random, say: Say) -> None:
        self.cluster = cluster
        self.say = say
        self.log = log
        self.rng = rng
        self.workers: dict[str, Program] = {}
        self.sinks: dict[str, Program] = {}
        self._config = config
        self._password = password
        self._started = ExitStack()
        self._names = 0

    def __enter__(self) -> "Crew":
        return self

    def __exit__(self, *_: object) -> None:
        self._started.close()

    def add_worker(self, name: str = "") -> str:
        """Start a worker, under a new name or an old one."""
        return self._add(self.workers, "reconstruct", name)

    def add_sink(self, name: str = "") -> str:
        """Start a sink."""
        return self._add(self.sinks, "sink", name)

    def _add(self, programs: dict[str, Program], command: str, name: str) -> str:
        self._names += 1
        name = name or f"{command}-{self._names}"
        programs[name] = self._started.enter_context(
            running(command, "--config", self._config, PITWATCH_KAFKA__WORKER_ID=name, STORE_PASSWORD=self._password)
        )
        return name

    def stop(self) -> None:
        """End everybody as an administrator does."""
        programs = [*self.workers.values(), *self.sinks.values()]
        for program in programs:
            program.thaw()
            program.process.terminate()
        for program in programs:
            assert program.wait() == 0, program.logs

    def check(self) -> None:
        """Raise `AssertionError` where somebody ended who was not killed."""
        for name, program in (*self.workers.items(), *self.sinks.items()):
            assert program.process.poll() is None, f"{name} ended: {program.logs}"

    def folded(self) -> int:
        """Return how many records the workers have committed, as soon as the cluster can tell."""
        while True:
            self.check()
            try:
                return sum(self.log.position(GROUP, TABLE_EVENTS, one) for one in self.log.partitions(TABLE_EVENTS))
            except LogUnavailable:
                continue


Disturb = Callable[[Crew, int], None]
"""Does something to a crew after the portion of that number was sent."""


def undisturbed(_crew: Crew, _portion: int) -> None:
    """Leave everybody in peace."""


def kill_workers(crew: Crew, _portion: int) -> None:
    """Kill a worker at random, as a lost machine does, and start it again under its name or another."""
    name = crew.rng.choice(sorted(crew.workers))
    crew.workers.pop(name).kill()
    successor = crew.add_worker(name if crew.rng.random() < 0.5 else "")
    crew.say(f"killed {name}, started {successor}")


def break_everything(crew: Crew, portion: int) -> None:
    """Lose a broker and get it back, move partitions, and have a worker and a sink stall past their sessions."""
    worker, sink = min(crew.workers), min(crew.sinks)
    if portion == 1:
        crew.cluster.brokers[0].kill()
        crew.sinks[sink].freeze()
        crew.say(f"killed a broker, stalled {sink}")
    elif portion == 2:
        crew.say(f"started {crew.add_worker()}")
    elif portion == 3:
        crew.workers[worker].freeze()
        crew.say(f"stalled {worker}")
    elif portion == 5:
        crew.cluster.brokers[0].start()
        name = crew.rng.choice(sorted(crew.workers)[1:])
        crew.workers.pop(name).kill()
        crew.say(f"started the broker again, killed {name}")
    elif portion == 6:
        crew.workers[worker].thaw()
        crew.sinks[sink].thaw()
        crew.say(f"let {worker} and {sink} go on")
    elif portion == 7:
        name = max(crew.workers)
        assert crew.workers.pop(name).stop() == 0
        crew.say(f"stopped {name}, started {crew.add_worker()}")


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
        with Crew(cluster, config, log, server.password, Random(seed), say) as crew:
            for _ in range(workers):
                crew.add_worker()
            for _ in range(sinks):
                crew.add_sink()
            _send(file, crew, disturb)
            say("sent")
            wait_for(lambda: _is_done(crew, GROUP, [TABLE_EVENTS]), PATIENCE_SECONDS)
            say("folded")
            topics = [topic for _, topic in TOPICS]
            wait_for(lambda: _is_done(crew, group_of(store), topics), PATIENCE_SECONDS)
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
        "batch_events = 2000\nsnapshot_interval_events = 1000\n",
    )


Way = Callable[[EventFile, Path, Say], Outcome]

WAYS: dict[str, Way] = {
    "embedded": embedded,
    "one worker": through_kafka,
    "three workers": lambda file, folder, say: through_kafka(file, folder, say, workers=3),
    "workers killed": lambda file, folder, say: through_kafka(file, folder, say, workers=3, disturb=kill_workers),
    "all broken": lambda file, folder, say: through_kafka(
        file, folder, say, brokers=3, workers=3, sinks=2, disturb=break_everything
    ),
}
"""Name → the way."""
