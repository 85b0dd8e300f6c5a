"""What a fact's revision says of when the fact was worked out: as its events came, or once more.

A fold counts the revisions of a fact from 0. A replay folds the events from the beginning again, under a rule that was
mended, and counts on from a million for each second since 1970 at which it was begun. So whatever a replay tells takes
the place of all that was told before it, and of two replays the later one holds, though nobody remembers how often
anything had been revised. A fold that has to begin anew for another reason counts on from the next million.
"""

from datetime import UTC, datetime, timedelta
from typing import Final

AS_THEY_CAME: Final = 0
"""The first revision of facts that were never told again."""

COUNTED: Final = 1_000_000
"""More revisions than any fact ever gets in one telling: first ones are multiples of it."""

_FIRST_REPLAY: Final = 10**15
"""No replay was begun before 2001, and no fold begins anew so often. Up to 2255 a double holds every revision."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND: Final = timedelta(seconds=1)


def first_revision(begun: datetime, newest: int = AS_THEY_CAME) -> int:
    """Return the first revision of a replay that is begun now, where `newest` was an earlier one's.

    It is above every revision of that one, whatever became of the clock.
    """
    # The second that has begun has not ended: what happened in it did so before.
    return max(((begun - _EPOCH) // _SECOND + 1) * COUNTED, next_first_revision(newest))


def next_first_revision(first: int) -> int:
    """Return the first revision of facts that count on above those which began with `first`."""
    return first + COUNTED


def counted(revision: int) -> int:
    """Return a revision as its fold counted it."""
    return revision % COUNTED


def replay_begun(revision: int) -> datetime | None:
    """Return when the replay was begun that gave a fact this revision, to the second; None where none did."""
    return None if revision < _FIRST_REPLAY else _EPOCH + revision // COUNTED * _SECOND
