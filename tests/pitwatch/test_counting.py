"""Numbers agree with what they count."""

import pytest

from pitwatch.counting import counted


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0 mismatches"), (1, "1 mismatch"), (2, "2 mismatches"), (1234, "1,234 mismatches")]
)
def test_only_one_is_singular(number: int, text: str) -> None:
    assert counted(number, "mismatch", "mismatches") == text


def test_most_plurals_take_an_s() -> None:
    assert (counted(1, "line"), counted(3, "line")) == ("1 line", "3 lines")
