"""The facts a table has given out, by key, with what each key held before: so that they can be taken up again.

A key's newest fact is the head of a chain that leads back as far as the journal can go back. When a story is told
again, the chains are cut where the telling begins, grow anew, and are then held against what they were: only what came
out differently is given out again, with the next revision of its key.
"""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from functools import cache
from operator import attrgetter
from typing import Any, Final, cast

import msgspec

from processors.reconstruct.sequencer import Entry
from processors.reconstruct.table import FactKey
from schemas.facts import Fact
from schemas.structs import altered
from schemas.topics import TABLE_EVENTS
from schemas.wire import decode_fact, encode

STAMPS: Final = frozenset({"revision", "src_topic", "src_partition", "src_offset"})
"""Fields that say when a fact was given out, and nothing about the table."""

NOTHING_YET: Final = Entry(0, 0, b"", 0, 0, datetime(1970, 1, 1, tzinfo=UTC))
"""In place of the entry that is told, before any is."""

NEVER: Final = -1
"""In place of an entry's number or a revision: none."""


class Emission(msgspec.Struct, gc=False):
    """A fact given out by entry `number`, and what its key held before.

    `withdrawn` ones came of no entry: told again, the story held no such fact any more. Chains end there.
    """

    number: int
    fact: Fact
    before: "Emission | None" = None
    withdrawn: bool = False


Heads = dict[FactKey, Emission]


class WrittenKey(msgspec.Struct, array_like=True):
    """What a snapshot must know of a key, besides what telling the journal's entries again gives.

    `base` is the fact it held before them, `revision` its newest one where counting from there gives another, and
    `withdrawn` the fact that was withdrawn last, by entry `number`. Facts are as bytes, empty for none.
    """

    key: FactKey
    base: bytes = b""
    revision: int = NEVER
    withdrawn: bytes = b""
    number: int = NEVER


class Emissions:
    """Stamps facts and keeps them. `number` and `cause` are the entry being told, `out` what this record brought about.

    A fact once in `out` belongs to whoever takes it, and is never changed again.
    """

    __slots__ = ("cause", "heads", "number", "out")

    def __init__(self) -> None:
        self.heads: Heads = {}
        self.out: list[Fact] = []
        self.number = 0
        self.cause = NOTHING_YET

    def emit(self, key: FactKey, fact: Fact) -> None:
        """Give out a fact that the entry in hand has brought about."""
        # Facts are structs, and still blank where they are stamped: what is frozen is the model they are typed as.
        blank: Any = fact
        heads, cause = self.heads, self.cause
        before = heads.get(key)
        if before is not None:
            blank.revision = before.fact.revision + 1
            if before.withdrawn:
                before = None
        blank.src_topic = TABLE_EVENTS
        blank.src_partition = cause.partition
        blank.src_offset = cause.offset
        heads[key] = Emission(self.number, fact, before)
        self.out.append(fact)

    def rewind(self, number: int) -> Heads:
        """Go back to what every key held before entry `number`; return what they held until now."""
        old = self.heads
        self.heads = {key: kept for key, head in old.items() if (kept := _as_of(head, number)) is not None}
        return old

    def compare(self, old: Heads) -> list[Fact]:
        """Hold the story as told again against what keys held in `old`; return what must be given out, by key.

        `number` must be the newest entry's, and `cause` the one on whose account the story was told again.
        """
        changed: dict[FactKey, Fact] = {}
        for key, head in list(self.heads.items()):
            known = old.get(key)
            if known is head:
                continue
            if known is not None and same(known.fact, head.fact):
                # Nothing new: the fact stands as it was given out, at its place in the new telling.
                self.heads[key] = Emission(head.number, known.fact, head.before)
                continue
            fact = self._stamped(head.fact, known)
            self.heads[key] = Emission(head.number, fact, head.before)
            if known is not None or not fact.retracted:
                changed[key] = fact
        for key in [key for key in old if key not in self.heads]:
            fact = old[key].fact
            if not fact.retracted:
                fact = changed[key] = self._stamped(fact, old[key], retracted=True)
            self.heads[key] = Emission(self.number, fact, withdrawn=True)
        # Sorted, so that it never matters in which order things were remembered.
        return [changed[key] for key in sorted(changed)]

    def _stamped(self, fact: Fact, known: Emission | None, *, retracted: bool | None = None) -> Fact:
        """Return a copy of a fact as the next revision after `known`, brought about by `cause`."""
        cause = self.cause
        # A dead letter is named by its place in the log, and keeps it.
        place = {} if fact.fact == "dead_letter" else {"src_partition": cause.partition, "src_offset": cause.offset}
        return altered(
            fact,
            revision=known.fact.revision + 1 if known else 0,
            retracted=fact.retracted if retracted is None else retracted,
            **place,
        )

    def forget(self, first: int, may_come_again: Callable[[FactKey], bool]) -> None:
        """Drop what was given out before entry `first`, but for the newest of each key that may still matter."""
        self.heads = {
            key: _shortened(head, first)
            for key, head in self.heads.items()
            if head.number >= first or may_come_again(key)
        }

    def written(self, first: int) -> list[WrittenKey]:
        """Return what telling the entries from `first` on again would not bring back."""
        keys: list[WrittenKey] = []
        for key, head in self.heads.items():
            if head.withdrawn:
                keys.append(
                    WrittenKey(key, withdrawn=encode(head.fact), revision=head.fact.revision, number=head.number)
                )
                continue
            base, counted = _base_of(head, first)
            revision = head.fact.revision if head.fact.revision != counted else NEVER
            if base is not None or revision != NEVER:
                keys.append(WrittenKey(key, b"" if base is None else encode(base.fact), revision))
        return keys

    def read(self, keys: Iterable[WrittenKey]) -> None:
        """Take up what keys held before the journal's first entry; its entries must be told again next."""
        self.heads = {key.key: Emission(NEVER, decode_fact(key.base)) for key in keys if key.base}

    def mend(self, keys: Iterable[WrittenKey]) -> None:
        """Put right, after the entries were told again, what telling them could not know."""
        for key in keys:
            if key.withdrawn:
                self.heads[key.key] = Emission(key.number, decode_fact(key.withdrawn), withdrawn=True)
            elif key.revision != NEVER:
                retold: Any = self.heads[key.key].fact
                retold.revision = key.revision
        self.out = []


def stamped(fact: Fact, cause: Entry) -> Fact:
    """Return a blank fact with the place of `cause` in the log, for one that is given out once and never again."""
    blank: Any = fact
    blank.src_topic, blank.src_partition, blank.src_offset = TABLE_EVENTS, cause.partition, cause.offset
    return fact


def same(one: Fact, other: Fact) -> bool:
    """Tell whether two facts of one key say the same of the table, whenever they were given out."""
    if one.retracted and other.retracted:
        return True
    content = _content(type(one))
    return content(one) == content(other)


@cache
def _content(fact: type[Fact]) -> Callable[[Fact], tuple[object, ...]]:
    return attrgetter(*(name for name in cast(type[msgspec.Struct], fact).__struct_fields__ if name not in STAMPS))


def _as_of(head: Emission, number: int) -> Emission | None:
    """Return what a key held before entry `number`."""
    emission: Emission | None = head
    while emission is not None and emission.number >= number:
        emission = emission.before
    return emission


def _shortened(head: Emission, first: int) -> Emission:
    """Return the chain with everything before entry `first` reduced to the newest of it."""
    chain: list[Emission] = []
    emission: Emission | None = head
    while emission is not None and emission.number >= first:
        chain.append(emission)
        emission = emission.before
    if emission is None or emission.before is None:
        return head
    rebuilt = Emission(emission.number, emission.fact)
    for link in reversed(chain):
        rebuilt = Emission(link.number, link.fact, rebuilt)
    return rebuilt


def _base_of(head: Emission, first: int) -> tuple[Emission | None, int]:
    """Return what a key held before entry `first`, and the revision that counting from there gives its newest fact."""
    links = 0
    emission: Emission | None = head
    while emission is not None and emission.number >= first:
        links += 1
        emission = emission.before
    return emission, links + (emission.fact.revision if emission else -1)
