"""Every fact the pipeline derives. A fact is an upsert: its natural key names it, its `revision` says which is newest.

Amounts are minor units of `currency`. Each fact carries the place in the log of the event that brought it about.
`docs/facts.md` is generated from the docstrings and descriptions here.
"""

from typing import Annotated, Final, Literal, Union

from pydantic import Field, TypeAdapter

from schemas.alerts import Severity
from schemas.events import Outcome, RoundKind
from schemas.fields import Instant, Model

RoundStatus = Literal["settled", "void", "incomplete"]
BetResult = Literal["win", "lose", "push", "void", "unknown"]
Road = Literal["bead_plate", "big_road", "big_eye_boy", "small_road", "cockroach_pig"]

# Fields that mean the same in every fact that has them.
Shoe = Annotated[int, Field(description="Number of the shoe at its table, from 1; 0 where none is meant.")]
Round = Annotated[int, Field(description="Number of the round in its shoe, from 1; 0 where none is meant.")]
DealerId = Annotated[str, Field(description="The dealer at the table; empty if unknown.")]
PatronId = Annotated[str, Field(description="The patron; empty if unknown.")]
Seat = Annotated[int, Field(description="The seat whose betting place it is.")]
Currency = Annotated[str, Field(description="ISO 4217 code of every amount here.")]
HandCards = Annotated[tuple[str, ...], Field(description="The cards of the hand, in dealing order.")]

# Sums of a round or an hour, in minor units.
Handle = Annotated[int, Field(description="Stakes decided, that is won or lost, minor units.")]
HouseWin = Annotated[int, Field(description="What the rules give the house, commission included, minor units.")]
CommissionDue = Annotated[int, Field(description="Commission by the rules, minor units.")]
Paid = Annotated[int, Field(description="Payouts the table recorded, minor units.")]
Collected = Annotated[int, Field(description="Stakes the table recorded as taken in, minor units.")]
Commission = Annotated[int, Field(description="Commission the table recorded, minor units.")]


class Fact(Model):
    """What every fact carries; `retracted` means that it no longer holds and what it said is void."""

    fact: str
    table_id: str = Field(description="The table.")
    revision: int = Field(0, description="Rises with every new version of the same key; the highest one holds.")
    retracted: bool = Field(False, description="The fact no longer holds: readers leave it out.")
    occurred_at: Instant = Field(description="When the event that brought it about happened, UTC.")
    gaming_day: str = Field("", description="Gaming day of the table, ISO date; empty if unknown.")
    shift: str = Field("", description="Shift of the gaming day; empty if unknown.")
    pit: str = Field("", description="Pit of the table; empty if unknown.")
    src_topic: str = Field("", description="Topic of the event that brought it about.")
    src_partition: int = Field(0, description="Partition of that event.")
    src_offset: int = Field(0, description="Offset of that event.")


class RoundFact(Fact):
    """A round as reconstructed.

    `handle`, `house_win` and `commission_due` follow the rules; `paid`, `collected` and `commission` are what the
    table recorded.
    """

    fact: Literal["round"] = "round"
    shoe: Shoe
    round: Round
    kind: RoundKind = Field(description="Demonstrations carry no bets and no money.")
    status: RoundStatus = Field(
        description="Settled, void, or incomplete: not fully seen, not paid out when the table went on, or dealt under"
        " rules unknown."
    )
    opened_at: Instant = Field(description="When betting opened, UTC.")
    betting_closed_at: Instant | None = Field(None, description="When betting closed, UTC.")
    closed_at: Instant | None = Field(None, description="When the round was over, UTC.")
    dealer_id: DealerId = ""
    configuration_id: str = Field("", description="The configuration it was dealt under; empty if none was published.")
    currency: Currency
    player_cards: HandCards = ()
    banker_cards: HandCards = ()
    player_total: int = Field(0, description="Points of the player hand, 0 to 9.")
    banker_total: int = Field(0, description="Points of the banker hand, 0 to 9.")
    outcome: Outcome | None = Field(
        None, description="Outcome by the cards, or as called where they were not all seen; absent in a void round."
    )
    called_outcome: Outcome | None = Field(None, description="Outcome as the dealer called it.")
    natural: bool = Field(False, description="A hand had 8 or 9 with two cards.")
    player_pair: bool = Field(False, description="The player hand's first two cards are of one rank.")
    banker_pair: bool = Field(False, description="The banker hand's first two cards are of one rank.")
    tableau_errors: tuple[str, ...] = Field(
        (), description="Errors of dealing: the hand and the item of art. 9, such as `player 9(3)(2)`."
    )
    exposed_cards: int = Field(0, description="Cards found face up (art. 4).")
    burned_cards: int = Field(0, description="Cards burned before the round (art. 8).")
    bets: int = Field(0, description="Number of bets.")
    stakes: int = Field(0, description="All stakes, those that pushed too, minor units.")
    handle: Handle = 0
    house_win: HouseWin = 0
    commission_due: CommissionDue = 0
    paid: Paid = 0
    collected: Collected = 0
    commission: Commission = 0
    alerts: int = Field(0, description="Alerts raised in the round.")
    void_reason: str = Field("", description="Why the round was cancelled; empty if it was not.")


class BetFact(Fact):
    """A bet as it stood when its round ended.

    `winnings`, `due`, `commission_due` and `net` follow the rules; `paid`, `collected` and `commission` are what the
    table recorded.
    """

    fact: Literal["bet"] = "bet"
    shoe: Shoe
    round: Round
    bet_id: str = Field(description="The bet, unique in its shoe.")
    bet: str = Field(description="What was bet on, a name of the catalogue.")
    seat: Seat
    area: str = Field(description="Whose place the chips lay on: `reserved` or `shared` (art. 15).")
    posture: str = Field(description="How the patron played: `seated` or `standing`.")
    patron_id: PatronId = ""
    dealer_id: DealerId = ""
    currency: Currency
    placed_at: Instant = Field(description="When the chips were put down, UTC.")
    carried: bool = Field(False, description="The stake stood from the round before, after a tie (art. 12).")
    stake: int = Field(description="The stake when the round ended, minor units.")
    result: BetResult = Field(description="By the rules; unknown where the round was not fully seen.")
    winnings: int = Field(0, description="Winnings before commission, minor units.")
    due: int = Field(0, description="What the tray owed: winnings less deducted commission, minor units.")
    commission_due: CommissionDue = 0
    net: int = Field(
        0, description="The patron's gain: winnings less commission, or minus the stake lost, minor units."
    )
    paid: Paid = 0
    collected: Collected = 0
    commission: Commission = 0


class CommissionFact(Fact):
    """One entry in a position's commission ledger."""

    fact: Literal["commission"] = "commission"
    entry_id: str = Field(description="The entry: the id of the event that made it.")
    shoe: Shoe
    round: Round
    seat: Seat
    patron_id: PatronId = ""
    bet_id: str = Field("", description="The bet the commission was taken of; empty when a debt is settled.")
    entry: Literal["marked", "settled", "deducted"] = Field(
        description="Marked as a debt, a debt settled, or deducted from the payout."
    )
    amount: int = Field(description="Minor units: positive as marked or deducted, negative as settled.")
    balance: int = Field(description="What the position owes afterwards, minor units.")
    currency: Currency


class RoadFact(Fact):
    """One cell of a drawn road."""

    fact: Literal["road"] = "road"
    shoe: Shoe
    road: Road = Field(description="The road.")
    index: int = Field(description="Number of the cell in its road, from 0, in order of time.")
    column: int = Field(description="Column of the drawing, from 0.")
    row: int = Field(description="Row of the drawing, from 0 at the top.")
    mark: str = Field(
        description="B, P or T (banker, player, tie) on the bead plate and the big road; R or B (red, blue) elsewhere."
    )
    ties: int = Field(0, description="Ties counted on a cell of the big road.")
    player_pair: bool = Field(False, description="The round had a player pair; bead plate and big road only.")
    banker_pair: bool = Field(False, description="The round had a banker pair; bead plate and big road only.")
    round: int = Field(description="The round that made the mark.")


class ShoeFact(Fact):
    """A shoe so far."""

    fact: Literal["shoe"] = "shoe"
    shoe: Shoe
    status: Literal["loaded", "in_play", "closed"] = Field(description="Loaded, in play after its first round, closed.")
    complete: bool = Field(True, description="Everything that happened in the shoe was seen.")
    decks: int = Field(description="Decks of 52 cards.")
    shuffling: str = Field(description="`shoe` or `continuous`, a shuffler that takes the cards back.")
    loaded_at: Instant = Field(description="When the cards went in, UTC.")
    closed_at: Instant | None = Field(None, description="When it was taken out of play, UTC.")
    close_reason: str = Field("", description="Why it was taken out of play.")
    cut_by: str = Field("", description="Who cut: `patron` or `dealer`; empty if nobody did.")
    cards_behind_cut: int | None = Field(None, description="Cards behind the white card.")
    burned: int = Field(0, description="Cards burned at the opening (art. 2(1)).")
    cards_out: int = Field(0, description="Cards that left the shoe, those burned unseen too.")
    seen: dict[str, int] = Field(default_factory=dict, description="Card → copies that left the shoe face up.")
    rounds: int = Field(0, description="Live rounds.")
    demonstrations: int = Field(0, description="Demonstration rounds (art. 2(2)).")
    banker_wins: int = Field(0, description="Live rounds the banker hand won.")
    player_wins: int = Field(0, description="Live rounds the player hand won.")
    ties: int = Field(0, description="Live rounds that tied.")
    voids: int = Field(0, description="Live rounds cancelled.")
    cut_card_round: int | None = Field(None, description="The round in which, or before which, the white card came.")


class TableHourFact(Fact):
    """Sums of a table's hour; a round counts in the hour it began."""

    fact: Literal["table_hour"] = "table_hour"
    hour: Instant = Field(description="Beginning of the hour, UTC.")
    currency: Currency
    rounds: int = Field(0, description="Live rounds, void ones too.")
    voids: int = Field(0, description="Live rounds cancelled.")
    cards: int = Field(0, description="Cards dealt to hands.")
    bets: int = Field(0, description="Number of bets.")
    handle: Handle = 0
    house_win: HouseWin = 0
    commission_due: CommissionDue = 0
    paid: Paid = 0
    collected: Collected = 0
    dealing_errors: int = Field(0, description="Errors of dealing (arts. 7 and 9).")
    alerts: int = Field(0, description="Alerts raised in those rounds.")


class Evidence(Model):
    """What an alert rests on."""

    event_ids: tuple[str, ...] = Field((), description="The events that show it.")
    bet_id: str = Field("", description="The bet it is about; empty if none.")
    bet: str = Field("", description="What that bet is on, a name of the catalogue.")
    card: str = Field("", description="The card it is about; empty if none.")
    expected: str = Field("", description="What the rule asks for, as the text says it.")
    actual: str = Field("", description="What was done instead, as the text says it.")
    due: int | None = Field(None, description="What was owed, minor units.")
    paid: int | None = Field(None, description="What was paid, collected or charged instead, minor units.")
    player_cards: HandCards = ()
    banker_cards: HandCards = ()


class AlertFact(Fact):
    """A deviation. One that later evidence explains away is retracted."""

    fact: Literal["alert"] = "alert"
    alert_id: str = Field(description="Names table, shoe, round, code and, where needed, what it is about.")
    code: str = Field(description="The deviation, a name of the alert catalogue.")
    severity: Severity = Field(description="How grave it is.")
    article: str = Field(description="The article or rule broken.")
    status: Literal["raised", "corrected"] = Field(
        "raised", description="Corrected once the table itself put the error right."
    )
    shoe: Shoe = 0
    round: Round = 0
    seat: int | None = Field(None, description="The seat it is about.")
    dealer_id: DealerId = ""
    patron_id: PatronId = ""
    currency: Currency
    text_zh: str = Field(description="What was wrong, in Chinese.")
    text_en: str = Field(description="What was wrong, in English.")
    evidence: Evidence = Field(description="What it rests on.")


class DeadLetterFact(Fact):
    """A message that could not be used."""

    fact: Literal["dead_letter"] = "dead_letter"
    reason: str = Field(description="A stable code, such as `not_json`, `unknown_type` or `invalid`.")
    detail: str = Field(description="Where and what, in words.")
    event_id: str = Field("", description="The event's id, as far as it can be told.")
    shoe: Shoe = 0
    round: Round = 0
    raw: str = Field(description="The message's bytes, base 64.")


FACT_MODELS: Final[tuple[type[Fact], ...]] = (
    RoundFact,
    BetFact,
    CommissionFact,
    RoadFact,
    ShoeFact,
    TableHourFact,
    AlertFact,
    DeadLetterFact,
)

FACT_KINDS: Final[dict[str, type[Fact]]] = {model.model_fields["fact"].default: model for model in FACT_MODELS}

FACT_KEYS: Final[dict[str, tuple[str, ...]]] = {
    "round": ("table_id", "shoe", "round"),
    "bet": ("table_id", "shoe", "round", "bet_id"),
    "commission": ("table_id", "entry_id"),
    "road": ("table_id", "shoe", "road", "index"),
    "shoe": ("table_id", "shoe"),
    "table_hour": ("table_id", "hour"),
    "alert": ("alert_id",),
    "dead_letter": ("src_topic", "src_partition", "src_offset"),
}
"""The fields that name a fact of each kind; the store orders its tables by them."""

FACT_ADAPTER: Final[TypeAdapter[Fact]] = TypeAdapter(
    Annotated[Union[FACT_MODELS], Field(discriminator="fact")]  # type: ignore[arg-type]  # noqa: UP007
)
