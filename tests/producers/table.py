"""A table for the producers' tests: its events as bytes, and a log that can be taken away."""

import json
from collections.abc import Sequence
from pathlib import Path

from processors.logs.sqlite import SqliteLog
from schemas.log import LogUnavailable, Position
from schemas.topics import TABLE_EVENTS
from schemas.wire import decode_event


def event(seq: int, table_id: str = "T01", epoch: int = 1, type: str = "heartbeat", **fields: object) -> bytes:
    """Return an event as a table would send it; `fields` may also break it."""
    whole = {
        "type": type,
        "event_id": f"{table_id}:{epoch}:{seq}",
        "table_id": table_id,
        "epoch": epoch,
        "seq": seq,
        "occurred_at": "2026-01-15T12:00:00Z",
    }
    return json.dumps(whole | fields).encode()


class FlakyLog(SqliteLog):
    """A log which can be away: `down` for appends, `unreadable` for readers. `appends` counts those that worked."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.down = False
        self.unreadable = False
        self.appends = 0

    def append(self, topic: str, messages: Sequence[tuple[str, bytes]]) -> list[Position]:
        if self.down:
            raise LogUnavailable("the disk is full")
        positions = super().append(topic, messages)
        self.appends += 1
        return positions

    def partitions(self, topic: str) -> Sequence[int]:
        if self.unreadable:
            raise LogUnavailable("the broker is away")
        return super().partitions(topic)

    def kept(self) -> list[tuple[str, bytes]]:
        """Return every message of the table events, as (key, value)."""
        return [(record.key, record.value) for record in self.read(TABLE_EVENTS, 0, 0, 1_000_000)]

    def identities(self) -> list[str]:
        """Return the identity of every table event in the log."""
        return [decode_event(value).event_id for _, value in self.kept()]
