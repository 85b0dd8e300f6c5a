"""The facts that hold after a fold, as far as somebody asked for them: the newest revision of each, none retracted."""

from collections.abc import Iterable
from typing import Final, NamedTuple, TypeVar, cast

from schemas.facts import FACT_KEYS, Fact
from schemas.log import Record

F = TypeVar("F", bound=Fact)

MAX_ALERTS: Final = 1000
"""Alerts kept of a whole table, the newest; a shoe's are all kept."""

_OF_A_TABLE: Final = frozenset({"table_hour", "alert"})
_OF_ITS_SHOE: Final = frozenset({"round", "road"})
_OF_A_SHOE: Final = frozenset({"round", "road", "alert", "dead_letter"})
_OF_A_ROUND: Final = frozenset({"bet", "commission", "alert", "dead_letter"})


class Scope(NamedTuple):
    """What is asked for: a table with its shoe in play, one shoe, or one round."""

    shoe: int | None = None
    round: int | None = None


class Refusals:
    """Which records came out as dead letters."""

    def __init__(self) -> None:
        self._places: set[tuple[int, int]] = set()

    def note(self, fact: Fact) -> None:
        """Take a dead letter into account; one that is retracted is no refusal any more."""
        if fact.fact == "dead_letter":
            place = (fact.src_partition, fact.src_offset)
            if fact.retracted:
                self._places.discard(place)
            else:
                self._places.add(place)

    def __contains__(self, record: Record) -> bool:
        return (record.partition, record.offset) in self._places


class FactBook:
    """Keeps the facts that a scope asks for."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._facts: dict[str, dict[tuple[object, ...], Fact]] = {kind: {} for kind in FACT_KEYS}
        self._newest_shoe = 0
        self.refused = Refusals()

    def keep(self, facts: Iterable[Fact]) -> None:
        """Enter facts in the order in which the fold gave them: a later one of the same key takes its place."""
        for fact in facts:
            self.refused.note(fact)
            if not self._is_wanted(fact):
                continue
            pages = self._facts[fact.fact]
            key = tuple(getattr(fact, name) for name in FACT_KEYS[fact.fact])
            pages.pop(key, None)
            if not fact.retracted:
                pages[key] = fact
            if fact.fact == "alert" and self._scope.shoe is None and len(pages) > MAX_ALERTS:
                del pages[next(iter(pages))]

    def _is_wanted(self, fact: Fact) -> bool:
        kind, fact_shoe = fact.fact, getattr(fact, "shoe", 0)
        shoe, number = self._scope
        if kind == "shoe":
            self._turn_to(fact_shoe)
            return True
        if shoe is None:
            return kind in _OF_A_TABLE or (kind in _OF_ITS_SHOE and fact_shoe == self._newest_shoe)
        if fact_shoe != shoe:
            return False
        if number is None:
            return kind in _OF_A_SHOE
        # Who asked for a round that isn't there is told which ones are.
        return kind == "round" or (kind in _OF_A_ROUND and getattr(fact, "round", 0) == number)

    def _turn_to(self, shoe: int) -> None:
        """Forget the rounds of the shoe before when a new one comes: a table's history may be long."""
        if self._scope.shoe is None and shoe > self._newest_shoe:
            self._newest_shoe = shoe
            for kind in _OF_ITS_SHOE:
                self._facts[kind].clear()

    def of(self, model: type[F]) -> list[F]:
        """Return the facts of one kind, those that came or changed last at the end."""
        kind = model.model_fields["fact"].default
        return cast(list[F], list(self._facts[kind].values()))
