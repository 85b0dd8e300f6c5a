"""The table's controller: it numbers and stamps what happens, and says that it is alive when nothing does."""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from msgspec.structs import replace

from producers.simulator.labels import Label
from schemas.events import Event
from schemas.ids import event_id
from schemas.wire import EVENT_STRUCTS

SECOND: Final = 1_000_000
"""The simulated clock counts microseconds."""

_TICK: Final = 1_000

LATENCY: Final = timedelta(milliseconds=40)
"""From a table to the log, when nothing is in the way."""

_NEW: Final[dict[str, Callable[..., Event]]] = dict(EVENT_STRUCTS)


class Arrival(NamedTuple):
    """An event as it reaches the log, and the labels of what it shows. `table` is the table's place on the floor.

    Arrivals of different tables compare by instant, then by table.
    """

    arrives_at: datetime
    table: int
    event: Event
    labels: tuple[Label, ...] = ()


class Controller:
    """One table's controller, from its first boot at `start`. `now` is its clock in microseconds since then."""

    def __init__(self, table_id: str, start: datetime, heartbeat_seconds: int) -> None:
        self.table_id = table_id
        self.start = start
        self.now = 0
        self._heartbeat = heartbeat_seconds * SECOND
        self._seq = 0
        self._last = -1
        self._prefix = event_id(table_id, 1, 0)[:-1]
        self._sent: list[Event] = []
        self._labels: dict[str, list[Label]] = {}

    def send(self, kind: str, /, **fields: object) -> str:
        """Send an event of type `kind` now, and return its id."""
        return self.emit(kind, fields)

    def emit(self, kind: str, fields: dict[str, object]) -> str:
        """Do as `send` does, with `fields` to keep: the envelope is added to them."""
        # Two things never happen at once: a controller takes them one after the other.
        if self.now <= self._last:
            self.now = self._last + _TICK
        self._last = self.now
        self._seq = seq = self._seq + 1
        if seq == 1:
            fields["follows"] = (0, 0)
        fields["event_id"] = identity = f"{self._prefix}{seq}"
        fields["table_id"] = self.table_id
        fields["epoch"] = 1
        fields["seq"] = seq
        fields["occurred_at"] = self.start + timedelta(0, 0, self.now)
        self._sent.append(_NEW[kind](**fields))
        return identity

    def instant(self) -> datetime:
        """Return what the controller's clock shows."""
        return self.start + timedelta(0, 0, self.now)

    def wait(self, microseconds: int) -> None:
        """Let time pass, with heartbeats."""
        end = self.now + microseconds
        while end - self.now > self._heartbeat:
            self.now += self._heartbeat
            self.send("heartbeat")
        self.now = end

    def fall_silent(self, seconds: float) -> None:
        """Let time pass without a sign of life."""
        self.now += int(seconds * SECOND)

    def label(self, label: Label) -> None:
        """Keep `label` for the event it names, not drained yet; it gets the event's instant when it is."""
        self._labels.setdefault(label.event_id, []).append(label)

    def drain(self, table: int) -> Iterator[Arrival]:
        """Yield what was sent since the last time, in order, and forget it."""
        labels = self._labels
        for event in self._sent:
            at = event.occurred_at
            found = labels.pop(event.event_id, ()) if labels else ()
            yield Arrival(at + LATENCY, table, event, tuple(replace(label, occurred_at=at) for label in found))
        assert not labels, "a label names an event that is gone, or was never sent"
        self._sent.clear()
