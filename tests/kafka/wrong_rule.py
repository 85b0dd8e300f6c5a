"""A rule that is wrong in every way that tells: put into a worker before it folds, and mended by leaving it out.

It overlooks what a bet pays, revises every bet once more than is right, raises alerts that there is no reason for,
and misses others.
"""

from typing import Any

from processors.reconstruct.emissions import Emissions
from processors.reconstruct.table import FactKey
from schemas.facts import Fact

MISSED = frozenset({"losing_bet_paid", "differential_exceeded", "both_sides"})
"""Codes of alerts that it doesn't raise."""

INVENTED = "invented"
"""How the identities of alerts end that only it raises: one beside every other alert."""

_right = Emissions.emit


def _copy(fact: Any, **changes: object) -> Any:  # noqa: ANN401 - facts are structs where they are stamped
    return type(fact)(**{name: getattr(fact, name) for name in fact.__struct_fields__} | changes)


def _wrong(self: Emissions, key: FactKey, fact: Fact) -> None:
    blank: Any = fact
    if fact.fact == "alert":
        if blank.code in MISSED:
            return
        if not fact.retracted:
            invented = f"{blank.alert_id}:{INVENTED}"
            _right(self, ("alert", invented), _copy(fact, alert_id=invented))
    elif fact.fact == "bet":
        _right(self, key, _copy(fact, net=blank.net + 2))
        blank.net += 1
    _right(self, key, fact)


def put_in() -> None:
    """Have this process fold by the wrong rule."""
    Emissions.emit = _wrong  # type: ignore[method-assign]  # the point of it
