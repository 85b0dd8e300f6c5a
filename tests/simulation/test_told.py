"""The soak's judge of messages: it is content with what the notifier does, and finds whatever is amiss."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pydantic import SecretStr

from processors.notify.database import FILE_NAME, Database
from processors.notify.intake import Intake
from processors.notify.outbox import Outbox, Target
from processors.notify.routing import NotificationSettings, Route
from schemas.log import Record
from schemas.topics import FACT_TOPICS
from schemas.wire import encode
from tests.contract.store.stored_facts import fact
from tests.kafka.programs import Facts
from tests.processors.notify.http_service import Received
from tests.simulation.told import ROUTE, Told, judge

NOW = datetime(2026, 1, 5, 4, tzinfo=UTC)
TARGET = Target(ROUTE, 0)
ALERTS = FACT_TOPICS["alert"]

STORIES: dict[str, list[dict[str, object]]] = {
    "stands": [{}],
    "told again as it was": [{}, {"text_en": "told again as it was, with more evidence"}],
    "put right": [{}, {"status": "corrected"}],
    "withdrawn": [{}, {"retracted": True}],
    "withdrawn before anybody knew": [{"retracted": True}],
    "in the flood": [{}],
    "in the flood too": [{}],
}
"""Alert → its revisions. The route takes five messages by themselves."""


class Floor:
    """What alerts came to, with a notifier that worked them off."""

    def __init__(self, folder: Path) -> None:
        self.queue = folder / FILE_NAME
        self.values = [
            encode(
                fact("alert", "B01", alert_id=name, revision=number, **{"text_en": name, "status": "raised"} | changes)
            )
            for name, revisions in STORIES.items()
            for number, changes in enumerate(revisions)
        ]
        route = Route(name=ROUTE, urls=(SecretStr("json://x"),), minimum_severity="info", languages="en")
        route = route.model_copy(update={"alerts_per_ten_minutes": 5})
        with closing(Database(self.queue)) as database:
            intake = Intake(database, NotificationSettings(routes=(route,)))
            intake.accept([Record(ALERTS, 0, at, "B01", one, NOW) for at, one in enumerate(self.values)], NOW)
            intake.summarise(NOW + timedelta(hours=1))
            self.received = list(_sent(Outbox(database)))

    def judged(self) -> Told:
        found: Facts = {topic: {} for topic in FACT_TOPICS.values()}
        found[ALERTS] = {"B01": self.values}
        return judge(found, self.queue, self.received)

    def spoil(self, sql: str) -> None:
        """Change what the notifier wrote down."""
        with closing(sqlite3.connect(self.queue)) as connection, connection:
            assert connection.execute(sql).rowcount > 0


def _sent(outbox: Outbox) -> list[Received]:
    sent = []
    while (send := outbox.next_send(TARGET, NOW + timedelta(hours=2))) is not None:
        sent.append(Received("/", "", send.message.title, send.message.body, send.message.tone))
        outbox.mark_sent(send.send_id, NOW)
    return sent


@pytest.fixture
def floor(tmp_path: Path) -> Floor:
    return Floor(tmp_path)


def test_notifier_that_did_its_work_is_faultless(floor: Floor) -> None:
    judged = floor.judged()
    assert judged.faults == []
    # Everything that stands, and what became of two of it; the last ones come in a summary.
    assert (judged.due, judged.in_summaries, judged.received) == (8, 3, 6)


def test_message_that_came_twice_is_none(floor: Floor) -> None:
    floor.received += floor.received[:2]
    assert floor.judged().faults == []
    assert floor.judged().received == 8


def lose(floor: Floor) -> None:
    del floor.received[0]


def lose_the_summary(floor: Floor) -> None:
    del floor.received[-1]


def say_another_thing(floor: Floor) -> None:
    floor.received.append(floor.received[0]._replace(message="something else"))


def forget(floor: Floor) -> None:
    floor.spoil("DELETE FROM notices WHERE alert_id = 'stands'")


def forget_one_in_the_flood(floor: Floor) -> None:
    floor.spoil("DELETE FROM notices WHERE alert_id = 'in the flood'")


def lose_where_it_was_summed_up(floor: Floor) -> None:
    floor.spoil("UPDATE notices SET summary_id = 'none' WHERE alert_id = 'in the flood'")


def invent(floor: Floor) -> None:
    floor.spoil("UPDATE notices SET alert_id = 'nobody raised it' WHERE alert_id = 'stands'")


def leave_waiting(floor: Floor) -> None:
    floor.spoil("UPDATE sends SET state = 'pending' WHERE alert_id = 'stands'")


def queue_another_text(floor: Floor) -> None:
    floor.spoil("UPDATE sends SET body = 'something else' WHERE alert_id = 'stands'")


@pytest.mark.parametrize(
    ("spoil", "fault"),
    [
        (lose, "never arrived: "),
        (lose_the_summary, "never arrived: Alert summary"),
        (say_another_thing, "arrived, and never called for: "),
        (forget, "recorded 0 times: ('stands', 0)"),
        (forget_one_in_the_flood, "recorded 0 times: ('in the flood', 0)"),
        (lose_where_it_was_summed_up, "in a summary that there isn't: ('in the flood', 0)"),
        (invent, "recorded, and never called for: ('nobody raised it', 0)"),
        (leave_waiting, "never sent, but pending: "),
        (queue_another_text, "not queued as it is: ('stands', 0)"),
    ],
)
def test_whatever_is_amiss_is_found(floor: Floor, spoil: Callable[[Floor], None], fault: str) -> None:
    spoil(floor)
    assert any(found.startswith(fault) for found in floor.judged().faults)


def test_alert_decided_twice_is_found(floor: Floor) -> None:
    columns = "route, alert_id, revision, standing, severity, code, table_id, shoe, round, occurred_at, decided_at"
    # The queue's own layout forbids it: one without that rule stands in.
    with closing(sqlite3.connect(floor.queue)) as connection, connection:
        connection.execute(f"CREATE TABLE copies AS SELECT {columns}, collapsed, summary_id FROM notices")
        connection.execute("INSERT INTO copies SELECT * FROM copies WHERE alert_id = 'stands'")
        connection.execute("DROP TABLE notices")
        connection.execute("ALTER TABLE copies RENAME TO notices")
    assert any(found.startswith("recorded 2 times: ('stands', 0)") for found in floor.judged().faults)
