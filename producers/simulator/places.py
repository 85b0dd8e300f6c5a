"""The betting places of a layout: which stakes each of them takes."""

from datetime import date
from typing import Final, NamedTuple

from schemas.cards import Hand
from schemas.catalogue import CATALOGUE
from schemas.configuration import BetOffer, TableConfiguration


class Place(NamedTuple):
    """A bet's place. Stakes are multiples of `step` between `minimum` and `maximum`, in minor units.

    `side` is given for main bets only; a `companion` is taken only beside a main bet on `beside`.
    """

    bet: str
    minimum: int
    maximum: int
    step: int
    multiple: int | None
    side: Hand | None
    companion: bool
    beside: Hand | None

    @property
    def lowest(self) -> int:
        """The lowest stake that is taken here."""
        return -(-self.minimum // self.step) * self.step

    def fit(self, stake: int) -> int:
        """Return the highest stake that is taken here and no more than `stake`; 0 where there is none."""
        fitted = min(stake, self.maximum) // self.step * self.step
        return fitted if fitted >= self.minimum else 0


class Places:
    """The places of the bets on offer from `day` on without end; main bets are made with chips of `chip` or more."""

    def __init__(self, configuration: TableConfiguration, day: date, chip: int) -> None:
        places = [_place(offer, chip) for offer in configuration.bets if _lasts_from(offer, day)]
        places = [place for place in places if place.lowest <= place.maximum]
        self.all: Final = {place.bet: place for place in places}
        self.mains: Final[dict[Hand, Place]] = {place.side: place for place in places if place.side}
        self.others: Final = tuple(place for place in places if not place.side)


def foreign_place(bet: str, minimum: int) -> Place:
    """Return a place for a bet which the table doesn't offer."""
    return Place(bet, minimum, minimum, minimum, None, None, companion=False, beside=None)


def _lasts_from(offer: BetOffer, day: date) -> bool:
    return offer.in_force(day) and offer.effective_until is None


def _place(offer: BetOffer, chip: int) -> Place:
    bet = CATALOGUE[offer.bet]
    step = offer.multiple or (chip if bet.main else offer.minimum)
    side = bet.side if bet.main else None
    return Place(offer.bet, offer.minimum, offer.maximum, step, offer.multiple, side, bet.companion, bet.side)
