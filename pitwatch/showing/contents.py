"""What a screen is about, picked out of a history: the shoe as it stands, its roads, a round, its evidence."""

from collections.abc import Sequence
from typing import Final, NamedTuple, cast

from pitwatch.history.reader import Seen
from pitwatch.history.telling import History
from pitwatch.showing.hands import DealtHand, dealt_hands
from processors.reconstruct.state import RoundState
from processors.rules.road_layout import ROADS, Cell
from processors.rules.roads import Roads, RoadState, add, ask
from schemas.cards import CARDS_PER_DECK, Hand
from schemas.events import Correction
from schemas.facts import AlertFact, DeadLetterFact, RoadFact, RoundFact, ShoeFact, TableHourFact
from schemas.ids import SYSTEM_EPOCH
from schemas.structs import altered

LATEST_ALERTS: Final = 10
LATEST_HOURS: Final = 12

# What a shoe in play says of itself between two facts; closing is told by the fact alone.
_AS_IT_STANDS: Final = (
    "complete", "cut_by", "cards_behind_cut", "burned", "cards_out", "seen", "rounds", "demonstrations",
    "banker_wins", "player_wins", "ties", "voids", "cut_card_round",
)  # fmt: skip


class EvidenceLine(NamedTuple):
    """An event of a round: where it lies in the log, the corrections made of it in order, why it was refused."""

    seen: Seen
    corrections: tuple[Correction, ...]
    refused: str


class ShownRound(NamedTuple):
    """A round: its fact once it is over, its state while it is in play."""

    fact: RoundFact | None
    play: RoundState | None
    hands: dict[Hand, DealtHand]

    @property
    def status(self) -> str:
        """The fact's word, or ``in_play``."""
        return self.fact.status if self.fact else "in_play"


def shoe_of(history: History, number: int) -> ShoeFact | None:
    """Return a shoe as it stands: its newest fact, and what happened in it since where it is in play."""
    fact = next((shoe for shoe in history.facts.of(ShoeFact) if shoe.shoe == number), None)
    state = history.state.shoe
    if fact is None or state is None or state.number != number:
        return fact
    now = {name: getattr(state, name) for name in _AS_IT_STANDS}
    return altered(fact, **now)


def cards_left(shoe: ShoeFact) -> int | None:
    """Return how many cards are still in the shoe, None for a continuous shuffler, which takes them back."""
    return shoe.decks * CARDS_PER_DECK - shoe.cards_out if shoe.shuffling == "shoe" else None


def roads_of(facts: Sequence[RoadFact]) -> Roads:
    """Return a shoe's roads as they were drawn; leading ties and ask-the-road follow from the bead plate."""
    cells: dict[str, list[Cell]] = {road: [] for road in ROADS}
    for fact in sorted(facts, key=lambda fact: fact.index):
        cells[fact.road].append(Cell(**{name: getattr(fact, name) for name in Cell.__struct_fields__}))
    state = RoadState()
    for bead in cells["bead_plate"]:
        add(state, bead.mark, bead.player_pair, bead.banker_pair, bead.round)
    return Roads(state.rows, state.leading_ties, {road: cells[road] for road in ROADS}, ask(state))


def rounds_of(history: History) -> list[RoundFact]:
    """Return the finished rounds of the shoe, in order."""
    return sorted(history.facts.of(RoundFact), key=lambda one: one.round)


def round_of(history: History, shoe: int, number: int) -> ShownRound | None:
    """Return a round, over or in play."""
    fact = next((one for one in history.facts.of(RoundFact) if (one.shoe, one.round) == (shoe, number)), None)
    if fact is not None:
        return ShownRound(fact, None, dealt_hands(fact.player_cards, fact.banker_cards, over=True))
    play = history.state.round
    if play is None or (play.shoe, play.number) != (shoe, number):
        return None
    return ShownRound(None, play, dealt_hands(play.player, play.banker, over=False))


def latest_hours(history: History) -> list[TableHourFact]:
    """Return the newest hours, in the order of time."""
    return sorted(history.facts.of(TableHourFact), key=lambda hour: hour.hour)[-LATEST_HOURS:]


def latest_alerts(history: History) -> list[AlertFact]:
    """Return the newest alerts, the newest first."""
    return sorted(history.facts.of(AlertFact), key=lambda alert: alert.occurred_at, reverse=True)[:LATEST_ALERTS]


def alerts_of(history: History) -> list[AlertFact]:
    """Return the alerts of the shoe or round asked for, in the order of time."""
    return sorted(history.facts.of(AlertFact), key=lambda alert: alert.occurred_at)


def evidence_of(history: History) -> list[EvidenceLine]:
    """Return the round's events in the table's own order, with their corrections; Pitwatch's own events come last."""
    letters = {(letter.src_partition, letter.src_offset): letter for letter in history.facts.of(DeadLetterFact)}
    told = {seen.event.event_id: seen for seen in history.events}
    corrections: dict[str, list[Correction]] = {}
    for seen in history.corrections:
        correction = cast(Correction, seen.event)
        if correction.target_event_id in told:
            told[correction.event_id] = seen
            corrections.setdefault(correction.target_event_id, []).append(correction)
    lines = []
    for seen in sorted(told.values(), key=_order):
        letter = letters.get((seen.record.partition, seen.record.offset))
        made = tuple(corrections.get(seen.event.event_id, ()))
        lines.append(EvidenceLine(seen, made, letter.reason if letter else ""))
    return lines


def _order(seen: Seen) -> tuple[bool, int, int]:
    return seen.event.epoch == SYSTEM_EPOCH, seen.event.epoch, seen.event.seq
