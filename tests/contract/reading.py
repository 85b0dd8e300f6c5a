"""What the tests of every event log send and how they read it back, counting on nothing but the port."""

from collections.abc import Iterator

from schemas.log import EventLog, Record

PATIENCE_SECONDS = 60
"""How long a thread may hang before its test fails; no passing test takes it."""

TABLES = [f"B{number:02d}" for number in range(12)]


def messages(count: int, *, start: int = 0) -> list[tuple[str, bytes]]:
    """Return numbered messages, dealt to the tables in turn."""
    return [(TABLES[number % len(TABLES)], b"%d" % number) for number in range(start, start + count)]


def partition_records(log: EventLog, topic: str, partition: int, page: int = 7) -> Iterator[Record]:
    """Yield all records of a partition, reading page by page."""
    offset = 0
    while records := log.read(topic, partition, offset, page):
        yield from records
        offset = records[-1].offset + 1


def all_records(log: EventLog, topic: str) -> list[Record]:
    """Return the topic's records, partition by partition."""
    return [record for partition in log.partitions(topic) for record in partition_records(log, topic, partition)]


def values(records: list[Record]) -> list[bytes]:
    """Return the records' values."""
    return [record.value for record in records]


def by_key(pairs: list[tuple[str, bytes]]) -> dict[str, list[bytes]]:
    """Return each key's values in order."""
    return {key: [value for other, value in pairs if other == key] for key, _ in pairs}


def pairs(records: list[Record]) -> list[tuple[str, bytes]]:
    """Return the records as the messages that were sent."""
    return [(record.key, record.value) for record in records]
