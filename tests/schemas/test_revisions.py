"""What a revision says of when its fact was told: a later replay's are above an earlier one's, whatever the clock."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from schemas.revisions import AS_THEY_CAME, COUNTED, counted, first_revision, next_first_revision, replay_begun

MOMENTS = st.integers(0, 7_000_000_000_000_000).map(
    lambda microseconds: datetime(2026, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds)
)


@given(st.lists(MOMENTS, min_size=1), st.integers(0, COUNTED - 1))
def test_each_telling_is_above_all_that_was_told_before(begun: list[datetime], revisions: int) -> None:
    newest = AS_THEY_CAME
    for moment in begun:
        for first in (next_first_revision(newest), first_revision(moment, next_first_revision(newest))):
            assert first >= newest + COUNTED
            assert counted(first + revisions) == revisions
            newest = first


@given(MOMENTS, st.integers(0, COUNTED - 1))
def test_a_replays_revision_tells_when_it_was_begun(begun: datetime, revisions: int) -> None:
    told = replay_begun(first_revision(begun) + revisions)
    assert told is not None
    assert begun < told <= begun + timedelta(seconds=1)


def test_facts_that_were_told_as_they_came_are_of_no_replay() -> None:
    assert replay_begun(AS_THEY_CAME) is None
    assert replay_begun(COUNTED) is None


def test_no_program_that_counts_in_doubles_loses_a_revision() -> None:
    last = first_revision(datetime(2255, 1, 1, tzinfo=UTC)) + COUNTED
    assert int(float(last)) == last
    assert int(float(last + 1)) == last + 1
