"""Whether people were told what the alerts in the log called for: all of it, at least once, and nothing else."""

import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple, cast

from processors.notify.message import Standing, render
from processors.notify.notices import is_news, standing_of
from schemas.facts import AlertFact
from schemas.topics import FACT_TOPICS
from schemas.wire import decode_fact
from tests.kafka.programs import Facts
from tests.processors.notify.http_service import Received

ROUTE = "boss"
LOCAL_OFFSET = timedelta(hours=8)

Key = tuple[str, int]
"""An alert and its revision."""

Text = tuple[str, str]
"""A message's title and its body."""


class Told(NamedTuple):
    """What came of the alerts; `faults` is what must not be."""

    due: int
    in_summaries: int
    received: int
    faults: list[str]


class Queue(NamedTuple):
    """What the notifier wrote down: what was decided, with the summary it went into, and what became of messages."""

    notices: dict[Key, list[str | None]]
    sends: dict[Key, tuple[Text, str]]


def judge(found: Facts, queue: Path, received: Sequence[Received]) -> Told:
    """Compare what the facts call for with what the notifier recorded and with what arrived."""
    due = dict(_due(found))
    recorded = _read(queue)
    singles, faults = _singles(due, recorded)
    summaries = {key: text for key, (text, _) in recorded.sends.items() if key not in due}
    faults += [f"never sent, but {state}: {text[0]}" for text, state in recorded.sends.values() if state != "sent"]
    faults += [f"recorded, and never called for: {key}" for key in recorded.notices.keys() - due.keys()]
    wanted = Counter([*singles, *summaries.values()])
    arrived = Counter((one.title, one.message) for one in received)
    # Whether a message arrived of which the answer was lost, nobody can say: those come twice.
    faults += [f"never arrived: {title}: {body}" for title, body in (wanted - arrived).elements()]
    faults += [f"arrived, and never called for: {title}: {body}" for title, body in arrived.keys() - wanted.keys()]
    return Told(len(due), len(due) - len(singles), arrived.total(), faults)


def _singles(due: dict[Key, Text], recorded: Queue) -> tuple[list[Text], list[str]]:
    """Return the messages that had to come by themselves, and what is wrong in what was recorded of all of them."""
    singles, faults = [], []
    for key, text in due.items():
        summaries: Sequence[str | None] = recorded.notices.get(key, [])
        if len(summaries) != 1:
            faults.append(f"recorded {len(summaries)} times: {key} {text[0]}")
        elif summaries[0] is None:
            singles.append(text)
            if recorded.sends.get(key, ("", ""))[0] != text:
                faults.append(f"not queued as it is: {key} {text[0]}")
        elif (summaries[0], 0) not in recorded.sends:
            faults.append(f"in a summary that there isn't: {key} {text[0]}")
    return singles, faults


def _due(found: Facts) -> Iterator[tuple[Key, Text]]:
    """Yield what somebody who wants to know everything is to be told, for each change in how an alert stands."""
    standings: dict[str, Standing] = {}
    for values in found[FACT_TOPICS["alert"]].values():
        for value in values:
            alert = cast(AlertFact, decode_fact(value))
            before, now = standings.get(alert.alert_id), standing_of(alert)
            standings[alert.alert_id] = now
            if is_news(before, now):
                message = render(alert, now, "en", LOCAL_OFFSET)
                yield (alert.alert_id, alert.revision), (message.title, message.body)


def _read(queue: Path) -> Queue:
    notices: dict[Key, list[str | None]] = {}
    with closing(sqlite3.connect(f"{queue.as_uri()}?mode=ro", uri=True)) as connection:
        decided = connection.execute(
            "SELECT alert_id, revision, collapsed, summary_id FROM notices WHERE route = ?", [ROUTE]
        )
        for alert, revision, collapsed, summary in decided:
            notices.setdefault((alert, revision), []).append(str(summary) if collapsed else None)
        sent = connection.execute("SELECT alert_id, revision, title, body, state FROM sends WHERE route = ?", [ROUTE])
        return Queue(
            notices, {(alert, revision): ((title, body), state) for alert, revision, title, body, state in sent}
        )
