"""Runs of sequence numbers are a set, and take as few runs as the numbers have gaps."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from producers.gateway.runs import Runs

NUMBERS = st.lists(st.integers(0, 40), max_size=60)


@given(NUMBERS)
def test_runs_are_a_set(numbers: list[int]) -> None:
    runs = Runs()
    for number in numbers:
        runs.add(number)
    assert [number for number in range(-1, 43) if number in runs] == sorted(set(numbers))


@given(NUMBERS)
def test_runs_are_sorted_and_never_touch(numbers: list[int]) -> None:
    runs = Runs()
    for number in numbers:
        runs.add(number)
    kept = list(runs)
    assert len(kept) == len(runs)
    assert all(first <= last for first, last in kept)
    assert all(left[1] + 1 < right[0] for left, right in pairwise(kept))
    assert list(Runs(kept)) == kept


def test_forgetting_drops_the_lowest_run() -> None:
    runs = Runs([(1, 3), (5, 9)])
    runs.forget_lowest()
    assert list(runs) == [(5, 9)]
    runs.forget_lowest()
    assert not runs
    with pytest.raises(IndexError):
        runs.forget_lowest()
