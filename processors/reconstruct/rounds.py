"""Which round and shoe an event belongs to, also where their beginning was never seen."""

import msgspec

from processors.reconstruct.settle import emit_shoe, finish
from processors.reconstruct.state import BetState, RoundState, ShoeState
from processors.reconstruct.table import Table, Unusable
from processors.rules.roads import RoadState
from schemas.events import RoundEvent, ShoeEvent


def round_of(table: Table, event: RoundEvent) -> RoundState:
    """Return the event's round, opening it as incomplete where its opening was missed. Raises `Unusable`."""
    play = table.state.round
    if play is not None and play.number == event.round and play.shoe == event.shoe:
        return play
    shoe = shoe_of(table, event)
    number = table.state.round.number if table.state.round else 0
    if event.round <= max(table.state.last_round, number):
        raise Unusable("round_over", f"shoe {event.shoe} round {event.round} is over")
    if table.state.round:
        finish(table, event, closed=False)
    return begin_round(table, event, shoe, "live", complete=False)


def begin_round(table: Table, event: RoundEvent, shoe: ShoeState, kind: str, *, complete: bool) -> RoundState:
    """Start a round, with the stakes that a tie left standing."""
    state = table.state
    day, shift = table.day_of(event.occurred_at)
    table.follow_day(day)
    play = RoundState(shoe.number, event.round, kind, event.occurred_at, day, shift, complete=complete)
    if kind == "live":
        play.carry_unknown = state.carry_unknown
        play.bets = {bet_id: _carried(bet) for bet_id, bet in state.standing.items()}
        state.standing = {}
    state.round = play
    return play


def _carried(bet: BetState) -> BetState:
    """Return a stake that a tie left standing, as it stands in the next round."""
    return msgspec.structs.replace(bet, carried=True, late=False, paid=0, collected=0, commission=0)


def shoe_of(table: Table, event: ShoeEvent) -> ShoeState:
    """Return the event's shoe, taking it up in the middle where its loading was missed. Raises `Unusable`."""
    shoe = table.state.shoe
    if shoe is not None:
        if shoe.number == event.shoe:
            return shoe
        if event.shoe < shoe.number:
            raise Unusable("shoe_over", f"shoe {event.shoe} is over; shoe {shoe.number} is in play")
    configuration = table.rules.configuration
    return begin_shoe(table, event, configuration.decks, configuration.shuffling, complete=False)


def begin_shoe(table: Table, event: ShoeEvent, decks: int, shuffling: str, *, complete: bool) -> ShoeState:
    """Put a new shoe in play; whatever the old one left open is over."""
    state = table.state
    if state.round:
        finish(table, event, closed=False)
    roads = RoadState(tail=table.rules.configuration.road_tail)
    state.shoe = ShoeState(event.shoe, decks, shuffling, event.occurred_at, complete=complete, roads=roads)
    state.last_round = 0
    state.standing = {}
    emit_shoe(table, event, "loaded" if complete else "in_play")
    return state.shoe
