"""What tells whether a table is open: of any events at all it makes little, and what the fold makes of them."""

from typing import Final, cast

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from processors.live.openings import CORRECTIONS, NUMBERS_PER_RUN, RUNS, Fix, Openings, Run, shows
from processors.reconstruct.fold import FoldSettings, TableFold
from schemas.events import Correction
from schemas.ids import SYSTEM_EPOCH, event_id
from schemas.log import Record
from schemas.topics import TABLE_EVENTS
from schemas.wire import decode_event
from tests.processors.reconstruct.scene import START
from tests.producers.table import event

TABLE: Final = "BAC-01"

Sent = tuple[str, int, int, int, bool]
"""What it is, its epoch and seq, which seq it corrects, and whether it takes that back."""

SEQS: Final = st.one_of(st.integers(1, 5), st.integers(1, 60))

SENT: Final = st.tuples(
    st.sampled_from(("table_opened", "table_opened", "table_closed", "correction", "correction")),
    st.sampled_from((1, 1, 1, SYSTEM_EPOCH)),
    SEQS,
    SEQS,
    st.sampled_from((True, True, False)),
)


def retraction(target: str) -> dict[str, object]:
    """Return what a correction says that takes another event back."""
    return {"target_event_id": target, "action": "retract", "authorised_by": "PM-7", "reason": "seen on the tape"}


def written(sent: Sent) -> bytes:
    type, epoch, seq, target, retracts = sent
    if type != "correction":
        return event(seq, TABLE, 1, type)
    # Now and then of one that Pitwatch itself wrote.
    fields = retraction(event_id(TABLE, SYSTEM_EPOCH if target % 7 == 0 else 1, target))
    if not retracts:
        fields |= {"action": "replace", "changes": {"opening_float": 7}}
    return event(seq, TABLE, epoch, type, **fields)


def take(openings: Openings, raw: bytes, last: int) -> None:
    """Take in an event as the watch does that heard `last` as the newest one."""
    one = decode_event(raw)
    if one.type == "correction":
        openings.correct(cast(Correction, one), (1, last))
    elif (opens := shows(one)) is not None:
        openings.show((one.epoch, one.seq), opens=opens)


def taken(*raws: bytes) -> Openings:
    openings = Openings()
    last = 0
    for raw in raws:
        if (one := decode_event(raw)).epoch != SYSTEM_EPOCH:
            last = max(last, one.seq)
        take(openings, raw, last)
    return openings


def folded(*raws: bytes) -> bool:
    """Tell whether the table is open to the fold."""
    fold = TableFold(TABLE, FoldSettings())
    for offset, raw in enumerate(raws):
        fold.apply(Record(TABLE_EVENTS, 0, offset, TABLE, raw, START))
    return fold.state.is_open


@settings(max_examples=200)
@given(st.lists(SENT, min_size=20, max_size=150))
def test_any_events_come_to_an_end_and_take_little_room(sent: list[Sent]) -> None:
    """Whichever take each other back, come late or share a number."""
    openings = Openings()
    for one in sent:
        take(openings, written(one), 60)
        assert openings.is_open(TABLE) in {True, False}
        assert len(openings.fixes) <= CORRECTIONS
        assert len(openings.runs) <= RUNS
        assert all(1 <= len(run.numbers) <= NUMBERS_PER_RUN for run in openings.runs)
        assert [run.opens for run in openings.runs[1:]] == [not run.opens for run in openings.runs[:-1]]
    again = msgspec.msgpack.decode(msgspec.msgpack.encode(openings), type=Openings)
    assert again.is_open(TABLE) == openings.is_open(TABLE)


@settings(max_examples=300)
@given(
    st.lists(
        st.tuples(st.sampled_from(("table_opened", "table_closed", "correction", "correction")), st.integers(1, 12)),
        max_size=12,
    )
)
def test_corrections_that_make_no_sense_are_to_it_what_they_are_to_the_fold(sent: list[tuple[str, int]]) -> None:
    """Of events still to come, of one another, in circles, and in chains."""
    raws = [
        event(seq, TABLE, 1, type, **(retraction(event_id(TABLE, 1, target)) if type == "correction" else {}))
        for seq, (type, target) in enumerate(sent, 1)
    ]
    for count in range(1, len(raws) + 1):
        assert taken(*raws[:count]).is_open(TABLE) == folded(*raws[:count])


@pytest.mark.parametrize("length", range(1, CORRECTIONS + 1))
def test_chain_of_corrections_turns_with_each(length: int) -> None:
    """A closing is taken back, that is taken back, and so on."""
    raws = [event(1, TABLE, 1, "table_opened"), event(2, TABLE, 1, "table_closed")]
    raws += [event(seq, TABLE, 1, "correction", **retraction(f"{TABLE}:1:{seq - 1}")) for seq in range(3, 3 + length)]
    assert taken(*raws).is_open(TABLE) == (length % 2 == 1) == folded(*raws)


def in_a_circle(seq: int, target: int) -> bytes:
    return event(seq, TABLE, 1, "correction", **retraction(f"{TABLE}:1:{target}"))


OPENED: Final = event(1, TABLE, 1, "table_opened")


@pytest.mark.parametrize(
    ("raws", "is_open"),
    [
        # The closing has the number first, so no correction has it.
        ([OPENED, event(2, TABLE, 1, "table_closed"), in_a_circle(2, 3), in_a_circle(3, 2)], True),
        # A correction has the number first, so no closing has it.
        ([OPENED, in_a_circle(2, 3), event(2, TABLE, 1, "table_closed"), in_a_circle(3, 2)], True),
        ([OPENED, in_a_circle(2, 3), in_a_circle(3, 2), event(3, TABLE, 1, "table_closed")], True),
        # An opening has the number first, so no closing has it.
        ([OPENED, event(2, TABLE, 1, "table_opened"), event(1, TABLE, 1, "table_closed"), in_a_circle(3, 2)], True),
    ],
)
def test_of_events_that_share_a_number_the_first_stands(raws: list[bytes], is_open: bool) -> None:
    assert taken(*raws).is_open(TABLE) == folded(*raws) == is_open


def test_circle_that_was_kept_through_an_event_takes_nothing_back() -> None:
    """Kept so by a version that let an event and a correction share a number."""
    openings = Openings(
        [Run(False, [(1, 1)]), Run(True, [(1, 2)])],
        [
            Fix((1, 2, 0), f"{TABLE}:1:2", f"{TABLE}:1:3", True),
            Fix((1, 3, 0), f"{TABLE}:1:3", f"{TABLE}:1:2", True),
        ],
    )
    assert openings.is_open(TABLE)


def test_inner_runs_stay_small_however_much_comes_late() -> None:
    raws = [OPENED, event(1_000, TABLE, 1, "table_closed")]
    raws += [event(seq, TABLE, 1, "table_opened") for seq in range(500, 2, -1)]
    openings = taken(*raws)
    # Of those that show the same the newest are kept.
    assert [run.numbers for run in openings.runs] == [
        [(1, seq) for seq in range(501 - NUMBERS_PER_RUN, 501)],
        [(1, 1_000)],
    ]


def test_runs_that_become_one_stay_small() -> None:
    """The closing between them was taken back for good."""
    raws = [event(seq, TABLE, 1, "table_closed" if seq == 9 else "table_opened") for seq in range(1, 18)]
    raws += [in_a_circle(18, 9)]
    raws += [in_a_circle(seq, 1_000) for seq in range(19, 19 + CORRECTIONS)]
    openings = taken(*raws)
    assert [(run.opens, run.numbers) for run in openings.runs] == [
        (True, [(1, seq) for seq in range(18 - NUMBERS_PER_RUN, 18)])
    ]
