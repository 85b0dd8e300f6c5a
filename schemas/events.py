"""Every event a table sends, as one union told apart by `type`.

One controller per table numbers its events: `seq` rises by one within an `epoch` (its boot count), and the event's
identity is ``table:epoch:seq``. Events of epoch 0 are Pitwatch's own: decisions that needed a clock, written to the log
first and acted on from there. Amounts are minor units of the table's currency; instants are UTC.
"""

from typing import Annotated, Final, Literal, Self, Union

from pydantic import Field, JsonValue, TypeAdapter, model_validator

from schemas.cards import CardCode, Hand
from schemas.configuration import BetName, TableConfiguration
from schemas.fields import Amount, Count, EventId, Instant, Model, Name, Ordinal, Seat, Sequence, Stake, TableId, Text
from schemas.ids import SYSTEM_EPOCH, event_id

Outcome = Literal["player", "banker", "tie"]
RoundKind = Literal["live", "demonstration"]
HandPosition = Annotated[int, Field(ge=1, le=3)]


class Event(Model):
    """What every event carries.

    `follows` stands on the first event of an epoch only: the epoch and seq of the controller's last event before it
    restarted, so that a reader knows whether anything is missing in between.
    """

    schema_version: Annotated[int, Field(ge=1, le=1)] = 1
    type: str
    event_id: Annotated[str, Field(max_length=100)]
    table_id: TableId
    epoch: Sequence
    seq: Sequence
    occurred_at: Instant
    follows: tuple[Sequence, Sequence] | None = None

    @model_validator(mode="after")
    def _identity(self) -> Self:
        if self.event_id != event_id(self.table_id, self.epoch, self.seq):
            raise ValueError(f"event_id {self.event_id!r} is not table:epoch:seq of its own fields")
        return self


class ShoeEvent(Event):
    """An event of one shoe, numbered at its table from one."""

    shoe: Ordinal


class RoundEvent(ShoeEvent):
    """An event of one round, numbered in its shoe from one, demonstrations included."""

    round: Ordinal


class BetEvent(RoundEvent):
    """An event of one bet, whose id is unique in its round."""

    bet_id: Name


class TableOpened(Event):
    """The table opens for play, with the chips then in its tray."""

    type: Literal["table_opened"] = "table_opened"
    opening_float: Amount | None = None


class TableClosed(Event):
    """The table closes, with the chips then in its tray."""

    type: Literal["table_closed"] = "table_closed"
    closing_float: Amount | None = None


class ConfigurationPublished(Event):
    """The configuration in force from the next round on."""

    type: Literal["configuration_published"] = "configuration_published"
    configuration: TableConfiguration


class ShoeLoaded(ShoeEvent):
    """Shuffled cards enter the shoe (art. 2(1)) or the continuous shuffler (art. 2(3))."""

    type: Literal["shoe_loaded"] = "shoe_loaded"
    decks: Count
    shuffling: Literal["shoe", "continuous"] = "shoe"


class ShoeCut(ShoeEvent):
    """A patron or the dealer cuts, and the white card goes in with `cards_behind` cards behind it (art. 2(1))."""

    type: Literal["shoe_cut"] = "shoe_cut"
    cut_by: Literal["patron", "dealer"]
    cards_behind: Count


class CardBurned(ShoeEvent):
    """A card leaves unplayed: at the opening (art. 2(1)) or before a round (art. 8); unseen cards have no face."""

    type: Literal["card_burned"] = "card_burned"
    reason: Literal["opening", "before_round"]
    card: CardCode | None = None


class CutCardReached(ShoeEvent):
    """The white card appears; `round` is the round in play, or the next to open (art. 3(1))."""

    type: Literal["cut_card_reached"] = "cut_card_reached"
    round: Ordinal


class ShoeClosed(ShoeEvent):
    """The shoe is taken out of play (art. 3)."""

    type: Literal["shoe_closed"] = "shoe_closed"
    reason: Literal["cut_card", "house_choice", "damaged_cards", "table_closed"]


class RoundOpened(RoundEvent):
    """Betting opens. A stake that a tie left standing stands in this round too, with its bet id, until withdrawn."""

    type: Literal["round_opened"] = "round_opened"
    kind: RoundKind = "live"


class BetPlaced(BetEvent):
    """Chips are put on a betting place. `area` says whose place it is, `posture` how the patron plays (art. 15)."""

    schema_version: Annotated[int, Field(ge=2, le=2)] = 2
    type: Literal["bet_placed"] = "bet_placed"
    bet: BetName
    stake: Stake
    seat: Seat
    area: Literal["reserved", "shared"] = "reserved"
    posture: Literal["seated", "standing"] = "seated"
    patron_id: Name | None = None


class BetChanged(BetEvent):
    """A stake is raised, lowered, or moved to another bet; `stake` and `bet` are what stands afterwards."""

    type: Literal["bet_changed"] = "bet_changed"
    stake: Stake
    bet: BetName | None = None


class BetWithdrawn(BetEvent):
    """A stake is taken back."""

    type: Literal["bet_withdrawn"] = "bet_withdrawn"


class BettingClosed(RoundEvent):
    """No more bets."""

    type: Literal["betting_closed"] = "betting_closed"


class CardDrawn(RoundEvent):
    """A card leaves the shoe for a hand; `position` is its place in the hand, in dealing order (arts. 7 and 9)."""

    type: Literal["card_drawn"] = "card_drawn"
    hand: Hand
    position: HandPosition
    card: CardCode


class CardCorrected(RoundEvent):
    """An error of dealing or of reading is put right at once (art. 10).

    ``misread``: the card lying there is `card`. ``misdeal``: the card is taken out, and `card`, if any, replaces it.
    """

    type: Literal["card_corrected"] = "card_corrected"
    hand: Hand
    position: HandPosition
    reason: Literal["misdeal", "misread"]
    card: CardCode | None = None


class CardExposed(RoundEvent):
    """A card was found face up; it and the bets stay valid (art. 4)."""

    type: Literal["card_exposed"] = "card_exposed"
    card: CardCode


class ResultCalled(RoundEvent):
    """The dealer's call (art. 11)."""

    type: Literal["result_called"] = "result_called"
    outcome: Outcome


class StakeCollected(BetEvent):
    """A losing stake goes into the tray."""

    type: Literal["stake_collected"] = "stake_collected"
    amount: Stake


class PayoutMade(BetEvent):
    """Winnings leave the tray, without the stake; net of commission where that is deducted (arts. 17 and 18)."""

    type: Literal["payout_made"] = "payout_made"
    amount: Stake


class CommissionCharged(BetEvent):
    """Commission on a banker win (art. 18), as the table's policy collects it."""

    type: Literal["commission_charged"] = "commission_charged"
    amount: Stake


class CommissionSettled(Event):
    """A position pays commission it owes."""

    type: Literal["commission_settled"] = "commission_settled"
    seat: Seat
    amount: Stake
    patron_id: Name | None = None


class RoundVoided(RoundEvent):
    """The round is cancelled and every stake goes back (art. 10)."""

    type: Literal["round_voided"] = "round_voided"
    reason: Text
    authorised_by: Name


class RoundClosed(RoundEvent):
    """Every bet of the round is settled."""

    type: Literal["round_closed"] = "round_closed"


class BuyIn(Event):
    """A patron buys chips from the tray; cash and markers go into the drop box."""

    type: Literal["buy_in"] = "buy_in"
    seat: Seat
    amount: Stake
    means: Literal["cash", "marker", "cheque"] = "cash"
    patron_id: Name | None = None


class Fill(Event):
    """Chips come from the cage to the tray."""

    type: Literal["fill"] = "fill"
    amount: Stake
    slip: Name


class Credit(Event):
    """Chips go from the tray to the cage."""

    type: Literal["credit"] = "credit"
    amount: Stake
    slip: Name


class DropCounted(Event):
    """The drop box is counted."""

    type: Literal["drop_counted"] = "drop_counted"
    amount: Amount


class FloatCounted(Event):
    """The tray is counted."""

    type: Literal["float_counted"] = "float_counted"
    amount: Amount


class DealerIn(Event):
    """A dealer takes over the table."""

    type: Literal["dealer_in"] = "dealer_in"
    dealer_id: Name


class DealerOut(Event):
    """The dealer leaves the table."""

    type: Literal["dealer_out"] = "dealer_out"
    dealer_id: Name


class PatronSeated(Event):
    """A patron takes a seat."""

    type: Literal["patron_seated"] = "patron_seated"
    seat: Seat
    patron_id: Name


class PatronLeft(Event):
    """A patron leaves a seat; commission marked there falls due."""

    type: Literal["patron_left"] = "patron_left"
    seat: Seat
    patron_id: Name


class CardsHeldBy(RoundEvent):
    """Who opens a hand's cards: a seat, or the dealer at place 0 (art. 16)."""

    type: Literal["cards_held_by"] = "cards_held_by"
    hand: Hand
    seat: Seat


class Heartbeat(Event):
    """The table's controller is alive."""

    type: Literal["heartbeat"] = "heartbeat"


class Correction(Event):
    """A supervisor takes an earlier event back, or replaces some of its fields, saying who and why.

    It counts as if the table had sent the right event in the first place: everything since is worked out again.
    """

    type: Literal["correction"] = "correction"
    target_event_id: EventId
    action: Literal["retract", "replace"]
    changes: dict[str, JsonValue] = Field(default_factory=dict, max_length=20)
    authorised_by: Name
    reason: Text


class TableSilent(Event):
    """Pitwatch heard nothing from an open table for longer than its configuration allows."""

    type: Literal["table_silent"] = "table_silent"
    silent_since: Instant
    last_event_id: EventId


class GapExpired(Event):
    """Pitwatch stops waiting for a table's missing events, up to and including the named one."""

    type: Literal["gap_expired"] = "gap_expired"
    through_epoch: Sequence
    through_seq: Sequence


EVENT_MODELS: Final[tuple[type[Event], ...]] = (
    TableOpened,
    TableClosed,
    ConfigurationPublished,
    ShoeLoaded,
    ShoeCut,
    CardBurned,
    CutCardReached,
    ShoeClosed,
    RoundOpened,
    BetPlaced,
    BetChanged,
    BetWithdrawn,
    BettingClosed,
    CardDrawn,
    CardCorrected,
    CardExposed,
    ResultCalled,
    StakeCollected,
    PayoutMade,
    CommissionCharged,
    CommissionSettled,
    RoundVoided,
    RoundClosed,
    BuyIn,
    Fill,
    Credit,
    DropCounted,
    FloatCounted,
    DealerIn,
    DealerOut,
    PatronSeated,
    PatronLeft,
    CardsHeldBy,
    Heartbeat,
    Correction,
    TableSilent,
    GapExpired,
)

EVENT_TYPES: Final[dict[str, type[Event]]] = {model.model_fields["type"].default: model for model in EVENT_MODELS}

SYSTEM_EVENT_TYPES: Final = frozenset({"table_silent", "gap_expired"})
"""Types that only Pitwatch writes, always in epoch 0. A supervisor's `correction` may come from either."""

EVENT_ADAPTER: Final[TypeAdapter[Event]] = TypeAdapter(
    Annotated[Union[EVENT_MODELS], Field(discriminator="type")]  # type: ignore[arg-type]  # noqa: UP007
)


def is_system(event: Event) -> bool:
    """Tell whether Pitwatch itself wrote the event."""
    return event.epoch == SYSTEM_EPOCH
