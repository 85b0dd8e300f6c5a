"""Event ids: put together and taken apart again, and nothing else taken for one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.ids import EVENT_ID_PATTERN, TABLE_ID_PATTERN, event_id, split_event_id

table_ids = st.from_regex(TABLE_ID_PATTERN.strip("^$"), fullmatch=True)
numbers = st.integers(0, 2**62)


@given(table_ids, numbers, numbers)
def test_an_id_comes_apart_into_what_it_was_made_of(table_id: str, epoch: int, seq: int) -> None:
    assert split_event_id(event_id(table_id, epoch, seq)) == (table_id, epoch, seq)


@given(st.from_regex(EVENT_ID_PATTERN.strip("^$"), fullmatch=True))
def test_an_id_is_put_together_again_as_it_was(identity: str) -> None:
    assert event_id(*split_event_id(identity)) == identity


@pytest.mark.parametrize(
    "text",
    [
        "", "BAC-01", "BAC-01:1", "BAC-01:1:", ":1:1", "-BAC:1:1", "BAC-01:-1:1", "BAC-01:1:1\n", "BAC-01:01:1",
        "BAC-01:1:+1", "BAC-01:1: 1", "BAC-01:1:1_0", "BAC-01:１:1", "BAC-01:x:1", "BAC 01:1:1", "BAC:01:1:1",
        "B" * 41 + ":1:1", "BAC-01:1:" + "1" * 20,
    ],
)  # fmt: skip
def test_what_is_no_event_id_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no event id: it reads table:epoch:seq"):
        split_event_id(text)
