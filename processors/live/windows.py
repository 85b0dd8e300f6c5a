"""Windows of play: rounds, money, pace and errors of the last minutes, by pit, by dealer and for the whole floor.

Facts are upserts, so each is known by what names it and by its revision: a repeat or an older revision changes nothing,
a newer one takes the place of what was counted, a retracted one takes it out. Facts may come in any order, from several
readers at once; the sums are those of the newest revisions, exact whole numbers throughout.
"""

from collections.abc import Collection, Iterable, Iterator
from datetime import datetime
from operator import itemgetter
from typing import Final, NamedTuple

from processors.live.shares import Key, Share, key_of, minute_in_play, minute_of, share_of
from schemas.facts import Fact

MINUTES_PER_HOUR: Final = 60


class Money(NamedTuple):
    """Sums in one currency, minor units."""

    currency: str
    handle: int
    house_win: int


class Play(NamedTuple):
    """What was played in a window. `table_minutes`: from each table's first round in the window to its end."""

    tables: int = 0
    rounds: int = 0
    decisions: int = 0
    errors: int = 0
    table_minutes: int = 0
    money: tuple[Money, ...] = ()

    @property
    def pace(self) -> float:
        """Decisions an hour and table; 0 where no table played."""
        return MINUTES_PER_HOUR * self.decisions / self.table_minutes if self.table_minutes else 0.0


class Dealing(NamedTuple):
    """What a dealer dealt in a window, and the errors made."""

    dealer_id: str
    rounds: int
    errors: int

    @property
    def error_rate(self) -> float | None:
        """Errors in a hundred rounds; None where none of the window's rounds are known."""
        return 100 * self.errors / self.rounds if self.rounds else None


class Window(NamedTuple):
    """The last `minutes` up to now: the whole floor, each pit, and each dealer."""

    minutes: int
    floor: Play
    pits: dict[str, Play]
    dealers: tuple[Dealing, ...]


class _Held(NamedTuple):
    """A fact as it is known: `until` is the last minute in which an older revision of it could count."""

    revision: int
    partition: int
    until: int
    share: Share | None


class _Sums:
    """One minute of one pit."""

    __slots__ = ("dealers", "decisions", "errors", "money", "rounds", "tables")

    def __init__(self) -> None:
        self.rounds = self.decisions = self.errors = 0
        self.tables: dict[str, int] = {}
        self.money: dict[str, list[int]] = {}
        self.dealers: dict[str, list[int]] = {}

    @property
    def is_empty(self) -> bool:
        """Tell whether nothing is left: every share has a round or an error."""
        return not (self.rounds or self.errors)

    def add(self, share: Share, sign: int) -> None:
        self.rounds += sign * share.rounds
        self.decisions += sign * share.decisions
        self.errors += sign * share.errors
        _add(self.dealers, share.dealer_id, sign * share.rounds, sign * share.errors)
        if share.rounds:
            _add(self.money, share.currency, sign * share.handle, sign * share.house_win)
            self.tables[share.table_id] = self.tables.get(share.table_id, 0) + sign
            if not self.tables[share.table_id]:
                del self.tables[share.table_id]


def _add(sums: dict[str, list[int]], name: str, *amounts: int) -> None:
    known = sums.setdefault(name, [0] * len(amounts))
    for index, amount in enumerate(amounts):
        known[index] += amount


class Windows:
    """Counts the facts of the last `longest` minutes. Not for several threads at once."""

    def __init__(self, longest: int, now: datetime) -> None:
        self._longest = longest
        self._first = minute_of(now) - longest + 1
        self._held: dict[Key, _Held] = {}
        self._ending: dict[int, set[Key]] = {}
        self._minutes: dict[int, dict[str, _Sums]] = {}

    def __len__(self) -> int:
        """Return how many facts are held."""
        return len(self._held)

    def take(self, fact: Fact, partition: int, appended_at: datetime) -> bool:
        """Count a fact that came in `partition` of its topic; tell whether that changed anything."""
        key = key_of(fact)
        if key is None:
            return False
        known = self._held.get(key)
        if known is not None and known.revision >= fact.revision:
            return False
        minute = minute_in_play(fact, appended_at)
        if known is None and minute < self._first:
            return False
        self._forget(key)
        until = minute if known is None else max(minute, known.until)
        share = share_of(fact, minute) if minute >= self._first else None
        self._held[key] = _Held(fact.revision, partition, until, share)
        self._ending.setdefault(until, set()).add(key)
        if share is not None:
            self._minutes.setdefault(minute, {}).setdefault(share.pit, _Sums()).add(share, 1)
        return True

    def advance(self, now: datetime) -> None:
        """Forget what no window of `now` reaches. A clock that was set back brings nothing back."""
        self._first = max(self._first, minute_of(now) - self._longest + 1)
        for minute in [minute for minute in self._ending if minute < self._first]:
            for key in tuple(self._ending[minute]):
                self._forget(key)
        for minute in [minute for minute in self._minutes if minute < self._first]:
            del self._minutes[minute]

    def drop(self, kind: str, partitions: Collection[int]) -> None:
        """Forget the facts of a kind that came in these partitions: another worker counts them now."""
        for key in [key for key, held in self._held.items() if key[0] == kind and held.partition in partitions]:
            self._forget(key)

    def window(self, now: datetime, minutes: int, pits: Iterable[str] = ()) -> Window:
        """Return the last `minutes` up to `now`, the minute under way included; `pits` are there without play too."""
        last = minute_of(now)
        by_pit: dict[str, list[tuple[int, _Sums]]] = {pit: [] for pit in pits}
        for minute in range(last - minutes + 1, last + 1):
            for pit, sums in self._minutes.get(minute, {}).items():
                by_pit.setdefault(pit, []).append((minute, sums))
        found = sorted((one for sums in by_pit.values() for one in sums), key=itemgetter(0))
        return Window(
            minutes,
            _play(found, last),
            {pit: _play(by_pit[pit], last) for pit in sorted(by_pit)},
            _dealers(sums for _, sums in found),
        )

    def _forget(self, key: Key) -> None:
        held = self._held.pop(key, None)
        if held is None:
            return
        keys = self._ending[held.until]
        keys.remove(key)
        if not keys:
            del self._ending[held.until]
        share = held.share
        # Minutes that no window reaches are dropped whole.
        if share is not None and share.minute >= self._first:
            pits = self._minutes[share.minute]
            pits[share.pit].add(share, -1)
            if pits[share.pit].is_empty:
                del pits[share.pit]


def _play(sums: Iterable[tuple[int, _Sums]], last: int) -> Play:
    """Add up minutes that come in order."""
    rounds = decisions = errors = 0
    since: dict[str, int] = {}
    money: dict[str, list[int]] = {}
    for minute, one in sums:
        rounds += one.rounds
        decisions += one.decisions
        errors += one.errors
        for table_id in one.tables:
            since.setdefault(table_id, minute)
        for currency, amounts in one.money.items():
            _add(money, currency, *amounts)
    table_minutes = sum(last - minute + 1 for minute in since.values())
    return Play(len(since), rounds, decisions, errors, table_minutes, tuple(_sorted_money(money)))


def _sorted_money(money: dict[str, list[int]]) -> Iterator[Money]:
    for currency, (handle, house_win) in sorted(money.items()):
        if handle or house_win:
            yield Money(currency, handle, house_win)


def _dealers(sums: Iterable[_Sums]) -> tuple[Dealing, ...]:
    """Return those who dealt or erred, by name; rounds whose dealer nobody knows are nobody's."""
    dealers: dict[str, list[int]] = {}
    for one in sums:
        for dealer_id, amounts in one.dealers.items():
            _add(dealers, dealer_id, *amounts)
    return tuple(
        Dealing(dealer_id, rounds, errors)
        for dealer_id, (rounds, errors) in sorted(dealers.items())
        if dealer_id and (rounds or errors)
    )
