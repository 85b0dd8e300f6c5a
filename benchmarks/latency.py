"""How long it takes from a table's event to its facts and to people's phones, while a floor as large as Macau's plays.

The events come at a steady rate, in small appends as a gateway makes them. Each counts from the moment it was due, so
that one which waited for the append before it is not let off. A fact has come when it is committed (embedded) or can
be read by others (Kafka). An alert has come when a transport is asked to carry it (embedded), or when the request that
carries it has reached a service on this machine (Kafka); what a service then takes is its own.
"""

import sqlite3
import statistics
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple, cast

from pydantic import SecretStr

from processors.embedded import EmbeddedPipeline
from processors.notify.database import FILE_NAME
from processors.notify.port import Message
from processors.notify.routing import NotificationSettings, Route
from processors.settings_file import load_settings
from schemas.facts import AlertFact, Fact
from schemas.log import EventLog, Position, Record
from schemas.topics import FACT_TOPICS, TABLE_EVENTS
from schemas.wire import decode_fact

MACAU_EVENTS_PER_SECOND: Final = 3_500
"""About 6,000 tables, 70 rounds an hour, 30 events a round."""

APPEND_SECONDS: Final = 0.02
"""How long a gateway's requests are gathered here: each append is of what came meanwhile."""

FACT: Final = "event to fact"
MESSAGE: Final = "event to alert delivered"

SETTLE_SECONDS: Final = 30.0
"""How long the last messages are waited for."""

PAUSE_SECONDS: Final = 0.01

ALERTS_PER_TEN_MINUTES: Final = 1_000
"""More than are raised: no summary takes a message's place."""

Place = tuple[int, int]
"""Partition and offset of an event."""


class Latency(NamedTuple):
    """Seconds from event to fact and to message, each sorted; and the rate that was really kept."""

    facts: Sequence[float]
    alerts: Sequence[float]
    events_per_second: float


class Arrival(NamedTuple):
    """When something came of the event at a place."""

    at: float
    place: Place


class Phone:
    """A transport that takes everything at once and notes when."""

    def __init__(self) -> None:
        self.taken: list[float] = []

    def check(self, url: SecretStr) -> None:
        """Take every URL."""

    def send(self, url: SecretStr, message: Message) -> None:  # noqa: ARG002 - the port's
        """Note the moment."""
        self.note()

    def note(self) -> None:
        """Note that a message came now."""
        self.taken.append(time.perf_counter())

    def wait_for(self, messages: int) -> None:
        """Wait until so many were taken. Raises AssertionError where they don't come."""
        deadline = time.monotonic() + SETTLE_SECONDS
        while len(self.taken) < messages:
            if time.monotonic() > deadline:
                raise AssertionError(f"{messages} alerts were raised, {len(self.taken)} messages taken")
            time.sleep(PAUSE_SECONDS)


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value that this share of the sorted `values` doesn't exceed."""
    return values[min(len(values) - 1, int(share * len(values)))]


def summary(latency: Latency) -> list[tuple[str, int, float, float]]:
    """Return (what, how many, p50, p99) of facts and alerts; seconds."""
    return [
        (what, len(values), statistics.median(values), percentile(values, 0.99))
        for what, values in ((FACT, latency.facts), (MESSAGE, latency.alerts))
    ]


def measure(records: Sequence[Record], events_per_second: int = MACAU_EVENTS_PER_SECOND) -> Latency:
    """Send the events at the rate through a fresh live embedded pipeline."""
    phone = Phone()
    facts: list[Arrival] = []

    def note(committed: Sequence[Fact]) -> None:
        now = time.perf_counter()
        facts.extend(Arrival(now, (fact.src_partition, fact.src_offset)) for fact in committed)

    with tempfile.TemporaryDirectory(prefix="pitwatch-bench-") as folder:
        directory = Path(folder)
        settings = load_settings().model_copy(update={"data_directory": directory, "notifications": _one_route()})
        with EmbeddedPipeline(settings, transport=phone, live=True, on_facts=note) as pipeline:
            pipeline.start()
            pipeline.configured.wait()
            due, seconds = pace(pipeline.log, records, events_per_second)
            pipeline.drain()
            raised = alerts_in(pipeline.log)
            phone.wait_for(len(raised))
            messages = told(directory, phone, raised)
    return latency_of(due, seconds, facts, messages)


def latency_of(
    due: Mapping[Place, float], seconds: float, facts: Iterable[Arrival], messages: Iterable[Arrival]
) -> Latency:
    """Return how long after its event each fact and each message came. Pitwatch's own events count for nothing."""
    return Latency(
        sorted(at - due[place] for at, place in facts if place in due),
        sorted(at - due[place] for at, place in messages if place in due),
        len(due) / seconds,
    )


def _one_route() -> NotificationSettings:
    """Return the settings that have one phone told of everything."""
    route = Route(
        name="bench",
        urls=(SecretStr("json://127.0.0.1"),),
        minimum_severity="info",
        alerts_per_ten_minutes=ALERTS_PER_TEN_MINUTES,
    )
    return NotificationSettings(routes=(route,))


def pace(log: EventLog, records: Sequence[Record], rate: int) -> tuple[dict[Place, float], float]:
    """Append at the rate; return when the event at each place was due, and the seconds that all took."""
    due: dict[Place, float] = {}
    begun = time.perf_counter()
    while len(due) < len(records):
        first, end = len(due), min(len(records), int((time.perf_counter() - begun) * rate) + 1)
        if end > first:
            positions: Sequence[Position] = log.append(
                TABLE_EVENTS, [(record.key, record.value) for record in records[first:end]]
            )
            for number, position in enumerate(positions, first):
                due[position.partition, position.offset] = begun + number / rate
        time.sleep(APPEND_SECONDS)
    return due, time.perf_counter() - begun


def alerts_in(log: EventLog) -> dict[tuple[str, int], Place]:
    """Return the place of the event behind each alert (id, revision) in the log."""
    topic = FACT_TOPICS["alert"]
    found: dict[tuple[str, int], Place] = {}
    for partition in log.partitions(topic):
        offset = 0
        while records := log.read(topic, partition, offset, 10_000):
            for record in records:
                fact = cast(AlertFact, decode_fact(record.value))
                found[fact.alert_id, fact.revision] = (fact.src_partition, fact.src_offset)
            offset = records[-1].offset + 1
    return found


def told(directory: Path, phone: Phone, raised: Mapping[tuple[str, int], Place]) -> list[Arrival]:
    """Return when each message was taken: one phone gets them in the order of the queue."""
    with sqlite3.connect(directory / FILE_NAME) as queue:
        rows = queue.execute("SELECT alert_id, revision FROM sends ORDER BY send_id").fetchall()
    places = [raised[alert_id, revision] for alert_id, revision in rows]
    return [Arrival(at, place) for at, place in zip(phone.taken, places, strict=True)]
