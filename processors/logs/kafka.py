"""The event log of the distributed runtime: topics of an Apache Kafka cluster, for one worker among many."""

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Final

from confluent_kafka import TopicPartition

from processors.logs.kafka_clients import Clients
from processors.logs.kafka_cluster import Cluster
from processors.logs.kafka_group import GroupProducer, Output, Reading
from processors.logs.kafka_member import Change, KafkaMember, OnRelease
from processors.logs.kafka_positions import Positions
from processors.logs.kafka_producer import Appender, check_sizes
from processors.logs.kafka_properties import Properties
from processors.logs.kafka_readers import Readers
from processors.logs.kafka_states import States
from processors.logs.kafka_visibility import Visibility
from processors.logs.transaction import CollectedTransaction, Messages, check_lengths
from schemas.log import Fenced, LogError, LogUnavailable, Position, Record
from schemas.topics import TABLE_STATES

TIMEOUT_SECONDS: Final = 10.0
"""How long a call may take while no broker answers: longer than a partition takes to get a new leader."""

_PAGE_RECORDS: Final = 10_000
_PAUSE_SECONDS: Final = 0.05
_NO_PROPERTIES: Final[Properties] = MappingProxyType({})


class KafkaLog:
    """An `EventLog` on the cluster that `bootstrap` names; see the port for each method's contract.

    `worker_id` is unique among the workers that run at the same time, and best the same after a restart. A group is
    worked for by one log that claims it whole, or by several that `join` it and share its partitions. `properties` are
    librdkafka's own; `make_topics` makes topics when they are first written, for tests and trials. Raises `ValueError`
    for a property that isn't a site's to set.
    """

    def __init__(
        self,
        bootstrap: str,
        *,
        worker_id: str,
        properties: Properties = _NO_PROPERTIES,
        timeout_seconds: float = TIMEOUT_SECONDS,
        states_topic: str = TABLE_STATES,
        make_topics: bool = False,
    ) -> None:
        self._worker_id = worker_id
        self._clients = Clients(bootstrap, properties, worker_id, timeout_seconds)
        self._cluster = Cluster(self._clients, make_topics=make_topics)
        self._readers = Readers(self._clients)
        self._visibility = Visibility(self._clients, self._readers)
        self._states = States(self._cluster, self._readers, self._visibility, states_topic)
        self._positions = Positions(self._clients)
        self._appender = Appender(self._clients)
        # None stands for a producer that was fenced.
        self._producers: dict[str, GroupProducer | None] = {}
        self._member: KafkaMember | None = None
        self._lock = threading.Lock()

    def append(self, topic: str, messages: Messages) -> list[Position]:
        """Append messages (key, value); on return every replica that is in sync has them."""
        self._readers.check_open()
        check_lengths(messages)
        check_sizes(messages)
        if not messages:
            return []
        self._cluster.need(topic)
        return self._appender.append(topic, messages)

    def partitions(self, topic: str) -> Sequence[int]:
        """Return the topic's partitions: of one that this log joined a group for, those that it owns now."""
        self._readers.check_open()
        if self._member is not None and topic in self._member.topics:
            return self._member.partitions(topic)
        return range(self._cluster.partitions(topic))

    def partition_of(self, topic: str, key: str) -> int:
        """Return the partition that Kafka's own hash gives `key`."""
        self._readers.check_open()
        return self._cluster.partition_of(topic, key)

    def read(self, topic: str, partition: int, offset: int, limit: int) -> list[Record]:
        """Return at most `limit` committed records from `offset` on. Reading on where one stopped is what is quick."""
        place = Position(topic, partition, offset)
        if limit <= 0 or not self._is_there(place):
            return []
        with self._readers.reader(place) as reader:
            return reader.read(topic, partition, offset, limit)

    def read_key(self, topic: str, key: str, offset: int, limit: int) -> list[Record]:
        """Return at most `limit` committed records of one key from `offset` on, out of all that its partition holds."""
        self._readers.check_open()
        if not self._cluster.partitions(topic):
            return []
        partition = self._cluster.partition_of(topic, key)
        end = self.end(topic, partition)
        found: list[Record] = []
        while len(found) < limit and offset < end:
            records = self.read(topic, partition, offset, _PAGE_RECORDS)
            if not records:
                break
            found += [record for record in records if record.key == key]
            offset = records[-1].offset + 1
        return found[:limit]

    def end(self, topic: str, partition: int) -> int:
        """Return the offset below which every transaction is decided, without the marks that were seen before it."""
        (end,) = self.ends([(topic, partition)])
        return end

    def ends(self, partitions: Sequence[tuple[str, int]]) -> list[int]:
        """Return the `end` of each of these partitions, of which the cluster is asked at once."""
        there = [place for place in partitions if self._is_there(Position(*place, 0))]
        if not there:
            return [0] * len(partitions)
        with self._readers.reader_of(*there) as reader:
            known = dict(zip(there, reader.ends(there), strict=True))
        return [known.get(place, 0) for place in partitions]

    def begin(self, topic: str, partition: int) -> int:
        """Return the first offset that the partition still has: above 0 where its first records were deleted."""
        self._readers.check_open()
        with self._readers.reader_of((topic, partition)) as reader:
            return reader.begin(topic, partition)

    def written(self, topic: str, partition: int) -> int:
        """Return the offset behind everything that was written, in transactions that are still open too."""
        self._readers.check_open()
        return self._visibility.written_end(topic, partition)

    def is_decided(self, topic: str, partition: int, offset: int) -> bool:
        """Tell whether all that was written below `offset` can be read, or never will be."""
        self._readers.check_open()
        return self._visibility.is_decided(topic, partition, offset)

    def wait(self, topic: str, partition: int, offset: int, timeout_seconds: float) -> bool:
        """Block until there is a record at `offset` or behind it, or the time is over."""
        return bool(self.wait_any([Position(topic, partition, offset)], timeout_seconds))

    def wait_any(self, places: Sequence[Position], timeout_seconds: float) -> list[Position]:
        """Block until one of `places` has a record or the time is over; return those that have."""
        deadline = time.monotonic() + timeout_seconds
        ready = self._have(places)
        while not ready and (left := deadline - time.monotonic()) > 0:
            ready = self._look(places, left)
        return ready

    def claim(self, group: str) -> None:
        """Take `group` over from whatever log worked for it, or, where it was joined, this worker's share of it."""
        self._readers.check_open()
        with self._lock:
            self._claim(group)

    def join(self, group: str, topics: Sequence[str], on_release: OnRelease | None = None) -> KafkaMember:
        """Become one of the workers that share the partitions of `topics`; a log joins one group, once.

        From then on `partitions` tells those that are this worker's, as the membership's `poll` left them. See
        `KafkaMember` for who calls that, and for `on_release`.
        """
        self._readers.check_open()
        if self._member is not None:
            raise LogError(f"this log joined group {self._member.group} already. Open another for group {group}")
        self._check_divided_alike(topics[0])
        self._states.own(group, ())
        self._member = KafkaMember(self._clients, group, topics, on_release, self._rebalanced)
        return self._member

    def position(self, group: str, topic: str, partition: int) -> int:
        """Return where `group` goes on reading: 0 where it never committed."""
        self._settle(group)
        return self._positions.position(group, topic, partition) if self._cluster.partitions(topic) else 0

    def states(self, group: str) -> Iterator[tuple[str, bytes]]:
        """Yield the group's newest snapshots: where it was joined, those of the partitions that this worker owns."""
        self._settle(group)
        yield from self._states.states(group, self._share(group))

    def state(self, group: str, key: str) -> bytes | None:
        """Return the group's newest snapshot of `key`."""
        self._settle(group)
        return self._states.state(group, key)

    @contextmanager
    def transaction(self, group: str) -> Iterator[CollectedTransaction]:
        """Collect outputs, snapshots and positions during the block; write them in one transaction at its end.

        So a transaction is open for milliseconds: readers of a partition see nothing that is behind an open one.
        """
        self._readers.check_open()
        with self._lock:
            if group not in self._producers:
                self._claim(group)
            producer = self._producers[group]
        outputs = CollectedTransaction()
        try:
            yield outputs
        finally:
            outputs.end()
        if producer is None:
            raise Fenced(f"group {group} was taken over, and nothing was written. Claim the group again")
        if outputs.messages or outputs.states or outputs.positions:
            self._commit(group, producer, outputs)

    def commit_position(self, group: str, position: Position) -> None:
        """Put the group's place alone. Raises `Fenced` where the group was joined and the partition is another's."""
        self._readers.check_open()
        member = self._joined(group)
        if member is not None:
            member.commit(position)
        else:
            self._positions.commit(group, position)

    def close(self) -> None:
        """Leave the group, wait for appends under way and close every client. Idempotent."""
        if self._member is not None:
            self._member.leave()
        self._readers.close()
        self._appender.close()
        self._positions.close()
        self._visibility.close()
        with self._lock:
            self._producers.clear()

    def _have(self, places: Sequence[Position]) -> list[Position]:
        there = [place for place in places if self._is_there(place)]
        if not there:
            return []
        with self._readers.reader(*there) as reader:
            return reader.have(there)

    def _look(self, places: Sequence[Position], left: float) -> list[Position]:
        there = [place for place in places if self._is_there(place)]
        if not there:
            # A worker that owns nothing now, or a topic that nobody wrote yet.
            self._readers.check_open()
            time.sleep(min(left, _PAUSE_SECONDS))
            return []
        with self._readers.reader(*there) as reader:
            return reader.look(there, left)

    def _is_there(self, place: Position) -> bool:
        """Tell whether a place's topic is there, and wait until what this log committed to its partition is seen."""
        self._readers.check_open()
        count = self._cluster.partitions(place.topic)
        if not count:
            return False
        if not 0 <= place.partition < count:
            raise ValueError(f"{place.topic} has no partition {place.partition}: it has {count}")
        self._visibility.wait(place.topic, place.partition)
        return True

    def _joined(self, group: str) -> KafkaMember | None:
        return self._member if self._member is not None and self._member.group == group else None

    def _check_divided_alike(self, topic: str) -> None:
        """Raise `LogError` unless the snapshots of a partition's tables are in the partition of the same number."""
        count, states_count = self._cluster.need(topic), self._cluster.need(self._states.topic)
        if count != states_count:
            raise LogError(
                f"{topic} has {count} partitions and {self._states.topic} {states_count}: they must have as many. "
                "Run pitwatch topics check"
            )

    def _share(self, group: str) -> list[int] | None:
        """Return the partitions in which this worker's tables have their snapshots; None means all."""
        member = self._joined(group)
        return None if member is None else member.partitions(member.topics[0])

    def _claim(self, group: str) -> None:
        # The old one, if any, must not be in the middle of something when the new one takes its name.
        self._producers.pop(group, None)
        name = group if self._joined(group) is None else f"{group}.{self._worker_id}"
        self._producers[group] = GroupProducer(self._clients, group, name)
        self._states.own(group, self._share(group))

    def _settle(self, group: str) -> None:
        self._readers.check_open()
        producer = self._producers.get(group)
        if producer is not None:
            self._guarded(group, producer.settle)

    def _commit(self, group: str, producer: GroupProducer, outputs: CollectedTransaction) -> None:
        snapshots = self._states.snapshots(group, outputs.states.items())
        messages = [*self._outputs(outputs), *snapshots]
        reading = self._reading(group, outputs.positions)
        try:
            self._guarded(group, lambda: producer.write(messages, reading))
        finally:
            self._visibility.mark({(output.topic, output.partition) for output in messages})
        self._states.saved(group, snapshots)

    def _outputs(self, outputs: CollectedTransaction) -> Iterator[Output]:
        for topic, messages in outputs.messages.items():
            check_sizes(messages)
            partitions = {key: self._cluster.partition_of(topic, key) for key in {key for key, _ in messages}}
            for key, value in messages:
                yield Output(topic, partitions[key], key, value)

    def _guarded(self, group: str, work: Callable[[], None]) -> None:
        """Do something with a group's producer; drop what its failure made doubtful."""
        try:
            work()
        except Fenced:
            self._producers[group] = None
            self._states.disown(group)
            raise
        except LogUnavailable:
            # Nobody knows whether the last snapshots were written.
            self._states.own(group, self._share(group))
            raise

    def _reading(self, group: str, positions: Iterable[Position]) -> Reading:
        """Return the positions to commit, with the word of who may commit them."""
        member = self._joined(group)
        offsets = {(place.topic, place.partition): place.offset for place in positions}
        if member is None:
            return Reading(_listed(offsets), self._positions.metadata(group))
        metadata = member.metadata()
        owned = member.owned()
        if not offsets.keys() <= set(owned):
            raise Fenced(f"group {group} gave {sorted(offsets.keys() - set(owned))} to another worker. Claim it again")
        # Only with its position is a partition guarded against its next owner, whatever else is written for it.
        for place in owned:
            if place not in offsets:
                offsets[place] = self._positions.position(group, *place)
        return Reading(_listed(offsets), metadata)

    def _rebalanced(self, change: Change) -> None:
        assert self._member is not None
        for place in change.lost:
            self._readers.drop(*place)
        first = self._member.topics[0]
        self._states.move(
            self._member.group,
            [place.partition for place in change.gained if place.topic == first],
            [place.partition for place in change.lost if place.topic == first],
        )


def _listed(offsets: dict[tuple[str, int], int]) -> list[TopicPartition]:
    return [TopicPartition(topic, partition, offset) for (topic, partition), offset in offsets.items()]
