"""What one fact adds to the windows of play: its share, or nothing."""

from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple, cast

from schemas.facts import AlertFact, Fact, RoundFact

DEALER_ERRORS: Final = frozenset({
    # Cards (arts. 7, 9, 10, 11)
    "third_card_drawn", "third_card_missed", "natural_ignored", "deal_order", "result_mismatch",
    "uncorrected_round_paid",
    # Money (arts. 12, 17, 18)
    "overpaid", "underpaid", "losing_bet_paid", "push_paid", "winning_bet_unpaid", "losing_stake_not_collected",
    "stake_wrongly_collected", "commission_missing", "commission_wrong", "void_round_paid",
    # Procedure (arts. 2, 3, 4, 8)
    "burn_count", "shoe_not_cut", "cut_depth", "demonstrations_exceeded", "demonstration_after_play",
    "round_after_cut_card", "shoe_changed_in_round", "burned_in_round", "void_without_error",
})  # fmt: skip
"""Alerts that are the dealer's doing. What patrons bet, what chips are missing and what a line loses are not."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MINUTE: Final = timedelta(minutes=1)

Key = tuple[str | int, ...]
"""A fact's kind and what names it."""


class Share(NamedTuple):
    """What a fact adds to one minute of a pit: rounds with their money, or a dealer's errors. Amounts: minor units."""

    minute: int
    table_id: str
    pit: str
    dealer_id: str
    currency: str
    rounds: int = 0
    decisions: int = 0
    handle: int = 0
    house_win: int = 0
    errors: int = 0


def minute_of(moment: datetime) -> int:
    """Return the minute that `moment` is in, counted from 1970."""
    return (moment - _EPOCH) // _MINUTE


def key_of(fact: Fact) -> Key | None:
    """Return what names a fact that the windows count; None for one of another kind."""
    if fact.fact == "round":
        round_ = cast(RoundFact, fact)
        return ("round", round_.table_id, round_.shoe, round_.round)
    if fact.fact == "alert":
        return ("alert", cast(AlertFact, fact).alert_id)
    return None


def minute_in_play(fact: Fact, appended_at: datetime) -> int:
    """Return the minute a fact counts in: that in which a round began, or an error was made.

    Nothing happened after the log took it, whatever a table's clock says.
    """
    moment = cast(RoundFact, fact).opened_at if fact.fact == "round" else fact.occurred_at
    return minute_of(min(moment, appended_at))


def share_of(fact: Fact, minute: int) -> Share | None:
    """Return what a fact adds; None where it adds nothing: retracted, a demonstration, or nobody's error."""
    if fact.retracted:
        return None
    if fact.fact == "round":
        return _round_share(cast(RoundFact, fact), minute)
    alert = cast(AlertFact, fact)
    if alert.code not in DEALER_ERRORS or not alert.dealer_id:
        return None
    return Share(minute, alert.table_id, alert.pit, alert.dealer_id, alert.currency, errors=1)


def _round_share(round_: RoundFact, minute: int) -> Share | None:
    if round_.kind != "live":
        return None
    return Share(
        minute,
        round_.table_id,
        round_.pit,
        round_.dealer_id,
        round_.currency,
        rounds=1,
        # A round that was cancelled decided nothing.
        decisions=int(round_.status != "void"),
        handle=round_.handle,
        house_win=round_.house_win,
    )
