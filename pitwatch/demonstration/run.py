"""A demonstration at work: the simulated floor into the log at its pace, the pipeline's facts back out of it."""

import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from pitwatch.demonstration.pacing import Pacer
from pitwatch.demonstration.plan import Plan
from pitwatch.demonstration.summary import Summary, ask_store, money_told
from pitwatch.floor_model import Floor
from pitwatch.floor_view import Status
from pitwatch.scoring import score
from producers.simulator import Arrival, Label, simulate
from schemas.facts import Fact
from schemas.topics import TABLE_EVENTS
from schemas.wire import encode

if TYPE_CHECKING:
    from processors.settings import Settings

MOST_BEHIND: Final = 20_000
"""Events that may wait in the log before the floor is held up: a demonstration shows the pipeline, not a backlog."""

RATE_SECONDS: Final = 3.0
"""Over how long the events a second are counted."""


class DemoRun:
    """One demonstration; use it as a context. What its pipeline raises passes through.

    `monotonic` and `clock` are for tests: seconds of a clock that never goes back, and the time of day.
    """

    def __init__(
        self,
        plan: Plan,
        settings: "Settings",
        *,
        monotonic: Callable[[], float] = time.monotonic,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        from processors.embedded import EmbeddedPipeline

        self.floor = Floor()
        self._plan = plan
        self._pacer = Pacer(simulate(plan.floor), plan.floor.start, plan.speed)
        self._facts: SimpleQueue[Sequence[Fact]] = SimpleQueue()
        self.pipeline = EmbeddedPipeline(settings, on_facts=self._facts.put)
        self._monotonic = monotonic
        self._clock = clock
        self._began = 0.0
        self._fed: deque[tuple[float, int]] = deque()
        self._resources = ExitStack()
        self._broken_off = False

    def __enter__(self) -> Self:
        self._resources.enter_context(self.pipeline)
        self.pipeline.start()
        self._began = self._monotonic()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._resources.close()

    @property
    def over(self) -> bool:
        """Whether the whole floor is in the log, or the pipeline gave up."""
        return self._pacer.over or self.pipeline.stopping.is_set()

    @property
    def labels(self) -> list[Label]:
        """What was done wrong on purpose so far."""
        return self._pacer.labels

    def step(self) -> None:
        """Feed what is due, and take in what was made of it."""
        if self.pipeline.reconstructor.behind() <= MOST_BEHIND:
            self._append(self._pacer.due(self._monotonic() - self._began, self._clock()))
        self._hear()

    def finish(self, latest: timedelta) -> None:
        """End the floor, broken off where it is not over, and wait until everything is stored.

        `latest` is how late an event can be. Raises what a loop of the pipeline died of.
        """
        self._broken_off = not self._pacer.over
        if self._broken_off:
            self._append(self._pacer.stragglers(latest))
        self.pipeline.finish_input()
        self._hear()

    def _append(self, arrivals: Sequence[Arrival]) -> None:
        if arrivals:
            events = (arrival.event for arrival in arrivals)
            self.pipeline.log.append(TABLE_EVENTS, [(event.table_id, encode(event)) for event in events])
            self._fed.append((self._monotonic(), len(arrivals)))

    def _hear(self) -> None:
        while True:
            try:
                facts = self._facts.get_nowait()
            except Empty:
                return
            self.floor.take(facts, self._monotonic())

    def status(self) -> Status:
        """Return how the run stands."""
        now = self._monotonic()
        while self._fed and now - self._fed[0][0] > RATE_SECONDS:
            self._fed.popleft()
        health = self.pipeline.health()
        floor = self._plan.floor
        return Status(
            title=f"模擬場 Simulated floor · seed {floor.seed}",
            speed=self._plan.speed,
            now=now,
            elapsed_seconds=now - self._began,
            rounds=floor.rounds * len(floor.tables) if floor.rounds else None,
            events=self._pacer.handed_out,
            events_per_second=sum(count for _, count in self._fed) / min(RATE_SECONDS, max(now - self._began, 1.0)),
            events_behind=health.events_behind,
            facts_behind=health.facts_behind,
            trouble="; ".join(f"{loop}: {trouble}" for loop, trouble in health.troubles.items()),
        )

    def summary(self) -> Summary:
        """Return what came of it, once it is finished."""
        stored, expected = ask_store(self.pipeline.store, self._plan.floor.tables)
        unfinished = self._pacer.unfinished() if self._broken_off else set()
        return Summary(
            floor=self.floor,
            tables=self._plan.floor.tables,
            score=score(self.labels, self.floor.alerts.values(), unfinished),
            stored=stored,
            told=money_told(self.floor),
            expected=expected,
            events=self._pacer.handed_out,
            repeats=self.pipeline.reconstructor.repeats,
            seconds=self._monotonic() - self._began,
        )
