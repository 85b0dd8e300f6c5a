"""Late events that wait to be told together, so that a table's history is told again once and not once for each.

When a history is told again depends on nothing but the log: at once for the first late event, and for those that
follow it at the first record of the table a pause later. However the log is cut into batches, the facts are the same.
"""

from datetime import datetime, timedelta
from typing import Final

import msgspec

from processors.reconstruct.sequencer import MAX_PENDING, Entry, Number
from schemas.events import Event
from schemas.ids import SYSTEM_EPOCH

PAUSE: Final = timedelta(seconds=1)
"""Between two tellings of a table's history on account of late events, by the log's clock."""


class Latecomers(msgspec.Struct):
    """Late events by number, in the order of arrival, and when the last ones were told, by the log's clock."""

    waiting: dict[Number, Entry] = {}
    told_at: datetime | None = None

    def are_due(self, now: datetime) -> bool:
        """Tell whether those that wait are to be told at the log's time `now`."""
        told_at = self.told_at
        # A log's clock may go back; nothing waits for it to come round again.
        return told_at is None or not told_at <= now < told_at + PAUSE or len(self.waiting) >= MAX_PENDING

    def go_before(self, event: Event, now: datetime) -> bool:
        """Tell whether those that wait are to be told before `event`, which is not late itself.

        What Pitwatch or the house writes, and a correction, is about the whole of what was heard so far.
        """
        return event.epoch == SYSTEM_EPOCH or event.type == "correction" or self.are_due(now)

    def take(self, now: datetime) -> list[Entry]:
        """Return those that wait, to be told now."""
        entries, self.waiting = list(self.waiting.values()), {}
        self.told_at = now
        return entries
