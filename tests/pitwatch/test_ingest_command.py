"""`pitwatch ingest`: every line is accepted, a duplicate or dead; nothing is lost, whatever the files hold."""

import base64
import gzip
import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from processors.logs.sqlite import LOG_FILE, SqliteLog
from schemas.facts import DeadLetterFact
from schemas.log import MAX_MESSAGE_BYTES
from schemas.topics import FACT_TOPICS
from schemas.wire import MAX_EVENT_BYTES
from tests.pitwatch.command_line import Answer, CommandLine, ndjson
from tests.producers.table import event

GOOD = [event(1, type="table_opened", follows=(0, 0)), *(event(seq) for seq in range(2, 11))]


def counts(answer: Answer) -> tuple[int, int, int]:
    found = json.loads(answer.out)
    assert list(found) == ["accepted", "duplicate", "dead"]
    return found["accepted"], found["duplicate"], found["dead"]


def written(path: Path, *lines: bytes) -> Path:
    path.write_bytes(ndjson(lines))
    return path


def dead_letters(directory: Path) -> list[DeadLetterFact]:
    with closing(SqliteLog(directory / LOG_FILE)) as log:
        records = log.read(FACT_TOPICS["dead_letter"], 0, 0, 1_000)
        return [DeadLetterFact.model_validate_json(record.value) for record in records]


def test_events_are_accepted_once(pitwatch: CommandLine, tmp_path: Path) -> None:
    data, file = tmp_path / "data", written(tmp_path / "events.ndjson", *GOOD)
    first = pitwatch("ingest", file, "--data", data, "--json")
    assert (first.exit_code, counts(first), first.err) == (0, (10, 0, 0), "")
    again = pitwatch("ingest", file, "--data", data)
    assert (again.exit_code, again.out, again.err) == (0, b"accepted 0  duplicate 10  dead 0\n", "")
    both = pitwatch("ingest", file, written(tmp_path / "more.ndjson", *GOOD[5:], event(11)), "--data", data, "--json")
    assert (both.exit_code, counts(both)) == (0, (1, 15, 0))
    check = pitwatch("replay", "--check", "--data", data)
    assert check.exit_code == 0
    assert check.out.endswith(b" 0 differences\n")


def test_every_way_of_giving_a_file(pitwatch: CommandLine, tmp_path: Path) -> None:
    data = tmp_path / "data"
    packed = tmp_path / "packed.ndjson.gz"
    packed.write_bytes(gzip.compress(ndjson(GOOD[:3])))
    assert counts(pitwatch("ingest", packed, "--data", data, "--json")) == (3, 0, 0)
    plain = pitwatch("ingest", "-", "--data", data, "--json", stdin=ndjson(GOOD[3:5]))
    assert counts(plain) == (2, 0, 0)
    piped = pitwatch("ingest", "-", "--data", data, "--json", stdin=gzip.compress(ndjson(GOOD[5:6])))
    assert counts(piped) == (1, 0, 0)
    rest = written(tmp_path / "rest.ndjson", b"", GOOD[6], b"  ", b"\r", GOOD[7])
    assert counts(pitwatch("ingest", rest, packed, "--data", data, "--json")) == (2, 3, 0)
    empty = written(tmp_path / "empty.ndjson")
    assert counts(pitwatch("ingest", empty, "--data", data, "--json")) == (0, 0, 0)
    unended = tmp_path / "unended.ndjson"
    unended.write_bytes(GOOD[8])
    assert counts(pitwatch("ingest", unended, "--data", data, "--json")) == (1, 0, 0)


@pytest.mark.parametrize(
    ("make", "complaint"), [(lambda path: None, "does not exist"), (Path.mkdir, "is a directory")], ids=["none", "dir"]
)
def test_file_that_is_none_is_refused_before_anything_is_done(
    pitwatch: CommandLine, tmp_path: Path, make: Callable[[Path], None], complaint: str
) -> None:
    make(tmp_path / "odd")
    good = written(tmp_path / "events.ndjson", *GOOD)
    answer = pitwatch("ingest", good, tmp_path / "odd", "--data", tmp_path / "data")
    assert answer.exit_code == 2
    assert complaint in answer.err
    assert not (tmp_path / "data").exists()


def test_file_that_breaks_off_is_counted_as_far_as_it_goes(pitwatch: CommandLine, tmp_path: Path) -> None:
    packed = tmp_path / "packed.ndjson.gz"
    packed.write_bytes(gzip.compress(ndjson(GOOD[:5])) + gzip.compress(b"")[:7])
    answer = pitwatch("ingest", packed, "--data", tmp_path / "data", "--json")
    assert answer.exit_code == 2
    assert counts(answer) == (5, 0, 0)
    assert answer.err.startswith(f"pitwatch: {packed}: ")
    assert "after line 5" in answer.err


LONG = event(1, padding="x" * MAX_EVENT_BYTES)

# What is wrong with it → the line, and why it is refused.
GARBAGE = {
    "bytes": (bytes(range(1, 10)) + bytes(range(128, 256)), "not_json"),
    "cut off": (event(11)[:60], "not_json"),
    "two in a line": (event(11) + event(12), "not_json"),
    "not UTF-8": (event(11).replace(b"heartbeat", b"heart\xff\xfe"), "not_json"),
    "no object": (b"[1, 2]", "not_json"),
    "no event": (b"{}", "unknown_type"),
    "nesting without end": (b"[" * 60_000, "not_json"),
    "type of number": (event(11, type=7), "unknown_type"),  # type: ignore[arg-type]  # that's the fault
    "type nobody knows": (event(11, type="chips_eaten"), "unknown_type"),
    "version to come": (event(11, schema_version=99), "unknown_version"),
    "text for a number": (event(11, epoch="1"), "invalid"),  # type: ignore[arg-type]  # that's the fault
    "huge number": (event(11).replace(b'"seq": 11', b'"seq": 1' + b"0" * 400), "invalid"),
    "number beyond all": (event(11).replace(b'"seq": 11', b'"seq": 1e999'), "invalid"),
    "negative number": (event(-1), "invalid"),
    "no time zone": (event(11, occurred_at="2026-01-15T12:00:00"), "invalid"),
    "hostile text": (event(11, table_id="'; DROP TABLE rounds; --"), "invalid"),
    "escape sequence": (event(11, event_id="\x1b[2J\u202e"), "invalid"),
    "zero byte": (event(11, event_id="T01:1:11\0"), "invalid"),
    "half a character": (event(11).replace(b"heartbeat", b"\\ud800"), "not_json"),
    "stolen identity": (event(5, occurred_at="2026-01-15T12:00:01Z"), "conflict"),
    "far-off number": (event(5_000_000), "numbering"),
    "epoch of Pitwatch": (event(11, epoch=0), "system_epoch"),
    "word of Pitwatch": (
        event(11, type="table_silent", silent_since="2026-01-15T12:00:00Z", last_event_id="T01:1:1"),
        "system_type",
    ),
    "too long": (LONG, "too_long"),
    "far too long": (b"x" * MAX_MESSAGE_BYTES * 2, "too_long"),
}


def test_garbage_becomes_dead_letters_with_its_bytes(pitwatch: CommandLine, tmp_path: Path) -> None:
    data = tmp_path / "data"
    lines = [*GOOD, *(line for line, _ in GARBAGE.values()), *GOOD, event(1, "T02", follows=(0, 0))]
    answer = pitwatch("ingest", written(tmp_path / "mixed.ndjson", *lines), "--data", data, "--json")
    assert answer.exit_code == 1
    assert counts(answer) == (11, 10, len(GARBAGE))
    letters = sorted(dead_letters(data), key=lambda letter: letter.src_offset)
    kept = {name: line[: MAX_EVENT_BYTES + 1] for name, (line, _) in GARBAGE.items()}
    found = [(letter.reason, base64.b64decode(letter.raw)) for letter in letters]
    assert found == [(reason, kept[name]) for name, (_, reason) in GARBAGE.items()]
    told = answer.err.splitlines()
    assert len(told) == 6
    assert told[0].startswith("refused (not_json): table unknown shoe 0 round 0 event ?: ")
    assert told[5] == f"and {len(GARBAGE) - 5} more, all in the view dead_letters"
    again = pitwatch("ingest", tmp_path / "mixed.ndjson", "--data", data, "--json")
    # What claims to be Pitwatch's has used its number up, so a repeat of it says nothing new.
    assert counts(again) == (0, 22, len(GARBAGE) - 1)
    assert pitwatch("replay", "--check", "--data", data).exit_code == 0


def test_what_somebody_sent_does_not_steer_the_terminal(pitwatch: CommandLine, tmp_path: Path) -> None:
    line = event(11, event_id="\x1b[2J\u202e")
    answer = pitwatch("ingest", written(tmp_path / "hostile.ndjson", line), "--data", tmp_path / "data")
    assert "event �[2J�: " in answer.err
    assert answer.err.count("\n") == 1
    assert "\x1b" not in answer.err


def test_gap_at_the_end_is_given_up_and_filled_by_a_later_file(pitwatch: CommandLine, tmp_path: Path) -> None:
    data = tmp_path / "data"
    with_gap = written(tmp_path / "a", *GOOD[:4], *GOOD[5:])
    assert counts(pitwatch("ingest", with_gap, "--data", data, "--json")) == (9, 0, 0)
    asked = ("sql", "SELECT code, status FROM alerts", "--data", data)
    assert pitwatch(*asked).out == b"code\tstatus\ntelemetry_gap\traised\n"
    assert counts(pitwatch("ingest", written(tmp_path / "b", GOOD[4]), "--data", data, "--json")) == (1, 0, 0)
    assert pitwatch(*asked).out == b"code\tstatus\n"


def test_dead_letter_that_is_taken_back_counts_as_accepted(pitwatch: CommandLine, tmp_path: Path) -> None:
    """A bet that stands already is refused, until its forerunner turns out to be a mistake."""

    def bet(seq: int) -> bytes:
        return event(
            seq, type="bet_placed", shoe=1, round=1, bet_id="b-1", bet="player", stake=30_000, seat=1, schema_version=2
        )

    def correction(seq: int) -> bytes:
        return event(
            seq,
            type="correction",
            target_event_id="T01:1:4",
            action="retract",
            authorised_by="S-1",
            reason="typed twice",
        )

    opening = [
        event(1, type="table_opened", follows=(0, 0)),
        event(2, type="shoe_loaded", shoe=1, decks=8),
        event(3, type="round_opened", shoe=1, round=1),
    ]
    first = pitwatch("ingest", written(tmp_path / "a", *opening, bet(4), bet(5)), "--data", tmp_path / "one", "--json")
    assert counts(first) == (4, 0, 1)
    whole = pitwatch(
        "ingest", written(tmp_path / "b", *opening, bet(4), bet(5), correction(6)), "--data", tmp_path / "two", "--json"
    )
    assert (whole.exit_code, counts(whole), whole.err) == (0, (6, 0, 0), "")
    after = pitwatch("ingest", written(tmp_path / "c", correction(6)), "--data", tmp_path / "one", "--json")
    assert counts(after) == (1, 0, 0)
