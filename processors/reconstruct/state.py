"""What the fold remembers of a table: plain structs that can be written down and read back unchanged."""

from datetime import datetime
from typing import TYPE_CHECKING

import msgspec

from processors.rules.roads import RoadState
from schemas.configuration import TableConfiguration
from schemas.structs import struct_of

if TYPE_CHECKING:
    ConfigurationStruct = TableConfiguration
else:
    # What a struct holds must itself be a struct to be written down: the configuration's twin.
    ConfigurationStruct = struct_of(TableConfiguration)

FIRST_DAY = "2000-01-03"
"""The gaming day whose rules hold before anything was seen."""


class BetState(msgspec.Struct, gc=False):
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


class DealingError(msgspec.Struct, gc=False):
    """A dealing error that was raised and is not put right yet."""

    code: str
    hand: str
    item: str
    event_ids: list[str]
    expected: str
    actual: str


class RoundState(msgspec.Struct, gc=False):
    """The round in play. `complete` is False where any of its events is known to be missing.

    `epoch` is the controller's boot in which it began. `carry_unknown` says that a tie may have left stakes from rounds
    that were not seen. `surplus` are cards beyond a hand's third, by hand and place; `raised` names the round's alerts;
    `stray_paid` and `stray_collected` are chips moved for bets that nobody saw, `moves` how often any were moved.
    `withheld` alerts were not raised because the configuration is in doubt, and with `rules_known` False what the bets
    are due can't be told. `outstanding` money was still to be moved when the table went on without closing the round.
    """

    shoe: int
    number: int
    kind: str
    opened_at: datetime
    gaming_day: str
    shift: str
    epoch: int = 0
    complete: bool = True
    kind_known: bool = True
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
    surplus: dict[str, str] = {}
    erred: bool = False
    mismatch: bool = False
    judged: bool = False
    chips_moved: bool = False
    paid_uncorrected: bool = False
    stray_paid: int = 0
    stray_collected: int = 0
    exposed: int = 0
    burned: int = 0
    raised: list[str] = []
    moves: int = 0
    withheld: int = 0
    rules_known: bool = True
    outstanding: bool = False


class FinishedRound(msgspec.Struct, gc=False):
    """The round that ended last, whose money may still move, with what the table was when it ended.

    `is_open` says that it never was closed, `hour` in which hour its sums were counted (``""`` for none).
    """

    play: RoundState
    closed_at: datetime
    is_open: bool
    hour: str
    configuration: ConfigurationStruct | None
    dealer_id: str
    named: str
    is_doubtful: bool


class ShoeState(msgspec.Struct, gc=False):
    """The shoe in play; `complete` is False where anything in it was not seen, `loading_seen` where not its loading.

    `doubtful` are cards read in rounds that were not fully seen, where a misreading may have been put right unseen;
    `rounds_of_unknown_kind` may have been demonstrations; `burned_next` cards were burned for the round to come.
    """

    number: int
    decks: int
    shuffling: str
    loaded_at: datetime
    complete: bool = True
    loading_seen: bool = True
    cut_by: str = ""
    cards_behind_cut: int | None = None
    burned: int = 0
    burned_next: int = 0
    first_burned: str = ""
    opened: bool = False
    cards_out: int = 0
    seen: dict[str, int] = {}
    doubtful: dict[str, int] = {}
    rounds: int = 0
    rounds_of_unknown_kind: int = 0
    demonstrations: int = 0
    banker_wins: int = 0
    player_wins: int = 0
    ties: int = 0
    voids: int = 0
    cut_card_round: int | None = None
    unapproved: list[str] = []
    roads: RoadState = msgspec.field(default_factory=RoadState)


class HourState(msgspec.Struct, array_like=True, gc=False):
    """Sums of the rounds that opened in one hour."""

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


class TableState(msgspec.Struct, gc=False):
    """Everything the next event's meaning depends on.

    `last_…` and `before_last_…` say when the table's last event, and the one before it, happened by its own clock and
    came to the log. `rules_day` is the gaming day whose rules are in force. `ledger` is what each seat owes in
    commission, `doubtful_debts` the part that may have been settled in a gap, `demanded` the part that was asked for
    already.
    `publishes_itself` says that the table has ever published its own configuration, `is_doubtful` that there may be a
    newer one than that in force, `next_is_doubtful` the same of the one to come; `named` is the one that the newest
    round says it is dealt under, where that is another, and `doubt_told` the one that was told of.
    `hours` are the sums by beginning of the hour, the one counted in last at the end.
    """

    table_id: str
    configuration: ConfigurationStruct | None = None
    next_configuration: ConfigurationStruct | None = None
    rules_day: str = FIRST_DAY
    publishes_itself: bool = False
    is_doubtful: bool = False
    next_is_doubtful: bool = False
    named: str = ""
    doubt_told: str = ""
    is_open: bool = False
    dealer_id: str = ""
    last_event_id: str = ""
    last_occurred_at: datetime | None = None
    last_appended_at: datetime | None = None
    before_last_at: datetime | None = None
    before_last_appended_at: datetime | None = None
    clock_ahead: bool = False
    clock_set_back: bool = False
    silence_reported: str = ""
    expected_float: int | None = None
    ledger: dict[int, int] = {}
    doubtful_debts: dict[int, int] = {}
    demanded: dict[int, int] = {}
    seats: dict[int, str] = {}
    shoe: ShoeState | None = None
    round: RoundState | None = None
    finished: FinishedRound | None = None
    last_round: int = 0
    standing: dict[str, BetState] = {}
    carry_unknown: bool = False
    hours: dict[str, HourState] = {}
    rounds_finished: int = 0
