"""Every fact the pipeline derives. A fact is an upsert: its natural key names it, its `revision` says which is newest.

Amounts are minor units of `currency`. Each fact carries the place in the log of the event that brought it about.
"""

from typing import Annotated, Final, Literal, Union

from pydantic import Field, TypeAdapter

from schemas.alerts import Severity
from schemas.events import Outcome, RoundKind
from schemas.fields import Instant, Model

RoundStatus = Literal["settled", "void", "incomplete"]
BetResult = Literal["win", "lose", "push", "void", "unknown"]
Road = Literal["bead_plate", "big_road", "big_eye_boy", "small_road", "cockroach_pig"]


class Fact(Model):
    """What every fact carries; `retracted` means that it no longer holds and what it said is void."""

    fact: str
    table_id: str
    revision: int = 0
    retracted: bool = False
    occurred_at: Instant
    gaming_day: str = ""
    shift: str = ""
    pit: str = ""
    src_topic: str = ""
    src_partition: int = 0
    src_offset: int = 0


class RoundFact(Fact):
    """A round as reconstructed. Key: table, shoe, round.

    `handle` sums the stakes decided (won or lost), `house_win` is what the rules give the house on them, commission
    included; `paid`, `collected` and `commission` are what the table recorded.
    """

    fact: Literal["round"] = "round"
    shoe: int
    round: int
    kind: RoundKind
    status: RoundStatus
    opened_at: Instant
    betting_closed_at: Instant | None = None
    closed_at: Instant | None = None
    dealer_id: str = ""
    configuration_id: str = ""
    currency: str
    player_cards: tuple[str, ...] = ()
    banker_cards: tuple[str, ...] = ()
    player_total: int = 0
    banker_total: int = 0
    outcome: Outcome | None = None
    called_outcome: Outcome | None = None
    natural: bool = False
    player_pair: bool = False
    banker_pair: bool = False
    tableau_errors: tuple[str, ...] = ()
    exposed_cards: int = 0
    burned_cards: int = 0
    bets: int = 0
    stakes: int = 0
    handle: int = 0
    house_win: int = 0
    commission_due: int = 0
    paid: int = 0
    collected: int = 0
    commission: int = 0
    alerts: int = 0
    void_reason: str = ""


class BetFact(Fact):
    """A bet as it stood when its round ended. Key: table, shoe, round, bet id.

    `winnings` are gross of commission; `due` is what the tray owed: winnings less deducted commission. `net` is the
    patron's by the rules: winnings less commission, or the stake lost.
    """

    fact: Literal["bet"] = "bet"
    shoe: int
    round: int
    bet_id: str
    bet: str
    seat: int
    area: str
    posture: str
    patron_id: str = ""
    dealer_id: str = ""
    currency: str
    placed_at: Instant
    carried: bool = False
    stake: int
    result: BetResult
    winnings: int = 0
    due: int = 0
    commission_due: int = 0
    net: int = 0
    paid: int = 0
    collected: int = 0
    commission: int = 0


class CommissionFact(Fact):
    """One entry in a position's commission ledger. Key: table, entry id (the event's id).

    `amount` is positive for commission marked and negative for commission settled; `balance` is owed afterwards.
    """

    fact: Literal["commission"] = "commission"
    entry_id: str
    shoe: int
    round: int
    seat: int
    patron_id: str = ""
    bet_id: str = ""
    entry: Literal["marked", "settled", "deducted"]
    amount: int
    balance: int
    currency: str


class RoadFact(Fact):
    """One cell of a drawn road. Key: table, shoe, road, index.

    `mark` is B, P or T on the bead plate and the big road, R or B (red, blue) on the derived roads.
    """

    fact: Literal["road"] = "road"
    shoe: int
    road: Road
    index: int
    column: int
    row: int
    mark: str
    ties: int = 0
    player_pair: bool = False
    banker_pair: bool = False
    round: int


class ShoeFact(Fact):
    """A shoe so far. Key: table, shoe.

    `seen` counts the copies of each card that left the shoe face up; `cards_out` counts those burned unseen too.
    """

    fact: Literal["shoe"] = "shoe"
    shoe: int
    status: Literal["loaded", "in_play", "closed"]
    complete: bool = True
    decks: int
    shuffling: str
    loaded_at: Instant
    closed_at: Instant | None = None
    close_reason: str = ""
    cut_by: str = ""
    cards_behind_cut: int | None = None
    burned: int = 0
    cards_out: int = 0
    seen: dict[str, int] = Field(default_factory=dict)
    rounds: int = 0
    demonstrations: int = 0
    banker_wins: int = 0
    player_wins: int = 0
    ties: int = 0
    voids: int = 0
    cut_card_round: int | None = None


class TableHourFact(Fact):
    """A table's hour, by the start of its rounds. Key: table, hour. `house_win` by the rules, commission included."""

    fact: Literal["table_hour"] = "table_hour"
    hour: Instant
    currency: str
    rounds: int = 0
    voids: int = 0
    cards: int = 0
    bets: int = 0
    handle: int = 0
    house_win: int = 0
    commission_due: int = 0
    paid: int = 0
    collected: int = 0
    dealing_errors: int = 0
    alerts: int = 0


class Evidence(Model):
    """What an alert rests on."""

    event_ids: tuple[str, ...] = ()
    bet_id: str = ""
    bet: str = ""
    card: str = ""
    expected: str = ""
    actual: str = ""
    due: int | None = None
    paid: int | None = None
    player_cards: tuple[str, ...] = ()
    banker_cards: tuple[str, ...] = ()


class AlertFact(Fact):
    """A deviation. Key: alert id, which names table, shoe, round, code and what it is about.

    `status` is ``corrected`` once the table put the error right itself; a deviation that later evidence
    explains away is `retracted`.
    """

    fact: Literal["alert"] = "alert"
    alert_id: str
    code: str
    severity: Severity
    article: str
    status: Literal["raised", "corrected"] = "raised"
    shoe: int = 0
    round: int = 0
    seat: int | None = None
    dealer_id: str = ""
    patron_id: str = ""
    text_zh: str
    text_en: str
    evidence: Evidence


class DeadLetterFact(Fact):
    """A message that could not be used. Key: its place in the log. `raw` is its bytes in base 64."""

    fact: Literal["dead_letter"] = "dead_letter"
    reason: str
    detail: str
    event_id: str = ""
    shoe: int = 0
    round: int = 0
    raw: str


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
