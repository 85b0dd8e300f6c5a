"""What rows hold, and which integers are refused."""

import json
from datetime import UTC, datetime

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.store.rows import LARGEST, beyond_64_bits, event_row
from schemas.log import Record
from schemas.topics import TABLE_EVENTS

MOMENT = datetime(2026, 3, 1, 12, 34, 56, 789_012, tzinfo=UTC)
EVENT = (
    '{"type":"card_drawn","event_id":"BAC-01:3:1207","table_id":"BAC-01","epoch":3,"seq":1207,'
    '"occurred_at":"2026-03-01T20:34:56.789012+08:00","shoe":12,"round":31,"hand":"banker","position":3,"card":"10H",'
    '"note":"莊 \\" 1"}'
).encode()


def record(value: bytes, key: str = "BAC-01") -> Record:
    return Record(TABLE_EVENTS, 2, 77, key, value, MOMENT)


def test_row_has_the_envelope_and_the_message_as_sent() -> None:
    row = event_row(record(EVENT))
    assert row is not None
    assert json.loads(row) == {
        "table_id": "BAC-01", "epoch": 3, "seq": 1207, "event_id": "BAC-01:3:1207", "type": "card_drawn",
        "occurred_at": "2026-03-01T12:34:56.789012Z", "appended_at": "2026-03-01T12:34:56.789012Z", "shoe": 12,
        "round": 31, "raw": EVENT.decode(), "src_topic": "table-events", "src_partition": 2, "src_offset": 77,
    }  # fmt: skip


def test_event_of_no_round_has_round_zero() -> None:
    row = event_row(
        record(
            b'{"type":"heartbeat","event_id":"BAC-01:1:1","table_id":"BAC-01","epoch":1,"seq":1,'
            b'"occurred_at":"2026-03-01T12:00:00Z"}'
        )
    )
    assert row is not None
    assert (json.loads(row)["shoe"], json.loads(row)["round"]) == (0, 0)


@pytest.mark.parametrize("value", [b"", b"\xff", b"[]", EVENT[:-1], EVENT.replace(b"card_drawn", b"card_eaten")])
def test_message_that_is_no_event_has_no_row(value: bytes) -> None:
    assert event_row(record(value)) is None


def test_event_sent_as_another_tables_has_no_row() -> None:
    assert event_row(record(EVENT, key="BAC-02")) is None


NAMES = st.text(min_size=1, max_size=8)
EDGES = st.sampled_from([LARGEST, LARGEST + 1, -LARGEST, -LARGEST - 1])
NUMBERS = st.one_of(st.integers(), st.integers(-(2**70), 2**70), EDGES)
ROWS = st.lists(st.dictionaries(NAMES, st.one_of(NUMBERS, st.text(max_size=30)), max_size=4), max_size=5)


@given(ROWS)
def test_rows_with_an_integer_beyond_64_bits_are_found(rows: list[dict[str, int | str]]) -> None:
    encoded = [json.dumps(row, separators=(",", ":")).encode() for row in rows]
    expected = [
        index
        for index, row in enumerate(rows)
        if any(isinstance(value, int) and abs(value) > LARGEST for value in row.values())
    ]
    # A name that ends with a backslash is none of ours, and the only thing the check may miss.
    ours = all(not name.endswith("\\") for row in rows for name in row)
    assert not ours or beyond_64_bits(encoded, b"\n".join(encoded)) == expected


@pytest.mark.parametrize("text", ['":12345678901234567890', '\\":12345678901234567890', '"a":99999999999999999999'])
def test_digits_in_a_text_are_no_integer(text: str) -> None:
    row = msgspec.json.encode({"raw": text, "n": 1})
    assert beyond_64_bits([row], row) == []


@pytest.mark.parametrize(
    "row",
    [
        b'{"n": 12345678901234567890}',
        b'{"n":\n\t-12345678901234567890}',
        b'{"a":{"n":99999999999999999999}}',
    ],
)
def test_white_space_and_nesting_hide_nothing(row: bytes) -> None:
    assert beyond_64_bits([b"{}", row], b"{}\n" + row) == [1]
