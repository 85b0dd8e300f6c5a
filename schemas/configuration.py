"""A table's configuration: the options of the regulation, the house's limits and the bets on offer.

A configuration reaches the pipeline as an event, so the rules in force for a round are those published before it.
"""

from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Final, Literal, Self, get_args

from pydantic import Field, field_validator, model_validator

from schemas.catalogue import CATALOGUE
from schemas.errors import PitwatchError
from schemas.fields import Amount, Name, Ratio, Stake, StrictModel, TableId
from schemas.money import MINOR_DIGITS, Rounding

Option = Literal["burn_by_first_card", "demonstration_rounds", "continuous_shuffler", "one_more_round", "tie_changes"]
"""The options of arts. 2, 3, 7 and 12 that need the regulator's permission (art. 19)."""


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
    return Fraction(ratio) if "/" in ratio else Fraction(Decimal(ratio))


class RoundingPolicy(StrictModel):
    """How an amount that falls between two payable ones is made payable; `unit` in minor units."""

    unit: Stake = 1
    rounding: Rounding = "down"


class Commission(StrictModel):
    """Art. 18: the share of a banker win the house keeps, and when it takes it.

    ``deducted``: the payout is made net. ``marked``: paid 1:1, and owed by the position until it is settled.
    """

    rate: Ratio = "0.05"
    unit: Stake = 1
    rounding: Rounding = "nearest"
    minimum: Amount = 0
    collection: Literal["deducted", "marked"] = "deducted"


class BetOffer(StrictModel):
    """A bet on this table's layout: its limits, its odds where they differ from the catalogue's, and its dates.

    `odds` are "to one", one for each paying rule of the catalogue's bet, in its order. Stakes in minor units; a stake
    is a whole multiple of `multiple` where that is given (SJM: banker stakes are multiples of the minimum).
    """

    bet: BetName
    minimum: Stake
    maximum: Stake
    multiple: Stake | None = None
    odds: tuple[Ratio, ...] | None = Field(default=None, max_length=12)
    effective_from: date | None = None
    effective_until: date | None = None
    approval_id: Name | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.minimum > self.maximum:
            raise ValueError(f"{self.bet}: minimum {self.minimum} is above maximum {self.maximum}")
        paying = CATALOGUE[self.bet].paying_rules
        if self.odds is not None and len(self.odds) != paying:
            raise ValueError(f"{self.bet}: {len(self.odds)} odds given for {paying} paying rules")
        return self

    def in_force(self, day: date) -> bool:
        """Tell whether the bet is on offer on `day`, both dates included."""
        return (self.effective_from is None or self.effective_from <= day) and (
            self.effective_until is None or day <= self.effective_until
        )


class Approval(StrictModel):
    """Art. 19: the regulator's permission for an option, asked for at least three working days ahead."""

    option: Option
    approval_id: Name
    applied_on: date
    effective_on: date


class Shift(StrictModel):
    """A working shift: its name and the local hour it begins."""

    name: Name
    begins_at_hour: Annotated[int, Field(ge=0, le=23)]


class GamingDay(StrictModel):
    """When a gaming day begins, in local time, and its shifts."""

    begins_at_hour: Annotated[int, Field(ge=0, le=23)] = 6
    utc_offset_hours: Annotated[int, Field(ge=-12, le=14)] = 8
    """Macau keeps UTC+8 all year (no daylight saving since 1979), so an offset is exact and needs no zone database."""
    shifts: tuple[Shift, ...] = Field(
        default=(
            Shift(name="day", begins_at_hour=6),
            Shift(name="swing", begins_at_hour=14),
            Shift(name="night", begins_at_hour=22),
        ),
        min_length=1,
        max_length=12,
    )


class TableConfiguration(StrictModel):
    """Everything about a table that decides a verdict or an amount. Money in minor units of `currency`."""

    configuration_id: Name
    pit: Name = "PIT-1"
    currency: Annotated[str, Field(pattern=r"^[A-Z]{3}$")] = "HKD"
    seats: Annotated[int, Field(ge=7, le=14)] = 9
    decks: Annotated[int, Field(ge=6, le=12)] = 8
    shuffling: Literal["shoe", "continuous"] = "shoe"
    burn: Literal["decks", "first_card"] = "decks"
    cut_card_depth: Annotated[int, Field(ge=12, le=208)] = 12
    demonstrations: Annotated[int, Field(ge=0, le=3)] = 0
    rounds_after_cut_card: Annotated[int, Field(ge=0, le=1)] = 0
    differential: Amount | None = None
    tie_policy: Literal["regulation", "add_only"] = "regulation"
    patron_may_hold_cards: bool = True
    one_side_per_patron: bool = True
    bets: tuple[BetOffer, ...] = Field(min_length=1, max_length=40)
    commission: Commission = Commission()
    payout_rounding: RoundingPolicy = RoundingPolicy()
    approvals: tuple[Approval, ...] = Field(default=(), max_length=40)
    road_tail: Literal["redrop", "stick"] = "redrop"
    gaming_day: GamingDay = GamingDay()
    silence_limit_seconds: Annotated[int, Field(ge=5, le=86400)] = 120
    clock_tolerance_ms: Annotated[int, Field(ge=100, le=3_600_000)] = 2000

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

    table_id: TableId
    configuration: TableConfiguration
