"""What a fact's revision says of when the fact was worked out: as its events came, or once more in a replay.

A fold counts the revisions of a fact from 0. A replay folds the events from the beginning again, under a rule that was
mended, and counts on from the microsecond in which it was begun. So whatever a replay tells takes the place of all that
was told before it, and of two replays the later one holds, though nobody remembers how often anything had been revised.
"""

from datetime import UTC, datetime, timedelta
from typing import Final

AS_THEY_CAME: Final = 0
"""The first revision of facts that were never told again."""

COUNTED: Final = 1_000_000
"""More revisions than any fact ever gets in one telling: so far apart are the first ones of two replays at least."""

_FIRST_REPLAY: Final = 10**15
"""No replay was begun before 2001, and no fold counts so far by itself. Up to 2255 a double holds every revision."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


def first_revision(begun: datetime, newest: int = AS_THEY_CAME) -> int:
    """Return the first revision of a replay that is begun now, where `newest` was an earlier one's.

    It is above every revision of that one, whatever became of the clock.
    """
    return max((begun - _EPOCH) // _MICROSECOND, newest + COUNTED)


def replay_begun(revision: int) -> datetime | None:
    """Return when the replay was begun that gave a fact this revision; None where none did."""
    return None if revision < _FIRST_REPLAY else _EPOCH + revision * _MICROSECOND
