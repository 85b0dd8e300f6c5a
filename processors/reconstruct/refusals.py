"""Why a well-formed event can't be used: the codes of the fold's dead letters, beside those of `schemas.wire`."""

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
    "round_over": "Its round was over by then, or open already.",
    "bet_exists": "The bet stands already.",
    "no_such_bet": "The bet doesn't stand in that round, as far as was seen.",
    "card_position": "The card's place in its hand is taken, or empty.",
}
"""Code → what it means."""


class Unusable(Exception):
    """Raised for an event that is well formed and yet makes no sense where it stands; `reason` is one of `REFUSALS`."""

    def __init__(self, reason: str, detail: str) -> None:
        assert reason in REFUSALS
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail
