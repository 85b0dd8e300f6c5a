"""Old facts leave the log once everybody has read them; a store that lacks some of them is not filled with holes."""

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from processors.fact_retention import INTERVAL, FactRetention
from processors.logs.sqlite import SqliteLog
from processors.store.port import StoreUnavailable
from schemas.log import Position
from schemas.topics import FACT_TOPICS, TABLE_EVENTS

DAY = timedelta(days=1)
START = datetime(2026, 1, 15, tzinfo=UTC)


class Floor:
    """A log in which a fact of every kind, and an event, is written each day for ten days."""

    def __init__(self, path: Path) -> None:
        self.now = START
        self.log = SqliteLog(path, clock=lambda: self.now)
        for _ in range(10):
            for topic in (TABLE_EVENTS, *FACT_TOPICS.values()):
                self.log.append(topic, [("T01", b"{}")])
            self.now += DAY

    def retention(self, days: int | None, *alert_groups: str) -> FactRetention:
        keep = None if days is None else timedelta(days=days)
        return FactRetention(self.log, "sink", alert_groups, keep, lambda: self.now)

    def read(self, group: str, topic: str, offset: int) -> None:
        self.log.commit_position(group, Position(topic, 0, offset))

    def first(self, topic: str) -> int:
        return self.log.read(topic, 0, 0, 1)[0].offset


@pytest.fixture
def floor(tmp_path: Path) -> Iterator[Floor]:
    floor = Floor(tmp_path / "log.sqlite")
    with closing(floor.log):
        yield floor


def test_facts_are_dropped_when_they_are_old_and_read_by_all(floor: Floor) -> None:
    for topic in FACT_TOPICS.values():
        floor.read("sink", topic, 10)
    floor.read("sink", "bets", 2)
    floor.read("notifier", "alerts", 4)
    with capture_logs() as logs:
        assert floor.retention(4, "notifier").sweep() == 6 * 6 + 1 + 3
    assert [entry["event"] for entry in logs] == ["facts_dropped"]
    assert floor.first("rounds") == 6
    assert floor.first("bets") == 1, "the last one read stays"
    assert floor.first("alerts") == 3
    assert floor.first(TABLE_EVENTS) == 0


def test_nothing_read_is_nothing_dropped(floor: Floor) -> None:
    assert floor.retention(1).sweep() == 0


def test_facts_are_kept_for_good_unless_it_is_said_for_how_long(floor: Floor) -> None:
    floor.read("sink", "rounds", 10)
    assert floor.retention(None).sweep() == 0
    assert floor.first("rounds") == 0


def test_the_log_is_looked_through_once_in_a_while(floor: Floor) -> None:
    retention = floor.retention(3)
    floor.read("sink", "rounds", 5)
    assert retention.sweep() == 4
    floor.read("sink", "rounds", 10)
    assert retention.sweep() == 0
    floor.now += INTERVAL
    assert retention.sweep() > 0


def test_store_that_lacks_dropped_facts_is_refused(floor: Floor) -> None:
    retention = floor.retention(3)
    retention.check()
    floor.read("sink", "rounds", 10)
    retention.sweep()
    retention.check()
    with pytest.raises(StoreUnavailable, match=r"lacks rounds .*keep_facts_days.* `pitwatch replay`"):
        FactRetention(floor.log, "sink of a new store", (), None, lambda: floor.now).check()
