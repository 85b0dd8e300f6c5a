"""Which deviation comes next: the one that was brought about least often so far, of those that the moment allows."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Final, TypeVar

from producers.simulator.deviations.between import BETWEEN_DEVIATIONS
from producers.simulator.deviations.dealing import DEALING_DEVIATIONS
from producers.simulator.deviations.late import LATE_DEVIATIONS
from producers.simulator.deviations.limits import LIMIT_DEVIATIONS
from producers.simulator.deviations.opening import OPENING_DEVIATIONS
from producers.simulator.deviations.paying import PAYING_DEVIATIONS
from producers.simulator.plan import Finding, Opening, RoundPlan
from producers.simulator.settings import Deviations
from producers.simulator.table import Table

F = TypeVar("F")

ROUND_DEVIATIONS: Final[Mapping[str, Callable[[Table, RoundPlan], Finding | None]]] = {
    **LIMIT_DEVIATIONS,
    **LATE_DEVIATIONS,
    **DEALING_DEVIATIONS,
    **PAYING_DEVIATIONS,
}


class Schedule:
    """The deviations of one table; without settings there are none. One deviation a round at most."""

    def __init__(self, settings: Deviations | None, rng: Random) -> None:
        self._settings = settings
        self._rng = rng
        self._uses: Counter[str] = Counter()

    def open(self, table: Table, opening: Opening) -> Finding | None:
        """Change how a shoe is opened, in the share of shoes asked for."""
        if self._settings is None or self._rng.random() >= self._settings.per_shoe:
            return None
        for code, bring_about in self._candidates(OPENING_DEVIATIONS):
            finding = bring_about(table, opening)
            if finding:
                self._uses[code] += 1
                return finding
        return None

    def before_round(self, table: Table) -> bool:
        """Let something go wrong between rounds, or tell that it is to go wrong in the round to come."""
        assert table.shoe is not None
        if self._settings is None or table.shoe.next_is_taken or self._rng.random() >= self._settings.per_round:
            return False
        kinds = len(BETWEEN_DEVIATIONS) + len(ROUND_DEVIATIONS)
        if self._rng.random() * kinds >= len(BETWEEN_DEVIATIONS):
            return True
        for code, bring_about in self._candidates(BETWEEN_DEVIATIONS):
            finding = bring_about(table)
            if finding:
                self._uses[code] += 1
                table.label(finding, table.shoe.rounds)
                return False
        return True

    def disturb(self, table: Table, plan: RoundPlan) -> Finding | None:
        """Change the plan of a round."""
        for code, bring_about in self._candidates(ROUND_DEVIATIONS):
            finding = bring_about(table, plan)
            if finding:
                self._uses[code] += 1
                return finding
        return None

    def _candidates(self, deviations: Mapping[str, F]) -> Iterator[tuple[str, F]]:
        assert self._settings is not None
        wanted = [code for code in self._settings.codes if code in deviations]
        self._rng.shuffle(wanted)
        wanted.sort(key=self._uses.__getitem__)
        return ((code, deviations[code]) for code in wanted)
