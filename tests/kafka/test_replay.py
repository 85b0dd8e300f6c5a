"""`pitwatch topics replay` on a real broker: after a rule was mended the store shows what a fresh fold tells.

Nobody is told twice, and whoever is killed on the way, the end is the same.
"""

from collections.abc import Iterator, Set
from contextlib import AbstractContextManager, closing
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import cast
from uuid import uuid4

import pytest
from confluent_kafka import TopicPartition

from pitwatch.commands.replay import Facts, as_counted, fold_table, stored_facts
from processors.fold_snapshots import StoredFold, write_down
from processors.logs.kafka import KafkaLog
from processors.notify.notifier import Notifier
from processors.notify.recording import RecordingTransport
from processors.reconstruct.fold import FoldSettings
from processors.reconstructor import GROUP
from processors.replays import ReplayRefused, begin_replay
from processors.store.clickhouse import ClickHouseStore
from processors.store.sink import TOPICS
from producers.simulator import Telemetry, mixed_floor, simulate
from schemas.facts import AlertFact, BetFact
from schemas.log import Position
from schemas.topics import TABLE_EVENTS
from schemas.wire import encode
from tests.kafka.programs import PATIENCE_SECONDS, SESSION, Program, is_behind, records, running, wait_for
from tests.kafka.wrong_rule import INVENTED, MISSED
from tests.pitwatch.store_server import Server, store_server
from tests.processors.logs.kafka_logs import OpenKafkaLog, admin, kafka_logs, make_topic, once_it_answers, stranger
from tests.processors.notify.samples import ManualClock, route, settings
from tests.simulation.crash_floor import START

PARTITIONS = 3
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
TABLES = 5
EVENTS = 4_000
GAP_LIMIT_MS = 20_000
FOLD = FoldSettings(gap_limit_ms=GAP_LIMIT_MS)
WRONG = "from tests.kafka.wrong_rule import put_in; put_in()\n"


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    with store_server(tmp_path / "server") as server:
        with server.store() as store:
            store.migrate()
        monkeypatch.setenv("STORE_PASSWORD", server.password)
        yield server


@pytest.fixture
def store(server: Server) -> Iterator[ClickHouseStore]:
    with server.store() as store:
        store.attach()
        yield store


@pytest.fixture
def config(bootstrap: str, server: Server, tmp_path: Path) -> Path:
    properties = ", ".join(f'"{name}" = "{value}"' for name, value in SESSION.items())
    return server.config(
        tmp_path,
        f'[kafka]\nbootstrap = "{bootstrap}"\ntimeout_seconds = 3\npartitions = {PARTITIONS}\n'
        f"properties = {{{properties}}}\n"
        f"[pipeline]\nbatch_events = 200\nsnapshot_interval_events = 150\ngap_limit_ms = {GAP_LIMIT_MS}\n"
        "[monitoring]\nport = 0\n",
    )


def events() -> list[tuple[str, bytes]]:
    """Return what some tables send, with repeats, disorder and restarts on the way."""
    telemetry = Telemetry(duplicated=0.02, disordered=0.05, restarted=0.03)
    floor = mixed_floor(seed=1, start=START, hours=24, tables=TABLES, dirty=3, telemetry=telemetry)
    return [(one.event.table_id, encode(one.event)) for one in islice(simulate(floor), EVENTS)]


def append(log: KafkaLog, sent: list[tuple[str, bytes]]) -> None:
    for first in range(0, len(sent), 500):
        log.append(TABLE_EVENTS, sent[first : first + 500])


def worker(config: Path, name: str, first: str = "") -> AbstractContextManager[Program]:
    return running("reconstruct", "--config", config, first=first, PITWATCH_KAFKA__WORKER_ID=name)


def replay(config: Path, *options: str, **environment: str) -> tuple[int, str]:
    """Run the command to its end; return its exit code, and what it said last."""
    environment["PITWATCH_KAFKA__WORKER_ID"] = "operator"
    with running("topics", "replay", "--config", config, *options, **environment) as program:
        code = program.wait()
        return code, str(program.logs[-1]["event"]) if program.logs else ""


def folded(log: KafkaLog) -> bool:
    return not is_behind(log, GROUP, [TABLE_EVENTS])


def stored(log: KafkaLog, store: ClickHouseStore) -> bool:
    """Tell whether everything is folded and stored, what is being committed included."""
    topics = [topic for _, topic in TOPICS]
    written = [(topic, one, log.written(topic, one)) for topic in topics for one in log.partitions(topic)]
    return (
        folded(log)
        and all(log.is_decided(*place) for place in written)
        and not is_behind(log, f"sink-{store.identity}", topics)
    )


def places(log: KafkaLog) -> dict[int, int]:
    return {one: log.position(GROUP, TABLE_EVENTS, one) for one in log.partitions(TABLE_EVENTS)}


def fresh(log: KafkaLog) -> dict[str, Facts]:
    """Return the facts that stand once all events are folded by the right rule, by table."""
    tables = sorted({record.key for record in records(log, TABLE_EVENTS)})
    return {table: fold_table(log, table, FOLD) for table in tables}


def shown(store: ClickHouseStore, tables: dict[str, Facts]) -> dict[str, Facts]:
    """Return the facts of these tables in the store, with revisions as a fold counts them."""
    return {
        table: {
            kind: {key: as_counted(fact) for key, fact in found.items()}
            for kind, found in stored_facts(store, table).items()
        }
        for table in tables
    }


class PitBoss:
    """Reads the alerts as the notifier does, and what a pit boss is told."""

    def __init__(self, log: KafkaLog, folder: Path) -> None:
        self.clock = ManualClock(datetime.now(UTC))
        self.transport = RecordingTransport()
        routes = settings(route(alerts_per_ten_minutes=1000), keep_days=3650)
        self.notifier = Notifier(log, folder, self.transport, routes, self.clock)
        self.read = 0

    def hears(self) -> list[str]:
        """Return what is new: the messages since the last time."""
        while self.notifier.step():
            pass
        self.clock.advance(minutes=2)
        while self.notifier.step():
            pass
        heard = self.transport.deliveries[self.read :]
        self.read += len(heard)
        return [f"{one.title}\n{one.body}" for one in heard]


def alerts(tables: dict[str, Facts]) -> dict[str, AlertFact]:
    return {
        cast(AlertFact, fact).alert_id: cast(AlertFact, fact)
        for facts in tables.values()
        for fact in facts["alert"].values()
    }


def test_mended_rule_takes_the_place_of_a_wrong_one(
    log: KafkaLog, store: ClickHouseStore, config: Path, tmp_path: Path
) -> None:
    sent = events()
    append(log, sent[: EVENTS - 500])
    boss = PitBoss(log, tmp_path)
    with closing(boss.notifier), running("sink", "--config", config, PITWATCH_KAFKA__WORKER_ID="sink"):
        with worker(config, "wrong", WRONG) as wrong:
            wait_for(lambda: stored(log, store))
            assert_refused(log, config, "wrong")
            assert wrong.stop() == 0
        right = fresh(log)
        told, known, due = boss.hears(), alerts(shown(store, right)), alerts(right)
        assert len(told) == len(known)
        assert_wrong_in_every_way(store, right)

        assert replay(config) == (1, "Aborted."), "it asks, and nobody answers"
        assert "partitions is 3, and should be 4" in replay(config, "--yes", PITWATCH_KAFKA__PARTITIONS="4")[1]
        assert folded(log)
        assert replay(config, "--yes")[0] == 0
        assert set(places(log).values()) == {0}
        # Begun twice it is the same, only later.
        assert replay(config, "--yes")[0] == 0
        with worker(config, "killed") as killed:
            wait_for(lambda: sum(places(log).values()) > 0)
            killed.kill()
        assert not folded(log), "it was killed too late for this to prove anything"
        with worker(config, "one") as one, worker(config, "two") as two:
            with running("topics", "replay", "--finish", "--config", config) as impatient:
                wait_for(lambda: folded(log))
                impatient.kill()
            assert replay(config, "--finish")[0] == 0
            assert shown(store, right) == right
            assert replay(config, "--finish")[0] == 0, "and once more there is nothing to do"
            assert_told(boss.hears(), withdrawn=known.keys() - due.keys(), new=due.keys() - known.keys())

            # What comes afterwards holds against all that there was, late events and corrections of the past included.
            append(log, sent[EVENTS - 500 :])
            assert replay(config, "--finish")[0] == 0
            assert (one.stop(), two.stop()) == (0, 0)
        right = fresh(log)
        assert shown(store, right) == right


class TestEventsThatAreGone:
    """A broker keeps what aborted transactions leave in a log, and tells where one begins that was cut off."""

    @pytest.fixture
    def topic(self, monkeypatch: pytest.MonkeyPatch, bootstrap: str) -> str:
        """Have the events in a topic of the test's own."""
        topic = f"events-{uuid4().hex}"
        monkeypatch.setattr("processors.replays.TABLE_EVENTS", topic)
        make_topic(bootstrap, topic, PARTITIONS)
        return topic

    @pytest.fixture
    def open_log(self, bootstrap: str) -> Iterator[OpenKafkaLog]:
        """Open logs that may join, which a log does once."""
        with kafka_logs(bootstrap, PARTITIONS) as open_log:
            yield open_log

    @pytest.fixture
    def own_log(self, open_log: OpenKafkaLog) -> KafkaLog:
        return open_log()

    @pytest.mark.parametrize("left", [2, 0])
    def test_replay_is_refused_where_they_were_deleted(
        self, own_log: KafkaLog, bootstrap: str, topic: str, left: int
    ) -> None:
        own_log.append(topic, [("T01", b"%d" % number) for number in range(5)])
        place = TopicPartition(topic, own_log.partition_of(topic, "T01"), 5 - left)
        client = admin(bootstrap)
        client.delete_records([place])[place].result()
        why = f"events below offset {5 - left} in partition {place.partition} of {topic} are gone"
        with pytest.raises(ReplayRefused, match=why):
            begin_replay(own_log, NOW)

    def test_replay_is_refused_where_the_topic_was_made_anew(
        self, open_log: OpenKafkaLog, own_log: KafkaLog, bootstrap: str, topic: str
    ) -> None:
        own_log.append(topic, [("T01", b"%d" % number) for number in range(5)])
        partition = own_log.partition_of(topic, "T01")
        with own_log.transaction(GROUP) as transaction:
            transaction.save_state("T01", write_down(StoredFold(partition, 5, None, b"")))
            transaction.commit(Position(topic, partition, 5))
        client = admin(bootstrap)
        client.delete_topics([topic])[topic].result()
        make_topic(bootstrap, topic, PARTITIONS)
        later = open_log()
        once_it_answers(lambda: later.append(topic, [("T01", b"anew")]))
        why = f"partition {partition} of {topic} ends at offset 1, and was folded up to 5"
        with pytest.raises(ReplayRefused, match=why):
            begin_replay(later, NOW)

    def test_replay_begins_where_a_transaction_was_aborted_before_the_first_event(
        self, own_log: KafkaLog, bootstrap: str, topic: str
    ) -> None:
        aborted = stranger(bootstrap)
        aborted.begin_transaction()
        aborted.produce(topic, b"no event", b"T01", own_log.partition_of(topic, "T01"))
        aborted.flush(30)
        aborted.abort_transaction(30)
        own_log.append(topic, [("T01", b"no event either")])
        assert own_log.wait(topic, own_log.partition_of(topic, "T01"), 0, PATIENCE_SECONDS)
        (first,) = own_log.read(topic, own_log.partition_of(topic, "T01"), 0, 10)
        assert first.offset == 2, "else this proves nothing"
        begin_replay(own_log, NOW)
        assert own_log.position(GROUP, topic, 0) == 0


def assert_refused(log: KafkaLog, config: Path, name: str) -> None:
    """Nothing is done while a worker of this name is alive."""
    before = places(log)
    code, said = replay(config, "--yes")
    assert (code, f"{name} (127.0.0.1)" in said) == (2, True), said
    assert places(log) == before


def assert_wrong_in_every_way(store: ClickHouseStore, right: dict[str, Facts]) -> None:
    """Facts were changed, made up, missed, and revised more often than is right: else nothing is proven."""
    wrong = shown(store, right)
    known, due = alerts(wrong), alerts(right)
    assert known.keys() - due.keys() == {one for one in known if one.endswith(INVENTED)} != set()
    assert {due[one].code for one in due.keys() - known.keys()} <= MISSED
    assert due.keys() - known.keys()
    assert due.keys() & known.keys()
    for table, facts in right.items():
        bets = [(fact, wrong[table]["bet"][key]) for key, fact in facts["bet"].items()]
        assert all(cast(BetFact, one).net != cast(BetFact, other).net for one, other in bets)
        assert all(one.revision < other.revision for one, other in bets)


def assert_told(heard: list[str], *, withdrawn: Set[str], new: Set[str]) -> None:
    """One summary tells of the alerts that are none and of the new ones; nothing is told a second time."""
    (summary,) = heard
    assert f" {len(withdrawn) + len(new)} alerts\n" in summary
    told = [line.split()[0].rstrip("×") for line in summary.splitlines() if "(Withdrawn)" in line]
    assert sum(map(int, told)) == len(withdrawn)
