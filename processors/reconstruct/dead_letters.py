"""Dead letters: what became of messages that could not be used."""

from base64 import b64encode

from processors.reconstruct.sequencer import Entry
from schemas.events import Event
from schemas.facts import DeadLetterFact, Fact
from schemas.structs import struct_of
from schemas.topics import TABLE_EVENTS
from schemas.wire import InvalidEvent

DeadLetterRow = struct_of(DeadLetterFact, tag="dead_letter", tag_field="fact")


def dead_letter(table_id: str, entry: Entry, reason: str, detail: str, what: Event | InvalidEvent) -> Fact:
    """Return the dead letter for an entry, with its bytes; it names event, shoe and round as far as `what` does."""
    return DeadLetterRow(
        table_id=table_id,
        occurred_at=entry.appended_at,
        reason=reason,
        detail=detail,
        event_id=what.event_id,
        shoe=getattr(what, "shoe", 0),
        round=getattr(what, "round", 0),
        src_topic=TABLE_EVENTS,
        src_partition=entry.partition,
        src_offset=entry.offset,
        raw=b64encode(entry.raw).decode(),
    )
