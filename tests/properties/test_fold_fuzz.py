"""Anything may be in the log: the fold never raises, and never loses a record without a word."""

from datetime import timedelta
from typing import Final

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from processors.reconstruct import journal as journal_module
from processors.reconstruct.fold import FoldSettings, TableFold
from schemas.events import EVENT_MODELS, EVENT_TYPES
from schemas.facts import Fact
from schemas.ids import event_id
from schemas.log import Record
from schemas.money import MAX_STAKE
from schemas.topics import TABLE_EVENTS
from schemas.wire import encode, validate_event
from tests.processors.reconstruct.scene import START, Scene, standing
from tests.properties.stories import CONFIGURATIONS

SETTINGS: Final = FoldSettings(gap_limit_ms=2_000, window_rounds=2)

few = st.integers(1, 3)
numbers = st.tuples(st.integers(0, 3), st.one_of(st.integers(0, 30), st.sampled_from([10**6, 10**13, 2**62])))
moments = st.integers(-400, 400).map(lambda seconds: (START + timedelta(seconds=seconds)).isoformat())
amounts = st.sampled_from([1, 100, 30_000, MAX_STAKE])
ids = st.one_of(
    numbers.map(lambda number: event_id(Scene.table_id, *number)), st.just("BAC-02:1:1"), st.just("BAC-01:0:5")
)

# What a field of an event may hold; fields not named here keep their defaults.
FIELDS: Final[dict[str, st.SearchStrategy[object]]] = {
    "shoe": st.sampled_from([1] * 16 + [2, 2, 3, 10**9]),
    "round": st.sampled_from([1] * 10 + [2] * 6 + [3] * 3 + [10**9]),
    "bet_id": st.sampled_from(["B1", "B2"]),
    "bet": st.sampled_from(["player", "banker", "tie", "lucky_six", "dragon_seven"]),
    "stake": amounts,
    "amount": amounts,
    "opening_float": amounts,
    "closing_float": amounts,
    "seat": st.integers(0, 3),
    "area": st.sampled_from(["reserved", "shared"]),
    "posture": st.sampled_from(["seated", "standing"]),
    "patron_id": st.sampled_from(["P-1", "P-2"]),
    "dealer_id": st.sampled_from(["D-1", "D-2"]),
    "hand": st.sampled_from(["player", "banker"]),
    "position": st.integers(1, 4),
    "card": st.sampled_from(["AS", "5D", "9C", "KH"]),
    "outcome": st.sampled_from(["player", "banker", "tie"]),
    "kind": st.sampled_from(["live", "demonstration"]),
    "decks": st.sampled_from([1, 8]),
    "shuffling": st.sampled_from(["shoe", "continuous"]),
    "cut_by": st.sampled_from(["patron", "dealer"]),
    "cards_behind": st.sampled_from([0, 14]),
    "slip": st.just("F-1"),
    "means": st.just("cash"),
    "authorised_by": st.just("PM-7"),
    "configuration": st.sampled_from([one.model_dump(mode="json") for one in CONFIGURATIONS]),
    "target_event_id": ids,
    "action": st.sampled_from(["retract", "replace"]),
    "changes": st.sampled_from([{}, {"amount": 5}, {"stake": 0}, {"card": "2S"}, {"round": 2}, {"seq": 1}]),
    "silent_since": moments,
    "last_event_id": ids,
    "through_epoch": st.integers(0, 3),
    "through_seq": st.integers(0, 40),
}
REASONS: Final = {
    "card_burned": st.sampled_from(["opening", "before_round"]),
    "card_corrected": st.sampled_from(["misdeal", "misread"]),
    "shoe_closed": st.just("house_choice"),
}


@st.composite
def events(draw: st.DrawFn, number: tuple[int, int] | None = None) -> bytes:
    """Return any event of the contract, with any number unless one is given."""
    kind = draw(st.sampled_from(sorted(EVENT_TYPES)))
    epoch, seq = draw(numbers) if number is None else number
    event: dict[str, object] = {
        "type": kind,
        "event_id": event_id(Scene.table_id, epoch, seq),
        "table_id": Scene.table_id,
        "epoch": epoch,
        "seq": seq,
        "occurred_at": draw(moments),
    }
    if draw(st.integers(0, 4)) == 4:
        event["follows"] = draw(numbers)
    for name in EVENT_TYPES[kind].model_fields:
        if name in FIELDS:
            event[name] = draw(FIELDS[name])
        elif name == "reason":
            event[name] = draw(REASONS.get(kind, st.just("it had to be")))
    return msgspec.json.encode(event)


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """Return an event with some bytes changed or missing."""
    raw = draw(events())
    place = draw(st.integers(0, len(raw)))
    return raw[:place] + draw(st.binary(max_size=3)) + raw[place + draw(st.integers(0, 5)) :]


@st.composite
def logs(draw: st.DrawFn) -> list[Record]:
    """Return a log of anything: mostly events in order, whatever they say, and some out of it, damaged, or repeated."""
    moment, seq = START, 0
    records: list[Record] = []
    for _ in range(draw(st.integers(1, 50))):
        moment += timedelta(seconds=draw(st.sampled_from([0, 0, 1, 3])))
        way = draw(st.integers(0, 19))
        if way < 14:
            seq += 1 if way else 2
            raw = draw(events((1, seq)))
        elif way < 16:
            raw = draw(events())
        elif way < 17:
            raw = draw(damaged())
        elif way < 18 or not records:
            raw = draw(st.binary(max_size=40))
        else:
            raw = draw(st.sampled_from(records)).value
        records.append(Record(TABLE_EVENTS, 0, len(records), Scene.table_id, raw, moment))
    return records


def became(fold: TableFold, record: Record, facts: list[Fact], repeats: int) -> int:
    """Return in how many ways a record was accounted for: told, held back, a repeat, or a dead letter."""
    letters = [fact for fact in facts if fact.fact == "dead_letter" and fact.src_offset == record.offset]
    told = [entry for entry in fold.journal.story.entries if entry.offset == record.offset and entry.raw]
    held = (*fold.sequencer.pending.values(), *fold.latecomers.waiting.values())
    waiting = [entry for entry in held if entry.offset == record.offset]
    # An event that makes no sense is told and a dead letter at once.
    return bool(told or letters) + len(waiting) + fold.repeats - repeats


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(logs(), st.data())
def test_no_record_stops_the_fold_or_is_lost_without_a_word(records: list[Record], data: st.DataObject) -> None:
    """Also where it is taken up from its snapshots, and where it remembers next to nothing."""
    with pytest.MonkeyPatch.context() as forgetful:
        remembers = data.draw(st.booleans())
        if not remembers:
            forgetful.setattr(journal_module, "BYTES_PER_CHECKPOINT", 1_500)
            forgetful.setattr(journal_module, "MAX_BYTES", 4_000)
        fold, restored = TableFold(Scene.table_id, SETTINGS), TableFold(Scene.table_id, SETTINGS)
        given_out: list[Fact] = []
        for record in records:
            repeats = fold.repeats
            facts = fold.apply(record)
            # Where next to nothing is remembered, an entry may be forgotten at once.
            assert not remembers or became(fold, record, facts, repeats) == 1
            if data.draw(st.integers(0, 3)) == 3:
                restored = TableFold.restore(restored.snapshot(), SETTINGS)
            assert [encode(fact) for fact in restored.apply(record)] == [encode(fact) for fact in facts]
            given_out += facts
        assert restored.state == fold.state
        assert len(standing(given_out)) <= len(given_out)


@settings(max_examples=200)
@given(events())
def test_fuzz_speaks_the_contract(raw: bytes) -> None:
    """The strategy is no strategy unless most of what it says is an event."""
    assert validate_event(msgspec.json.decode(raw)).type in EVENT_TYPES
    assert len(EVENT_MODELS) == len(EVENT_TYPES)
