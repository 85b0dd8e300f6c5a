"""Events from files: every line reaches the log under its table, whatever it is."""

import gzip
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from producers.importers.events import UNKNOWN_TABLE, Batch, import_events, table_of
from producers.importers.sources import Progress, UnreadableFile
from schemas.topics import TABLE_EVENTS
from schemas.wire import MAX_EVENT_BYTES, InvalidEvent, decode_event
from tests.producers.table import FlakyLog, event


@pytest.mark.parametrize(
    ("raw", "table_id"),
    [
        (event(1, "T01"), "T01"),
        (b'{"changes": {"table_id": "T02"}, "table_id": "T01"}', "T01"),
        (b'{"table_id": "T02", "table_id": "T01"}', "T01"),
        (event(1, "T01")[:-20], "T01"),
        (b'..."table_id" : "BAC-01.a_b"', "BAC-01.a_b"),
        (b'{"table_id": "T01"' + b"[" * 5_000, "T01"),
        (b'{"table_id": 7}', UNKNOWN_TABLE),
        (b'{"table_id": "no id"}', UNKNOWN_TABLE),
        (b'{"table_id": "T01\\n"}', UNKNOWN_TABLE),
        (b'{"table_id": "\xff"}', UNKNOWN_TABLE),
        (b'{"table_id": "' + b"x" * 41 + b'"}', UNKNOWN_TABLE),
        (b"[]", UNKNOWN_TABLE),
        (b"", UNKNOWN_TABLE),
        (b"\x00\xff", UNKNOWN_TABLE),
    ],
)
def test_table_is_read_as_well_as_can_be(raw: bytes, table_id: str) -> None:
    assert table_of(raw) == table_id


def test_files_become_batches_in_order(tmp_path: Path) -> None:
    first, second = tmp_path / "a.ndjson", tmp_path / "b.ndjson.gz"
    first.write_bytes(b"\n".join([event(1), b"", b" ", event(2), b"chips"]))
    second.write_bytes(gzip.compress(event(3, "T02") + b"\r\n"))
    batches = list(import_events([first, second], batch_events=2))
    assert batches == [[("T01", event(1)), ("T01", event(2))], [(UNKNOWN_TABLE, b"chips")], [("T02", event(3, "T02"))]]


def test_batches_keep_within_bytes(tmp_path: Path) -> None:
    path = tmp_path / "a.ndjson"
    path.write_bytes(b"\n".join([b"1234"] * 5))
    assert [len(batch) for batch in import_events([path], batch_bytes=7)] == [2, 2, 1]


def test_line_too_long_for_an_event_is_cut_and_still_too_long(tmp_path: Path) -> None:
    path = tmp_path / "a.ndjson"
    path.write_bytes(event(1, pad="x" * 10**6) + b"\n" + event(2))
    (batch,) = import_events([path])
    assert [(key, len(raw)) for key, raw in batch] == [("T01", MAX_EVENT_BYTES + 1), ("T01", len(event(2)))]
    with pytest.raises(InvalidEvent, match="too_long"):
        decode_event(batch[0][1])


def test_progress_is_told_with_each_batch_and_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "a.ndjson"
    path.write_bytes(b"12\n34\n56\n")
    told: list[Progress] = []
    assert len(list(import_events([path], batch_events=2, on_progress=told.append))) == 2
    assert [(progress.path, progress.size_bytes, progress.lines) for progress in told] == [
        (path, 9, 2),
        (path, 9, 3),
        (path, 9, 3),
    ]
    assert told[-1].bytes_read == 9


def test_broken_file_gives_its_good_lines_first(tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(b"12\n" * 3) + b"no gzip")
    batches: list[Batch] = []
    with pytest.raises(UnreadableFile, match=r"after line 3"):
        batches.extend(import_events([path]))
    assert batches == [[(UNKNOWN_TABLE, b"12")] * 3]
    with pytest.raises(UnreadableFile):
        list(import_events([tmp_path / "missing"]))


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(max_size=300), batch_events=st.integers(1, 4))
def test_any_bytes_reach_the_log(tmp_path_factory: pytest.TempPathFactory, content: bytes, batch_events: int) -> None:
    folder = tmp_path_factory.mktemp("import")
    path = folder / "any.ndjson"
    path.write_bytes(content)
    log = FlakyLog(folder / "log.sqlite")
    for batch in import_events([path], batch_events=batch_events):
        assert 1 <= len(batch) <= batch_events
        log.append(TABLE_EVENTS, batch)
    lines = [line.removesuffix(b"\r").strip(b" \t") for line in content.split(b"\n")]
    assert [raw for _, raw in log.kept()] == [line for line in lines if line]
    log.close()
