"""``python -m tests.simulation.soak``: a floor at speed through everything, while everything is killed at random.

Tables keep their events in outboxes and send them to the gateway; two workers fold them, a sink stores, and the Faust
worker tells people. Whoever is killed is started again, and so is a broker, where there are some. In the end no
acknowledged event may be missing, no fact may be there twice, and every alert, whatever became of it, was recorded once
and told at least once.
"""

import argparse
import logging
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from random import Random
from typing import NamedTuple

import msgspec

from pitwatch.logs import configure_logs
from processors.logs.kafka import KafkaLog
from processors.logs.kafka_opening import open_kafka_log
from processors.notify.database import FILE_NAME
from processors.notify.status import read_status
from processors.reconstruct.fold import FoldSettings
from processors.reconstructor import GROUP
from processors.settings import KafkaSettings
from processors.store.clickhouse import ClickHouseStore
from processors.store.port import VIEWS
from processors.store.sink import TOPICS, group_of
from processors.streams.hosted import GROUP as FLOOR_GROUP
from producers.gateway.auth import mint_token
from producers.outbox import Outbox, Waiting
from producers.sender import Backoff, Sender
from producers.simulator import FloorSettings, Telemetry, mixed_floor, simulate
from producers.simulator.controller import Arrival
from producers.transports import HttpTransport
from schemas.facts import FACT_KEYS
from schemas.log import LogUnavailable
from schemas.topics import FACT_TOPICS, TABLE_EVENTS
from schemas.wire import decode_event, encode
from tests.kafka.broker import Broker, Cluster, free_ports
from tests.kafka.programs import (
    SESSION,
    Facts,
    Program,
    facts,
    facts_of_the_pure_fold,
    is_behind,
    make_topics,
    records,
    running,
    wait_for,
)
from tests.processors.notify.http_service import HttpService
from tests.simulation import told
from tests.simulation.identity.ways import store_process

PARTITIONS = 6
TABLES = 8
DIRTY = 4
START = datetime(2025, 3, 1, 4, tzinfo=UTC)
SLICE_SECONDS = 0.1
"""How long events are gathered before they go into the outboxes."""

LULL_SECONDS = (1.0, 8.0)
"""The shortest and the longest time from one kill to the next."""

GRACE_SECONDS = 6.0
"""Nobody is killed sooner after a start: it would do nothing but start."""

BROKER_GRACE_SECONDS = 12.0
"""No broker is killed sooner after another one came back, so that it has its copies again."""

BROKER_SHARE = 0.3
"""How often it is a broker's turn, when it may be one's."""

END_SECONDS = 600.0
"""How long everything may take to come to rest."""

Say = Callable[[str], None]


class Verdict(NamedTuple):
    """What the soak came to; `faults` is what must not be."""

    counts: dict[str, int]
    faults: list[str]


class Tables:
    """The floor's tables: an outbox each, and a thread that sends what is in it."""

    def __init__(
        self, folder: Path, floor: FloorSettings, url: str, secrets: dict[str, str], opened: ExitStack
    ) -> None:
        self.acknowledged: set[str] = set()
        self._arrivals = simulate(floor)
        self._outboxes: dict[str, Outbox] = {}
        for table in (one.table_id for one in floor.tables):
            outbox = opened.enter_context(closing(Outbox(folder / f"{table}.outbox", table)))
            way = opened.enter_context(closing(HttpTransport(url, secrets[table], timeout_seconds=10)))
            opened.enter_context(Sender(outbox, way, backoff=Backoff(0.1, 1.0)).running())
            self._outboxes[table] = outbox

    def play(self, seconds: float, events_per_second: int, stop: threading.Event) -> None:
        """Play at this speed, or as fast as the disk lets it be; whatever is in an outbox is to come through."""
        begun, sent = time.monotonic(), 0
        while (passed := time.monotonic() - begun) < seconds and not stop.is_set():
            due = round(passed * events_per_second) - sent
            for table, events in _by_table([next(self._arrivals) for _ in range(due)]):
                self._outboxes[table].add(
                    [Waiting(one.event.epoch, one.event.seq, encode(one.event)) for one in events]
                )
                self.acknowledged.update(one.event.event_id for one in events)
            sent += due
            stop.wait(SLICE_SECONDS)

    def wait_until_delivered(self) -> None:
        """Block until everything was acknowledged by the gateway."""
        for table, outbox in self._outboxes.items():
            assert outbox.wait_until_delivered(END_SECONDS), f"{table} has {outbox.waiting_count} events left"
            assert not outbox.refused_count, outbox.refused()


def _by_table(arrivals: list[Arrival]) -> Iterator[tuple[str, list[Arrival]]]:
    ordered = sorted(arrivals, key=lambda one: one.event.table_id)
    for table, group in groupby(ordered, key=lambda one: one.event.table_id):
        yield table, list(group)


class Brokers:
    """The cluster's brokers: at most one of them is down, where there are three."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._down: Broker | None = None
        self._whole_since = time.monotonic()

    def kill_one(self, rng: Random) -> str | None:
        """Kill one at random where the others can go on without it; return its name."""
        brokers = self._cluster.brokers
        if len(brokers) == 1 or self._down or time.monotonic() - self._whole_since < BROKER_GRACE_SECONDS:
            return None
        self._down = rng.choice(brokers)
        self._down.kill()
        return f"broker-{self._down.node_id}"

    def start_again(self) -> None:
        """Start the one that is down."""
        if self._down is not None:
            self._down.start()
            self._down, self._whole_since = None, time.monotonic()

    def check(self) -> None:
        """Raise `BrokerDidNotStart` where one ended that was not killed."""
        for broker in self._cluster.brokers:
            broker.check()


class House:
    """Every process of the runtime. Whoever is killed is started again."""

    def __init__(self, config: Path, password: str, brokers: Brokers, opened: ExitStack) -> None:
        self._config = config
        self._password = password
        self._brokers = brokers
        self._opened = opened
        self._programs: dict[str, tuple[Program, float]] = {}
        self.kills: Counter[str] = Counter()

    def start(self, name: str) -> None:
        """Start a process called after its command, with a number behind it where there are several."""
        # Each on a machine of its own, as it were: with a folder and a name there.
        environment = {
            "PITWATCH_KAFKA__WORKER_ID": name,
            "PITWATCH_DATA_DIRECTORY": str(self._config.parent / name),
            "STORE_PASSWORD": self._password,
        }
        program = self._opened.enter_context(running(name.partition("-")[0], "--config", self._config, **environment))
        self._programs[name] = program, time.monotonic()

    def kill_somebody(self, rng: Random) -> None:
        """Kill one of those that had the time to do something; a broker stays down until the next turn."""
        self.mend()
        if rng.random() < BROKER_SHARE and (broker := self._brokers.kill_one(rng)):
            self.kills[broker] += 1
            return
        now = time.monotonic()
        ripe = [name for name, (_, since) in self._programs.items() if now - since > GRACE_SECONDS]
        if ripe:
            name = rng.choice(sorted(ripe))
            self._programs[name][0].kill()
            self.kills[name] += 1
            self.start(name)

    def mend(self) -> None:
        """Have everybody there again."""
        self._brokers.start_again()

    def check(self) -> None:
        """Raise `AssertionError` where somebody ended who was not killed."""
        self._brokers.check()
        for name, (program, _) in self._programs.items():
            assert program.process.poll() is None, f"{name} ended: {program.logs[-20:]}"

    def stop(self) -> dict[str, int]:
        """Ask everybody to end; return their exit codes."""
        return {name: program.stop() for name, (program, _) in self._programs.items()}


def soak(folder: Path, seconds: float, events_per_second: int, seed: int, say: Say, brokers: int = 1) -> Verdict:
    """Play for so long, kill all the while, wait until everything has come to rest, and judge."""
    rng, stop = Random(seed), threading.Event()
    floor = _floor(seed, seconds, events_per_second)
    tokens = {table.table_id: mint_token(table.table_id) for table in floor.tables}
    with ExitStack() as opened:
        cluster = opened.enter_context(Cluster(folder / "kafka", brokers))
        phone = opened.enter_context(HttpService().serving())
        server = opened.enter_context(store_process(folder / "store"))
        store = opened.enter_context(server.store())
        log = opened.enter_context(open_kafka_log(KafkaSettings(bootstrap=cluster.bootstrap, worker_id="judge")))
        make_topics(cluster.bootstrap, PARTITIONS)
        store.migrate()
        (port,) = free_ports(1)
        hashes = {table: token.entry.sha256 for table, token in tokens.items()}
        config = _write_config(folder, cluster.bootstrap, server.url, port, phone.port, floor, hashes)
        house = House(config, server.password, Brokers(cluster), opened)
        for name in ("gateway", "reconstruct-1", "reconstruct-2", "sink", "worker"):
            house.start(name)
        secrets = {table: token.secret for table, token in tokens.items()}
        tables = Tables(folder, floor, f"http://127.0.0.1:{port}", secrets, opened)
        player = threading.Thread(target=tables.play, args=(seconds, events_per_second, stop), daemon=True)
        with _ended(player, stop):
            while player.is_alive():
                player.join(rng.uniform(*LULL_SECONDS))
                house.check()
                house.kill_somebody(rng)
            house.mend()
        kills = ", ".join(f"{name} {count}" for name, count in sorted(house.kills.items()))
        say(f"{len(tables.acknowledged):,} events played, {house.kills.total()} kills: {kills}")
        tables.wait_until_delivered()
        say("all acknowledged")
        queue = folder / "worker" / FILE_NAME
        _wait_for_rest(log, store, house, queue)
        say("all at rest")
        faults = [f"{name} ended with {code}" for name, code in house.stop().items() if code]
        verdict = _judge(log, store, tables.acknowledged, queue, phone)
        return Verdict({"kills": house.kills.total(), **verdict.counts}, faults + verdict.faults)


@contextmanager
def _ended(thread: threading.Thread, stop: threading.Event) -> Iterator[None]:
    """Run a thread for the length of the block."""
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _wait_for_rest(log: KafkaLog, store: ClickHouseStore, house: House, queue: Path) -> None:
    def at_rest() -> bool:
        house.check()
        try:
            return not (
                is_behind(log, GROUP, [TABLE_EVENTS])
                or is_behind(log, group_of(store), [topic for _, topic in TOPICS])
                or is_behind(log, FLOOR_GROUP, [FACT_TOPICS["alert"]])
                or (status := read_status(queue)).pending
                or status.collapsed
            )
        except LogUnavailable:
            return False

    wait_for(at_rest, END_SECONDS)


def _judge(log: KafkaLog, store: ClickHouseStore, acknowledged: set[str], queue: Path, phone: HttpService) -> Verdict:
    sent = Counter(decode_event(record.value).event_id for record in records(log, TABLE_EVENTS))
    faults = [f"missing: {event_id}" for event_id in acknowledged - sent.keys()]
    found, expected = facts(log), facts_of_the_pure_fold(log, FoldSettings())
    faults += [
        f"{topic} of {table}: {len(found[topic].get(table, []))} facts, and the pure fold gives {len(values)}"
        for topic, tables in expected.items()
        for table, values in tables.items()
        if found[topic].get(table) != values
    ]
    faults += [
        f"{topic}: {extra} have no events" for topic in found if (extra := found[topic].keys() - expected[topic])
    ]
    stored = _stored(store)
    wanted = {VIEWS[kind]: count for kind, count in _final(found).items()} | {VIEWS["event"]: len(sent)}
    faults += [f"{view}: {stored[view]} rows of {count}" for view, count in wanted.items() if stored[view] != count]
    people = told.judge(found, queue, phone.received)
    counts = {
        "events acknowledged": len(acknowledged),
        "events in the log": len(sent),
        "of these twice": sum(count > 1 for count in sent.values()),
        "facts": sum(len(values) for tables in found.values() for values in tables.values()),
        "rows": sum(stored.values()),
        "alerts to tell": people.due,
        "of these in summaries": people.in_summaries,
        "messages that came": people.received,
    }
    return Verdict(counts, faults + people.faults)


def _final(found: Facts) -> dict[str, int]:
    """Return how many keys of each kind stand in the end."""
    counts = {}
    for kind, topic in FACT_TOPICS.items():
        newest: dict[tuple[object, ...], bool] = {}
        for values in found[topic].values():
            for value in values:
                fact = msgspec.json.decode(value)
                newest[tuple(fact.get(name) for name in FACT_KEYS[kind])] = bool(fact.get("retracted"))
        counts[kind] = sum(not retracted for retracted in newest.values())
    return counts


def _stored(store: ClickHouseStore) -> dict[str, int]:
    return {view: int(store.query(f"SELECT count() FROM {view}", fmt="TabSeparated")) for view in VIEWS.values()}


def _floor(seed: int, seconds: float, events_per_second: int) -> FloorSettings:
    hours = max(1.0, 2 * seconds * events_per_second / (1_800 * TABLES))
    telemetry = Telemetry(restarted=0.03)
    return mixed_floor(seed=seed, start=START, hours=hours, tables=TABLES, dirty=DIRTY, telemetry=telemetry)


def _write_config(
    folder: Path, bootstrap: str, store: str, port: int, phone: int, floor: FloorSettings, hashes: dict[str, str]
) -> Path:
    """Write one file for all, as docker-compose.yml has it."""
    properties = ", ".join(f'"{name}" = "{value}"' for name, value in SESSION.items())
    tables = "".join(
        f'[[floor.tables]]\ntable_id = "{table.table_id}"\ntokens_sha256 = ["{hashes[table.table_id]}"]\n'
        f"configuration = {_toml(table.configuration.model_dump(mode='json'))}\n"
        for table in floor.tables
    )
    file = folder / "soak.toml"
    file.write_text(
        f'[gateway]\nport = {port}\n[kafka]\nbootstrap = "{bootstrap}"\ntimeout_seconds = 5\n'
        f"properties = {{{properties}}}\n"
        f'[store]\nurl = "{store}"\nuser = "filler"\npassword = "${{STORE_PASSWORD}}"\n'
        f"[monitoring]\nport = 0\n[notifications]\nstale_after_seconds = 86400\nretry_first_seconds = 1\n"
        f'[[notifications.routes]]\nname = "{told.ROUTE}"\nurls = ["json://127.0.0.1:{phone}/alerts"]\n'
        f'minimum_severity = "info"\nlanguages = "en"\nalerts_per_ten_minutes = 1000\nsummary_seconds = 10\n{tables}'
    )
    return file


def _toml(value: object) -> str:
    """Return a value as TOML writes it in one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f'"{key}" = {_toml(one)}' for key, one in value.items() if one is not None) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_toml(one) for one in value) + "]"
    return msgspec.json.encode(value).decode()


def main() -> int:
    """Soak, and tell; return 0 where nothing was amiss."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation.soak", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--events-per-second", type=int, default=500)
    parser.add_argument("--brokers", type=int, default=3, choices=(1, 3), help="one of three is killed now and then")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="where to work, instead of the system's folder of temporary files")
    arguments = parser.parse_args()
    # That tables find no gateway now and then, and the judge no broker, is what this is about.
    configure_logs(logging.ERROR)
    logging.getLogger("processors.logs.kafka").setLevel(logging.CRITICAL)
    begun = time.monotonic()

    def say(text: str) -> None:
        sys.stdout.write(f"{time.monotonic() - begun:6.0f} s  {text}\n")
        sys.stdout.flush()

    with tempfile.TemporaryDirectory(prefix="pitwatch-soak-", dir=arguments.folder) as folder:
        speed, brokers = arguments.events_per_second, arguments.brokers
        verdict = soak(Path(folder), arguments.seconds, speed, arguments.seed, say, brokers)
    for name, count in verdict.counts.items():
        say(f"{count:>10,} {name}")
    for fault in verdict.faults[:50]:
        say(fault)
    say(f"{len(verdict.faults)} faults" if verdict.faults else "nothing missing, nothing twice, everybody told")
    return 1 if verdict.faults else 0


if __name__ == "__main__":
    sys.exit(main())
