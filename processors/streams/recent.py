"""The facts of the last minutes, read from the log itself: with them a worker that starts fills its windows again."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from confluent_kafka import TopicPartition

from processors.logs.kafka_clients import Clients
from processors.logs.kafka_reader import GROUP as READERS
from schemas.log import EventLog, Record

PAGE_RECORDS: Final = 5_000


class Recent:
    """Finds the records of a partition that the log took since a moment."""

    def __init__(self, log: EventLog, clients: Clients) -> None:
        self._log = log
        self._clients = clients

    def records(self, topic: str, partition: int, since: datetime) -> Iterator[Record]:
        """Yield what the partition got from `since` up to now, in order. Raises `LogUnavailable`."""
        end = self._log.end(topic, partition)
        yield from self.between(topic, partition, self._first(topic, partition, since), end)

    def before(self, record: Record, since: datetime, offset: int | None) -> Iterator[Record]:
        """Yield what the record's partition got before it, from `offset` on, or where that is None from `since`.

        Raises `LogUnavailable`.
        """
        first = self._first(record.topic, record.partition, since) if offset is None else offset
        yield from self.between(record.topic, record.partition, first, record.offset)

    def between(self, topic: str, partition: int, offset: int, end: int) -> Iterator[Record]:
        """Yield the records from one offset on and below another, in order. Raises `LogUnavailable`."""
        while offset < end and (records := self._log.read(topic, partition, offset, PAGE_RECORDS)):
            yield from (record for record in records if record.offset < end)
            offset = records[-1].offset + 1

    def _first(self, topic: str, partition: int, since: datetime) -> int:
        """Return the offset of the first record since then, or one behind them all."""
        asked = TopicPartition(topic, partition, int(since.timestamp() * 1000))
        consumer = self._clients.consumer(READERS, {})
        try:
            with self._clients.told(f"find the records of {topic} since {since:%H:%M}"):
                (found,) = consumer.offsets_for_times([asked], self._clients.timeout_seconds)
        finally:
            consumer.close()
        return self._log.end(topic, partition) if found.offset < 0 else found.offset
