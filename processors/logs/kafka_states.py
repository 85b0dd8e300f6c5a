"""The groups' snapshots: a compacted topic keyed ``group/key``, of which the newest message of each key counts.

A snapshot lies in the partition that its key, a table, has in every topic. So a worker that owns some partitions of
the events finds its tables' snapshots in the same partitions, and reads no others.
"""

import threading
from collections.abc import Iterable, Sequence
from typing import Final

from processors.logs.kafka_cluster import Cluster
from processors.logs.kafka_group import Output
from processors.logs.kafka_readers import Readers
from processors.logs.kafka_visibility import Visibility
from schemas.log import Position

_PAGE_RECORDS: Final = 500
_SEPARATOR: Final = "/"


class _Partition:
    """The snapshots of one group in one partition, as far as it was read."""

    def __init__(self) -> None:
        self.offset = 0
        self.states: dict[str, bytes] = {}
        # Read to the end by the owner: only it writes any, so there is nothing more to read.
        self.complete = False


class States:
    """Snapshots read so far. While a partition is owned, what its owner saves is known without being read again."""

    def __init__(self, cluster: Cluster, readers: Readers, visibility: Visibility, topic: str) -> None:
        self._cluster = cluster
        self._readers = readers
        self._visibility = visibility
        self.topic = topic
        self._lock = threading.RLock()
        self._known: dict[tuple[str, int], _Partition] = {}
        self._owned: dict[str, frozenset[int] | None] = {}

    def state(self, group: str, key: str) -> bytes | None:
        """Return the group's newest snapshot of `key`."""
        if not self._cluster.partitions(self.topic):
            return None
        with self._lock:
            return self._read(group, self._cluster.partition_of(self.topic, key)).get(key)

    def states(self, group: str, partitions: Sequence[int] | None = None) -> list[tuple[str, bytes]]:
        """Return the group's newest snapshots in some partitions, or in all."""
        if partitions is None:
            partitions = range(self._cluster.partitions(self.topic))
        with self._lock:
            return [snapshot for partition in partitions for snapshot in self._read(group, partition).items()]

    def snapshots(self, group: str, states: Iterable[tuple[str, bytes]]) -> list[Output]:
        """Return the messages that say `states`."""
        return [
            Output(self.topic, self._cluster.partition_of(self.topic, key), f"{group}{_SEPARATOR}{key}", state)
            for key, state in states
        ]

    def own(self, group: str, partitions: Iterable[int] | None = None) -> None:
        """From now on only this log writes the group's snapshots, in some partitions or in all; read them anew."""
        with self._lock:
            self.disown(group)
            self._owned[group] = None if partitions is None else frozenset(partitions)

    def disown(self, group: str) -> None:
        """Forget the group's snapshots: another worker may write newer ones."""
        with self._lock:
            self._owned.pop(group, None)
            for place in [place for place in self._known if place[0] == group]:
                del self._known[place]

    def move(self, group: str, gained: Iterable[int], lost: Iterable[int]) -> None:
        """Own some partitions more and some no longer."""
        with self._lock:
            self._owned[group] = (self._owned.get(group) or frozenset()).difference(lost).union(gained)
            for partition in (*gained, *lost):
                self._known.pop((group, partition), None)

    def saved(self, group: str, snapshots: Iterable[Output]) -> None:
        """Note what this log just wrote."""
        with self._lock:
            for snapshot in snapshots:
                known = self._known.get((group, snapshot.partition))
                if known is not None and known.complete:
                    known.states[snapshot.key.partition(_SEPARATOR)[2]] = snapshot.value

    def _read(self, group: str, partition: int) -> dict[str, bytes]:
        """Read what was added to a partition since; return the snapshots."""
        known = self._known.setdefault((group, partition), _Partition())
        if known.complete:
            return known.states
        if owns := self._owns(group, partition):
            # A former owner's position may be visible before the snapshots that it wrote with it.
            self._visibility.settle(self.topic, partition)
        else:
            self._visibility.wait(self.topic, partition)
        prefix = group + _SEPARATOR
        place = Position(self.topic, partition, known.offset)
        with self._readers.reader(place) as reader:
            while records := reader.read(self.topic, partition, known.offset, _PAGE_RECORDS):
                for record in records:
                    if record.key.startswith(prefix):
                        known.states[record.key[len(prefix) :]] = record.value
                known.offset = records[-1].offset + 1
            if owns:
                known.complete = True
                # Else it would go on fetching what this log itself writes.
                reader.drop(self.topic, partition)
        return known.states

    def _owns(self, group: str, partition: int) -> bool:
        owned = self._owned.get(group, frozenset())
        return owned is None or partition in owned
