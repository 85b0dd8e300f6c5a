"""The shape of rows on their way into the store: what is refused, and what an event's row holds. Pure."""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Final

import msgspec

from schemas.log import Record
from schemas.wire import InvalidEvent, decode_event

# ClickHouse reads an integer of any length from JSON and keeps its lowest 64 bits without a word, so what could wrap
# must not get there. A quote behind a backslash belongs to a text's content, not to a field's name.
LARGEST: Final = 2**62
_LONG: Final = re.compile(rb'(?<!\\)":\s*-?([0-9]{19,})')

_LONG_RUN: Final = b"9" * 19
_DIGITS_ALIKE: Final = bytes.maketrans(b"012345678", b"999999999")

_encoder: Final = msgspec.json.Encoder()


class EventRow(msgspec.Struct):
    """A row of the events: the envelope as columns, and the whole message as it was sent."""

    table_id: str
    epoch: int
    seq: int
    event_id: str
    type: str
    occurred_at: datetime
    appended_at: datetime
    shoe: int
    round: int
    raw: str
    src_topic: str
    src_partition: int
    src_offset: int


def event_row(record: Record) -> bytes | None:
    """Return the row of a table's message; None where it is no event of that table, which dead letters then hold."""
    try:
        event = decode_event(record.value)
    except InvalidEvent:
        return None
    if event.table_id != record.key:
        return None
    return _encoder.encode(
        EventRow(
            event.table_id,
            event.epoch,
            event.seq,
            event.event_id,
            event.type,
            event.occurred_at,
            record.appended_at,
            getattr(event, "shoe", 0),
            getattr(event, "round", 0),
            record.value.decode(),
            record.topic,
            record.partition,
            record.offset,
        )
    )


def beyond_64_bits(rows: Sequence[bytes], block: bytes) -> list[int]:
    """Return the indexes of the rows with an integer above `LARGEST` or below its negative; `block` holds them all."""
    # Long runs of digits are rare, and much quicker to rule out than the expression is to try at every field.
    if _LONG_RUN not in block.translate(_DIGITS_ALIKE) or not _LONG.search(block):
        return []
    return [index for index, row in enumerate(rows) if any(map(_is_too_large, _LONG.findall(row)))]


def _is_too_large(digits: bytes) -> bool:
    return len(digits) > 19 or int(digits) > LARGEST
