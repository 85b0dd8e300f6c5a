"""The device library of one table: it numbers the table's events and keeps them until the log has them.

outbox = Outbox(Path("outbox.sqlite"), "T01")
publisher = Publisher(outbox, clock=lambda: datetime.now(UTC))
with Sender(outbox, HttpTransport("https://gateway:8600", token)).running():
    publisher.publish(lambda at: RoundOpened(**at, shoe=1, round=1))
"""

import threading
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TypedDict, TypeVar

from producers.outbox import Outbox, Waiting
from schemas.events import SYSTEM_EVENT_TYPES, Event
from schemas.ids import event_id
from schemas.wire import InvalidEvent, decode_event, encode

E = TypeVar("E", bound=Event)


class Envelope(TypedDict):
    """What the publisher knows of an event before it is built: spread it into the event's constructor."""

    table_id: str
    epoch: int
    seq: int
    event_id: str
    occurred_at: datetime
    follows: tuple[int, int] | None


class Publisher:
    """Numbers and keeps one table's events. Making one counts as a start of the table's controller.

    `clock` gives the present, with its zone. Safe for several threads. Raises `OutboxUnusable`.
    """

    def __init__(self, outbox: Outbox, clock: Callable[[], datetime]) -> None:
        self._outbox = outbox
        self._clock = clock
        self._lock = threading.Lock()
        self.epoch, self._follows = outbox.begin_epoch()
        self._next_seq = 1

    def publish(self, build: Callable[[Envelope], E]) -> E:
        """Build the next event and return it once it is durable.

        An event built in vain uses up no number. Raises what `build` raises, `InvalidEvent`, `OutboxFull` and
        `OutboxUnusable`.
        """
        (event,) = self.publish_all([build])
        return event

    def publish_all(self, builds: Sequence[Callable[[Envelope], E]]) -> list[E]:
        """Build several events in order and return them once all are durable; all are kept, or none."""
        with self._lock:
            envelopes = [self._envelope(self._next_seq + place) for place in range(len(builds))]
            events = [build(envelope) for build, envelope in zip(builds, envelopes, strict=True)]
            self._outbox.add([_checked(event, at) for event, at in zip(events, envelopes, strict=True)])
            self._next_seq += len(events)
        return events

    def _envelope(self, seq: int) -> Envelope:
        return {
            "table_id": self._outbox.table_id,
            "epoch": self.epoch,
            "seq": seq,
            "event_id": event_id(self._outbox.table_id, self.epoch, seq),
            "occurred_at": self._clock(),
            "follows": self._follows if seq == 1 else None,
        }


def _checked(event: Event, envelope: Envelope) -> Waiting:
    """Return the event as it goes out, judged as its reader will judge it: the fast constructors check nothing."""
    raw = encode(event)
    read = decode_event(raw)
    if read.event_id != envelope["event_id"] or read.follows != envelope["follows"]:
        raise InvalidEvent("invalid", f"built with another identity than {envelope['event_id']}", read.event_id)
    if read.type in SYSTEM_EVENT_TYPES:
        raise InvalidEvent("system_type", f"{read.type} is written by Pitwatch alone", read.event_id)
    return Waiting(read.epoch, read.seq, raw)
