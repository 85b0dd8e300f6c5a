"""Shapes: a remembered text is judged as it was the first time, and memory has an end."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas import shapes
from schemas.fields import NAME_PATTERN
from schemas.ids import TABLE_ID_PATTERN
from schemas.shapes import Shape

texts = st.text(max_size=5) | st.from_regex(r"[A-Za-z0-9 _@.-]{0,62}\n?", fullmatch=True)


@pytest.mark.parametrize("pattern", [TABLE_ID_PATTERN, NAME_PATTERN])
@given(first=st.lists(texts, max_size=5))
def test_a_text_is_accepted_where_the_pattern_covers_all_of_it(pattern: str, first: list[str]) -> None:
    shape = Shape(pattern)
    whole = re.compile(pattern.strip("^$"))
    for _ in range(2):  # once new, once known
        for text in first:
            fits = whole.fullmatch(text) is not None
            assert (text in shape.known or shape.accepts(text)) == fits
            assert (text in shape.known) == fits


def test_no_text_is_as_good_as_a_known_one() -> None:
    shape = Shape("^a$")
    assert None in shape.known
    assert shape.accepts(None)


def test_endless_new_texts_take_no_endless_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shapes, "MOST_KNOWN", 10)
    shape = Shape("^[0-9]+$")
    sizes = []
    for number in range(100):
        assert shape.accepts(str(number))
        assert not shape.accepts(f"x{number}")
        assert {None, str(number)} <= shape.known
        sizes.append(len(shape.known))
    assert max(sizes) == 11
    assert min(sizes[11:]) == 2
