"""Alerts held against a simulator's labels: what was found, what was missed, and what nobody had done. Pure.

Each code of a label must be answered by an alert of its own: of that code, at that table, in that shoe and round (0 for
what belongs to no round), and about the same bet where the label's first code and the alert both name one. A deviation
that the table itself put right was found all the same. An alert that answers no label is unexpected.
"""

from collections import Counter
from collections.abc import Container, Iterable, Iterator
from typing import Final, NamedTuple

from producers.simulator.labels import Label
from schemas.alerts import ALERTS
from schemas.facts import AlertFact

Round = tuple[str, int, int]
"""A table, its shoe and the round in it; round 0 is what belongs to no round."""


class Claim(NamedTuple):
    """One code of a label; `bet_id` is empty where it may be about any bet, or none."""

    label: Label
    code: str
    bet_id: str


class Score(NamedTuple):
    """How labels and alerts agree. `found` pairs each claim with the alert that answers it."""

    found: list[tuple[Claim, AlertFact]]
    missed: list[Claim]
    unexpected: list[AlertFact]

    @property
    def agrees(self) -> bool:
        """Whether everything was found, and nothing else."""
        return not self.missed and not self.unexpected

    @property
    def labels(self) -> int:
        """How many labels were held against the alerts."""
        claims = [*(claim for claim, _ in self.found), *self.missed]
        return sum(claim.code == claim.label.codes[0] for claim in claims)

    def by_code(self) -> list["Line"]:
        """Return the agreement code by code, in the order of the alert catalogue."""
        found = Counter(claim.code for claim, _ in self.found)
        missed = Counter(claim.code for claim in self.missed)
        unexpected = Counter(alert.code for alert in self.unexpected)
        codes = found.keys() | missed.keys() | unexpected.keys()
        return [Line(code, found[code], missed[code], unexpected[code]) for code in sorted(codes, key=_CATALOGUE.index)]


class Line(NamedTuple):
    """One code's agreement, in numbers."""

    code: str
    found: int
    missed: int
    unexpected: int


_CATALOGUE: Final = tuple(ALERTS)


def score(labels: Iterable[Label], alerts: Iterable[AlertFact], unfinished: Container[Round] = ()) -> Score:
    """Hold `alerts`, the newest version of each, against `labels`. Rounds `unfinished` are left out on both sides."""
    waiting: dict[tuple[Round, str], list[AlertFact]] = {}
    for alert in alerts:
        place = (alert.table_id, alert.shoe, alert.round)
        if not alert.retracted and place not in unfinished:
            waiting.setdefault((place, alert.code), []).append(alert)
    result = Score([], [], [])
    for claim in sorted(_claims(labels, unfinished), key=lambda claim: not claim.bet_id):
        label = claim.label
        answer = _answer(claim, waiting.get(((label.table_id, label.shoe, label.round), claim.code), []))
        if answer is None:
            result.missed.append(claim)
        else:
            result.found.append((claim, answer))
    result.unexpected.extend(alert for left in waiting.values() for alert in left)
    return result


def _claims(labels: Iterable[Label], unfinished: Container[Round]) -> Iterator[Claim]:
    for label in labels:
        if (label.table_id, label.shoe, label.round) not in unfinished:
            for index, code in enumerate(label.codes):
                # What follows from a deviation need not be about the same bet.
                yield Claim(label, code, "" if index else label.bet_id)


def _answer(claim: Claim, candidates: list[AlertFact]) -> AlertFact | None:
    """Take the alert that answers `claim` out of `candidates`: one about the same bet before one about none."""
    fitting = [alert for alert in candidates if not claim.bet_id or alert.evidence.bet_id in (claim.bet_id, "")]
    answer = max(fitting, key=lambda alert: alert.evidence.bet_id == claim.bet_id, default=None)
    if answer is not None:
        candidates.remove(answer)
    return answer
