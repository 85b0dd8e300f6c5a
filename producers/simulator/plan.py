"""A round before it is played: decided as a whole, so that a deviation can change any part of it, then performed."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from producers.simulator.dealing import Draw, Hands
from producers.simulator.patrons import Patron
from producers.simulator.places import Place
from producers.simulator.settlement import Due
from schemas.cards import Hand
from schemas.catalogue import Outcome
from schemas.configuration import TableConfiguration

_NO_CARDS: Final = Hands((), ())


class Step:
    """An event to be sent while a round is played; `event_id` is known once it was."""

    __slots__ = ("event_id", "fields", "kind", "of_round")

    def __init__(self, kind: str, /, **fields: object) -> None:
        self.kind = kind
        self.fields = fields
        self.of_round = True
        self.event_id = ""

    @classmethod
    def of_shoe(cls, kind: str, /, **fields: object) -> "Step":
        """Return a step whose event is the shoe's and names no round."""
        step = cls(kind, **fields)
        step.of_round = False
        return step

    def shown_by(self) -> str:
        """Return the event's id; nothing before it was sent."""
        return self.event_id


class Finding(NamedTuple):
    """A deviation brought about: the codes it must raise, and the event that shows it, once that was sent."""

    codes: tuple[str, ...]
    shown_by: Callable[[], str]
    description: str
    bet_id: str = ""
    seat: int | None = None
    status: Literal["raised", "corrected"] = "raised"
    of_round: bool = True


@dataclass(slots=True, eq=False)
class Wager:
    """A stake on the layout. `placed` is the step that put it there in this round, None for one that a tie left."""

    bet_id: str
    place: Place
    stake: int
    patron: Patron
    placed: Step | None
    touched: bool = False

    @property
    def carried(self) -> bool:
        """Whether the stake stands from the round before."""
        return self.placed is None

    @property
    def fresh(self) -> bool:
        """Whether the stake lies as it was placed in this round."""
        return self.placed is not None and not self.touched

    @property
    def side(self) -> Hand | None:
        """The hand a main bet is on; None for every other bet."""
        return self.place.side


@dataclass(slots=True, eq=False)
class Payment:
    """How one wager is settled: what it is `due`, and what the dealer does about it.

    `recorded` is what the payout's event says where that isn't what was paid.
    """

    wager: Wager
    due: Due
    collected: int = 0
    paid: int = 0
    charged: int = 0
    recorded: int | None = None
    event_ids: dict[str, str] = field(default_factory=dict)

    def shown_by(self, kind: str) -> Callable[[], str]:
        """Return where to find the id of the payment's event of type `kind`."""
        return lambda: self.event_ids.get(kind, "")


@dataclass(slots=True, eq=False)
class RoundPlan:
    """Everything about one live round. `used` counts the cards it takes out of the shoe."""

    number: int
    wagers: list[Wager] = field(default_factory=list)
    mains: dict[Patron, Wager] = field(default_factory=dict)
    betting: list[Step] = field(default_factory=list)
    holders: list[Step] | None = None
    draws: list[Step] = field(default_factory=list)
    hands: Hands = _NO_CARDS
    used: int = 0
    late: list[Step] = field(default_factory=list)
    early_call: Step | None = None
    called: Outcome | None = None
    void: tuple[str, str] | None = None
    ends_shoe: bool = False
    payments: list[Payment] = field(default_factory=list)
    opening: Step = field(default_factory=lambda: Step("round_opened"))
    bets_closed: Step = field(default_factory=lambda: Step("betting_closed"))
    call: Step = field(default_factory=lambda: Step("result_called"))
    closing: Step = field(default_factory=lambda: Step("round_closed"))

    def totals(self) -> tuple[int, int]:
        """Return what lies on the player and on the banker."""
        player = banker = 0
        for wager in self.wagers:
            side = wager.place.side
            if side == "player":
                player += wager.stake
            elif side == "banker":
                banker += wager.stake
        return player, banker

    def take(self, draws: list[Draw], hands: Hands) -> None:
        """Deal `draws`, which end in `hands` and in the call that these deserve."""
        self.draws = [Step("card_drawn", hand=hand, position=position, card=card) for hand, position, card in draws]
        self.hands = hands
        self.used = len(draws)
        self.called = hands.outcome

    def place(self, patron: Patron, place: Place, stake: int, bet_id: str, steps: list[Step] | None = None) -> Wager:
        """Put a patron's stake on a place, as the next of `steps` (by default while betting is open)."""
        fields: dict[str, object] = {"patron_id": patron.patron_id} if patron.patron_id else {}
        step = Step(
            "bet_placed",
            bet_id=bet_id,
            bet=place.bet,
            stake=stake,
            seat=patron.seat,
            area="reserved" if patron.posture == "seated" else "shared",
            posture=patron.posture,
            **fields,
        )
        wager = Wager(bet_id, place, stake, patron, step)
        (self.betting if steps is None else steps).append(step)
        self.wagers.append(wager)
        if place.side:
            self.mains.setdefault(patron, wager)
        patron.commit(stake)
        return wager

    def change(self, wager: Wager, stake: int, place: Place | None = None, steps: list[Step] | None = None) -> Step:
        """Raise, lower or move a stake, as the next of `steps`."""
        step = Step("bet_changed", bet_id=wager.bet_id, stake=stake)
        if place is not None and place is not wager.place:
            step.fields["bet"] = place.bet
            wager.place = place
        (self.betting if steps is None else steps).append(step)
        _restake(wager, stake)
        wager.touched = True
        return step

    def withdraw(self, wager: Wager) -> Step:
        """Take a stake back while betting is open."""
        step = Step("bet_withdrawn", bet_id=wager.bet_id)
        self.betting.append(step)
        _restake(wager, 0)
        self.wagers.remove(wager)
        if self.mains.get(wager.patron) is wager:
            del self.mains[wager.patron]
        return step

    def restake(self, wager: Wager, stake: int) -> None:
        """Let a fresh stake have been placed as `stake`."""
        assert wager.placed is not None
        wager.placed.fields["stake"] = stake
        _restake(wager, stake)

    def of(self, patron: Patron) -> Iterator[Wager]:
        """Yield the patron's wagers."""
        return (wager for wager in self.wagers if wager.patron is patron)


@dataclass(slots=True, eq=False)
class Opening:
    """How a shoe is opened (art. 2), decided as a whole first; `cards_behind` None leaves it uncut.

    `configuration` is in force for this shoe only, and a shoe of `refused_decks` is brought and taken away before it.
    """

    cards_behind: int | None
    demonstrations: int
    burn_more: int = 0
    intruder: Patron | None = None
    refused_decks: int | None = None
    configuration: TableConfiguration | None = None
    rounds_too_many: int = 0
    forge: bool = False
    event_ids: dict[str, str] = field(default_factory=dict)

    def shown_by(self, name: str) -> Callable[[], str]:
        """Return where to find the id of an event of the shoe."""
        return lambda: self.event_ids.get(name, "")


def _restake(wager: Wager, stake: int) -> None:
    if stake > wager.stake:
        wager.patron.commit(stake - wager.stake)
    else:
        wager.patron.chips += wager.stake - stake
    wager.stake = stake
