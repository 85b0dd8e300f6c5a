"""A simulated table: what it is set up as, who is at it, what lies in its tray, and the shoe in play."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from producers.simulator.controller import SECOND, Controller
from producers.simulator.labels import Label
from producers.simulator.patrons import Patron
from producers.simulator.places import Places
from producers.simulator.plan import Finding, Step, Wager
from producers.simulator.settings import FloorSettings, SimulatedTable
from producers.simulator.settlement import Terms
from producers.simulator.shoe import CardSource
from schemas.cards import Hand
from schemas.configuration import TableConfiguration


@dataclass(slots=True, eq=False)
class ShoeInPlay:
    """A shoe and how far it is played: `end_after` is its last round, once the white card or the house has decided.

    `finding` is the shoe's own deviation until it has shown; `event_ids` are those of the events that show one.
    """

    number: int
    source: CardSource
    rounds: int = 0
    live_rounds: int = 0
    demonstrations: int = 0
    bets: int = 0
    cards_behind: int = 0
    rounds_too_many: int = 0
    end_after: int | None = None
    closed: bool = False
    cut_round: int | None = None
    forged: str | None = None
    forged_seen: int = 0
    finding: Finding | None = None
    event_ids: dict[str, str] = field(default_factory=dict)

    def next_bet_id(self) -> str:
        """Return an identifier for a bet, unique in the shoe."""
        self.bets += 1
        return f"B{self.bets}"

    @property
    def next_is_taken(self) -> bool:
        """Whether the next round may show the shoe's own deviation: in a forged shoe that is known only afterwards."""
        return self.forged is not None or (self.rounds_too_many > 0 and self.rounds + 1 == self.end_after)

    @property
    def over(self) -> bool:
        """Whether the last round was played."""
        return self.end_after is not None and self.rounds >= self.end_after


class Table:
    """The state of one table; the modules around it make it move."""

    def __init__(self, floor: FloorSettings, settings: SimulatedTable, rng: Random, controller: Controller) -> None:
        self.settings = settings
        self.rng = rng
        self.controller = controller
        self.ends_at = int(floor.hours * 3600 * SECOND)
        self.most_rounds = floor.rounds
        self.rounds = 0
        self.day = floor.day
        self.configuration = settings.configuration
        self.places = Places(self.configuration, self.day, settings.chip)
        self.terms = Terms(self.configuration)
        self.opening_float = 20 * self.places.mains["banker"].maximum
        self.float = self.opening_float
        self.drop = 0
        self.seated: dict[int, Patron] = {}
        self.standing: list[Patron] = []
        self.kept_free: dict[int, Patron] = {}
        self.met = 0
        self.carried: list[Wager] = []
        self.last_winner: Hand | None = None
        self.shoes = 0
        self.shoe: ShoeInPlay | None = None
        self.dealer_id = ""
        self.dealer_until = 0
        self.slips = 0
        self.last_buy_in = ""
        self.last_buy_in_at = 0

    @property
    def over(self) -> bool:
        """Whether the table's hours, or its rounds, are over."""
        return self.controller.now >= self.ends_at or self.rounds == self.most_rounds

    def configure(self, configuration: TableConfiguration) -> None:
        """Put another configuration in force."""
        self.configuration = configuration
        self.places = Places(configuration, self.day, self.settings.chip)
        self.terms = Terms(configuration)

    def company(self) -> list[Patron]:
        """Return everybody at the table, seated first."""
        return [*self.seated.values(), *self.standing]

    def pause(self, seconds: float) -> None:
        """Let about that much time pass, half of it at least."""
        self.controller.wait(int(seconds * SECOND * (0.5 + self.rng.random())))

    def send(self, steps: Sequence[Step], round_number: int, microseconds: float) -> None:
        """Send the steps of a round, spread over about so many microseconds."""
        assert self.shoe is not None
        controller, random, shoe = self.controller, self.rng.random, self.shoe.number
        pause = microseconds / (len(steps) or 1)
        for step in steps:
            controller.wait(1 + int(pause * (0.5 + random())))
            fields = step.fields
            fields["shoe"] = shoe
            if step.of_round:
                fields["round"] = round_number
            step.event_id = controller.emit(step.kind, fields)

    def label(self, finding: Finding, round_number: int) -> None:
        """Label what `finding` is shown by."""
        assert self.shoe is not None
        self.controller.label(
            Label(
                table_id=self.settings.table_id,
                shoe=self.shoe.number,
                round=round_number if finding.of_round else 0,
                codes=finding.codes,
                status=finding.status,
                bet_id=finding.bet_id,
                seat=finding.seat,
                event_id=finding.shown_by(),
                occurred_at=self.controller.instant(),
                description=finding.description,
            )
        )

    def label_shoe(self) -> None:
        """Label the shoe's own deviation as soon as it has shown."""
        shoe = self.shoe
        if shoe is not None and shoe.finding is not None and shoe.finding.shown_by():
            self.label(shoe.finding, shoe.rounds)
            shoe.finding = None
