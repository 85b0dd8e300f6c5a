"""Follows partitions with one consumer: what was fetched waits here until it is read, partition by partition."""

import time
from collections import deque
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from confluent_kafka import Consumer, KafkaError, Message, TopicPartition

from processors.logs.kafka_bounded import close_consumers
from processors.logs.kafka_clients import Clients
from processors.logs.kafka_errors import explained
from processors.logs.kafka_offsets import offsets
from schemas.log import LogError, LogUnavailable, Position, Record

GROUP: Final = "pitwatch-readers"
"""The group of consumers which commit nothing: Kafka wants every consumer to name one."""

FETCHED_AT_ONCE: Final = 10_000

# What may wait here in all, and of one partition however many there are. A partition that has its share waiting isn't
# fetched further until half of it was read.
_MOST_BYTES: Final = 64 * 2**20
_LEAST_SHARE_BYTES: Final = 2**20

# The longest that a thread is inside the consumer: closing the log is noticed that late.
_SLICE_SECONDS: Final = 0.05

_OUT_OF_RANGE: Final = frozenset({KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE})

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)


class _Stream:
    """One partition as it is followed.

    `place` is behind the last record read (or where reading began) and `seen` the offset below which all is known.
    `bare` is behind the last record fetched: from there up to `seen` there are offsets, of marks of transactions and of
    what aborted ones left behind, but no records.
    """

    __slots__ = ("bare", "bytes", "fetched", "paused", "place", "seen")

    def __init__(self, place: int, begin: int) -> None:
        self.place = place
        self.seen = self.bare = begin
        self.fetched: deque[Record] = deque()
        self.bytes = 0
        self.paused = False

    def add(self, record: Record) -> None:
        self.fetched.append(record)
        self.bytes += len(record.value)
        self.seen = self.bare = record.offset + 1

    def take(self, limit: int) -> list[Record]:
        if limit >= len(self.fetched):
            taken = list(self.fetched)
            self.fetched.clear()
            self.bytes = 0
        else:
            taken = [self.fetched.popleft() for _ in range(limit)]
            self.bytes -= sum(len(record.value) for record in taken)
        if taken:
            self.place = taken[-1].offset + 1
        return taken

    def is_at(self, offset: int) -> bool:
        """Tell whether the first record from `offset` on is the next one here."""
        return self.place <= offset <= (self.fetched[0].offset if self.fetched else self.seen)


class Reader:
    """A consumer for one thread at a time. Methods may raise `LogUnavailable`, after which they can be called again."""

    def __init__(self, clients: Clients) -> None:
        self._clients = clients
        self.consumer: Consumer = clients.consumer(GROUP, {})
        self._streams: dict[tuple[str, int], _Stream] = {}
        self._refusals: dict[tuple[str, int], KafkaError] = {}
        self._last_ms, self._moment = 0, _EPOCH

    def follows(self, topic: str, partition: int) -> bool:
        """Tell whether the partition is followed, wherever."""
        return (topic, partition) in self._streams

    def is_at(self, topic: str, partition: int, offset: int) -> bool:
        """Tell whether reading at `offset` goes on where this reader stands."""
        stream = self._streams.get((topic, partition))
        return stream is not None and stream.is_at(offset)

    def read(self, topic: str, partition: int, offset: int, limit: int) -> list[Record]:
        """Return at most `limit` committed records from `offset` on; none where the partition ends before one."""
        if self.is_at(topic, partition, offset):
            if not self._streams[topic, partition].fetched:
                self._fetch(0)
            if self.has_record(topic, partition, offset):
                return self._take(topic, partition, limit)
        end = self.end(topic, partition)
        if not self._reaches(topic, partition, offset, end):
            return []
        deadline = time.monotonic() + self._clients.timeout_seconds
        while not (stream := self._follow(topic, partition, offset)).fetched and stream.seen < end:
            self._fetch(_SLICE_SECONDS)
            if time.monotonic() > deadline:
                raise self._silence(f"read {topic} from offset {offset}")
        return self._take(topic, partition, limit)

    def begin(self, topic: str, partition: int) -> int:
        """Return the first offset that the partition still has."""
        (first,) = offsets(self._clients, self.consumer, [(topic, partition)], "beginning")
        return first

    def end(self, topic: str, partition: int) -> int:
        """Return an offset above every committed record's, the lowest that is known."""
        (end,) = self.ends([(topic, partition)])
        return end

    def ends(self, partitions: Sequence[tuple[str, int]]) -> list[int]:
        """Return the `end` of each of these partitions."""
        decided = offsets(self._clients, self.consumer, partitions, "end")
        streams = [self._streams.get(place) for place in partitions]
        return [
            stream.bare if stream is not None and stream.seen >= end else end
            for stream, end in zip(streams, decided, strict=True)
        ]

    def decided(self, topic: str, partition: int) -> int:
        """Return the offset below which every transaction is decided."""
        (end,) = offsets(self._clients, self.consumer, [(topic, partition)], "end")
        return end

    def seen(self, topic: str, partition: int) -> int:
        """Return how far the partition is known: −1 where it isn't followed."""
        stream = self._streams.get((topic, partition))
        return -1 if stream is None else stream.seen

    def have(self, places: Sequence[Position]) -> list[Position]:
        """Return some of `places` that have a record, if any has; follow all of them from now on."""
        ends = offsets(self._clients, self.consumer, [(place.topic, place.partition) for place in places], "end")
        reached = [(place, end) for place, end in zip(places, ends, strict=True) if self._reaches(*place, end)]
        deadline = time.monotonic() + self._clients.timeout_seconds
        while True:
            unknown = [place for place, end in reached if self._follow(*place).seen < end]
            ready = [place for place, _ in reached if self.has_record(*place)]
            if ready or not unknown:
                return ready
            self._fetch(_SLICE_SECONDS)
            if time.monotonic() > deadline:
                raise self._silence(f"read {unknown[0].topic} from offset {unknown[0].offset}")

    def look(self, places: Sequence[Position], seconds: float) -> list[Position]:
        """Do what `have` does, after having waited for at most `seconds`, and not for long, for something to come."""
        self._fetch(min(seconds, _SLICE_SECONDS))
        if not all(self.is_at(*place) for place in places):
            return self.have(places)
        return [place for place in places if self.has_record(*place)]

    def has_record(self, topic: str, partition: int, offset: int) -> bool:
        """Tell whether a record from `offset` on was fetched."""
        return self.is_at(topic, partition, offset) and bool(self._streams[topic, partition].fetched)

    def drop(self, topic: str, partition: int) -> None:
        """Follow the partition no longer."""
        stream = self._streams.pop((topic, partition), None)
        if stream is None:
            return
        if stream.paused:
            # Else it would still be paused when it is followed again, and nothing of it would ever come.
            self.consumer.resume([TopicPartition(topic, partition)])
        self.consumer.incremental_unassign([TopicPartition(topic, partition)])

    def close(self) -> None:
        """Close the consumer."""
        close_consumers([self.consumer])

    def _take(self, topic: str, partition: int, limit: int) -> list[Record]:
        stream = self._streams[topic, partition]
        taken = stream.take(limit)
        if stream.paused and stream.bytes < self._share() // 2:
            self.consumer.resume([TopicPartition(topic, partition)])
            stream.paused = False
        return taken

    def _follow(self, topic: str, partition: int, offset: int) -> _Stream:
        """Follow the partition from `offset` on, unless that is so already."""
        if not self.is_at(topic, partition, offset):
            self.drop(topic, partition)
            begin = self._first_left(topic, partition, offset)
            with self._clients.told(f"read {topic}"):
                self.consumer.incremental_assign([TopicPartition(topic, partition, begin)])
            self._streams[topic, partition] = _Stream(offset, begin)
        return self._streams[topic, partition]

    def _first_left(self, topic: str, partition: int, offset: int) -> int:
        """Return where to begin instead of `offset`, after a refusal to send anything from there."""
        error = self._refusals.pop((topic, partition), None)
        if error is None:
            return offset
        if error.code() not in _OUT_OF_RANGE:
            raise explained(f"read {topic}", error, self._clients.trouble())
        return max(self.begin(topic, partition), offset)

    def _reaches(self, topic: str, partition: int, offset: int, end: int) -> bool:
        """Tell whether a partition that ends at `end` can be followed from `offset`: Kafka refuses that behind the end.

        Raises `LogError` where it could before: then records were lost, and who went on would miss the next ones too.
        """
        if offset <= end:
            return True
        if self._refusals.pop((topic, partition), None) is not None:
            raise LogError(
                f"{topic} partition {partition} ends at offset {end}, and was read up to {offset}: the cluster lost "
                "records. Look for an unclean leader election, or for a topic that was made anew"
            )
        return False

    def _fetch(self, seconds: float) -> None:
        """Take in what the consumer has, waiting for at most `seconds` for the first of it."""
        with self._clients.told("read"):
            # `consume` waits until it has all it was asked for, or the time is over: so it is asked for one first.
            messages = self.consumer.consume(1, seconds)
            if messages:
                messages += self.consumer.consume(FETCHED_AT_ONCE, 0)
        for message in messages:
            error = message.error()
            place = (message.topic() or "", message.partition() or 0)
            stream = self._streams.get(place)
            if stream is None:
                continue
            if error is None:
                stream.add(self._record(place, message))
            elif error.code() == KafkaError._PARTITION_EOF:
                stream.seen = max(stream.seen, message.offset() or 0)
            elif error.code() in _OUT_OF_RANGE or not error.retriable():
                # Whoever reads this partition next is told; the others go on.
                self._refusals[place] = error
                self.drop(*place)
        if messages:
            self._pause()

    def _record(self, place: tuple[str, int], message: Message) -> Record:
        _, appended_ms = message.timestamp()
        # A batch has one time, so it is mostly made once for many records.
        if appended_ms != self._last_ms:
            self._last_ms, self._moment = appended_ms, _EPOCH + appended_ms * _MILLISECOND
        key, value, offset = message.key(), message.value(), message.offset()
        assert offset is not None
        # Neither is missing in what Pitwatch writes; others may write what they like.
        return Record(*place, offset, (key or b"").decode(errors="replace"), value or b"", self._moment)

    def _pause(self) -> None:
        share = self._share()
        for place, stream in self._streams.items():
            if stream.bytes > share and not stream.paused:
                self.consumer.pause([TopicPartition(*place)])
                stream.paused = True

    def _share(self) -> int:
        return max(_LEAST_SHARE_BYTES, _MOST_BYTES // max(1, len(self._streams)))

    def _silence(self, doing: str) -> LogUnavailable:
        trouble = self._clients.trouble()
        return LogUnavailable(
            f"could not {doing}: the broker sent nothing in {self._clients.timeout_seconds:g} s"
            + (f" ({trouble.str()})" if trouble is not None else "")
            + ". Look whether the partition has a leader; the log goes on by itself"
        )
