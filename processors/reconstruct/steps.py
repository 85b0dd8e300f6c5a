"""Which step takes which event. This table is the fold's table of contents."""

from collections.abc import Callable
from typing import Final, TypeVar, cast

from processors.reconstruct import bet_steps, card_steps, shoe_steps, table_steps
from processors.reconstruct.table import Table
from schemas.events import (
    EVENT_TYPES,
    BetChanged,
    BetPlaced,
    BettingClosed,
    BetWithdrawn,
    BuyIn,
    CardBurned,
    CardCorrected,
    CardDrawn,
    CardExposed,
    CardsHeldBy,
    CommissionCharged,
    CommissionSettled,
    ConfigurationPublished,
    Correction,
    Credit,
    CutCardReached,
    DealerIn,
    DealerOut,
    DropCounted,
    Event,
    Fill,
    FloatCounted,
    GapExpired,
    Heartbeat,
    PatronLeft,
    PatronSeated,
    PayoutMade,
    ResultCalled,
    RoundClosed,
    RoundOpened,
    RoundVoided,
    ShoeClosed,
    ShoeCut,
    ShoeLoaded,
    StakeCollected,
    TableClosed,
    TableOpened,
    TableSilent,
)

E = TypeVar("E", bound=Event)

Step = Callable[[Table, Event], None]
"""What an event does to a table. A step is called with events of its own type alone."""


def _pair(kind: type[E], step: Callable[[Table, E], None]) -> tuple[str, Step]:
    """Return a type's name and its step, which must take just that type."""
    return kind.model_fields["type"].default, cast(Step, step)


STEPS: Final[dict[str, Step]] = dict(
    (
        _pair(TableOpened, table_steps.table_opened),
        _pair(TableClosed, table_steps.table_closed),
        _pair(ConfigurationPublished, table_steps.configuration_published),
        _pair(ShoeLoaded, shoe_steps.shoe_loaded),
        _pair(ShoeCut, shoe_steps.shoe_cut),
        _pair(CardBurned, shoe_steps.card_burned),
        _pair(CutCardReached, shoe_steps.cut_card_reached),
        _pair(ShoeClosed, shoe_steps.shoe_closed),
        _pair(RoundOpened, shoe_steps.round_opened),
        _pair(BetPlaced, bet_steps.bet_placed),
        _pair(BetChanged, bet_steps.bet_changed),
        _pair(BetWithdrawn, bet_steps.bet_withdrawn),
        _pair(BettingClosed, bet_steps.betting_closed),
        _pair(CardDrawn, card_steps.card_drawn),
        _pair(CardCorrected, card_steps.card_corrected),
        _pair(CardExposed, card_steps.card_exposed),
        _pair(ResultCalled, card_steps.result_called),
        _pair(StakeCollected, bet_steps.stake_collected),
        _pair(PayoutMade, bet_steps.payout_made),
        _pair(CommissionCharged, bet_steps.commission_charged),
        _pair(CommissionSettled, table_steps.commission_settled),
        _pair(RoundVoided, shoe_steps.round_voided),
        _pair(RoundClosed, shoe_steps.round_closed),
        _pair(BuyIn, table_steps.buy_in),
        _pair(Fill, table_steps.fill),
        _pair(Credit, table_steps.credit),
        _pair(DropCounted, table_steps.drop_counted),
        _pair(FloatCounted, table_steps.float_counted),
        _pair(DealerIn, table_steps.dealer_in),
        _pair(DealerOut, table_steps.dealer_out),
        _pair(PatronSeated, table_steps.patron_seated),
        _pair(PatronLeft, table_steps.patron_left),
        _pair(CardsHeldBy, card_steps.cards_held_by),
        _pair(Heartbeat, table_steps.heartbeat),
        _pair(Correction, table_steps.correction),
        _pair(TableSilent, table_steps.table_silent),
        _pair(GapExpired, table_steps.gap_expired),
    )
)

assert STEPS.keys() == EVENT_TYPES.keys()
