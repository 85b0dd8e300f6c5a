"""Every event a table sends, as one union told apart by `type`.

One controller per table numbers its events: `seq` rises by one within an `epoch` (its boot count), and the event's
identity is ``table:epoch:seq``. Events of epoch 0 are Pitwatch's own: decisions that needed a clock, written to the log
first and acted on from there. Amounts are minor units of the table's currency; instants are UTC. `docs/events.md` is
generated from the docstrings and descriptions here.
"""

from typing import Annotated, Final, Literal, Self, Union

from pydantic import Field, TypeAdapter, model_validator

from schemas.cards import CardCode, Hand
from schemas.configuration import BetName, TableConfiguration
from schemas.fields import (
    Amount,
    Changes,
    Chips,
    Count,
    EventId,
    Instant,
    Model,
    Name,
    Ordinal,
    Payout,
    Seat,
    Sequence,
    Stake,
    TableId,
    Text,
)
from schemas.ids import EVENT_ID_PATTERN, SYSTEM_EPOCH, event_id

Outcome = Literal["player", "banker", "tie"]
RoundKind = Literal["live", "demonstration"]
HandPosition = Annotated[
    int,
    Field(
        ge=1,
        le=6,
        description="Place of the card in its hand, in dealing order. A hand has three at most (art. 9); what lies"
        " beyond them is a card too many, which a table must be able to tell of.",
    ),
]
PatronId = Annotated[Name | None, Field(description="The patron, where the table knows who it is.")]


class Event(Model):
    """What every event carries.

    `follows` stands on the first event of an epoch only: the epoch and seq of the controller's last event before it
    restarted, so that a reader knows whether anything is missing in between.
    """

    schema_version: int = Field(1, ge=1, le=1, description="Version of the type's fields; left out, the newest.")
    type: str
    # `_identity` holds it to its pattern, so the hot path need not match one.
    event_id: str = Field(
        max_length=100, description="`table_id:epoch:seq`", json_schema_extra={"pattern": EVENT_ID_PATTERN}
    )
    table_id: TableId = Field(description="The table, unique on the floor.")
    epoch: Sequence = Field(
        description="Boot count of the table's controller, from 1; one that replaces another goes on above its count."
        " 0 is Pitwatch itself."
    )
    seq: Sequence = Field(description="Number of the event in its epoch, from 1; in epoch 0, µs since 1970.")
    occurred_at: Instant = Field(description="When it happened by the table's clock, UTC to the microsecond.")
    follows: tuple[Sequence, Sequence] | None = Field(
        None,
        description="On the first event of an epoch: epoch and seq of the controller's event before; 0, 0 if none.",
    )

    @model_validator(mode="after")
    def _identity(self) -> Self:
        if self.event_id != event_id(self.table_id, self.epoch, self.seq):
            raise ValueError(f"event_id {self.event_id!r} is not table:epoch:seq of its own fields")
        return self


class ShoeEvent(Event):
    """An event of one shoe, numbered at its table from one."""

    shoe: Ordinal = Field(description="Number of the shoe at its table.")


class RoundEvent(ShoeEvent):
    """An event of one round, numbered in its shoe from one, demonstrations included."""

    round: Ordinal = Field(description="Number of the round in its shoe.")


class BetEvent(RoundEvent):
    """An event of one bet, whose id is unique in its shoe."""

    bet_id: Name = Field(description="The bet, unique in its shoe; it keeps its id while a tie leaves it standing.")


class TableOpened(Event):
    """The table opens for play, with the chips then in its tray."""

    type: Literal["table_opened"] = "table_opened"
    opening_float: Amount | None = Field(None, description="Chips in the tray, minor units; absent if not counted.")


class TableClosed(Event):
    """The table closes, with the chips then in its tray."""

    type: Literal["table_closed"] = "table_closed"
    closing_float: Amount | None = Field(None, description="Chips in the tray, minor units; absent if not counted.")


class ConfigurationPublished(Event):
    """The configuration in force from the next round on."""

    type: Literal["configuration_published"] = "configuration_published"
    configuration: TableConfiguration = Field(description="The whole configuration, not what changed in it.")


class ShoeLoaded(ShoeEvent):
    """Shuffled cards enter the shoe (art. 2(1)) or the continuous shuffler (art. 2(3))."""

    type: Literal["shoe_loaded"] = "shoe_loaded"
    decks: Count = Field(description="Decks of 52 cards.")
    shuffling: Literal["shoe", "continuous"] = Field("shoe", description="A shoe, or a continuous shuffler.")


class ShoeCut(ShoeEvent):
    """A patron or the dealer cuts, and the white card goes in with `cards_behind` cards behind it (art. 2(1))."""

    type: Literal["shoe_cut"] = "shoe_cut"
    cut_by: Literal["patron", "dealer"] = Field(description="Who cut.")
    cards_behind: Count = Field(description="Cards behind the white card, which are not dealt.")


class CardBurned(ShoeEvent):
    """A card leaves unplayed: at the opening (art. 2(1)) or before a round (art. 8); unseen cards have no face."""

    type: Literal["card_burned"] = "card_burned"
    reason: Literal["opening", "before_round"] = Field(description="When it was burned.")
    card: CardCode | None = Field(None, description="The card, where it was seen.")


class CutCardReached(ShoeEvent):
    """The white card appears (art. 3(1))."""

    type: Literal["cut_card_reached"] = "cut_card_reached"
    round: Ordinal = Field(description="The round in play, or the next to open.")


class ShoeClosed(ShoeEvent):
    """The shoe is taken out of play (art. 3)."""

    type: Literal["shoe_closed"] = "shoe_closed"
    reason: Literal["cut_card", "house_choice", "damaged_cards", "table_closed"] = Field(description="Why.")


class RoundOpened(RoundEvent):
    """Betting opens. A stake that a tie left standing stands in this round too, with its bet id, until withdrawn."""

    type: Literal["round_opened"] = "round_opened"
    kind: RoundKind = Field("live", description="Demonstrations carry no bets and no money (art. 2(2)).")
    configuration_id: Name | None = Field(
        None,
        description="The configuration it is dealt under, by its name; then a lost publication can't go unnoticed.",
    )


class BetPlaced(BetEvent):
    """Chips are put on a betting place."""

    schema_version: int = Field(2, ge=2, le=2, description="Version of the type's fields; left out, the newest.")
    type: Literal["bet_placed"] = "bet_placed"
    bet: BetName = Field(description="What is bet on.")
    stake: Stake = Field(description="Chips put down, minor units.")
    seat: Seat = Field(description="The seat the betting place belongs to; a standing patron bets behind it.")
    area: Literal["reserved", "shared"] = Field(
        "reserved", description="Whose place it is: the seated patron's own, or one that standing patrons may use too."
    )
    posture: Literal["seated", "standing"] = Field("seated", description="How the patron plays (art. 15).")
    patron_id: PatronId = None


class BetChanged(BetEvent):
    """A stake is raised, lowered, or moved to another bet."""

    type: Literal["bet_changed"] = "bet_changed"
    stake: Stake = Field(description="The whole stake as it stands afterwards, minor units.")
    bet: BetName | None = Field(None, description="What it stands on afterwards; absent if that stays the same.")


class BetWithdrawn(BetEvent):
    """A stake is taken back."""

    type: Literal["bet_withdrawn"] = "bet_withdrawn"


class BettingClosed(RoundEvent):
    """No more bets."""

    type: Literal["betting_closed"] = "betting_closed"


class CardDrawn(RoundEvent):
    """A card leaves the shoe for a hand (arts. 7 and 9)."""

    type: Literal["card_drawn"] = "card_drawn"
    hand: Hand = Field(description="The hand that gets it.")
    position: HandPosition
    card: CardCode = Field(description="The card, rank then suit.")


class CardCorrected(RoundEvent):
    """An error of dealing or of reading is put right at once (art. 10)."""

    type: Literal["card_corrected"] = "card_corrected"
    hand: Hand = Field(description="The hand it lies in.")
    position: HandPosition
    reason: Literal["misdeal", "misread"] = Field(
        description="Misread: the card lying there is `card`. Misdeal: it is taken out; `card`, if any, replaces it."
    )
    card: CardCode | None = Field(None, description="The right card; absent where a misdealt one is only taken out.")


class CardExposed(RoundEvent):
    """A card was found face up; it and the bets stay valid (art. 4)."""

    type: Literal["card_exposed"] = "card_exposed"
    card: CardCode = Field(description="The card that was seen.")


class ResultCalled(RoundEvent):
    """The dealer's call (art. 11)."""

    type: Literal["result_called"] = "result_called"
    outcome: Outcome = Field(description="The hand called as winner, or a tie.")


class StakeCollected(BetEvent):
    """A losing stake goes into the tray."""

    type: Literal["stake_collected"] = "stake_collected"
    amount: Stake = Field(description="What was taken in, minor units.")


class PayoutMade(BetEvent):
    """Winnings leave the tray, without the stake; net of commission where that is deducted (arts. 17 and 18)."""

    type: Literal["payout_made"] = "payout_made"
    amount: Payout = Field(description="Winnings paid, minor units.")


class CommissionCharged(BetEvent):
    """Commission on a banker win (art. 18), as the table's policy collects it."""

    type: Literal["commission_charged"] = "commission_charged"
    amount: Payout = Field(description="Commission, minor units.")


class CommissionSettled(Event):
    """A position pays commission it owes."""

    type: Literal["commission_settled"] = "commission_settled"
    seat: Seat = Field(description="The seat whose debt it is.")
    amount: Chips = Field(description="What is paid, minor units.")
    patron_id: PatronId = None


class RoundVoided(RoundEvent):
    """The round is cancelled and every stake goes back (art. 10)."""

    type: Literal["round_voided"] = "round_voided"
    reason: Text = Field(description="Why, in words.")
    authorised_by: Name = Field(description="Who decided it.")


class RoundClosed(RoundEvent):
    """Every bet of the round is settled. Money may still move for it until the next round ends, and is told again."""

    type: Literal["round_closed"] = "round_closed"


class BuyIn(Event):
    """A patron buys chips from the tray; cash and markers go into the drop box."""

    type: Literal["buy_in"] = "buy_in"
    seat: Seat = Field(description="The seat that buys; 0 for a patron who stands.")
    amount: Chips = Field(description="Chips bought, minor units.")
    means: Literal["cash", "marker", "cheque"] = Field("cash", description="What they are paid with.")
    patron_id: PatronId = None


class Fill(Event):
    """Chips come from the cage to the tray."""

    type: Literal["fill"] = "fill"
    amount: Chips = Field(description="Chips brought, minor units.")
    slip: Name = Field(description="Number of the slip.")


class Credit(Event):
    """Chips go from the tray to the cage."""

    type: Literal["credit"] = "credit"
    amount: Chips = Field(description="Chips taken, minor units.")
    slip: Name = Field(description="Number of the slip.")


class DropCounted(Event):
    """The drop box is counted."""

    type: Literal["drop_counted"] = "drop_counted"
    amount: Amount = Field(description="Cash and markers found in the box, minor units.")


class FloatCounted(Event):
    """The tray is counted."""

    type: Literal["float_counted"] = "float_counted"
    amount: Amount = Field(description="Chips found in the tray, minor units.")


class DealerIn(Event):
    """A dealer takes over the table."""

    type: Literal["dealer_in"] = "dealer_in"
    dealer_id: Name = Field(description="The dealer.")


class DealerOut(Event):
    """The dealer leaves the table."""

    type: Literal["dealer_out"] = "dealer_out"
    dealer_id: Name = Field(description="The dealer.")


class PatronSeated(Event):
    """A patron takes a seat."""

    type: Literal["patron_seated"] = "patron_seated"
    seat: Seat = Field(description="The seat taken.")
    patron_id: Name = Field(description="The patron.")


class PatronLeft(Event):
    """A patron leaves a seat; commission marked there falls due."""

    type: Literal["patron_left"] = "patron_left"
    seat: Seat = Field(description="The seat left.")
    patron_id: Name = Field(description="The patron.")


class CardsHeldBy(RoundEvent):
    """Somebody is given a hand's cards to open (art. 16)."""

    type: Literal["cards_held_by"] = "cards_held_by"
    hand: Hand = Field(description="The hand whose cards they are.")
    seat: Seat = Field(description="The seat that opens them; 0 is the dealer.")


class Heartbeat(Event):
    """The table's controller is alive."""

    type: Literal["heartbeat"] = "heartbeat"


class Correction(Event):
    """A supervisor takes an earlier event back, or replaces some of its fields, saying who and why.

    It counts as if the table had sent the right event in the first place: everything since is worked out again.
    """

    type: Literal["correction"] = "correction"
    target_event_id: EventId = Field(description="The event corrected.")
    action: Literal["retract", "replace"] = Field(description="Take the event back, or replace some of its fields.")
    changes: Changes = Field(
        default_factory=dict, description="On replace: the fields that change, with their new values."
    )
    authorised_by: Name = Field(description="The supervisor.")
    reason: Text = Field(description="Why, in words.")


class TableSilent(Event):
    """Pitwatch heard nothing from an open table for longer than its configuration allows."""

    type: Literal["table_silent"] = "table_silent"
    silent_since: Instant = Field(description="When the table was last heard.")
    last_event_id: EventId = Field(description="The last event heard.")


class GapExpired(Event):
    """Pitwatch stops waiting for a table's missing events, up to and including the one named."""

    type: Literal["gap_expired"] = "gap_expired"
    through_epoch: Sequence = Field(description="Epoch of the last event given up.")
    through_seq: Sequence = Field(description="Its seq.")


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
"""Types that only Pitwatch writes, always in epoch 0."""

HOUSE_EVENT_TYPES: Final = frozenset({"correction", "configuration_published"})
"""Types that a table may send, and that the house may write itself, in epoch 0: they are the house's decisions."""

EVENT_ADAPTER: Final[TypeAdapter[Event]] = TypeAdapter(
    Annotated[Union[EVENT_MODELS], Field(discriminator="type")]  # type: ignore[arg-type]  # noqa: UP007
)


def is_system(event: Event) -> bool:
    """Tell whether Pitwatch itself wrote the event."""
    return event.epoch == SYSTEM_EPOCH
