"""Whatever a file holds: each line is accepted, a duplicate or dead, and good events give what they give alone."""

import base64
import json
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path

import msgspec
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import processors.embedded
from pitwatch.commands.ingest import Intake
from pitwatch.commands.replay import compare, fold_table, stored_facts
from processors.embedded import EmbeddedPipeline
from processors.logs.sqlite import SqliteLog
from processors.reconstruct.fold import FoldSettings
from processors.settings_file import load_settings
from producers.importers.events import import_events
from schemas.facts import DeadLetterFact
from schemas.log import Record
from schemas.topics import FACT_TOPICS, TABLE_EVENTS
from schemas.wire import MAX_EVENT_BYTES, InvalidEvent, decode_event
from tests.simulation.crash_floor import START, messages

TABLE = "BAC-103"
GOOD = [value for key, value in messages() if key == TABLE][:150]
"""The beginning of a table at which nothing is wrong, with the faults of its line: repeats, disorder, gaps."""


def of_table(line: bytes, table_id: str) -> bytes:
    """Return an event of the good table as another table's."""
    return line.replace(TABLE.encode(), table_id.encode())


scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(10**40), 10**40)
    | st.integers(-5, 5)
    | st.floats()
    | st.text(max_size=30)
    | st.sampled_from(
        ["NaN", "\0", "\u202e\x1b[31m", "'; DROP TABLE rounds; --", "../../etc/passwd", "{{7*7}}", "Ａ０", "💥" * 50]
    )
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=8,
)


@st.composite
def mutilated(draw: st.DrawFn) -> bytes:
    """Return an event in which a field was lost, another added, or a value replaced by anything."""
    fields: dict[str, object] = json.loads(draw(st.sampled_from(GOOD)))
    for _ in range(draw(st.integers(1, 3))):
        name = draw(st.sampled_from(sorted(fields)) | st.text(max_size=10))
        if draw(st.booleans()):
            fields.pop(name, None)
        else:
            fields[name] = draw(values)
        assume(fields)
    return json.dumps(fields, ensure_ascii=draw(st.booleans())).encode("utf-8", "surrogatepass")


cut_off = st.builds(lambda line, end: line[: end % len(line)], st.sampled_from(GOOD), st.integers(1, 10_000))
noise = st.binary(min_size=1, max_size=200)
flipped = st.builds(
    lambda line, place, bit: (
        line[: place % len(line)] + bytes([line[place % len(line)] ^ (1 << bit)]) + line[place % len(line) + 1 :]
    ),
    st.sampled_from(GOOD),
    st.integers(0, 10_000),
    st.integers(0, 7),
)
elsewhere = st.builds(of_table, st.sampled_from(GOOD), st.sampled_from(["OTHER-1", "OTHER-2", "unknown"]))
endless = st.sampled_from([b"[" * 5_000, b'{"a":' * 3_000, b"9" * 10_000, b'"' + b"x" * (MAX_EVENT_BYTES + 10) + b'"'])
rubbish = st.one_of(mutilated(), cut_off, noise, flipped, elsewhere, endless)


def is_an_event_of(line: bytes, table_id: str) -> bool:
    try:
        return decode_event(line.strip(b" \t\r")).table_id == table_id
    except InvalidEvent:
        return False


def lines_in(contents: bytes) -> list[bytes]:
    """Return the lines that are no blanks, as the importer cuts them."""
    lines = (line.removesuffix(b"\r").strip(b" \t") for line in contents.split(b"\n"))
    return [line[: MAX_EVENT_BYTES + 1] for line in lines if line]


def facts_in(log: SqliteLog, table_id: str) -> list[dict[str, object]]:
    """Return a table's facts, but for dead letters and the places of events in the log."""
    facts = []
    for kind, topic in FACT_TOPICS.items():
        if kind != "dead_letter":
            for record in log.read_key(topic, table_id, 0, 100_000):
                fact: dict[str, object] = json.loads(record.value.replace(table_id.encode(), b"TABLE"))
                del fact["src_offset"]
                facts.append(fact)
    return facts


class Floor:
    """A pipeline that takes one file after another."""

    def __init__(self, pipeline: EmbeddedPipeline, folder: Path) -> None:
        self.pipeline = pipeline
        self.log = pipeline.log
        self._folder = folder
        self._numbers = count()
        # One moment for all: what is waited for doesn't depend on how quick this machine is.
        pipeline.log._clock = lambda: START

    def new_table(self) -> str:
        return f"FUZZ-{next(self._numbers):04}"

    def ingest(self, contents: bytes) -> dict[str, int]:
        file = self._folder / "lines"
        file.write_bytes(contents)
        first = self.log.end(TABLE_EVENTS, 0)
        intake = Intake(self.pipeline)
        intake.take(import_events([file]))
        self.pipeline.finish_input(intake.table_ids)
        refused = intake.refused()
        found = intake.counts(len(refused))
        self._check(contents, first, found, set(refused))
        return found

    def _check(self, contents: bytes, first: int, found: dict[str, int], refused: set[int]) -> None:
        lines = lines_in(contents)
        records = self.log.read(TABLE_EVENTS, 0, first, 100_000)
        assert [record.value for record in records[: len(lines)]] == lines
        assert sum(found.values()) == len(lines)
        assert min(found.values()) >= 0
        raws = {record.offset: record.value for record in records}
        for record in self._letters(first):
            letter = DeadLetterFact.model_validate_json(record.value)
            assert base64.b64decode(letter.raw) == raws[letter.src_offset]
        assert refused <= raws.keys()

    def _letters(self, first: int) -> Sequence[Record]:
        records = self.log.read(FACT_TOPICS["dead_letter"], 0, 0, 1_000_000)
        return [one for one in records if msgspec.json.decode(one.value)["src_offset"] >= first]

    def check_store(self) -> None:
        tables = {record.key for record in self.log.read(TABLE_EVENTS, 0, 0, 1_000_000)}
        for table_id in tables:
            assert (
                list(
                    compare(fold_table(self.log, table_id, FoldSettings()), stored_facts(self.pipeline.store, table_id))
                )
                == []
            )


@pytest.fixture
def floor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Floor]:
    monkeypatch.setattr(processors.embedded, "WAIT_SECONDS", 0.01)
    settings = load_settings().model_copy(update={"data_directory": tmp_path / "data"})
    with EmbeddedPipeline(settings) as pipeline:
        pipeline.start()
        yield Floor(pipeline, tmp_path)


def test_every_line_is_accepted_duplicate_or_dead_and_nothing_good_is_lost(floor: Floor) -> None:
    alone = floor.new_table()
    assert floor.ingest(of_table(b"\n".join(GOOD), alone))["dead"] == 0
    expected = facts_in(floor.log, alone)
    assert len(expected) > 40

    @settings(max_examples=25)
    @given(
        st.lists(st.tuples(st.integers(0, len(GOOD)), rubbish), min_size=1, max_size=40),
        st.sampled_from([b"\n", b"\r\n"]),
    )
    def check(additions: list[tuple[int, bytes]], ending: bytes) -> None:
        table_id = floor.new_table()
        lines = [of_table(line, table_id) for line in GOOD]
        for place, line in sorted(additions, key=lambda addition: -addition[0]):
            pieces = [piece for piece in of_table(line, table_id).split(b"\n") if not is_an_event_of(piece, table_id)]
            lines[place:place] = pieces
        floor.ingest(ending.join(lines))
        assert facts_in(floor.log, table_id) == expected

    check()
    floor.check_store()


def test_the_sum_holds_for_events_that_make_no_sense_either(floor: Floor) -> None:
    """Real events in any order, many times over, with their numbers, shoes and rounds mixed up."""
    fields = st.fixed_dictionaries(
        {},
        optional={
            "seq": st.integers(1, 200), "epoch": st.integers(0, 3), "shoe": st.integers(1, 3),
            "round": st.integers(1, 5), "bet_id": st.sampled_from(["B1", "B2"]),
        },
    )  # fmt: skip

    @settings(max_examples=25)
    @given(st.lists(st.tuples(st.sampled_from(GOOD), fields), min_size=1, max_size=60))
    def check(told: list[tuple[bytes, dict[str, object]]]) -> None:
        table_id = floor.new_table()
        lines = []
        for line, changes in told:
            event = json.loads(of_table(line, table_id))
            event |= {name: value for name, value in changes.items() if name in event}
            event["event_id"] = f"{table_id}:{event['epoch']}:{event['seq']}"
            lines.append(json.dumps(event).encode())
        floor.ingest(b"\n".join(lines))
        again = floor.ingest(b"\n".join(lines))
        assert again["accepted"] == 0

    check()
    floor.check_store()
