"""Why a message that was understood could not be used: the codes of dead letters, beside those of `schemas.wire`."""

from typing import Final

REFUSALS: Final[dict[str, str]] = {
    "wrong_table": "It was sent as one table's and names another.",
    "system_epoch": "Epoch 0 is Pitwatch's own; a table numbers its events with its controller's boot count.",
    "system_type": "Only Pitwatch itself writes events of this type.",
    "numbering": "Its epoch, seq, shoe or round can't follow what came before: damaged, or used already.",
    "conflict": "Another event has the same identity; the one that came first stands.",
    "too_late": "Its place lies before what can still be revised.",
    "correction": "The correction can't take effect; the detail says why.",
    "shoe_over": "Its shoe was over by then.",
    "round_over": "Its round was over by then, or open already. Money may still move for the round that ended last.",
    "bet_exists": "The bet stands already.",
    "no_such_bet": "The bet doesn't stand in that round, as far as was seen.",
    "too_many": "No round holds so many bets, or so many movements of chips.",
    "card_position": "The card's place in its hand is taken, or empty.",
}
"""Why a well-formed event makes no sense where it stands: code → what it means."""

STORE_REFUSALS: Final[dict[str, str]] = {
    "not_storable": "The store can't hold it exactly; the detail is the store's own answer.",
}
"""Why a row is in the log and not in the store: code → what it means."""
