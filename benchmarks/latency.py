"""How long it takes from a table's event to its facts and to people's phones, while a floor of all Macau plays.

The events come at a steady rate, in small appends as a gateway makes them. A fact's time counts from the moment before
the append of the event that called for it until it is committed; an alert's until a transport is asked to carry it.
What a service then takes for the delivery is its own.
"""

import sqlite3
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple, cast

from pydantic import SecretStr

from processors.embedded import EmbeddedPipeline
from processors.notify.database import FILE_NAME
from processors.notify.routing import NotificationSettings, Route
from processors.settings import Settings
from processors.settings_file import load_settings
from schemas.facts import AlertFact, Fact
from schemas.log import Record
from schemas.topics import FACT_TOPICS, TABLE_EVENTS
from schemas.wire import decode_fact

MACAU_EVENTS_PER_SECOND: Final = 3_500
"""About 6,000 tables, 70 rounds an hour, 30 events a round."""

APPEND_SECONDS: Final = 0.02
"""How long a gateway's requests are gathered here: each append is of what came meanwhile."""

FACT: Final = "event to committed fact"
MESSAGE: Final = "event to alert delivered"

SETTLE_SECONDS: Final = 30.0
"""How long the last messages are waited for."""


class Latency(NamedTuple):
    """Seconds from event to committed fact and to message, each sorted; and the rate that was really kept."""

    facts: Sequence[float]
    alerts: Sequence[float]
    events_per_second: float


class _Phone:
    """A transport that takes everything at once and notes when."""

    def __init__(self) -> None:
        self.taken: list[float] = []

    def check(self, url: SecretStr) -> None:
        """Take every URL."""

    def send(self, url: SecretStr, title: str, body: str) -> None:  # noqa: ARG002 - the port's
        """Note the moment."""
        self.taken.append(time.perf_counter())


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value that this share of the sorted `values` doesn't exceed."""
    return values[min(len(values) - 1, int(share * len(values)))]


def measure(records: list[Record], events_per_second: int = MACAU_EVENTS_PER_SECOND) -> Latency:
    """Send the events at the rate through a fresh live pipeline. Raises AssertionError where a message doesn't come."""
    phone = _Phone()
    committed: list[tuple[float, int]] = []

    def note(facts: Sequence[Fact]) -> None:
        now = time.perf_counter()
        committed.extend((now, fact.src_offset) for fact in facts)

    with tempfile.TemporaryDirectory(prefix="pitwatch-bench-") as folder:
        directory = Path(folder)
        with EmbeddedPipeline(_settings(directory), transport=phone, live=True, on_facts=note) as pipeline:
            pipeline.start()
            pipeline.configured.wait()
            first = pipeline.log.end(TABLE_EVENTS, 0)
            sent, taken = _send(pipeline, records, events_per_second)
            pipeline.drain()
            offsets = _alerts(pipeline)
            deadline = time.monotonic() + SETTLE_SECONDS
            while len(phone.taken) < len(offsets) and time.monotonic() < deadline:
                time.sleep(0.01)
            told = _told(directory, offsets)
    if len(phone.taken) != len(told):
        raise AssertionError(f"{len(offsets)} alerts were raised, {len(phone.taken)} messages taken")
    return Latency(
        sorted(at - sent[offset - first] for at, offset in committed if offset >= first),
        sorted(at - sent[offset - first] for at, offset in zip(phone.taken, told, strict=True)),
        len(records) / taken,
    )


def _settings(directory: Path) -> Settings:
    route = Route(
        name="bench", urls=(SecretStr("json://127.0.0.1"),), minimum_severity="info", alerts_per_ten_minutes=1000
    )
    return load_settings().model_copy(
        update={"data_directory": directory, "notifications": NotificationSettings(routes=(route,))}
    )


def _send(pipeline: EmbeddedPipeline, records: list[Record], rate: int) -> tuple[list[float], float]:
    """Append at the rate; return each event's moment before its append, and the seconds that all took."""
    sent: list[float] = []
    begun = time.perf_counter()
    while len(sent) < len(records):
        due = min(len(records), int((time.perf_counter() - begun) * rate) + 1)
        if due > len(sent):
            batch = [(record.key, record.value) for record in records[len(sent) : due]]
            # An event that waited for the append before it counts from when it was due, not from when its turn came.
            sent += [begun + number / rate for number in range(len(sent), due)]
            pipeline.log.append(TABLE_EVENTS, batch)
        time.sleep(APPEND_SECONDS)
    return sent, time.perf_counter() - begun


def _alerts(pipeline: EmbeddedPipeline) -> dict[tuple[str, int], int]:
    """Return the offset of the event behind each alert (id, revision) in the log."""
    topic = FACT_TOPICS["alert"]
    found: dict[tuple[str, int], int] = {}
    offset = 0
    while records := pipeline.log.read(topic, 0, offset, 10_000):
        for record in records:
            fact = cast(AlertFact, decode_fact(record.value))
            found[fact.alert_id, fact.revision] = fact.src_offset
        offset = records[-1].offset + 1
    return found


def _told(directory: Path, offsets: dict[tuple[str, int], int]) -> list[int]:
    """Return the offset of the event behind each message, in the order in which one phone gets them."""
    with sqlite3.connect(directory / FILE_NAME) as queue:
        rows = queue.execute("SELECT alert_id, revision FROM sends WHERE state = 'sent' ORDER BY send_id").fetchall()
    return [offsets[alert_id, revision] for alert_id, revision in rows]


def summary(latency: Latency) -> list[tuple[str, int, float, float]]:
    """Return (what, how many, p50, p99) of facts and alerts; seconds."""
    return [
        (what, len(values), statistics.median(values), percentile(values, 0.99))
        for what, values in ((FACT, latency.facts), (MESSAGE, latency.alerts))
    ]
