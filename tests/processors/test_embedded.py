"""The whole pipeline in one process: what it writes of itself, what it waits out, what ends it, and how it stops."""

import gc
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from queue import Queue
from typing import cast

import pytest
from pydantic import SecretStr
from structlog.testing import capture_logs

import processors.embedded
from processors.data_directory import UnfinishedReplay, begin_replay, end_replay
from processors.embedded import EmbeddedPipeline, Health
from processors.fold_snapshots import read_back
from processors.logs.lock import DataDirectoryLocked, lock_data_directory
from processors.logs.sqlite import LOG_FILE, SqliteLog
from processors.notify.recording import RecordingTransport
from processors.notify.routing import NotificationSettings, Route
from processors.reconstructor import GROUP
from processors.settings import FloorSettings, FloorTable, PipelineSettings, Settings
from processors.settings_file import load_settings
from processors.store.port import RowsRefused, StoreUnavailable
from schemas.configuration import TableConfiguration, preset
from schemas.facts import AlertFact, Fact
from schemas.log import LogUnavailable
from schemas.topics import TABLE_EVENTS
from schemas.wire import decode_event
from tests.producers.table import event
from tests.simulation.crash_floor import messages

NOON = datetime(2026, 1, 15, 12, tzinfo=UTC)
PATIENCE_SECONDS = 120
"""After so long a test gives up; none passes by waiting for it."""

MACAU = preset("macau")
ROUTE = Route(name="all", urls=(SecretStr("test://all"),), minimum_severity="info", alerts_per_ten_minutes=1000)


def settings_of(directory: Path, **changes: object) -> Settings:
    return load_settings().model_copy(update={"data_directory": directory, **changes})


def floor_of(*tables: str, configuration: TableConfiguration = MACAU) -> FloorSettings:
    return FloorSettings(tables=tuple(FloorTable(table_id=one, configuration=configuration) for one in tables))


class Facts:
    """Takes the facts as they are committed, for a test to wait for the one it wants."""

    def __init__(self) -> None:
        self._queue: Queue[Fact] = Queue()

    def __call__(self, facts: Sequence[Fact]) -> None:
        for fact in facts:
            self._queue.put(fact)

    def wait_for_alert(self, code: str) -> AlertFact:
        while True:
            fact = self._queue.get(timeout=PATIENCE_SECONDS)
            if fact.fact == "alert" and cast(AlertFact, fact).code == code:
                return cast(AlertFact, fact)


@contextmanager
def working(settings: Settings, **options: object) -> Iterator[EmbeddedPipeline]:
    with EmbeddedPipeline(settings, **options) as pipeline:  # type: ignore[arg-type]  # passed on as they come
        pipeline.start()
        yield pipeline


def send(pipeline: EmbeddedPipeline, *raw: bytes, key: str = "T01") -> None:
    pipeline.log.append(TABLE_EVENTS, [(key, one) for one in raw])


def events_of(directory: Path) -> list[str]:
    with closing(SqliteLog(directory / LOG_FILE)) as log:
        return [decode_event(record.value).type for record in log.read(TABLE_EVENTS, 0, 0, 1_000)]


def opening(table_id: str = "T01") -> bytes:
    return event(1, table_id, type="table_opened", follows=(0, 0))


def test_floor_is_configured_before_anybody_is_heard_and_only_once(tmp_path: Path) -> None:
    settings = settings_of(tmp_path, floor=floor_of("T01", "T02"))
    for _ in range(2):
        with working(settings, live=True) as pipeline:
            assert pipeline.configured.wait(PATIENCE_SECONDS)
    assert events_of(tmp_path) == ["configuration_published"] * 2
    vip = MACAU.model_copy(update={"configuration_id": "vip"})
    changed = settings_of(tmp_path, floor=floor_of("T02", configuration=vip))
    with working(changed, live=True) as pipeline:
        assert pipeline.configured.wait(PATIENCE_SECONDS)
    assert events_of(tmp_path) == ["configuration_published"] * 3


def test_what_lies_in_the_log_unfolded_is_read_before_the_floor_is_configured(tmp_path: Path) -> None:
    """After a crash, say, between the append and its fold: nothing is published twice."""
    settings = settings_of(tmp_path, floor=floor_of("T01"), pipeline=PipelineSettings(batch_events=1))
    with EmbeddedPipeline(settings) as pipeline:
        pipeline.log.append(TABLE_EVENTS, pipeline.reconstructor.to_publish(settings.floor.entries(), NOON))
        send(pipeline, opening(), event(2))
    with working(settings, live=True) as pipeline:
        assert pipeline.configured.wait(PATIENCE_SECONDS)
    assert events_of(tmp_path) == ["configuration_published", "table_opened", "heartbeat"]


def test_clock_tells_of_gaps_and_silence_where_it_is_live(tmp_path: Path) -> None:
    facts, moments = Facts(), [datetime.now(UTC)]
    with working(settings_of(tmp_path), live=True, on_facts=facts, clock=lambda: moments[-1]) as pipeline:
        send(pipeline, opening(), event(3))
        pipeline.drain()
        moments.append(moments[0] + timedelta(seconds=30))
        assert facts.wait_for_alert("telemetry_gap").table_id == "T01"
        moments.append(moments[0] + timedelta(hours=1))
        assert facts.wait_for_alert("table_silent").table_id == "T01"
        moments.append(moments[0] - timedelta(hours=1))
        send(pipeline, event(4), event(6))
        pipeline.drain()
        moments.append(datetime.now(UTC) + timedelta(seconds=30))
        facts.wait_for_alert("telemetry_gap")
    assert events_of(tmp_path) == [
        "table_opened", "heartbeat", "gap_expired", "table_silent", "heartbeat", "heartbeat", "gap_expired",
    ]  # fmt: skip


def test_files_are_not_measured_by_the_clock(tmp_path: Path) -> None:
    settings = settings_of(tmp_path, floor=floor_of("T01"), notifications=NotificationSettings(routes=(ROUTE,)))
    with working(settings, clock=lambda: datetime.now(UTC) + timedelta(days=1)) as pipeline:
        assert pipeline.notifier is None
        send(pipeline, opening(), event(3))
        pipeline.drain()
    assert events_of(tmp_path) == ["table_opened", "heartbeat"]


def test_source_at_its_end_gives_up_its_gaps(tmp_path: Path) -> None:
    healths: list[Health] = []
    with working(settings_of(tmp_path)) as pipeline:
        for table_id in ("T01", "T02", "T03"):
            send(pipeline, opening(table_id), event(3, table_id), key=table_id)
        pipeline.finish_input(["T01"], healths.append)
        assert events_of(tmp_path)[6:] == ["gap_expired"]
        pipeline.finish_input()
        assert events_of(tmp_path)[6:] == ["gap_expired"] * 3
        assert pipeline.health() == Health(0, 0, {})
        assert pipeline.store.query("SELECT count() FROM alerts", fmt="TSV") == b"3\n"
    assert healths, "who waits is told how far it is"


def test_alerts_are_told(tmp_path: Path) -> None:
    transport = RecordingTransport()
    settings = settings_of(tmp_path, notifications=NotificationSettings(routes=(ROUTE,)))
    with working(settings, live=True, transport=transport) as pipeline:
        send(pipeline, opening(), event(3))
        pipeline.finish_input()
        assert transport.wait_for(1, PATIENCE_SECONDS)
    assert "T01" in transport.deliveries[0].body + transport.deliveries[0].title


# -- trouble ---------------------------------------------------------------------------------------------------------


def test_store_that_is_away_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    back, tried = threading.Event(), threading.Event()
    with working(settings_of(tmp_path)) as pipeline:
        genuine = pipeline.store.insert

        def refuse(kind: str, rows: Sequence[bytes]) -> None:
            tried.set()
            if not back.is_set():
                raise StoreUnavailable("the disk is full")
            genuine(kind, rows)

        monkeypatch.setattr(pipeline.store, "insert", refuse)
        with capture_logs() as logs:
            send(pipeline, opening())
            assert tried.wait(PATIENCE_SECONDS)
            with pytest.raises(LogUnavailable, match="sink: the disk is full"):
                pipeline.drain()
            assert pipeline.health().troubles == {"sink": "the disk is full"}
            back.set()
            assert pipeline._standing.wait_for(lambda: not pipeline.health().troubles, PATIENCE_SECONDS)
        pipeline.drain()
        assert pipeline.store.query("SELECT count() FROM events", fmt="TSV") == b"1\n"
    assert [entry["event"] for entry in logs] == ["loop_waits", "loop_recovered"]


def test_store_that_refuses_dead_letters_too_stops_nobody_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(kind: str, rows: Sequence[bytes]) -> None:
        raise RowsRefused(f"{kind}: no such column")

    facts = Facts()
    with capture_logs(), working(settings_of(tmp_path), live=True, on_facts=facts) as pipeline:
        monkeypatch.setattr(pipeline.store, "insert", refuse)
        send(pipeline, opening())
        assert pipeline._standing.wait_for(lambda: "sink" in pipeline.troubles(), PATIENCE_SECONDS)
        send(pipeline, event(2, occurred_at="2027-01-01T00:00:00Z"))
        facts.wait_for_alert("clock_skew")
        assert pipeline.troubles() == {"sink": "dead_letter: no such column"}
        assert not pipeline.stopping.is_set()
    with working(settings_of(tmp_path)) as pipeline:
        pipeline.drain()
        assert pipeline.store.query("SELECT count() FROM events", fmt="TSV") == b"2\n"


def test_log_that_is_full_is_waited_for_and_no_decision_lost(tmp_path: Path) -> None:
    moments = [datetime.now(UTC)]
    facts = Facts()
    with working(settings_of(tmp_path), live=True, on_facts=facts, clock=lambda: moments[-1]) as pipeline:
        send(pipeline, opening())
        pipeline.drain()
        writer = pipeline.log._writer
        assert writer is not None
        (pages,) = writer._connection.execute("PRAGMA page_count").fetchone()
        writer._connection.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(LogUnavailable):
            send(pipeline, *[event(2, padding="x" * 60_000)] * 10)
        with capture_logs() as logs:
            moments.append(moments[0] + timedelta(hours=1))
            assert pipeline._standing.wait_for(lambda: "reconstruct" in pipeline.health().troubles, PATIENCE_SECONDS)
            writer._connection.execute("PRAGMA max_page_count = 1000000")
            facts.wait_for_alert("table_silent")
        pipeline.drain()
    assert "loop_waits" in [entry["event"] for entry in logs]


def test_defect_ends_the_pipeline_and_is_raised(tmp_path: Path) -> None:
    def fail(_: Sequence[Fact]) -> None:
        raise KeyError("a defect")

    with capture_logs() as logs, working(settings_of(tmp_path), on_facts=fail) as pipeline:
        send(pipeline, opening())
        with pytest.raises(KeyError, match="a defect"):
            pipeline.drain()
        assert pipeline.stopping.is_set()
        with pytest.raises(KeyError, match="a defect"):
            pipeline.raise_failure()
    assert "loop_failed" in [entry["event"] for entry in logs]
    with working(settings_of(tmp_path)) as pipeline:
        pipeline.drain()
        assert pipeline.store.query("SELECT count() FROM events", fmt="TSV") == b"1\n"


# -- stopping and starting -------------------------------------------------------------------------------------------


def offsets(directory: Path) -> dict[str, int]:
    with closing(SqliteLog(directory / LOG_FILE)) as log:
        return {key: read_back(snapshot).offset for key, snapshot in log.states(GROUP)}


def test_stop_writes_every_fold_down(tmp_path: Path) -> None:
    sent = messages()[:300]
    with working(settings_of(tmp_path)) as pipeline:
        pipeline.log.append(TABLE_EVENTS, sent)
        pipeline.drain()
        pipeline.stop()
        pipeline.stop()
    assert offsets(tmp_path) == dict.fromkeys({key for key, _ in sent}, len(sent))


def test_fold_that_hangs_is_not_written_down_half_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entered, release = threading.Event(), threading.Event()

    def hang(_: Sequence[Fact]) -> None:
        entered.set()
        release.wait()

    monkeypatch.setattr(processors.embedded, "STOP_SECONDS", 0)
    with EmbeddedPipeline(settings_of(tmp_path), on_facts=hang) as pipeline:
        pipeline.start()
        (fold_loop,) = [loop for loop in pipeline._loops if loop.name == "reconstruct"]
        send(pipeline, opening(), event(2))
        assert entered.wait(PATIENCE_SECONDS)
        before = offsets(tmp_path)
        pipeline.reconstructor.tables._since_snapshot["T01"] = 1
        with capture_logs() as logs:
            pipeline.stop()
        assert [entry["event"] for entry in logs] == ["loops_hang"]
        assert offsets(tmp_path) == before
        release.set()
        fold_loop.join()


def test_folds_that_cannot_be_saved_cost_the_next_start_some_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> None:
        raise LogUnavailable("the disk is full")

    with capture_logs() as logs, working(settings_of(tmp_path)) as pipeline:
        send(pipeline, opening())
        pipeline.drain()
        monkeypatch.setattr(pipeline.reconstructor, "save_all", refuse)
    assert [entry["event"] for entry in logs] == ["folds_not_saved"]
    with working(settings_of(tmp_path)) as pipeline:
        assert pipeline.reconstructor.folds["T01"].state.is_open


def test_interpreter_is_left_as_it_was(tmp_path: Path) -> None:
    before = sys.getswitchinterval(), gc.get_threshold()
    with working(settings_of(tmp_path)):
        assert (sys.getswitchinterval(), gc.get_threshold()) != before
    assert (sys.getswitchinterval(), gc.get_threshold()) == before


def test_directory_admits_one_pipeline_and_none_on_half_a_replay(tmp_path: Path) -> None:
    settings = settings_of(tmp_path)

    def enter(pipeline: EmbeddedPipeline) -> None:
        with pipeline:
            pass

    with lock_data_directory(tmp_path), pytest.raises(DataDirectoryLocked):
        enter(EmbeddedPipeline(settings))
    with lock_data_directory(tmp_path):
        begin_replay(tmp_path)
    with pytest.raises(UnfinishedReplay):
        enter(EmbeddedPipeline(settings))
    with working(settings, replaying=True) as pipeline:
        pipeline.drain()
        end_replay(pipeline.log)
    enter(EmbeddedPipeline(settings))
