"""The windows as the worker keeps them: filled by its streams, read by whoever asks, shown to Prometheus."""

import threading
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final

from prometheus_client import Gauge
from pydantic import JsonValue

from processors.live.windows import Dealing, Play, Window, Windows
from processors.metrics import (
    WINDOW_DECISIONS,
    WINDOW_ERRORS,
    WINDOW_HANDLE,
    WINDOW_PACE,
    WINDOW_ROUNDS,
    WINDOW_TABLES,
    WINDOW_WIN,
)
from processors.streams.watchdog import Share
from schemas.facts import Fact
from schemas.log import Record
from schemas.topics import FACT_TOPICS

KINDS: Final = {topic: kind for kind, topic in FACT_TOPICS.items()}
"""Topic → the kind of its facts."""

_Labels = tuple[str, ...]


class FloorNow:
    """The windows of play of this worker's tables; any thread may call it.

    `pits` are shown whether or not anybody plays there. What was gained is `missing` until its past was read.
    """

    def __init__(self, minutes: Sequence[int], pits: Iterable[str], now: datetime) -> None:
        self._minutes = sorted(set(minutes))
        self._pits = frozenset(pits)
        self._windows = Windows(self._minutes[-1], now)
        self._shares: set[Share] = set()
        self._missing: set[Share] = set()
        self._shown: dict[Gauge, set[_Labels]] = {}
        self._lock = threading.Lock()

    @property
    def longest(self) -> timedelta:
        """How far back the longest window reaches."""
        return timedelta(minutes=self._minutes[-1])

    def take(self, fact: Fact, record: Record) -> None:
        """Count a fact, unless that was done or another worker does it now."""
        with self._lock:
            if (record.topic, record.partition) in self._shares:
                self._windows.take(fact, record.partition, record.appended_at)

    def share(self, shares: Collection[Share]) -> set[Share]:
        """Count what comes in these partitions and no others; return those whose past is to be read."""
        with self._lock:
            for lost in self._shares - set(shares):
                self._windows.drop(KINDS[lost.topic], [lost.partition])
            gained = set(shares) - self._shares
            self._missing = (self._missing | gained) & set(shares)
            self._shares = set(shares)
            return gained

    def read(self, share: Share) -> None:
        """Note that the past of a partition was read."""
        with self._lock:
            self._missing.discard(share)

    def page(self, now: datetime) -> dict[str, JsonValue]:
        """Return the windows for people and programs, amounts in minor units. `complete`: nothing is still to be read.

        Several workers' pages add up, pit by pit and dealer by dealer.
        """
        windows, shares, complete = self._look(now)
        return {
            "at": now.isoformat(),
            "complete": complete,
            "partitions": {
                topic: [share.partition for share in sorted(shares) if share.topic == topic]
                for topic in sorted({share.topic for share in shares})
            },
            "windows": [window_row(window) for window in windows],
        }

    def show(self, now: datetime) -> None:
        """Tell Prometheus the windows, once they are complete."""
        windows, _, complete = self._look(now)
        if not complete:
            return
        values: dict[Gauge, dict[_Labels, float]] = {}
        for window in windows:
            for pit, play in window.pits.items():
                _gather(values, (pit, str(window.minutes)), play)
        for gauge in self._shown.keys() | values.keys():
            found = values.get(gauge, {})
            for labels, value in found.items():
                gauge.labels(*labels).set(value)
            for labels in self._shown.get(gauge, set()) - found.keys():
                gauge.remove(*labels)
            self._shown[gauge] = set(found)

    def _look(self, now: datetime) -> tuple[list[Window], set[Share], bool]:
        with self._lock:
            self._windows.advance(now)
            windows = [self._windows.window(now, minutes, self._pits) for minutes in self._minutes]
            return windows, set(self._shares), not self._missing


def _gather(values: dict[Gauge, dict[_Labels, float]], labels: _Labels, play: Play) -> None:
    for gauge, value in (
        (WINDOW_TABLES, play.tables),
        (WINDOW_ROUNDS, play.rounds),
        (WINDOW_DECISIONS, play.decisions),
        (WINDOW_PACE, play.pace),
        (WINDOW_ERRORS, play.errors),
    ):
        values.setdefault(gauge, {})[labels] = value
    for money in play.money:
        values.setdefault(WINDOW_HANDLE, {})[*labels, money.currency] = money.handle
        values.setdefault(WINDOW_WIN, {})[*labels, money.currency] = money.house_win


def window_row(window: Window) -> dict[str, JsonValue]:
    """Return a window as the page has it."""
    return {
        "minutes": window.minutes,
        "floor": _play_row(window.floor),
        "pits": [{"pit": pit, **_play_row(play)} for pit, play in window.pits.items()],
        "dealers": [_dealing_row(dealing) for dealing in window.dealers],
    }


def _play_row(play: Play) -> dict[str, JsonValue]:
    return {
        "tables": play.tables,
        "rounds": play.rounds,
        "decisions": play.decisions,
        "table_minutes": play.table_minutes,
        "decisions_per_table_hour": round(play.pace, 2),
        "dealer_errors": play.errors,
        "money": [
            {"currency": money.currency, "handle": money.handle, "house_win": money.house_win} for money in play.money
        ],
    }


def _dealing_row(dealing: Dealing) -> JsonValue:
    rate = dealing.error_rate
    return {
        "dealer_id": dealing.dealer_id,
        "rounds": dealing.rounds,
        "errors": dealing.errors,
        "errors_per_100_rounds": None if rate is None else round(rate, 2),
    }
