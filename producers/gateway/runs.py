"""Sequence numbers as runs: what a table sent takes the room of its gaps, not of its events."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator


class Runs:
    """A set of integers kept as sorted, disjoint, inclusive runs."""

    __slots__ = ("_first", "_last")

    def __init__(self, runs: Iterable[tuple[int, int]] = ()) -> None:
        self._first: list[int] = []
        self._last: list[int] = []
        for first, last in runs:
            assert first <= last, "a run doesn't end before it begins"
            assert not self._last or self._last[-1] + 1 < first, "runs rise and leave gaps"
            self._first.append(first)
            self._last.append(last)

    def __contains__(self, number: int) -> bool:
        place = bisect_right(self._first, number) - 1
        return place >= 0 and number <= self._last[place]

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return zip(self._first, self._last, strict=True)

    def __len__(self) -> int:
        """Return the number of runs."""
        return len(self._first)

    def add(self, number: int) -> None:
        """Add one number; adding it again changes nothing."""
        place = bisect_right(self._first, number)
        if place and number <= self._last[place - 1]:
            return
        touches_left = place > 0 and self._last[place - 1] == number - 1
        touches_right = place < len(self._first) and self._first[place] == number + 1
        if touches_left and touches_right:
            self._last[place - 1] = self._last.pop(place)
            del self._first[place]
        elif touches_left:
            self._last[place - 1] = number
        elif touches_right:
            self._first[place] = number
        else:
            self._first.insert(place, number)
            self._last.insert(place, number)

    def forget_lowest(self) -> None:
        """Drop the run with the lowest numbers. Raises `IndexError` where there is none."""
        del self._first[0], self._last[0]
