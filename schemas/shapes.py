"""Texts of a prescribed shape, and which of them were seen before.

Matching three patterns costs more than decoding all the rest of a bet, yet a floor's tables, dealers, patrons and bet
ids come again and again. So the hot path looks a text up in `known` and asks `accepts` about new ones only.
"""

import re
from typing import Final

MOST_KNOWN: Final = 50_000
"""How many texts are remembered; then all are forgotten, so that endless new ones take no endless memory."""


class Shape:
    """A pattern that covers a whole text, and the texts known to match it; None, where a text may lack, always does."""

    __slots__ = ("_matches", "known", "pattern")

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.known: set[str | None] = {None}
        self._matches = re.compile(pattern).fullmatch

    def accepts(self, text: str | None) -> bool:
        """Tell whether `text` has the shape, and remember it if so."""
        if text is None:
            return True
        if not self._matches(text):
            return False
        if len(self.known) > MOST_KNOWN:
            self.known.clear()
            self.known.add(None)
        self.known.add(text)
        return True
