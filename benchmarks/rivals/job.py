"""What the rivals do with an event: the job of Pitwatch's own worker, as somebody would write it who has its core.

Decode, fold, encode. What they leave out is what the worker does besides: a snapshot of each table beside its facts,
facts and positions together or not at all, and a topic for each kind of fact.
"""

import argparse
import json
import sys
import time
from datetime import UTC, datetime
from typing import Final, NamedTuple

from processors.reconstruct.fold import FoldSettings, TableFold
from schemas.log import Record
from schemas.wire import encode

OUTPUT: Final = "rival-facts"
"""Where every rival puts its facts."""


class Arguments(NamedTuple):
    """What a rival is told: which broker, which topic, and after how many events to stop."""

    bootstrap: str
    topic: str
    events: int


def arguments() -> Arguments:
    """Return what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bootstrap")
    parser.add_argument("topic")
    parser.add_argument("events", type=int)
    found = parser.parse_args()
    return Arguments(found.bootstrap, found.topic, found.events)


class Job:
    """Folds events one by one, and keeps the time."""

    def __init__(self, topic: str) -> None:
        self._topic = topic
        self._settings = FoldSettings()
        self._folds: dict[str, TableFold] = {}
        self._begun: float | None = None
        self.events = 0
        self.facts = 0

    def start(self) -> None:
        """Have the first event in hand."""
        if self._begun is None:
            self._begun = time.perf_counter()

    def facts_of(self, key: str, value: bytes, offset: int, appended_at_ms: int) -> list[bytes]:
        """Return the facts that one event calls for, as bytes."""
        self.start()
        fold = self._folds.get(key)
        if fold is None:
            fold = self._folds[key] = TableFold(key, self._settings)
        appended_at = datetime.fromtimestamp(appended_at_ms / 1000, UTC)
        facts = [encode(fact) for fact in fold.apply(Record(self._topic, 0, offset, key, value, appended_at))]
        self.events += 1
        self.facts += len(facts)
        return facts

    def report(self) -> None:
        """Stop the clock and print what was done."""
        assert self._begun is not None, "no event came"
        seconds = time.perf_counter() - self._begun
        # Faust makes whatever is printed a warning of its log's.
        print(
            json.dumps({"events": self.events, "facts": self.facts, "seconds": seconds}),
            file=sys.__stdout__,
            flush=True,
        )
