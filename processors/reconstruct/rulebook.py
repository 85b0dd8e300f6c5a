"""A table's configuration worked out for one gaming day, in the shape the fold looks things up."""

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import Final, NamedTuple, get_args

from processors.rules.procedure import option_use
from schemas.cards import Hand
from schemas.catalogue import definition
from schemas.configuration import GamingDay, Option, TableConfiguration, exact
from schemas.terms import CommissionTerms, PayoutTerms, SettlementTerms

HOURS_PER_DAY: Final = 24


class Limits(NamedTuple):
    """What a stake may be, in minor units; `multiple` is 0 where any amount goes."""

    minimum: int
    maximum: int
    multiple: int


class Rulebook(NamedTuple):
    """What the rules look up for a table on one gaming day.

    `judged` is False where no configuration was ever published: the regulation then settles the bets, but nobody is
    accused of breaking a limit that nobody set. `approved` holds the options of art. 19 with a valid permission.
    `sides` holds the bets that aren't on the catalogue's hand: the hand they are on, None for that of the main bet.
    """

    configuration: TableConfiguration
    judged: bool
    day: str
    offers: Mapping[str, Limits]
    settlement: SettlementTerms
    sides: Mapping[str, Hand | None]
    marked: bool
    approved: frozenset[str]
    clock_tolerance: timedelta
    silence_limit: timedelta


class Hour(NamedTuple):
    """An hour from `begins` until before `ends`, its ISO name, and the gaming day (ISO date) and shift it lies in."""

    begins: datetime
    ends: datetime
    name: str
    gaming_day: str
    shift: str


def hour_of(moment: datetime, days: GamingDay) -> Hour:
    """Return the hour of `moment`; gaming days and shifts begin with an hour, so it lies in one of each."""
    begins = moment.replace(minute=0, second=0, microsecond=0)
    local = begins + timedelta(hours=days.utc_offset_hours)
    day = (local - timedelta(hours=days.begins_at_hour)).date()
    shift = min(days.shifts, key=lambda shift: (local.hour - shift.begins_at_hour) % HOURS_PER_DAY)
    return Hour(begins, begins + timedelta(hours=1), begins.isoformat(), day.isoformat(), shift.name)


def rulebook(configuration: TableConfiguration, day: str, *, judged: bool) -> Rulebook:
    """Return the rules of `configuration` on the gaming day `day`."""
    date_of = date.fromisoformat(day)
    offers = [
        offer
        for offer in configuration.bets
        if (offer.effective_from is None or offer.effective_from <= date_of)
        and (offer.effective_until is None or date_of <= offer.effective_until)
    ]
    commission, rounding = configuration.commission, configuration.payout_rounding
    return Rulebook(
        configuration=configuration,
        judged=judged,
        day=day,
        offers={offer.bet: Limits(offer.minimum, offer.maximum, offer.multiple or 0) for offer in offers},
        settlement=SettlementTerms(
            CommissionTerms(exact(commission.rate), commission.unit, commission.rounding, commission.minimum),
            PayoutTerms(rounding.unit, rounding.rounding),
            {offer.bet: tuple(exact(ratio) for ratio in offer.odds) for offer in offers if offer.odds is not None},
        ),
        sides={
            offer.bet: offer.sides[0] if len(offer.sides) == 1 else None
            for offer in offers
            if offer.sides is not None and offer.sides != (definition(offer.bet).side,)
        },
        marked=commission.collection == "marked",
        approved=frozenset(
            option for option in get_args(Option) if option_use(option, date_of, configuration.approvals) is None
        ),
        clock_tolerance=timedelta(milliseconds=configuration.clock_tolerance_ms),
        silence_limit=timedelta(seconds=configuration.silence_limit_seconds),
    )
