"""Which round and shoe an event belongs to, also where their beginning was never seen."""

from typing import Final

import msgspec

from processors.reconstruct.closing import finish
from processors.reconstruct.refusals import Unusable
from processors.reconstruct.shoe_rows import emit_shoe
from processors.reconstruct.state import BetState, RoundState, ShoeState
from processors.reconstruct.table import Table
from processors.rules.roads import RoadState
from schemas.events import RoundEvent, ShoeEvent

MAX_JUMP: Final = 1_000
"""No table plays a thousand shoes, or rounds of one shoe, unheard: such a number is damage."""


def round_of(table: Table, event: RoundEvent) -> RoundState:
    """Return the event's round, taking it up in the middle where its opening was missed. Raises `Unusable`."""
    play = table.state.round
    if play is not None and play.number == event.round and play.shoe == event.shoe:
        return play
    shoe = make_way(table, event)
    return begin_round(table, event, shoe, "live", opening_seen=False)


def make_way(table: Table, event: RoundEvent) -> ShoeState:
    """End the round in play for the event's, which is the next one, and return its shoe. Raises `Unusable`."""
    state = table.state
    shoe = shoe_of(table, event)
    last = state.round.number if state.round else state.last_round
    if event.round <= last:
        raise Unusable("round_over", f"round {event.round} of shoe {event.shoe} was over, or open, when this was sent")
    if last and event.round > last + MAX_JUMP:
        raise Unusable("numbering", f"round {event.round} can't come next after round {last} of shoe {event.shoe}")
    if state.round:
        finish(table, event, closed=False)
    return shoe


def begin_round(table: Table, event: RoundEvent, shoe: ShoeState, kind: str, *, opening_seen: bool) -> RoundState:
    """Start a round, with the stakes that a tie left standing."""
    state = table.state
    if event.round != state.last_round + 1:
        # Whole rounds went by unseen: of what stands on the layout now, nobody saw it put there.
        state.standing, state.carry_unknown = {}, True
        shoe.complete = False
    _, _, _, day, shift = table.hour_of(event.occurred_at)
    table.follow_day(day)
    play = RoundState(
        shoe.number,
        event.round,
        kind,
        event.occurred_at,
        day,
        shift,
        event.epoch,
        complete=opening_seen,
        kind_known=opening_seen,
        burned=shoe.burned_next,
    )
    shoe.burned_next = 0
    if kind == "live":
        play.carry_unknown = state.carry_unknown
        play.bets = {bet_id: _carried(bet) for bet_id, bet in state.standing.items()}
        state.standing = {}
    state.round = play
    # Rounds are played at open tables only, whether or not the opening was seen.
    state.is_open = True
    return play


def _carried(bet: BetState) -> BetState:
    """Return a stake that a tie left standing, as it stands in the next round."""
    return msgspec.structs.replace(bet, carried=True, late=False, paid=0, collected=0, commission=0)


def shoe_of(table: Table, event: ShoeEvent) -> ShoeState:
    """Return the event's shoe, taking it up in the middle where its loading was missed. Raises `Unusable`."""
    shoe = table.state.shoe
    if shoe is not None and shoe.number == event.shoe:
        return shoe
    check_next_shoe(table, event)
    if table.state.round:
        finish(table, event, closed=False)
    configuration = table.rules.configuration
    return begin_shoe(table, event, configuration.decks, configuration.shuffling, loading_seen=False)


def check_next_shoe(table: Table, event: ShoeEvent) -> None:
    """Raise `Unusable` where the event's shoe can't be the next one."""
    last = table.state.shoe.number if table.state.shoe else 0
    if event.shoe <= last:
        raise Unusable("shoe_over", f"shoe {event.shoe} is past its loading; shoe {last} is the newest")
    if last and event.shoe > last + MAX_JUMP:
        raise Unusable("numbering", f"shoe {event.shoe} can't come next after shoe {last}")


def begin_shoe(table: Table, event: ShoeEvent, decks: int, shuffling: str, *, loading_seen: bool) -> ShoeState:
    """Put a new shoe in play; no stake stands on from the one before."""
    state = table.state
    state.shoe = ShoeState(
        event.shoe,
        decks,
        shuffling,
        event.occurred_at,
        complete=loading_seen,
        loading_seen=loading_seen,
        roads=RoadState(tail=table.rules.configuration.road_tail),
    )
    state.last_round = 0
    state.standing, state.carry_unknown = {}, False
    emit_shoe(table, event, "loaded" if loading_seen else "in_play")
    return state.shoe
