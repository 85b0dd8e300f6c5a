"""The pace of a simulated floor: which of its events are due after so many seconds. Pure; the caller has the clock."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from pitwatch.scoring import Round
from producers.simulator.controller import Arrival
from producers.simulator.labels import Label

MOST_AT_ONCE: Final = 2_000
"""Arrivals taken at a time, so that whoever feeds them also gets to do other things."""


class Pacer:
    """Hands out arrivals in their order, `speed` simulated seconds a second, or all at once where `speed` is 0.

    No arrival is due before its own instant has come: a floor that has caught up with the present goes on at the
    present's pace. `labels` are those of what was handed out, `handed_out` is how many arrivals were.
    """

    def __init__(self, arrivals: Iterable[Arrival], start: datetime, speed: float) -> None:
        self._arrivals = iter(arrivals)
        self._start = start
        self._speed = speed
        self._next = next(self._arrivals, None)
        self._newest: dict[str, tuple[int, int]] = {}
        self._begun: set[Round] = set()
        self._closed: set[Round] = set()
        self.labels: list[Label] = []
        self.handed_out = 0

    @property
    def over(self) -> bool:
        """Whether everything was handed out."""
        return self._next is None

    def due(self, elapsed_seconds: float, now: datetime) -> list[Arrival]:
        """Return what is due at `now`, so many seconds after the beginning; at most `MOST_AT_ONCE` arrivals."""
        until = now
        if self._speed:
            until = min(now, self._start + timedelta(seconds=elapsed_seconds * self._speed))
        taken: list[Arrival] = []
        while len(taken) < MOST_AT_ONCE and (arrival := self._take(until)) is not None:
            self._note(arrival)
            taken.append(arrival)
        return taken

    def stragglers(self, latest: timedelta) -> list[Arrival]:
        """Return what was sent before something handed out already and is late by no more than `latest`.

        For a floor that is broken off: after them nothing is missing. What came later is dropped.
        """
        taken: list[Arrival] = []
        if self._next is not None:
            until = self._next.arrives_at + latest
            while (arrival := self._take(until)) is not None:
                event = arrival.event
                if (event.epoch, event.seq) < self._newest.get(event.table_id, (0, 0)):
                    self._note(arrival)
                    taken.append(arrival)
        return taken

    def unfinished(self) -> set[Round]:
        """Return the rounds of a floor that was broken off which nobody can judge yet, and shoes without a round."""
        rounds = {place for place in self._begun if place[2]}
        played = {(table_id, shoe) for table_id, shoe, _ in rounds}
        fresh = {place for place in self._begun if not place[2] and place[:2] not in played}
        return (rounds - self._closed) | fresh

    def _take(self, until: datetime) -> Arrival | None:
        arrival = self._next
        if arrival is None or arrival.arrives_at > until:
            return None
        self._next = next(self._arrivals, None)
        return arrival

    def _note(self, arrival: Arrival) -> None:
        event = arrival.event
        self.handed_out += 1
        self.labels += arrival.labels
        number = (event.epoch, event.seq)
        if number > self._newest.get(event.table_id, (0, 0)):
            self._newest[event.table_id] = number
        if shoe := getattr(event, "shoe", 0):
            place = (event.table_id, shoe, getattr(event, "round", 0))
            self._begun.add(place)
            if event.type == "round_closed":
                self._closed.add(place)
