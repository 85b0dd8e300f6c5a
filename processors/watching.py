"""Being watched, as a worker knows it: it says that it is alive, and somebody minds when it says so no more."""

from typing import Final, Protocol


class Watcher(Protocol):
    """Whoever minds that what said it is alive says so again, until it rests."""

    def beat(self, name: str, *, asks_log: bool = False) -> None:
        """Note that something is alive; what `asks_log` may be late while the log is away."""
        ...

    def rest(self, name: str) -> None:
        """Note that something has ended."""
        ...


class Unwatched:
    """Nobody minds."""

    def beat(self, name: str, *, asks_log: bool = False) -> None:
        """Do nothing."""

    def rest(self, name: str) -> None:
        """Do nothing."""


UNWATCHED: Final = Unwatched()
