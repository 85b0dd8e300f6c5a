"""The backoff: doubling, bounded, and ended by attempts or age."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from processors.notify.retry import RetryPolicy
from processors.notify.routing import NotificationSettings
from tests.processors.notify.samples import NOON

POLICY = RetryPolicy.of(
    NotificationSettings(retry_first_seconds=2, retry_longest_seconds=20, retry_attempts=6, give_up_after_seconds=3600)
)


def test_waits_double_up_to_the_longest_until_the_attempts_are_used_up() -> None:
    dues = [POLICY.next_attempt(made, NOON, NOON) for made in range(1, 7)]
    assert [due and (due - NOON).total_seconds() for due in dues] == [2, 4, 8, 16, 20, None]


def test_a_message_is_given_up_when_the_next_attempt_would_come_too_late() -> None:
    hour = timedelta(hours=1)
    assert POLICY.next_attempt(1, NOON, NOON + hour - timedelta(seconds=2)) == NOON + hour
    assert POLICY.next_attempt(1, NOON, NOON + hour - timedelta(seconds=1)) is None


@given(made=st.integers(1, 10**6), first=st.integers(1, 3600), longest=st.integers(1, 86_400))
def test_no_wait_is_nothing_or_longer_than_the_longest(made: int, first: int, longest: int) -> None:
    policy = RetryPolicy(timedelta(seconds=first), timedelta(seconds=longest), 10**7, timedelta(days=7))
    due = policy.next_attempt(made, NOON, NOON)
    assert due is not None
    assert timedelta(0) < due - NOON <= timedelta(seconds=longest)
