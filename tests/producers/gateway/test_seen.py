"""Which events the log has: known across restarts and crashes, and never more than is true."""

import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from producers.gateway import seen as seen_module
from producers.gateway.judging import digest_of, judge
from producers.gateway.seen import Identity, SeenEvents
from producers.gateway.seen_file import SeenFile, SeenFileUnusable
from schemas.topics import TABLE_EVENTS
from schemas.wire import decode_event
from tests.producers.gateway.conftest import Floor
from tests.producers.table import FlakyLog, event


@pytest.fixture
def log(tmp_path: Path) -> Iterator[FlakyLog]:
    log = FlakyLog(tmp_path / "log.sqlite")
    yield log
    log.close()


@pytest.fixture
def file(tmp_path: Path) -> SeenFile:
    return SeenFile(tmp_path / "seen.sqlite")


def identity(raw: bytes) -> Identity:
    known = decode_event(raw)
    return Identity(known.table_id, known.epoch, known.seq, digest_of(known))


def started(log: FlakyLog, file: SeenFile | None = None) -> SeenEvents:
    seen = SeenEvents(file)
    seen.catch_up(log)
    return seen


@pytest.mark.parametrize("limits", [{}, {"seen_path": None}, {"checkpoint_events": 1}], ids=["file", "log", "often"])
def test_repeats_are_known_after_a_restart(floor: Floor, limits: dict[str, object]) -> None:
    other = event(1, occurred_at="2026-01-15T13:00:00Z")
    with floor.gateway(limits) as gateway:
        assert gateway.statuses(event(1), event(2), event(5)) == ["accepted"] * 3
    with floor.gateway(limits) as gateway:
        statuses = gateway.statuses(event(1), event(2), event(3), event(5), other)
        assert statuses == ["duplicate", "duplicate", "accepted", "duplicate", "rejected"]


def test_gateway_starts_before_its_log_and_takes_nothing_until_it_knows(floor: Floor) -> None:
    with floor.gateway() as gateway:
        assert gateway.statuses(event(1)) == ["accepted"]
    floor.unreadable = True
    with floor.gateway() as gateway:
        assert gateway.post(event(1)).status_code == 503
        assert gateway.client.get("/healthz").status_code == 503
        gateway.log.unreadable = False
        assert gateway.statuses(event(1), event(2)) == ["duplicate", "accepted"]
        assert gateway.client.get("/healthz").status_code == 200


def test_what_the_file_missed_is_read_from_the_log(log: FlakyLog, file: SeenFile) -> None:
    """As after a crash between an append and the next checkpoint."""
    log.append(TABLE_EVENTS, [("T01", event(1))])
    started(log, file).checkpoint(log)
    log.append(TABLE_EVENTS, [("T01", event(2)), ("T01", b"no event"), ("T02", event(3)), ("T01", event(4, epoch=0))])
    seen = started(log, file)
    verdicts = [seen.verdict(identity(event(number))) for number in (1, 2, 3)]
    assert verdicts == ["duplicate", "duplicate", "new"], "an event under another table's key was never one"
    assert seen.verdict(identity(event(4, epoch=0))) == "new"


def test_file_of_another_log_is_thrown_away(tmp_path: Path, log: FlakyLog, file: SeenFile) -> None:
    log.append(TABLE_EVENTS, [("T01", event(1)), ("T01", event(2))])
    started(log, file).checkpoint(log)
    for name, messages in (("shorter", []), ("other", [("T01", event(7)), ("T01", event(8))])):
        another = FlakyLog(tmp_path / f"{name}.sqlite")
        another.append(TABLE_EVENTS, messages)
        copy = SeenFile(Path(shutil.copy(file.path, tmp_path / f"{name}-seen.sqlite")))
        assert started(another, copy).verdict(identity(event(1))) == "new", "a device would never send it again"
        assert copy.landmarks() == []
        another.close()


def test_file_that_is_none_costs_only_the_reading(log: FlakyLog, file: SeenFile) -> None:
    file.path.write_bytes(b"chips" * 1_000)
    log.append(TABLE_EVENTS, [("T01", event(1))])
    seen = started(log, file)
    assert seen.verdict(identity(event(1))) == "duplicate"
    seen.checkpoint(log)
    assert file.path.read_bytes() == b"chips" * 1_000, "a file that isn't ours stays as it is"
    with pytest.raises(SeenFileUnusable, match="may be deleted"):
        file.landmarks()


def test_checkpoint_that_fails_is_made_up_for(log: FlakyLog, file: SeenFile) -> None:
    file = SeenFile(file.path, timeout_seconds=0.0)
    seen = started(log, file)
    log.append(TABLE_EVENTS, [("T01", event(1))])
    holder = sqlite3.connect(file.path, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    with pytest.raises(SeenFileUnusable, match="locked"):
        seen.checkpoint(log)
    holder.execute("ROLLBACK")
    holder.close()
    seen.checkpoint(log)
    assert [(row.table_id, row.runs) for row in file.epochs()] == [("T01", ((1, 1),))]


def test_checkpoint_that_fails_disturbs_no_device(floor: Floor) -> None:
    with floor.gateway({"checkpoint_events": 1}) as gateway:
        (floor.folder / "seen.sqlite").write_bytes(b"chips" * 1_000)
        assert gateway.statuses(event(1)) == ["accepted"]
        assert gateway.statuses(event(1)) == ["duplicate"]


def test_runs_of_a_table_are_bounded_and_the_oldest_forgotten(
    log: FlakyLog, file: SeenFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seen_module, "MAX_RUNS_PER_TABLE", 3)
    seen = started(log, file)
    lines = [event(1), event(3), event(1, epoch=2), event(5, epoch=2), event(1, epoch=3), event(1, "T02")]
    log.append(TABLE_EVENTS, [(decode_event(line).table_id, line) for line in lines])
    seen.checkpoint(log)
    for knowing in (seen, started(log, file)):
        assert [knowing.verdict(identity(line)) for line in lines] == ["new", "new", *["duplicate"] * 4]
    log.append(TABLE_EVENTS, [("T01", event(1, epoch=4)), ("T01", event(1, epoch=5))])
    seen.checkpoint(log)
    assert [(row.table_id, row.epoch) for row in file.epochs()] == [("T01", 3), ("T01", 4), ("T01", 5), ("T02", 1)]


def test_judging_gives_the_digest_the_log_gives() -> None:
    raw = event(1, note="unknown fields say nothing")
    assert judge(1, raw, "T01").digest == identity(event(1)).digest


NUMBERS = st.lists(st.tuples(st.sampled_from(["T01", "T02"]), st.integers(1, 3), st.integers(1, 6)), max_size=30)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.one_of(NUMBERS, st.sampled_from(["checkpoint", "restart"])), max_size=8))
def test_seen_is_exactly_what_the_log_has(tmp_path_factory: pytest.TempPathFactory, steps: list[object]) -> None:
    folder = tmp_path_factory.mktemp("seen")
    log, file = FlakyLog(folder / "log.sqlite"), SeenFile(folder / "seen.sqlite")
    seen = started(log, file)
    has: set[tuple[str, int, int]] = set()
    for step in steps:
        if step == "checkpoint":
            seen.checkpoint(log)
        elif step == "restart":
            seen = started(log, file)
        elif isinstance(step, list):
            lines = [event(seq, table_id, epoch) for table_id, epoch, seq in step]
            log.append(TABLE_EVENTS, [(table_id, line) for (table_id, _, _), line in zip(step, lines, strict=True)])
            seen.add(identity(line) for line in lines)
            has |= set(step)
    everything = [(table_id, epoch, seq) for table_id in ("T01", "T02") for epoch in (1, 2, 3) for seq in range(1, 7)]
    known = {number for number in everything if seen.verdict(identity(event(number[2], *number[:2]))) != "new"}
    assert known == has
    log.close()
    shutil.rmtree(folder)
