"""How long the log keeps facts. Events it keeps for ever, for everything can be worked out from them again."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Final

import structlog

from processors.logs.sqlite import PARTITION, SqliteLog
from processors.store.port import StoreUnavailable
from schemas.topics import FACT_TOPICS

INTERVAL: Final = timedelta(hours=1)

_logger: Final = structlog.get_logger(__name__)


class FactRetention:
    """Drops facts from the log which are older than `keep` and which every group has read; None keeps them all.

    `alert_groups` read the alerts besides `store_group`, which reads every fact.
    """

    def __init__(
        self,
        log: SqliteLog,
        store_group: str,
        alert_groups: Sequence[str],
        keep: timedelta | None,
        clock: Callable[[], datetime],
    ) -> None:
        self._log = log
        self._keep = keep
        self._clock = clock
        self._groups = {topic: [store_group] for topic in FACT_TOPICS.values()}
        self._groups[FACT_TOPICS["alert"]] += alert_groups
        self._due_at: datetime | None = None

    def check(self) -> None:
        """Raise `StoreUnavailable` where the store lacks facts that the log has no more."""
        for topic, (store_group, *_) in self._groups.items():
            first = self._log.read(topic, PARTITION, 0, 1)
            if first and first[0].offset > self._log.position(store_group, topic, PARTITION):
                raise StoreUnavailable(
                    f"the store lacks {topic} which the log doesn't keep any more (pipeline.keep_facts_days). Run"
                    " `pitwatch replay`: it works them out again from the events"
                )

    def sweep(self) -> int:
        """Drop what may go, once in an hour; return how many facts those were. Raises `LogUnavailable`."""
        now = self._clock()
        if self._keep is None or (self._due_at is not None and now < self._due_at):
            return 0
        dropped = sum(self._drop(topic, now - self._keep) for topic in self._groups)
        self._due_at = now + INTERVAL
        if dropped:
            _logger.info("facts_dropped", facts=dropped, keep_days=self._keep.days)
        return dropped

    def _drop(self, topic: str, before: datetime) -> int:
        read = min(self._log.position(group, topic, PARTITION) for group in self._groups[topic])
        # The last fact read stays: a replay asks it how far people were told.
        return self._log.drop_before(topic, min(self._log.first_since(topic, before), read - 1))
