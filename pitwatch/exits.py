"""Exit codes of every command."""

from typing import Final

GOOD: Final = 0
"""It did what was asked, and found nothing amiss."""

FOUND: Final = 1
"""It did what was asked, and found something: a mismatch, a difference, a deviation that was missed."""

UNUSABLE: Final = 2
"""The call, its input or its surroundings can't be used."""
