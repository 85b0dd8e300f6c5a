"""What the fold remembers of a table: plain structs that can be written down and read back unchanged."""

from datetime import datetime
from typing import TYPE_CHECKING

import msgspec

from processors.rules.roads import RoadState
from schemas.configuration import TableConfiguration
from schemas.facts import ShoeFact, TableHourFact
from schemas.structs import struct_of

if TYPE_CHECKING:
    ConfigurationStruct = TableConfiguration
else:
    # What a struct holds must itself be a struct to be written down: the configuration's twin.
    ConfigurationStruct = struct_of(TableConfiguration)

ShoeRow = struct_of(ShoeFact, tag="shoe", tag_field="fact")
TableHourRow = struct_of(TableHourFact, tag="table_hour", tag_field="fact")


class BetState(msgspec.Struct):
    """A bet on the layout; amounts in minor units as the table recorded them."""

    bet_id: str
    bet: str
    stake: int
    seat: int
    area: str
    posture: str
    patron_id: str
    placed_at: datetime
    event_ids: list[str]
    carried: bool = False
    late: bool = False
    paid: int = 0
    collected: int = 0
    commission: int = 0

    @property
    def owner(self) -> str:
        """Who bets: the patron where known, else who sits there; ``""`` for one standing, who may be several."""
        return self.patron_id or (f"seat {self.seat}" if self.posture == "seated" else "")


class DealingError(msgspec.Struct):
    """A dealing error that was raised and is not put right yet."""

    code: str
    hand: str
    item: str
    event_ids: list[str]
    expected: str
    actual: str


class RoundState(msgspec.Struct):
    """The round in play. `complete` is False where any of its events is known to be missing."""

    shoe: int
    number: int
    kind: str
    opened_at: datetime
    gaming_day: str
    shift: str
    complete: bool = True
    carry_unknown: bool = False
    betting_closed: bool = False
    betting_closed_at: datetime | None = None
    player: list[str] = []
    banker: list[str] = []
    card_event_ids: list[str] = []
    called: str = ""
    void_reason: str = ""
    voided: bool = False
    bets: dict[str, BetState] = {}
    dealing_errors: list[DealingError] = []
    mismatch: bool = False
    judged: bool = False
    paid_uncorrected: bool = False
    exposed: int = 0
    burned: int = 0
    alerts: int = 0


class ShoeState(msgspec.Struct):
    """The shoe in play; `complete` is False where it was not seen from its loading on."""

    number: int
    decks: int
    shuffling: str
    loaded_at: datetime
    complete: bool = True
    cut_by: str = ""
    cards_behind_cut: int | None = None
    burned: int = 0
    first_burned: str = ""
    opened: bool = False
    closed: bool = False
    cards_out: int = 0
    seen: dict[str, int] = {}
    rounds: int = 0
    demonstrations: int = 0
    banker_wins: int = 0
    player_wins: int = 0
    ties: int = 0
    voids: int = 0
    cut_card_round: int | None = None
    unapproved: list[str] = []
    roads: RoadState = msgspec.field(default_factory=RoadState)


class HourState(msgspec.Struct):
    """Sums of the hour in which the round in play opened."""

    hour: datetime
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


class TableState(msgspec.Struct):
    """Everything the next event's meaning depends on.

    `ledger` is what each seat owes in commission, `doubtful_debts` the part that may have been settled in a gap.
    """

    table_id: str
    configuration: ConfigurationStruct | None = None
    next_configuration: ConfigurationStruct | None = None
    is_open: bool = False
    dealer_id: str = ""
    last_event_id: str = ""
    last_occurred_at: datetime | None = None
    clock_ahead: bool = False
    silence_reported: str = ""
    expected_float: int | None = None
    ledger: dict[int, int] = {}
    doubtful_debts: dict[int, int] = {}
    seats: dict[int, str] = {}
    shoe: ShoeState | None = None
    round: RoundState | None = None
    last_round: int = 0
    standing: dict[str, BetState] = {}
    carry_unknown: bool = False
    hour: HourState | None = None
    rounds_finished: int = 0
