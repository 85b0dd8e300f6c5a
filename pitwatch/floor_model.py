"""What a view of the floor shows, gathered from facts. Pure: the caller says when it heard them.

Facts are upserts, so everything here is kept by the facts' own keys: a round that is revised replaces what it said
before, and one that is retracted takes it back.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from typing import Final, NamedTuple, cast

from processors.rules.road_layout import Cell, Road
from schemas.alerts import SEVERITIES, Severity
from schemas.cards import CARDS_PER_DECK
from schemas.facts import AlertFact, Fact, RoadFact, RoundFact, ShoeFact

_TELLS_TIME: Final = frozenset({"round", "shoe"})

GRAVEST_FIRST: Final[tuple[Severity, ...]] = tuple(reversed(SEVERITIES))


@dataclass(frozen=True, slots=True)
class Money:
    """Sums over rounds, in minor units of one currency."""

    handle: int = 0
    house_win: int = 0
    commission_due: int = 0

    def __add__(self, other: "Money") -> "Money":
        return Money(
            self.handle + other.handle,
            self.house_win + other.house_win,
            self.commission_due + other.commission_due,
        )

    def __neg__(self) -> "Money":
        return Money(-self.handle, -self.house_win, -self.commission_due)

    @property
    def hold(self) -> Fraction | None:
        """Win ÷ handle; None where nothing was decided yet."""
        return Fraction(self.house_win, self.handle) if self.handle else None


class RoundSum(NamedTuple):
    """What of a round goes into the sums."""

    money: Money
    bets: int


@dataclass(slots=True)
class TableLine:
    """One table as the floor shows it.

    By the caller's clock, in seconds: `heard_at`, when its newest fact came, and `alerted_at`, when its newest alert
    did, which was `alerted` grave.
    """

    table_id: str
    pit: str = ""
    currency: str = ""
    dealer_id: str = ""
    shoe: int = 0
    shoe_fact: ShoeFact | None = None
    round: int = 0
    money: Money = Money()
    bets: int = 0
    heard_at: float = 0.0
    alerted: Severity | None = None
    alerted_at: float = 0.0
    alerts: dict[str, AlertFact] = field(default_factory=dict)
    rounds: dict[tuple[int, int], RoundSum] = field(default_factory=dict)
    cells: dict[Road, dict[int, Cell]] = field(default_factory=dict)

    def road(self, road: Road) -> list[Cell]:
        """Return the cells of the shoe's road in order."""
        cells = self.cells.get(road, {})
        return [cells[index] for index in sorted(cells)]

    @property
    def progress(self) -> tuple[int, int] | None:
        """Cards out of the shoe, and how many will be when the cut card comes; None for a continuous shuffler."""
        shoe = self.shoe_fact
        if shoe is None or shoe.shuffling == "continuous":
            return None
        return shoe.cards_out, shoe.decks * CARDS_PER_DECK - (shoe.cards_behind_cut or 0)

    @property
    def severities(self) -> Counter[Severity]:
        """How many alerts of each severity stand."""
        return Counter(alert.severity for alert in self.alerts.values())

    @property
    def gravest(self) -> Severity | None:
        """The highest severity among the table's alerts."""
        counts = self.severities
        return next((severity for severity in GRAVEST_FIRST if counts[severity]), None)

    def begin_shoe(self, shoe: int) -> None:
        """Take up the next shoe: its roads begin anew."""
        if shoe > self.shoe:
            self.shoe = shoe
            self.shoe_fact = None
            self.round = 0
            self.cells = {}


class Floor:
    """A floor as its facts tell it, table by table."""

    def __init__(self) -> None:
        self.tables: dict[str, TableLine] = {}
        self.alerts: dict[str, AlertFact] = {}
        self.dead_letters: set[tuple[int, int]] = set()
        self.clock: datetime | None = None
        """The latest instant that a round or shoe speaks of; messages that couldn't be used have the log's time."""

    def take(self, facts: Sequence[Fact], heard_at: float) -> None:
        """Take the next facts in, in the order in which they were published."""
        for fact in facts:
            line = self.tables.get(fact.table_id)
            if line is None:
                line = self.tables[fact.table_id] = TableLine(fact.table_id)
            line.heard_at = heard_at
            if fact.fact in _TELLS_TIME and (self.clock is None or fact.occurred_at > self.clock):
                self.clock = fact.occurred_at
            if take := _TAKE.get(fact.fact):
                take(self, line, fact)

    def lines(self) -> list[TableLine]:
        """Return the tables by name."""
        return [self.tables[table_id] for table_id in sorted(self.tables)]

    def totals(self) -> dict[str, Money]:
        """Return the floor's money by currency."""
        totals: dict[str, Money] = {}
        for line in self.tables.values():
            if line.currency:
                totals[line.currency] = totals.get(line.currency, Money()) + line.money
        return totals

    @property
    def rounds(self) -> int:
        """How many live rounds were played."""
        return sum(len(line.rounds) for line in self.tables.values())

    @property
    def bets(self) -> int:
        """How many bets the rounds had."""
        return sum(line.bets for line in self.tables.values())

    @property
    def severities(self) -> Counter[Severity]:
        """How many alerts of each severity stand."""
        return Counter(alert.severity for alert in self.alerts.values())

    def latest_alerts(self, most: int) -> list[AlertFact]:
        """Return the alerts that came last, the newest first."""
        return list(self.alerts.values())[: -most - 1 : -1]


def _take_round(_floor: Floor, line: TableLine, fact: Fact) -> None:
    told = cast(RoundFact, fact)
    line.pit, line.currency, line.dealer_id = told.pit, told.currency, told.dealer_id
    line.begin_shoe(told.shoe)
    if told.shoe == line.shoe:
        line.round = max(line.round, told.round)
    key = (told.shoe, told.round)
    _count(line, line.rounds.pop(key, None), -1)
    if told.kind == "live" and not told.retracted:
        line.rounds[key] = RoundSum(Money(told.handle, told.house_win, told.commission_due), told.bets)
        _count(line, line.rounds[key], +1)


def _count(line: TableLine, told: RoundSum | None, sign: int) -> None:
    if told is not None:
        line.money += told.money if sign > 0 else -told.money
        line.bets += sign * told.bets


def _take_shoe(_floor: Floor, line: TableLine, fact: Fact) -> None:
    told = cast(ShoeFact, fact)
    line.pit = told.pit or line.pit
    line.begin_shoe(told.shoe)
    if told.shoe == line.shoe:
        line.shoe_fact = None if told.retracted else told


def _take_road(_floor: Floor, line: TableLine, fact: Fact) -> None:
    told = cast(RoadFact, fact)
    line.begin_shoe(told.shoe)
    if told.shoe != line.shoe:
        return
    cells = line.cells.setdefault(told.road, {})
    if told.retracted:
        cells.pop(told.index, None)
        return
    cells[told.index] = Cell(
        told.road,
        told.index,
        told.column,
        told.row,
        told.mark,
        told.ties,
        told.player_pair,
        told.banker_pair,
        told.round,
    )


def _take_alert(floor: Floor, line: TableLine, fact: Fact) -> None:
    told = cast(AlertFact, fact)
    if not told.retracted and told.alert_id not in line.alerts:
        line.alerted, line.alerted_at = told.severity, line.heard_at
    for alerts in (floor.alerts, line.alerts):
        if told.retracted:
            alerts.pop(told.alert_id, None)
        else:
            # An alert that is told anew keeps its place among the others.
            alerts[told.alert_id] = told


def _take_dead_letter(floor: Floor, _line: TableLine, fact: Fact) -> None:
    place = (fact.src_partition, fact.src_offset)
    if fact.retracted:
        floor.dead_letters.discard(place)
    else:
        floor.dead_letters.add(place)


_TAKE: Final[dict[str, Callable[[Floor, TableLine, Fact], None]]] = {
    "round": _take_round,
    "shoe": _take_shoe,
    "road": _take_road,
    "alert": _take_alert,
    "dead_letter": _take_dead_letter,
}
"""Kind of fact → what the floor does with it; the other kinds aren't shown."""
