"""The Faust worker against a real broker: what it counts, tells and writes, and that killing it costs nothing."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest

from processors.live.windows import Windows
from processors.logs.kafka import KafkaLog
from processors.notify.database import FILE_NAME
from processors.notify.status import read_status
from processors.streams.floor_now import window_row
from processors.streams.floor_worker import EXIT_CUT_SHORT
from processors.streams.hosted import GROUP
from processors.streams.watchdog import EXIT_STALLED
from schemas.configuration import preset
from schemas.events import TableSilent
from schemas.facts import DeadLetterFact, Fact
from schemas.log import MAX_MESSAGE_BYTES
from schemas.topics import FACT_TOPICS, TABLE_EVENTS
from schemas.wire import decode_event, decode_fact, encode
from tests.contract.store.stored_facts import fact
from tests.kafka.broker import Cluster
from tests.processors.logs.kafka_logs import stranger
from tests.processors.notify.http_service import HttpService, Received
from tests.processors.streams.workers import (
    FAUST,
    PARTITIONS,
    RECONSTRUCT,
    WorkerProcess,
    opened_log,
    prepare,
    records_of,
    write_config,
)
from tests.producers.table import event

ROUNDS, ALERTS, DEAD_LETTERS = FACT_TOPICS["round"], FACT_TOPICS["alert"], FACT_TOPICS["dead_letter"]
TABLES = ("BAC-01", "BAC-02", "BAC-03", "BAC-04")
BEGAN = datetime.now(UTC)


@pytest.fixture(scope="module")
def cluster(kafka_alone: Cluster) -> Cluster:
    prepare(kafka_alone)
    return kafka_alone


@pytest.fixture
def log(cluster: Cluster) -> Iterator[KafkaLog]:
    with opened_log(cluster) as log:
        yield log


class Played:
    """What was published in this module's topics: every test adds rounds and alerts of its own."""

    def __init__(self) -> None:
        self.facts: list[Fact] = []
        self.number = 0

    def round(self, **changes: object) -> Fact:
        self.number += 1
        table = TABLES[self.number % len(TABLES)]
        fields = {"opened_at": BEGAN, "pit": f"PIT-{self.number % 2}", "dealer_id": f"D-{self.number % 3}"}
        return fact("round", table, round=self.number, handle=self.number, revision=0, **fields | changes)

    def alert(self, **changes: object) -> Fact:
        self.number += 1
        name = f"alert {self.number}"
        fields = {"alert_id": name, "text_en": name, "occurred_at": BEGAN, "code": "overpaid", "severity": "critical"}
        return fact("alert", TABLES[self.number % len(TABLES)], revision=0, **fields | changes)

    def publish(self, log: KafkaLog, *facts: Fact) -> None:
        """Publish facts as the reconstruct workers do: in transactions, which leave marks in the topics."""
        with log.transaction("tests") as transaction:
            for one in facts:
                transaction.publish(FACT_TOPICS[one.fact], [(one.table_id, encode(one))])
        self.facts += facts

    def window(self) -> dict[str, Any]:
        """What a worker that missed nothing and counted nothing twice shows now."""
        now = datetime.now(UTC)
        windows = Windows(60, now)
        for one in self.facts:
            windows.take(one, 0, now)
        return window_row(windows.window(now, 60))


def essence(window: dict[str, Any]) -> dict[str, Any]:
    """What of a window doesn't depend on the minute in which it is looked at."""
    moving = {"table_minutes", "decisions_per_table_hour"}

    def without(row: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in row.items() if name not in moving}

    return {
        "floor": without(window["floor"]),
        "pits": [without(pit) for pit in window["pits"]],
        "dealers": window["dealers"],
    }


@pytest.fixture(scope="module")
def played() -> Played:
    return Played()


@pytest.fixture
def service() -> Iterator[HttpService]:
    with HttpService().serving() as service:
        yield service


def telling(service: HttpService) -> str:
    """Settings of a route to the service, which takes as much as there is."""
    return f"""
[[notifications.routes]]
name = "bosses"
urls = ["json://127.0.0.1:{service.port}/"]
alerts_per_ten_minutes = 1000
"""


def shows(worker: WorkerProcess, played: Played) -> None:
    """Wait until a worker's window is what was played."""
    worker.wait_for(lambda: essence(worker.window()) == essence(played.window()), "the right window")


def worked_off(log: KafkaLog) -> bool:
    """Tell whether nothing waits for the group."""
    places = [(topic, one) for topic in (ROUNDS, ALERTS) for one in range(PARTITIONS)]
    return not any(log.read(*place, log.position(GROUP, *place), 1) for place in places)


def test_rounds_alerts_and_silences_come_where_they_belong(
    cluster: Cluster, log: KafkaLog, played: Played, service: HttpService, tmp_path: Path
) -> None:
    """All of it as a user with a worker's rights and no others, logged in by password."""
    brisk = preset("macau").model_copy(update={"configuration_id": "brisk", "silence_limit_seconds": 5})
    log.append(
        TABLE_EVENTS,
        [
            ("BAC-01", event(1, "BAC-01", type="table_opened", follows=(0, 0))),
            ("BAC-01", event(2, "BAC-01", type="configuration_published", configuration=brisk.model_dump(mode="json"))),
            ("BAC-02", event(1, "BAC-02", type="table_opened", follows=(0, 0))),
        ],
    )
    played.publish(log, *(played.round() for _ in range(20)), *(played.alert() for _ in range(3)))
    # What was never committed: Faust itself would have counted it, and told it.
    aborted = stranger(cluster.bootstrap)
    aborted.begin_transaction()
    for one in (fact("round", "BAC-09", pit="PIT-0", opened_at=BEGAN), fact("alert", "BAC-09", code="overpaid")):
        aborted.produce(FACT_TOPICS[one.fact], encode(one), one.table_id.encode())
    aborted.flush()
    aborted.abort_transaction()
    # What is no fact, or none that belongs there, and behind it more that is.
    log.append(ROUNDS, [("BAC-01", b'{"fact":"round","table'), ("BAC-01", b""), ("BAC-01", encode(played.alert()))])
    log.append(ALERTS, [("BAC-02", b"\xff\xfe" + bytes(MAX_MESSAGE_BYTES - 2))])
    played.publish(log, *(played.round() for _ in range(5)), played.alert(code="late_bet"))
    with WorkerProcess(write_config(tmp_path / "one", cluster, telling(service))) as worker:
        shows(worker, played)
        assert service.wait_for(4, 60)
        worker.wait_for(lambda: worked_off(log), "the end of the topics")
        worker.wait_for(lambda: bool(silences(log)), "the silence")
        letters = dead_letters(log)
        assert sorted((one.src_topic, one.raw != "") for one in letters) == [
            (ALERTS, True),
            (ROUNDS, False),
            (ROUNDS, True),
            (ROUNDS, True),
        ]
        assert worker.get("/healthz").json() == {"status": "well", "troubles": {}}
        metrics = worker.get("/metrics").text
        assert 'pitwatch_stream_dead_letters_total{topic="rounds"} 3.0' in metrics
        assert "pitwatch_silences_total 1.0" in metrics
        assert worker.stop() == 0
    assert [one.last_event_id for one in silences(log)] == ["BAC-01:1:2"]
    assert len(service.received) == 4
    assert not any("BAC-09" in one.title + one.message for one in service.received)


def silences(log: KafkaLog) -> list[TableSilent]:
    events = [decode_event(record.value) for record in records_of(log, TABLE_EVENTS)]
    return [cast(TableSilent, one) for one in events if one.type == "table_silent"]


def dead_letters(log: KafkaLog) -> list[DeadLetterFact]:
    return [cast(DeadLetterFact, decode_fact(record.value)) for record in records_of(log, DEAD_LETTERS)]


def test_worker_that_is_killed_again_and_again_misses_nothing_and_counts_nothing_twice(
    cluster: Cluster, log: KafkaLog, played: Played, service: HttpService, tmp_path: Path
) -> None:
    config = write_config(tmp_path / "killed", cluster, telling(service))
    told = len([one for one in played.facts if one.fact == "alert"])
    for _ in range(2):
        with WorkerProcess(config) as worker:
            worker.wait_for(lambda: bool(worker.told("following")), "its share")
            for _ in range(10):
                rounds = [played.round() for _ in range(8)]
                played.publish(log, *rounds, played.alert())
                played.publish(log, *(_again(one, handle=5) for one in rounds[:2]), _again(rounds[2], retracted=True))
            # Wherever it is now.
            worker.kill()
        played.publish(log, played.round(), played.alert())
    with WorkerProcess(config) as worker:
        shows(worker, played)
        worker.wait_for(lambda: worked_off(log), "the end of the topics")
        alerts = len([one for one in played.facts if one.fact == "alert"])
        worker.wait_for(lambda: read_status(tmp_path / "killed" / "data" / FILE_NAME).pending == 0, "every message")
        assert worker.stop() == 0
    assert len({one.message for one in service.received}) >= alerts - told
    # Sent at least once each, and recorded once each.
    assert read_status(tmp_path / "killed" / "data" / FILE_NAME).sent == alerts - told
    assert len(silences(log)) == 1


def _again(one: Any, **changes: object) -> Fact:  # noqa: ANN401 - a round's twin
    return fact(
        "round", one.table_id, round=one.round, opened_at=one.opened_at, pit=one.pit, dealer_id=one.dealer_id,
        revision=one.revision + 1, **changes,
    )  # fmt: skip


def test_workers_share_the_tables_and_take_over_from_one_that_is_killed(
    cluster: Cluster, log: KafkaLog, played: Played, tmp_path: Path
) -> None:
    configs = [write_config(tmp_path / name, cluster) for name in ("left", "right")]
    with WorkerProcess(configs[0]) as left, WorkerProcess(configs[1]) as right:

        def shares() -> list[int]:
            pages = [one.get("/windows").json() for one in (left, right)]
            return [sum(len(numbers) for numbers in page["partitions"].values()) for page in pages]

        left.wait_for(lambda: min(shares()) > 0 and sum(shares()) == 2 * PARTITIONS, "a share for both")
        played.publish(log, *(played.round() for _ in range(6)), played.alert())
        left.wait_for(
            lambda: (
                sum(one.window()["floor"]["rounds"] for one in (left, right)) == played.window()["floor"]["rounds"]
                and sum(one.window()["floor"]["dealer_errors"] for one in (left, right))
                == played.window()["floor"]["dealer_errors"]
            ),
            "windows that add up",
        )
        left.kill()
        shows(right, played)
        assert right.stop() == 0
    assert len(silences(log)) == 1


def test_worker_that_takes_tables_over_knows_what_was_told(
    cluster: Cluster, log: KafkaLog, played: Played, service: HttpService, tmp_path: Path
) -> None:
    """Its own send queue is empty; what another told of is in the log."""
    stands, ends = played.alert(status="raised"), played.alert(status="raised")
    with WorkerProcess(write_config(tmp_path / "gone", cluster, telling(service))) as gone:
        played.publish(log, stands, ends)
        gone.wait_for(lambda: len(_about(service, stands, ends)) == 2, "word of both")
        gone.wait_for(lambda: worked_off(log), "the end of the topics")
        gone.kill()
    played.publish(log, _revised(stands, seat=2), _revised(ends, status="corrected"))
    with WorkerProcess(write_config(tmp_path / "heir", cluster, telling(service))) as heir:
        heir.wait_for(lambda: worked_off(log), "the end of the topics")
        heir.wait_for(lambda: read_status(tmp_path / "heir" / "data" / FILE_NAME).sent > 0, "a message")
        assert heir.stop() == 0
    queue = read_status(tmp_path / "heir" / "data" / FILE_NAME)
    assert (queue.sent, queue.pending, queue.collapsed) == (1, 0, 0)
    *raised, ended = _about(service, stands, ends)
    assert len(raised) == 2
    assert _name(ends) in ended.message


def _about(service: HttpService, *alerts: Any) -> list[Received]:  # noqa: ANN401 - alerts' twins
    """What was said of these; what a worker before them left uncommitted may be said again, too."""
    names = {_name(alert) for alert in alerts}
    return [one for one in service.received if names & set(one.message.splitlines())]


def _name(alert: Any) -> str:  # noqa: ANN401 - an alert's twin
    return str(alert.text_en)


def _revised(alert: Any, **changes: object) -> Fact:  # noqa: ANN401 - an alert's twin
    return cast(Fact, msgspec.structs.replace(alert, revision=alert.revision + 1, **changes))


def test_silence_comes_round_to_people_through_the_fold(
    cluster: Cluster, log: KafkaLog, service: HttpService, tmp_path: Path
) -> None:
    """A table falls silent; the worker writes that down, the fold makes an alert of it, the worker tells it."""
    brisk = preset("macau").model_copy(update={"configuration_id": "brisk", "silence_limit_seconds": 5})
    opening = [
        event(1, "SIL-1", type="configuration_published", configuration=brisk.model_dump(mode="json"), follows=(0, 0)),
        event(2, "SIL-1", type="table_opened"),
    ]
    log.append(TABLE_EVENTS, [("SIL-1", one) for one in opening])
    with (
        WorkerProcess(write_config(tmp_path / "folding", cluster, user="reconstruct"), RECONSTRUCT),
        WorkerProcess(write_config(tmp_path / "watching", cluster, telling(service))) as worker,
    ):
        worker.wait_for(
            lambda: any("SIL-1" in one.title + one.message for one in service.received), "word of the silence"
        )
    (told,) = [one for one in service.received if "SIL-1" in one.title + one.message]
    assert "Table silent" in told.title + told.message


def test_fausts_own_command_starts_the_same_worker(
    cluster: Cluster, log: KafkaLog, played: Played, tmp_path: Path
) -> None:
    played.publish(log, played.round())
    with WorkerProcess(write_config(tmp_path / "faust", cluster), FAUST) as worker:
        shows(worker, played)
        assert worker.get("/healthz").status_code == 200
        assert "pitwatch_window_rounds{" in worker.get("/metrics").text
        assert worker.stop() == 0
        assert worker.told("stopped")


# -- Faust's pitfalls ------------------------------------------------------------------------------------------------


def broken(how: str) -> tuple[str, ...]:
    return ("-m", "tests.processors.streams.broken_worker", how)


def test_message_whose_work_fails_ends_the_worker_and_comes_again(
    cluster: Cluster, log: KafkaLog, played: Played, tmp_path: Path
) -> None:
    """Faust alone would acknowledge it, and go on behind it."""
    config = write_config(tmp_path / "failing", cluster)
    played.publish(log, *(played.round() for _ in range(4)))
    poison = played.round(dealer_id="POISON")
    played.publish(log, poison, *(played.round() for _ in range(4)))
    with WorkerProcess(config, broken("raises")) as worker:
        assert worker.process.wait(60) == 1
    partition = log.partition_of(ROUNDS, poison.table_id)
    place = log.position(GROUP, ROUNDS, partition)
    waiting = log.read(ROUNDS, partition, place, 100)
    assert encode(poison) in [record.value for record in waiting]
    with WorkerProcess(config) as worker:
        shows(worker, played)
        worker.wait_for(lambda: worked_off(log), "the end of the topics")


def test_worker_that_is_alive_and_fetches_nothing_ends_to_be_started_again(
    cluster: Cluster, log: KafkaLog, played: Played, tmp_path: Path
) -> None:
    config = write_config(tmp_path / "deaf", cluster, stalled_after_seconds=4)
    played.publish(log, played.round())
    with WorkerProcess(config, broken("deaf")) as worker:
        assert worker.process.wait(60) == EXIT_STALLED
        (stalled,) = worker.told("worker_stalled")
        assert [name for name in stalled["standing_seconds"] if name.startswith("rounds/")]


def test_thread_that_dies_ends_the_worker(cluster: Cluster, service: HttpService, tmp_path: Path) -> None:
    with WorkerProcess(write_config(tmp_path / "dying", cluster, telling(service)), broken("dies")) as worker:
        assert worker.process.wait(60) == 1
        assert [entry["loop"] for entry in worker.told("loop_failed")] == ["notify"]


def test_stop_that_takes_too_long_is_cut_short(cluster: Cluster, tmp_path: Path) -> None:
    with WorkerProcess(write_config(tmp_path / "lingering", cluster), broken("lingers")) as worker:
        worker.wait_for(lambda: bool(worker.told("following")), "its share")
        assert worker.stop() == EXIT_CUT_SHORT
        assert worker.told("stop_cut_short")


def test_broker_that_is_away_is_waited_for_at_the_start_and_later(
    cluster: Cluster, log: KafkaLog, played: Played, tmp_path: Path
) -> None:
    (broker,) = cluster.brokers
    config = write_config(tmp_path / "patient", cluster, timeout_seconds=3, stalled_after_seconds=6)
    played.publish(log, played.round())
    broker.freeze()
    try:
        with WorkerProcess(config) as worker:
            worker.wait_for(lambda: "start" in worker.get("/healthz").json()["troubles"], "the trouble")
            broker.thaw()
            shows(worker, played)
            broker.freeze()
            worker.wait_for(lambda: worker.get("/healthz").status_code == 503, "the trouble")
            broker.thaw()
            worker.wait_for(lambda: worker.get("/healthz").status_code == 200, "the recovery")
            played.publish(log, played.round(opened_at=BEGAN + timedelta(seconds=1)))
            shows(worker, played)
            assert worker.stop() == 0
    finally:
        broker.thaw()
