"""Errors that tell their reader what was wrong, where, and what to do about it."""


class PitwatchError(Exception):
    """Root of every error that Pitwatch raises on purpose."""


class InvalidCard(PitwatchError, ValueError):
    """Raised for text that names no playing card."""

    def __init__(self, text: str) -> None:
        super().__init__(f"{text[:20]!r} is no card: write rank then suit, such as 10H or AS")
