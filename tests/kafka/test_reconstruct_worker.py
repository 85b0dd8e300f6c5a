"""`pitwatch reconstruct` on a real broker: whoever is killed, stalls or joins, each fact is written once."""

import signal
from contextlib import AbstractContextManager, ExitStack
from itertools import islice
from pathlib import Path

import httpx
import pytest

from processors.fold_snapshots import read_back
from processors.logs.kafka import KafkaLog
from processors.reconstruct.fold import FoldSettings
from processors.reconstruct_worker import TAKING_UP
from processors.reconstructor import GROUP
from processors.streams.watchdog import SHARING
from producers.simulator import Telemetry, mixed_floor, simulate
from schemas.topics import TABLE_EVENTS
from schemas.wire import decode_event, encode
from tests.kafka.broker import free_ports
from tests.kafka.programs import (
    SESSION,
    Program,
    facts,
    facts_of_the_pure_fold,
    is_behind,
    records,
    running,
    wait_for,
)
from tests.producers.table import event
from tests.simulation.crash_floor import START

PARTITIONS = 6
TABLES = 12
GAP_LIMIT_MS = 20_000
FOLD = FoldSettings(gap_limit_ms=GAP_LIMIT_MS)


@pytest.fixture
def config(bootstrap: str, tmp_path: Path) -> Path:
    return write_config(tmp_path, bootstrap)


def write_config(folder: Path, bootstrap: str, more: str = "") -> Path:
    """Write settings with which little is done at a time, so that much can be interrupted."""
    file = folder / "worker.toml"
    properties = ", ".join(f'"{name}" = "{value}"' for name, value in SESSION.items())
    file.write_text(
        f'[kafka]\nbootstrap = "{bootstrap}"\ntimeout_seconds = 3\nproperties = {{{properties}}}\n'
        f"[pipeline]\nbatch_events = 200\nsnapshot_interval_events = 150\ngap_limit_ms = {GAP_LIMIT_MS}\n"
        f"[monitoring]\nport = 0\n{more}"
    )
    return file


def worker(config: Path, name: str) -> AbstractContextManager[Program]:
    """Run a worker of this name."""
    return running("reconstruct", "--config", config, PITWATCH_KAFKA__WORKER_ID=name)


def messages(seed: int, count: int) -> list[tuple[str, bytes]]:
    """Return what some tables of this seed's own send, with repeats, disorder and restarts on the way."""
    telemetry = Telemetry(duplicated=0.02, disordered=0.05, restarted=0.03)
    floor = mixed_floor(seed=seed, start=START, hours=24, tables=TABLES, dirty=4, telemetry=telemetry)
    tables = tuple(one.model_copy(update={"table_id": f"S{seed}-{one.table_id}"}) for one in floor.tables)
    floor = floor.model_copy(update={"tables": tables})
    return [(one.event.table_id, encode(one.event)) for one in islice(simulate(floor), count)]


def append(log: KafkaLog, sent: list[tuple[str, bytes]]) -> None:
    for first in range(0, len(sent), 500):
        log.append(TABLE_EVENTS, sent[first : first + 500])


def folded(log: KafkaLog) -> bool:
    return not is_behind(log, GROUP, [TABLE_EVENTS])


def owned(program: Program) -> int:
    """Return how many partitions a worker has, as it said last."""
    return next((len(one["owned"]) for one in reversed(program.logs) if one["event"] == "partitions_moved"), 0)


def assert_each_fact_is_there_once(log: KafkaLog) -> None:
    found, expected = facts(log), facts_of_the_pure_fold(log, FOLD)
    for topic, tables in expected.items():
        assert found[topic] == tables, topic


def test_workers_come_and_go_and_each_fact_is_written_once(log: KafkaLog, config: Path) -> None:
    sent = messages(1, 6_000)
    with ExitStack() as stack:
        one = stack.enter_context(worker(config, "one"))
        one.told("partitions_moved")
        append(log, sent[:1_500])
        two = stack.enter_context(worker(config, "two"))
        wait_for(lambda: owned(two) > 0)
        append(log, sent[1_500:3_000])
        one.kill()
        three = stack.enter_context(worker(config, "three"))
        append(log, sent[3_000:4_500])
        wait_for(lambda: owned(two) + owned(three) == PARTITIONS and owned(three) > 0)
        append(log, sent[4_500:])
        assert two.stop() == 0
        wait_for(lambda: owned(three) == PARTITIONS)
        wait_for(lambda: folded(log))
        assert three.stop(signal.SIGINT) == 0
        assert [entry["event"] for entry in three.logs[-1:]] == ["stopped"]
    assert_each_fact_is_there_once(log)
    # A clean stop leaves nothing to fold again.
    places = {partition: log.position(GROUP, TABLE_EVENTS, partition) for partition in range(PARTITIONS)}
    newest = dict.fromkeys(places, 0)
    for _, snapshot in log.states(GROUP):
        stored = read_back(snapshot)
        newest[stored.partition] = max(newest[stored.partition], stored.offset)
    assert {partition: offset for partition, offset in newest.items() if offset} == {
        partition: offset for partition, offset in places.items() if offset
    }


def test_worker_that_stalled_is_fenced_and_works_on(log: KafkaLog, config: Path) -> None:
    with worker(config, "stalls") as stalls, worker(config, "other") as other:
        wait_for(lambda: owned(stalls) + owned(other) == PARTITIONS and owned(other) > 0)
        sent = messages(2, 4_000)
        append(log, sent[:1_000])
        stalls.freeze()
        append(log, sent[1_000:2_500])
        wait_for(lambda: owned(other) == PARTITIONS)
        wait_for(lambda: folded(log))
        stalls.thaw()
        append(log, sent[2_500:])
        wait_for(lambda: owned(stalls) > 0 and owned(stalls) + owned(other) == PARTITIONS)
        wait_for(lambda: folded(log))
        assert (stalls.stop(), other.stop()) == (0, 0)
    assert_each_fact_is_there_once(log)


def sample(metrics: str, name: str) -> float:
    """Return what a metrics page says of a metric without labels."""
    (value,) = [line.split()[1] for line in metrics.splitlines() if line.startswith(f"{name} ")]
    return float(value)


def test_health_metrics_and_a_gap_that_is_given_up(log: KafkaLog, bootstrap: str, tmp_path: Path) -> None:
    config = write_config(tmp_path, bootstrap).read_text().replace(f"{GAP_LIMIT_MS}", "300")
    (tmp_path / "hasty.toml").write_text(config)
    with worker(tmp_path / "hasty.toml", "hasty") as hasty:
        url = hasty.told("running")["monitoring"]
        wait_for(lambda: owned(hasty) == PARTITIONS)
        assert "pitwatch_reconstruct_newest_fact_timestamp_seconds NaN" in httpx.get(f"{url}/metrics").text
        opening = event(1, "GAP-1", type="table_opened", follows=(0, 0))
        log.append(TABLE_EVENTS, [("GAP-1", opening), ("GAP-1", event(4, "GAP-1")), ("GAP-1", b"no event")])
        wait_for(lambda: any(b"telemetry_gap" in one for one in facts(log)["alerts"].get("GAP-1", [])))
        assert httpx.get(f"{url}/healthz").status_code == 200
        metrics = httpx.get(f"{url}/metrics").text
        assert "pitwatch_reconstruct_gaps_given_up_total 1.0" in metrics
        assert 'pitwatch_reconstruct_dead_letters_total{reason="not_json"} 1.0' in metrics
        assert f"pitwatch_reconstruct_partitions {PARTITIONS}.0" in metrics
        assert sample(metrics, "pitwatch_reconstruct_batch_seconds_count") > 0
        newest = max(record.appended_at for record in records(log, TABLE_EVENTS))
        assert sample(metrics, "pitwatch_reconstruct_newest_fact_timestamp_seconds") == newest.timestamp()
        assert hasty.stop() == 0
        assert hasty.complaints() == []
    types = [
        decode_event(one.value).type
        for one in records(log, TABLE_EVENTS)
        if one.key == "GAP-1" and one.value[:1] == b"{"
    ]
    assert types == ["table_opened", "heartbeat", "gap_expired"]


def test_worker_that_stands_still_ends_for_its_supervisor(log: KafkaLog, bootstrap: str, tmp_path: Path) -> None:
    """It takes part in its group, is told of new events, and reads nothing: as if its client fetched nothing more."""
    config = write_config(tmp_path, bootstrap, "stalled_after_seconds = 1\n")
    blind = "import processors.reconstructor as r; r.Reconstructor._read = lambda self: []\n"
    with running("reconstruct", "--config", config, first=blind, PITWATCH_KAFKA__WORKER_ID="blind") as program:
        wait_for(lambda: owned(program) == PARTITIONS)
        log.append(TABLE_EVENTS, [("STILL-1", event(1, "STILL-1", type="table_opened", follows=(0, 0)))])
        assert program.wait() == 70
        assert program.told("worker_stalled")["limit_seconds"] == 1
    with worker(write_config(tmp_path, bootstrap), "sees") as sees:
        wait_for(lambda: folded(log))
        assert sees.stop() == 0


def test_worker_that_hangs_while_it_takes_folds_up_ends_for_its_supervisor(bootstrap: str, tmp_path: Path) -> None:
    config = write_config(tmp_path, bootstrap, "stalled_after_seconds = 1\n")
    hanging = (
        "import threading, processors.table_folds as t; t.TableFolds.take_up = lambda *_: threading.Event().wait()\n"
    )
    with running("reconstruct", "--config", config, first=hanging, PITWATCH_KAFKA__WORKER_ID="hangs") as program:
        assert program.wait() == 70
        assert TAKING_UP in program.told("worker_stalled")["standing_seconds"]


def test_cluster_that_is_away_is_waited_for(tmp_path: Path) -> None:
    (port,) = free_ports(1)
    with worker(write_config(tmp_path, f"127.0.0.1:{port}"), "lonely") as lonely:
        url = lonely.told("running")["monitoring"]
        # Before its first attempt has failed it can't tell that the cluster is there either.
        answer = httpx.get(f"{url}/healthz")
        assert (answer.status_code, answer.json()["troubles"].keys() >= {SHARING}) == (503, True)
        assert "Check kafka.bootstrap" in lonely.told("loop_waits", loop="reconstruct")["error"]
        answer = httpx.get(f"{url}/healthz")
        assert answer.status_code == 503
        assert answer.json()["troubles"].keys() >= {"reconstruct"}
        assert "pitwatch_reconstruct_troubled 1.0" in httpx.get(f"{url}/metrics").text
        assert lonely.stop() == 0


def test_settings_without_a_cluster_are_refused(tmp_path: Path) -> None:
    config = tmp_path / "floor.toml"
    config.write_text('data_directory = "data"\n')
    with running("reconstruct", "--config", config) as program:
        assert program.wait() == 2
        assert "kafka.bootstrap: name the cluster" in program.logs[-1]["event"]
