"""When a message that could not be sent is tried again."""

from datetime import datetime, timedelta
from typing import NamedTuple, Self

from processors.notify.routing import NotificationSettings


class RetryPolicy(NamedTuple):
    """Exponential backoff with an end: `attempts` in all, and none once the message is `give_up_after` old."""

    first: timedelta
    longest: timedelta
    attempts: int
    give_up_after: timedelta

    @classmethod
    def of(cls, settings: NotificationSettings) -> Self:
        """Return the policy that the settings describe."""
        return cls(
            first=timedelta(seconds=settings.retry_first_seconds),
            longest=timedelta(seconds=settings.retry_longest_seconds),
            attempts=settings.retry_attempts,
            give_up_after=timedelta(seconds=settings.give_up_after_seconds),
        )

    def next_attempt(self, made: int, enqueued_at: datetime, now: datetime) -> datetime | None:
        """Return when to try again after `made` failed attempts, or None to give up."""
        if made >= self.attempts:
            return None
        # After 32 doublings every wait is the longest; without this bound the power outgrows a timedelta.
        due = now + min(self.longest, self.first * 2 ** min(made - 1, 32))
        return due if due - enqueued_at <= self.give_up_after else None
