"""The newest part of a table's history, kept so that it can be told again when it turns out otherwise.

Entries are applied in order, with a copy of the state set aside every few rounds. When an event arrives too late for
its place, or a supervisor corrects one, the journal goes back to the copy before it, tells the story again from there,
and emits just those facts that come out differently, each with its next revision.
"""

from base64 import b64encode
from functools import cache
from typing import Final, NamedTuple, Protocol, cast

import msgspec
from pydantic import JsonValue

from processors.reconstruct.sequencer import Entry
from processors.reconstruct.state import TableState
from processors.reconstruct.steps import STEPS
from processors.reconstruct.table import FactKey, Table, Unusable
from processors.reconstruct.table_steps import gap, observe
from schemas.events import Correction, Event
from schemas.facts import DeadLetterFact, Fact
from schemas.ids import SYSTEM_EPOCH, split_event_id
from schemas.structs import struct_of
from schemas.topics import TABLE_EVENTS
from schemas.wire import InvalidEvent, decode_event, decode_fact, encode, validate_event

ROUNDS_PER_CHECKPOINT: Final = 8
ENTRIES_PER_CHECKPOINT: Final = 512
MAX_ENTRIES: Final = 16_384
"""Entries kept at most: a table that only ever sends heartbeats has no rounds to count by."""

IDENTITY: Final = frozenset({"event_id", "table_id", "epoch", "seq", "type", "schema_version", "follows"})
"""Fields that a correction can't change."""

STAMPS: Final = frozenset({"revision", "src_topic", "src_partition", "src_offset"})
"""Fields that say when a fact was emitted, and nothing about the table."""

DeadLetterRow = struct_of(DeadLetterFact, tag="dead_letter", tag_field="fact")

_states: Final = msgspec.msgpack.Decoder(TableState)


class _Stamped(Protocol):
    revision: int
    retracted: bool
    src_topic: str
    src_partition: int
    src_offset: int


class Checkpoint(msgspec.Struct, array_like=True):
    """The table's state before entry `number`, written down; `rounds` had ended by then."""

    number: int
    rounds: int
    state: bytes


class Emission(NamedTuple):
    """A fact emitted by entry `number`, and what its key held before. `vanished`: told again, it never came up."""

    number: int
    fact: Fact
    before: "Emission | None"
    vanished: bool = False


class KeptFact(msgspec.Struct, array_like=True):
    """A key of the emissions as a snapshot keeps it: a revision that counting wouldn't give, or a whole fact."""

    key: FactKey
    revision: int
    fact: bytes = b""
    number: int = -1
    vanished: bool = False


class Pages(msgspec.Struct):
    """A journal written down."""

    first: int
    base: Checkpoint
    entries: list[Entry]
    corrections: list[bytes]
    facts: list[KeptFact]


class Journal:
    """One table's fold with its recent past. `window_rounds` is how many rounds back it can still be revised."""

    def __init__(self, table_id: str, window_rounds: int) -> None:
        self.window_rounds = window_rounds
        self.first = 0
        self.entries: list[Entry] = []
        self.emissions: dict[FactKey, Emission] = {}
        self.corrections: list[Correction] = []
        self.out: list[Fact] = []
        self._overrides: dict[str, Correction] = {}
        self._number = 0
        self._cause: Entry | None = None
        self.table = Table(TableState(table_id), self._emit)
        self.checkpoints = [Checkpoint(0, 0, msgspec.msgpack.encode(self.table.state))]

    # -- telling ---------------------------------------------------------------------------------------------------

    def take(self, entry: Entry, event: Event) -> None:
        """Apply the next entry, which holds `event`; for a gap, `event` is the one found behind it."""
        self._number = self.first + len(self.entries)
        self.entries.append(entry)
        self._cause = entry
        self._tell(entry, event)
        if self._is_checkpoint_due():
            self._set_checkpoint()
            self._forget()

    def _tell(self, entry: Entry, event: Event) -> None:
        table = self.table
        try:
            if not entry.raw:
                gap(table, entry, event)
                return
            if event.epoch != SYSTEM_EPOCH:
                observe(table, event, entry.appended_at)
            if event.event_id in self._overrides:
                corrected = corrected_event(event, self._overrides[event.event_id])
                if corrected is None:
                    return
                event = corrected
            STEPS[event.type](table, event)
        except Unusable as error:
            self.dead_letter(entry, error.reason, error.detail, event)

    def _emit(self, key: FactKey, fact: Fact) -> None:
        before = self.emissions.get(key)
        cause = self._cause
        assert cause is not None
        stamped = cast(_Stamped, fact)
        if before is not None:
            stamped.revision = before.fact.revision + 1
        stamped.src_topic = TABLE_EVENTS
        stamped.src_partition = cause.partition
        stamped.src_offset = cause.offset
        self.emissions[key] = Emission(self._number, fact, before)
        self.out.append(fact)

    def dead_letter(self, entry: Entry, reason: str, detail: str, event: Event) -> None:
        """Emit the entry as a dead letter; telling the story again may take it back."""
        key: FactKey = ("dead_letter", entry.partition, entry.offset)
        place = (event.event_id, getattr(event, "shoe", 0), getattr(event, "round", 0))
        self.table.emit(key, dead_letter(self.table.state.table_id, entry, reason, detail, place))

    # -- going back ------------------------------------------------------------------------------------------------

    def insert(self, entry: Entry) -> bool:
        """Put a late event in its place and revise what follows. False where its place is before the journal's."""
        place = self._place_of(entry)
        if place is None:
            return False
        index, entries = place
        self.entries[index : index + 1 if entries else index] = entries or [entry]
        self._cause = entry
        self._revise(self.first + index)
        return True

    def _place_of(self, entry: Entry) -> tuple[int, list[Entry]] | None:
        """Return where a late entry goes, and what takes the place of the gap that it was missing from, if any."""
        key = (entry.epoch, entry.seq)
        for index, other in enumerate(self.entries):
            if other.epoch == SYSTEM_EPOCH:
                continue
            if other.is_gap and other.epoch == entry.epoch and other.seq <= entry.seq <= other.last:
                before = [other._replace(last=entry.seq - 1)] if other.seq < entry.seq else []
                after = [other._replace(seq=entry.seq + 1)] if entry.seq < other.last else []
                return index, [*before, entry, *after]
            if (other.epoch, other.seq) > key:
                # Before the oldest entry kept, history is closed, unless it is all there.
                return None if index == 0 and self.first else (index, [])
        return len(self.entries), []

    def correct(self, entry: Entry, event: Correction) -> None:
        """Put a supervisor's correction, just taken, into effect."""
        try:
            target = self._target_of(event)
            self.corrections.append(event)
            if target is not None and event.action == "replace":
                self._try_out(event, target)
        except Unusable as error:
            if event in self.corrections:
                self.corrections.remove(event)
            self.dead_letter(entry, error.reason, error.detail, event)
            return
        self._apply_overrides()

    def _target_of(self, event: Correction) -> int | None:
        """Return the index of the event that a correction is about, None where it is still to come."""
        table_id, epoch, seq = split_event_id(event.target_event_id)
        if table_id != event.table_id:
            raise Unusable("correction", f"{event.target_event_id} is no event of table {event.table_id}")
        if IDENTITY & event.changes.keys():
            names = ", ".join(sorted(IDENTITY & event.changes.keys()))
            raise Unusable("correction", f"a correction can't change {names}")
        index = self.index_of(epoch, seq)
        if index is None and self._is_closed(epoch, seq):
            raise Unusable("correction", f"{event.target_event_id} lies before what can still be revised")
        return index

    def index_of(self, epoch: int, seq: int) -> int | None:
        """Return the index of an event among the entries kept."""
        entries, key = self.entries, (epoch, seq)
        if not entries:
            return None
        # Numbers rise by one, so the place is nearly known; gaps and Pitwatch's own events shift it a little.
        newest = entries[-1]
        index = len(entries) - 1 - (max(0, newest.seq - seq) if newest.epoch == epoch else 0)
        index = max(0, index)
        while index < len(entries) - 1 and _is_before(entries[index], key):
            index += 1
        while index >= 0 and not _is_before(entries[index], key):
            if entries[index].epoch == epoch and entries[index].seq == seq and entries[index].raw:
                return index
            index -= 1
        return None

    def _is_closed(self, epoch: int, seq: int) -> bool:
        oldest = next(((e.epoch, e.seq) for e in self.entries if e.epoch != SYSTEM_EPOCH), (0, 0))
        return epoch == SYSTEM_EPOCH or (self.first > 0 and (epoch, seq) < oldest)

    def _try_out(self, event: Correction, target: int) -> None:
        """Raise `Unusable` where the event as corrected would be none."""
        original = decode_event(self.entries[target].raw)
        if original.type == "correction":
            raise Unusable("correction", "a correction can be retracted, not replaced")
        corrected_event(original, event)

    def _apply_overrides(self) -> None:
        """Tell the story again from the first event whose correction changed."""
        before, self._overrides = self._overrides, overrides_of(self.corrections)
        changed = [t for t in {*self._overrides, *before} if self._overrides.get(t) is not before.get(t)]
        places = [self.index_of(*split_event_id(target)[1:]) for target in changed]
        known = [place for place in places if place is not None]
        if known:
            self._revise(self.first + min(known))

    def _revise(self, number: int) -> None:
        """Tell the story again from before entry `number`, and emit what comes out differently."""
        while self.checkpoints[-1].number > number:
            self.checkpoints.pop()
        start = self.checkpoints[-1].number
        cause, old = self._cause, self.emissions
        self.emissions = {key: kept for key, head in old.items() if (kept := _as_of(head, start)) is not None}
        emitted, self.out = self.out, []
        self._retell(start)
        self.out = emitted
        self._cause = cause
        self._number = self.first + len(self.entries) - 1
        self._emit_differences(old)

    def _retell(self, start: int) -> None:
        self.table.restore(_states.decode(self.checkpoints[-1].state))
        for index in range(start - self.first, len(self.entries)):
            self._number = self.first + index
            self._cause = entry = self.entries[index]
            self._tell(entry, self._event_at(index))
            if self._is_checkpoint_due():
                self._set_checkpoint()

    def _event_at(self, index: int) -> Event:
        """Return the event of an entry; for a gap, that of the next entry of the table's own."""
        while self.entries[index].is_gap:
            index += 1
        return decode_event(self.entries[index].raw)

    def _emit_differences(self, old: dict[FactKey, Emission]) -> None:
        for key, head in list(self.emissions.items()):
            known = old.get(key)
            if known is head:
                continue
            if known is None or known.vanished or not same(known.fact, head.fact):
                self._emit_again(head, known)
            else:
                # Nothing new: the fact stands as it was emitted, at its place in the new telling.
                self.emissions[key] = head._replace(fact=known.fact)
        for key, known in old.items():
            if key not in self.emissions:
                self._withdraw(key, known)

    def _emit_again(self, head: Emission, known: Emission | None) -> None:
        fact, cause = head.fact, self._cause
        assert cause is not None
        stamped = cast(_Stamped, fact)
        stamped.revision = known.fact.revision + 1 if known else 0
        stamped.src_partition, stamped.src_offset = cause.partition, cause.offset
        self.out.append(fact)

    def _withdraw(self, key: FactKey, known: Emission) -> None:
        if known.vanished:
            self.emissions[key] = known
            return
        cause = self._cause
        assert cause is not None
        fact = decode_fact(encode(known.fact))
        stamped = cast(_Stamped, fact)
        stamped.revision, stamped.retracted = known.fact.revision + 1, True
        stamped.src_partition, stamped.src_offset = cause.partition, cause.offset
        self.emissions[key] = Emission(self._number, fact, None, vanished=True)
        self.out.append(fact)

    # -- keeping ---------------------------------------------------------------------------------------------------

    def _is_checkpoint_due(self) -> bool:
        last, state = self.checkpoints[-1], self.table.state
        return (
            state.rounds_finished >= last.rounds + ROUNDS_PER_CHECKPOINT and state.round is None
        ) or self._number - last.number >= ENTRIES_PER_CHECKPOINT

    def _set_checkpoint(self) -> None:
        state = self.table.state
        self.checkpoints.append(Checkpoint(self._number + 1, state.rounds_finished, msgspec.msgpack.encode(state)))

    def _forget(self) -> None:
        """Drop what lies further back than the window, as far as a checkpoint lets the story begin there."""
        oldest_round = self.table.state.rounds_finished - self.window_rounds
        # Clearing up costs as much as there is to keep, so it waits until a fair part can go at once.
        is_due = self.checkpoints[0].rounds < oldest_round - self.window_rounds // 2
        if not is_due and len(self.entries) <= MAX_ENTRIES:
            return
        while len(self.checkpoints) > 1 and (
            self.checkpoints[1].rounds <= oldest_round or len(self.entries) > MAX_ENTRIES
        ):
            self.checkpoints.pop(0)
            base = self.checkpoints[0].number
            del self.entries[: base - self.first]
            self.first = base
        base = self.first
        kept: dict[FactKey, Emission] = {}
        for key, head in self.emissions.items():
            if head.number >= base:
                kept[key] = _collapse(head, base)
        self.emissions = kept
        self.corrections = [c for c in self.corrections if self._is_in_reach(c)]

    def _is_in_reach(self, correction: Correction) -> bool:
        _, epoch, seq = split_event_id(correction.target_event_id)
        return not self._is_closed(epoch, seq)

    def pages(self) -> Pages:
        """Return the journal written down."""
        facts: list[KeptFact] = []
        for key, head in self.emissions.items():
            if head.vanished:
                facts.append(KeptFact(key, head.fact.revision, encode(head.fact), head.number, vanished=True))
                continue
            base, natural = _base_of(head, self.first)
            if base is not None:
                facts.append(KeptFact(key, base.fact.revision, encode(base.fact)))
            if head.fact.revision != natural:
                facts.append(KeptFact(key, head.fact.revision, number=head.number))
        corrections = [encode(correction) for correction in self.corrections]
        return Pages(self.first, self.checkpoints[0], self.entries, corrections, facts)

    def open_at(self, pages: Pages) -> None:
        """Go on from a journal written down, as if it had never stopped."""
        self.first, self.entries, self.checkpoints = pages.first, pages.entries, [pages.base]
        self.corrections = [cast(Correction, decode_event(raw)) for raw in pages.corrections]
        for kept in pages.facts:
            if kept.fact and not kept.vanished:
                self.emissions[kept.key] = Emission(kept.number, decode_fact(kept.fact), None)
        self.table.restore(_states.decode(pages.base.state))
        self._overrides = overrides_of(self.corrections)
        self._retell(pages.base.number)
        self.out = []
        for kept in pages.facts:
            if kept.vanished:
                self.emissions[kept.key] = Emission(kept.number, decode_fact(kept.fact), None, vanished=True)
            elif not kept.fact:
                cast(_Stamped, self.emissions[kept.key].fact).revision = kept.revision
        self._number = self.first + len(self.entries) - 1


def _is_before(entry: Entry, key: tuple[int, int]) -> bool:
    return entry.epoch != SYSTEM_EPOCH and (entry.epoch, entry.seq) < key


def overrides_of(corrections: list[Correction]) -> dict[str, Correction]:
    """Return the correction that holds for each event: its newest, unless that was retracted by a newer one."""
    ids = {correction.event_id for correction in corrections}
    retracted: set[str] = set()
    overrides: dict[str, Correction] = {}
    for correction in reversed(corrections):
        if correction.event_id in retracted:
            continue
        if correction.target_event_id in ids:
            retracted.add(correction.target_event_id)
        else:
            overrides.setdefault(correction.target_event_id, correction)
    return overrides


def corrected_event(event: Event, correction: Correction) -> Event | None:
    """Return `event` as corrected, None where it is retracted. Raises `Unusable` where it would be no event."""
    if correction.action == "retract":
        return None
    changed = cast(dict[str, JsonValue], msgspec.to_builtins(event)) | correction.changes
    try:
        return validate_event(changed)
    except InvalidEvent as error:
        raise Unusable("correction", f"{event.event_id} as corrected would be invalid: {error.detail}") from error


def dead_letter(table_id: str, entry: Entry, reason: str, detail: str, place: tuple[str, int, int]) -> Fact:
    """Return the dead letter for an entry, with its bytes; `place` names its event, shoe and round."""
    event_id, shoe, number = place
    return DeadLetterRow(
        table_id=table_id,
        occurred_at=entry.appended_at,
        reason=reason,
        detail=detail,
        event_id=event_id,
        shoe=shoe,
        round=number,
        src_topic=TABLE_EVENTS,
        src_partition=entry.partition,
        src_offset=entry.offset,
        raw=b64encode(entry.raw).decode(),
    )


def same(one: Fact, other: Fact) -> bool:
    """Tell whether two facts of one key say the same of the table, whenever they were emitted."""
    return all(getattr(one, name) == getattr(other, name) for name in _fields(type(one)) if name not in STAMPS)


@cache
def _fields(fact: type[Fact]) -> tuple[str, ...]:
    return cast(type[msgspec.Struct], fact).__struct_fields__


def _as_of(head: Emission, number: int) -> Emission | None:
    """Return what a key held before entry `number`."""
    emission: Emission | None = head
    while emission is not None and emission.number >= number:
        emission = emission.before
    return emission


def _collapse(head: Emission, base: int) -> Emission:
    """Return the chain with everything before entry `base` reduced to the newest of it."""
    chain: list[Emission] = []
    emission: Emission | None = head
    while emission is not None and emission.number >= base:
        chain.append(emission)
        emission = emission.before
    if emission is None or emission.before is None:
        return head
    rebuilt = emission._replace(before=None)
    for link in reversed(chain):
        rebuilt = link._replace(before=rebuilt)
    return rebuilt


def _base_of(head: Emission, first: int) -> tuple[Emission | None, int]:
    """Return what a key held before entry `first`, and the revision that counting from there gives its head."""
    links = 0
    emission: Emission | None = head
    while emission is not None and emission.number >= first:
        links += 1
        emission = emission.before
    return emission, links + (emission.fact.revision if emission else -1)
