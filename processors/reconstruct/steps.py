"""Which step takes which event. This table is the fold's table of contents."""

from collections.abc import Callable
from typing import Any, Final

from processors.reconstruct import bet_steps, card_steps, shoe_steps, table_steps
from processors.reconstruct.table import Table
from schemas.events import EVENT_TYPES

# A step takes just the event of its own type; the table below is what pairs them.
Step = Callable[[Table, Any], None]

STEPS: Final[dict[str, Step]] = {
    "table_opened": table_steps.table_opened,
    "table_closed": table_steps.table_closed,
    "configuration_published": table_steps.configuration_published,
    "shoe_loaded": shoe_steps.shoe_loaded,
    "shoe_cut": shoe_steps.shoe_cut,
    "card_burned": shoe_steps.card_burned,
    "cut_card_reached": shoe_steps.cut_card_reached,
    "shoe_closed": shoe_steps.shoe_closed,
    "round_opened": shoe_steps.round_opened,
    "bet_placed": bet_steps.bet_placed,
    "bet_changed": bet_steps.bet_changed,
    "bet_withdrawn": bet_steps.bet_withdrawn,
    "betting_closed": bet_steps.betting_closed,
    "card_drawn": card_steps.card_drawn,
    "card_corrected": card_steps.card_corrected,
    "card_exposed": card_steps.card_exposed,
    "result_called": card_steps.result_called,
    "stake_collected": bet_steps.stake_collected,
    "payout_made": bet_steps.payout_made,
    "commission_charged": bet_steps.commission_charged,
    "commission_settled": table_steps.commission_settled,
    "round_voided": shoe_steps.round_voided,
    "round_closed": shoe_steps.round_closed,
    "buy_in": table_steps.buy_in,
    "fill": table_steps.fill,
    "credit": table_steps.credit,
    "drop_counted": table_steps.drop_counted,
    "float_counted": table_steps.float_counted,
    "dealer_in": table_steps.dealer_in,
    "dealer_out": table_steps.dealer_out,
    "patron_seated": table_steps.patron_seated,
    "patron_left": table_steps.patron_left,
    "cards_held_by": card_steps.cards_held_by,
    "heartbeat": table_steps.heartbeat,
    "correction": table_steps.correction,
    "table_silent": table_steps.table_silent,
    "gap_expired": table_steps.gap_expired,
}

assert STEPS.keys() == EVENT_TYPES.keys()
