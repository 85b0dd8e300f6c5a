"""What came of a file of events: facts and rows, with their sources named by the file instead of by a log.

Two logs give the same message different places, so a fact's source is told by the line that holds the message. Nothing
else is changed but what says when a log got a message: `appended_at` of an event's row, and `occurred_at` of a dead
letter, whose message has no time of its own.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, cast

import msgspec

from processors.store.clickhouse import ClickHouseStore
from processors.store.port import VIEWS
from schemas.facts import FACT_KEYS
from schemas.log import EventLog, Position
from schemas.topics import FACT_TOPICS, TABLE_EVENTS
from tests.simulation.identity.event_file import EventFile

Row = dict[str, Any]

PAGE = 5_000

_canonical = msgspec.json.Encoder(order="sorted")


class Digest(NamedTuple):
    """So many rows, and what they say."""

    rows: int
    said: str


Digests = dict[str, dict[str, Digest]]
"""By topic or view, and by table."""


class Outcome(NamedTuple):
    """Facts in the order in which they were written, the last word on each key, and what the store shows."""

    written: Digests
    final: Digests
    stored: Digests

    def differences(self, other: "Outcome") -> list[str]:
        """Return a line for every table, kind and way of looking in which two outcomes differ."""
        return [
            f"{look} {name} {table}: {ours.get(table)} and {theirs.get(table)}"
            for look, mine, its in zip(self._fields, self, other, strict=True)
            for name in sorted(mine.keys() | its.keys())
            for ours, theirs in [(mine.get(name, {}), its.get(name, {}))]
            for table in sorted(ours.keys() | theirs.keys())
            if ours.get(table) != theirs.get(table)
        ]

    def rows(self) -> dict[str, int]:
        """Return how many rows there are of each look."""
        return {
            look: sum(one.rows for tables in digests.values() for one in tables.values())
            for look, digests in zip(self._fields, self, strict=True)
        }


class Places:
    """Where in the file the messages of one log stand."""

    def __init__(self, file: EventFile, log: EventLog) -> None:
        self._lines: dict[tuple[int, int], int] = {}
        for partition in log.partitions(TABLE_EVENTS):
            for key, offset, value in _records(log, TABLE_EVENTS, partition):
                self._lines[partition, offset] = file.place(key, value)
        missing = file.messages - len(set(self._lines.values()))
        assert not missing, f"the log lacks {missing} messages"

    def named(self, row: Row) -> Row:
        """Return a row whose source is the line of the file."""
        line = self._lines[int(row["src_partition"]), int(row["src_offset"])]
        return {**row, "src_partition": 0, "src_offset": line}


def outcome(file: EventFile, log: EventLog, store: ClickHouseStore) -> Outcome:
    """Return what a log and a store hold."""
    topics = (TABLE_EVENTS, *FACT_TOPICS.values())
    # Has a reader follow them all at once, which is quicker than one after the other.
    log.wait_any([Position(topic, one, 0) for topic in topics for one in log.partitions(topic)], 0.0)
    places = Places(file, log)
    written: Digests = {}
    final: Digests = {}
    for kind, topic in FACT_TOPICS.items():
        written[topic], final[topic] = _facts(kind, topic, log, places)
    return Outcome(written, final, {view: _stored(kind, view, file, store, places) for kind, view in VIEWS.items()})


def _facts(kind: str, topic: str, log: EventLog, places: Places) -> tuple[dict[str, Digest], dict[str, Digest]]:
    sequences: dict[str, list[bytes]] = {}
    newest: dict[str, dict[tuple[Any, ...], tuple[int, bytes]]] = {}
    for partition in log.partitions(topic):
        for table, _, value in _records(log, topic, partition):
            row = _plain(kind, places.named(msgspec.json.decode(value)))
            said = _canonical.encode(row)
            sequences.setdefault(table, []).append(said)
            key = tuple(row[name] for name in FACT_KEYS[kind])
            words = newest.setdefault(table, {})
            if key not in words or words[key][0] <= row["revision"]:
                words[key] = (row["revision"], said)
    if kind == "dead_letter":
        # A line that had to be sent again, for want of an answer, has a letter for each time.
        sequences = {table: list(dict.fromkeys(said)) for table, said in sequences.items()}
    return (
        {table: _digest(said) for table, said in sequences.items()},
        {table: _digest(sorted(said for _, said in words.values())) for table, words in newest.items()},
    )


def _stored(kind: str, view: str, file: EventFile, store: ClickHouseStore, places: Places) -> dict[str, Digest]:
    found = {}
    for table in sorted(file.tables):
        # Several copies of one line have a row each among the dead letters; see above.
        lines = {_canonical.encode(_plain(kind, places.named(row))) for row in _rows(store, view, table)}
        if lines:
            found[table] = _digest(sorted(lines))
    return found


def _rows(store: ClickHouseStore, view: str, table: str) -> Iterator[Row]:
    answer = store.query(f"SELECT * FROM {view} WHERE table_id = {{table:String}}", {"table": table})
    for line in answer.splitlines():
        yield cast(Row, msgspec.json.decode(line))


def _plain(kind: str, row: Row) -> Row:
    if kind == "event":
        row.pop("appended_at", None)
    if kind == "dead_letter":
        row.pop("occurred_at", None)
    return row


def _records(log: EventLog, topic: str, partition: int) -> Iterator[tuple[str, int, bytes]]:
    offset = 0
    while records := log.read(topic, partition, offset, PAGE):
        for record in records:
            yield record.key, record.offset, record.value
        offset = records[-1].offset + 1


def _digest(lines: Iterable[bytes]) -> Digest:
    hashed, count = hashlib.blake2b(digest_size=12), 0
    for line in lines:
        hashed.update(line + b"\n")
        count += 1
    return Digest(count, hashed.hexdigest())


def all_alike(outcomes: Mapping[str, Outcome]) -> list[str]:
    """Return in what the outcomes differ from the first."""
    (first, expected), *others = outcomes.items()
    return [f"{name}, unlike {first}: {line}" for name, found in others for line in expected.differences(found)]
