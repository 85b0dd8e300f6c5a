"""Whether streams move: what stands still while there is something to do, and for how long."""

from collections.abc import Collection, Hashable, Iterator
from typing import Generic, NamedTuple, TypeVar

Name = TypeVar("Name", bound=Hashable)


class _Seen(NamedTuple):
    place: int
    moved_at: float


class Progress(Generic[Name]):
    """Watches places that must move as long as something waits behind them. Times are seconds of one clock."""

    def __init__(self) -> None:
        self._seen: dict[Name, _Seen] = {}

    def note(self, name: Name, place: int, now: float, *, waiting: bool = True) -> None:
        """Note where a stream is, and whether anything waits for it there. One that was not known has just moved."""
        seen = self._seen.get(name)
        if seen is None or seen.place != place or not waiting:
            self._seen[name] = _Seen(place, now)

    def standing(self, now: float, limit_seconds: float) -> Iterator[tuple[Name, float]]:
        """Yield the streams that have stood still for longer than the limit, each with its seconds."""
        for name, seen in self._seen.items():
            if now - seen.moved_at > limit_seconds:
                yield name, now - seen.moved_at

    def keep(self, names: Collection[Name]) -> None:
        """Forget every other stream."""
        for name in [name for name in self._seen if name not in names]:
            del self._seen[name]

    def forget(self, name: Name) -> None:
        """Forget a stream, if it is known."""
        self._seen.pop(name, None)

    def excuse(self, now: float) -> None:
        """Count for every stream from now on: while what they need was away nothing could move."""
        for name, seen in self._seen.items():
            self._seen[name] = _Seen(seen.place, now)
