"""A table's configuration: the options of the regulation, the house's limits and the bets on offer.

A configuration reaches the pipeline as an event, so the rules in force for a round are those published before it.
"""

from datetime import date
from fractions import Fraction
from typing import Annotated, Final, Literal, Self, get_args

from pydantic import Field, field_validator, model_validator

from schemas.cards import Hand
from schemas.catalogue import CATALOGUE, checked_odds
from schemas.errors import PitwatchError
from schemas.fields import Amount, Day, Name, Ratio, Stake, StrictModel, TableId
from schemas.money import MINOR_DIGITS, Rounding

Option = Literal["burn_by_first_card", "demonstration_rounds", "continuous_shuffler", "one_more_round", "tie_changes"]
"""The options of arts. 2, 3, 7 and 12 that need the regulator's permission (art. 19)."""


Hour = Annotated[int, Field(ge=0, le=23)]


class UnknownPreset(PitwatchError, ValueError):
    """Raised for the name of a preset that doesn't exist."""


# Written out once more, as types can't be computed: the assertion holds them to the catalogue.
# fmt: off
BetName = Literal[
    "player", "banker", "banker_commission_free", "banker_ez", "tie", "player_pair", "banker_pair", "either_pair",
    "perfect_pair", "lucky_six", "small_six", "big_six", "lucky_seven", "super_lucky_seven", "tiger", "small_tiger",
    "big_tiger", "tiger_tie", "tiger_pair", "dragon_seven", "panda_eight", "dragon_bonus_player",
    "dragon_bonus_banker", "small", "big",
]
# fmt: on
"""A bet of the catalogue."""

assert get_args(BetName) == tuple(CATALOGUE)


def exact(ratio: str) -> Fraction:
    """Return the exact value of a ratio written as ``8``, ``0.05`` or ``1/2``."""
    return Fraction(ratio)


class RoundingPolicy(StrictModel):
    """How an amount that falls between two payable ones is made payable."""

    unit: Stake = Field(1, description="What is paid is a whole multiple of this, minor units.")
    rounding: Rounding = Field("down", description="Which multiple; exact means that there must be no rest.")


class Commission(StrictModel):
    """Art. 18: the share of a banker win the house keeps, and when it takes it."""

    rate: Ratio = Field("0.05", description="Share of the winnings, 0 to 1, written as a decimal or a fraction.")
    unit: Stake = Field(1, description="Commission is a whole multiple of this, minor units.")
    rounding: Rounding = Field("nearest", description="Which multiple; exact means that there must be no rest.")
    minimum: Amount = Field(0, description="The least commission on a win, minor units.")
    collection: Literal["deducted", "marked"] = Field(
        "deducted", description="Deducted: the payout is made net. Marked: paid 1:1 and owed until it is settled."
    )

    @field_validator("rate")
    @classmethod
    def _a_share(cls, rate: str) -> str:
        if exact(rate) > 1:
            raise ValueError(f"a commission of {rate} is more than was won: write 5 % as 0.05")
        return rate


class BetOffer(StrictModel):
    """A bet on this table's layout: its limits, its odds where they differ from the catalogue's, and its dates."""

    bet: BetName = Field(description="The bet.")
    minimum: Stake = Field(description="The least stake, minor units.")
    maximum: Stake = Field(description="The highest stake, minor units.")
    multiple: Stake | None = Field(
        None, description="A stake is a whole multiple of this, minor units (SJM: of the minimum, on the banker)."
    )
    odds: tuple[Ratio, ...] | None = Field(
        None, max_length=12, description="Odds to one, in the order of the catalogue's paying rules; absent: as there."
    )
    sides: tuple[Hand, ...] | None = Field(
        None,
        min_length=1,
        max_length=2,
        description="Lucky six: the hand whose six it is on. Absent: the banker's (Despacho 56/2018); with both, the"
        " six of the hand that the patron's main bet is on.",
    )
    effective_from: Day | None = Field(None, description="First gaming day of the offer.")
    effective_until: Day | None = Field(None, description="Last gaming day of the offer.")
    approval_id: Name | None = Field(None, description="The regulator's approval of the bet.")

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.minimum > self.maximum:
            raise ValueError(f"{self.bet}: minimum {self.minimum} is above maximum {self.maximum}")
        if self.odds is not None:
            checked_odds(self.bet, tuple(exact(ratio) for ratio in self.odds))
        if self.sides is not None and (not CATALOGUE[self.bet].companion or len(set(self.sides)) < len(self.sides)):
            raise ValueError(f"{self.bet}: sides are for the lucky six, each hand once")
        if self.effective_from and self.effective_until and self.effective_until < self.effective_from:
            raise ValueError(f"{self.bet}: the offer ends on {self.effective_until}, before it begins")
        return self

    def in_force(self, day: date) -> bool:
        """Tell whether the bet is on offer on `day`, both dates included."""
        return (self.effective_from is None or self.effective_from <= day) and (
            self.effective_until is None or day <= self.effective_until
        )


class Approval(StrictModel):
    """Art. 19: the regulator's permission for an option, asked for at least three working days ahead."""

    option: Option = Field(description="The option it permits.")
    approval_id: Name = Field(description="Number of the permission.")
    applied_on: Day = Field(description="When it was asked for.")
    effective_on: Day = Field(description="First day on which it holds.")


class Shift(StrictModel):
    """A working shift: its name and the local hour it begins."""

    name: Name = Field(description="Name of the shift.")
    begins_at_hour: Hour = Field(description="Local hour at which it begins; it lasts until the next one.")


class GamingDay(StrictModel):
    """When a gaming day begins, in local time, and its shifts."""

    begins_at_hour: Hour = Field(6, description="Local hour at which the gaming day begins.")
    # Macau keeps UTC+8 all year (no daylight saving since 1979), so an offset is exact and needs no zone database.
    utc_offset_hours: int = Field(8, ge=-12, le=14, description="Local time less UTC.")
    shifts: tuple[Shift, ...] = Field(
        (
            Shift(name="day", begins_at_hour=6),
            Shift(name="swing", begins_at_hour=14),
            Shift(name="night", begins_at_hour=22),
        ),
        min_length=1,
        max_length=12,
        description="The shifts, round the clock; left out: day from 6, swing from 14, night from 22.",
    )

    @field_validator("shifts")
    @classmethod
    def _one_at_a_time(cls, shifts: tuple[Shift, ...]) -> tuple[Shift, ...]:
        for what, values in (("name", [s.name for s in shifts]), ("hour", [s.begins_at_hour for s in shifts])):
            if len(set(values)) < len(values):
                raise ValueError(f"two shifts have the same {what}")
        return shifts


class TableConfiguration(StrictModel):
    """Everything about a table that decides a verdict or an amount. Money in minor units of `currency`."""

    configuration_id: Name = Field(description="Name of the configuration; a new name for every change.")
    pit: Name = Field("PIT-1", description="The pit the table stands in.")
    currency: str = Field("HKD", pattern=r"^[A-Z]{3}$", description="ISO 4217 code of every amount of the table.")
    seats: int = Field(9, ge=7, le=14, description="Seats (art. 1: seven or more).")
    decks: int = Field(8, ge=6, le=12, description="Decks in the shoe (art. 1).")
    shuffling: Literal["shoe", "continuous"] = Field(
        "shoe", description="A shoe, or a continuous shuffler (art. 2(3))."
    )
    burn: Literal["decks", "first_card"] = Field(
        "decks", description="Cards burned at the opening: as many as decks, or as the first card's face (art. 2(1))."
    )
    cut_card_depth: int = Field(
        12, ge=12, le=208, description="Least number of cards behind the white card (art. 2(1))."
    )
    demonstrations: int = Field(0, ge=0, le=3, description="Demonstration rounds allowed in a shoe (art. 2(2)).")
    rounds_after_cut_card: int = Field(0, ge=0, le=1, description="Rounds after the one in play (art. 3(1)).")
    differential: Amount | None = Field(
        None, description="Most that player and banker stakes may differ by, minor units (art. 14); absent: no limit."
    )
    tie_policy: Literal["regulation", "add_only"] = Field(
        "regulation", description="What may become of standing stakes: all of art. 12, or raising only (SJM)."
    )
    patron_may_hold_cards: bool = Field(True, description="Whether a patron may open the cards (art. 16).")
    one_side_per_patron: bool = Field(True, description="Whether a patron who bets both sides is reported.")
    bets: tuple[BetOffer, ...] = Field(min_length=1, max_length=40, description="The bets on offer.")
    commission: Commission = Field(Commission(), description="Commission on banker wins.")
    payout_rounding: RoundingPolicy = Field(RoundingPolicy(), description="How winnings are rounded.")
    approvals: tuple[Approval, ...] = Field((), max_length=40, description="The regulator's permissions (art. 19).")
    road_tail: Literal["redrop", "stick"] = Field(
        "redrop", description="Dragon tails go down again as soon as there is room, or stick to their row."
    )
    gaming_day: GamingDay = Field(GamingDay(), description="When a gaming day and its shifts begin.")
    silence_limit_seconds: int = Field(120, ge=5, le=86_400, description="Longest silence of an open table.")
    clock_tolerance_ms: int = Field(2000, ge=100, le=3_600_000, description="How far the table's clock may be off.")

    @field_validator("currency")
    @classmethod
    def _known_currency(cls, currency: str) -> str:
        if currency not in MINOR_DIGITS:
            raise ValueError(f"{currency!r} is no currency of the floor; known: {', '.join(MINOR_DIGITS)}")
        return currency

    @model_validator(mode="after")
    def _one_offer_per_bet_and_day(self) -> Self:
        for i, first in enumerate(self.bets):
            for second in self.bets[i + 1 :]:
                if first.bet == second.bet and _overlap(first, second):
                    raise ValueError(f"{first.bet} is offered twice on the same days")
        return self

    def offer(self, bet: str, day: date) -> BetOffer | None:
        """Return the offer of `bet` in force on `day`, or None."""
        return next((o for o in self.bets if o.bet == bet and o.in_force(day)), None)


def _overlap(first: BetOffer, second: BetOffer) -> bool:
    return (first.effective_from or date.min) <= (second.effective_until or date.max) and (
        second.effective_from or date.min
    ) <= (first.effective_until or date.max)


HKD: Final = 100
"""Minor units in a Hong Kong dollar."""


def _offers(
    minimum: int, maximum: int, sides: tuple[BetName, ...], side_bets: tuple[BetName, ...]
) -> tuple[BetOffer, ...]:
    main = tuple(BetOffer(bet=bet, minimum=minimum, maximum=maximum) for bet in sides)
    # Side bets start at a fifth of the table's minimum and stop at a tenth of its maximum.
    side = tuple(BetOffer(bet=bet, minimum=minimum // 5, maximum=maximum // 10) for bet in side_bets)
    return main + side


_REGULATION_BETS = _offers(300 * HKD, 300_000 * HKD, ("player", "banker"), ("tie", "player_pair", "banker_pair"))

PRESETS: Final[dict[str, TableConfiguration]] = {
    # The regulation as it stands: eight decks, burn by decks, everything else at its plainest.
    "macau": TableConfiguration(configuration_id="macau", differential=200_000 * HKD, bets=_REGULATION_BETS),
    # SJM (Sociedade de Jogos de Macau): banker stakes in multiples of the minimum; after a tie patrons may only add.
    "sjm": TableConfiguration(
        configuration_id="sjm",
        differential=200_000 * HKD,
        tie_policy="add_only",
        bets=tuple(
            offer.model_copy(update={"multiple": offer.minimum}) if offer.bet == "banker" else offer
            for offer in _REGULATION_BETS
        ),
    ),
    # No commission, half pay when the banker wins with six, and the lucky six on the banker (Despacho 56/2018).
    "commission_free": TableConfiguration(
        configuration_id="commission_free",
        differential=200_000 * HKD,
        bets=_offers(
            300 * HKD,
            300_000 * HKD,
            ("player", "banker_commission_free"),
            ("tie", "player_pair", "banker_pair", "lucky_six"),
        ),
    ),
}


def preset(name: str) -> TableConfiguration:
    """Return the preset called `name`. Raises `UnknownPreset`."""
    try:
        return PRESETS[name]
    except KeyError:
        raise UnknownPreset(f"no preset is called {name!r}; there are: {', '.join(PRESETS)}") from None


class TableEntry(StrictModel):
    """One table of a floor: who it is and the configuration it deals under."""

    table_id: TableId = Field(description="The table.")
    configuration: TableConfiguration = Field(description="Its configuration.")
