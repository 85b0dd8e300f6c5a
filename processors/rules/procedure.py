"""How shoes are opened and closed, and who may bet and hold cards where: a check for each article.

Every check returns a finding, or None where the article was kept.
"""

from collections.abc import Collection, Mapping
from datetime import date, timedelta
from typing import Final, Literal

from processors.rules.findings import Finding
from schemas.cards import FACE, SUIT_OF, SUITS

Area = Literal["reserved", "shared"]
Posture = Literal["seated", "standing"]
BurnMethod = Literal["decks", "first_card"]

FEWEST_DECKS: Final = 6
MOST_DECKS: Final = 12
CUT_DEPTH: Final = 12
DEMONSTRATIONS: Final = 3
APPROVAL_WORKING_DAYS: Final = 3
SATURDAY: Final = 5
DEALER: Final = 0
"""The dealer's own place among the seats."""


def check_decks(decks: int, configured: int | None = None) -> Finding | None:
    """Art. 1(1): a shoe holds 6 to 12 decks, and as many as the table's configuration says where it says so."""
    if configured is not None and decks != configured:
        return Finding("shoe_refused", "1", configured, decks)
    if not FEWEST_DECKS <= decks <= MOST_DECKS:
        return Finding("shoe_refused", "1", f"{FEWEST_DECKS} to {MOST_DECKS}", decks)
    return None


def check_copies(card: str, seen: int, decks: int) -> Finding | None:
    """Art. 1(1): a deck holds a card once, and a rank whose suit nobody recorded four times."""
    most = decks if SUIT_OF[card] else decks * len(SUITS)
    return Finding("excess_copies", "1", most, seen) if seen > most else None


def check_cut(cards_behind: int, least: int = CUT_DEPTH) -> Finding | None:
    """Art. 2(1): the white card goes in some twelve cards or more from the end."""
    return Finding("cut_depth", "2(1)", least, cards_behind) if cards_behind < least else None


def cards_to_burn(method: BurnMethod, decks: int, first_card: str | None, first_included: bool = False) -> int | None:
    """Return how many cards art. 2(1) burns in all: one a deck, or as the first card's face says (a court card: ten).

    The first card is shown, then as many more go as its face says, so an ace makes two; with `first_included` it is
    itself one of them, and an ace makes one. None where the face must be known and isn't.
    """
    if method == "decks":
        return decks
    return None if first_card is None else FACE[first_card] + (not first_included)


def check_burn(
    method: BurnMethod, decks: int, burned: int, first_card: str | None = None, first_included: bool = False
) -> Finding | None:
    """Art. 2(1): as many cards are burned in all as the table's method says, see `cards_to_burn`."""
    due = cards_to_burn(method, decks, first_card, first_included)
    return Finding("burn_count", "2(1)", due, burned) if due is not None and burned != due else None


def check_demonstrations(held: int, allowed: int = DEMONSTRATIONS) -> Finding | None:
    """Art. 2(2): at most three demonstration rounds a shoe, or fewer where the table allows fewer."""
    allowed = min(allowed, DEMONSTRATIONS)
    return Finding("demonstrations_exceeded", "2(2)", allowed, held) if held > allowed else None


def check_rounds_after_cut_card(after: int, more: int = 0) -> Finding | None:
    """Art. 3(1): the round of the white card is the last, or `more` (0 or 1) follow it; `after` is how many did."""
    return Finding("round_after_cut_card", "3(1)", more, after) if after > more else None


def check_place(seat: int, area: Area, posture: Posture) -> Finding | None:
    """Art. 15: a standing patron doesn't bet on the place reserved for a seat."""
    if posture == "standing" and area == "reserved":
        return Finding("reserved_place", "15", "shared", seat)
    return None


def check_holder(seat: int, stakes: Mapping[int, int], *, allowed: bool = True) -> Finding | None:
    """Art. 16: where the house lets patrons hold cards, the seated patron with the highest stake does, or the dealer.

    `stakes` are those on the hand, by seat, of seated patrons only. Where several are the highest, any of their seats
    may hold; where there is none, the dealer opens the cards.
    """
    if seat == DEALER:
        return None
    if not allowed:
        return Finding("holder_not_highest", "16(1)", str(DEALER), str(seat))
    highest = max(stakes.values(), default=0)
    entitled = [other for other, stake in sorted(stakes.items()) if stake == highest > 0]
    if seat in entitled:
        return None
    return Finding("holder_not_highest", "16(2)", ", ".join(map(str, entitled)) or str(DEALER), str(seat))


def latest_application(effective_on: date, holidays: Collection[date] = frozenset()) -> date:
    """Return the last day to ask for an option that begins on `effective_on`: three working days earlier (art. 19).

    Working days are Monday to Friday, `holidays` apart.
    """
    day, ahead = effective_on, 0
    while ahead < APPROVAL_WORKING_DAYS:
        day -= timedelta(days=1)
        ahead += day.weekday() < SATURDAY and day not in holidays
    return day


def approval_in_force(
    applied_on: date, effective_on: date, day: date, holidays: Collection[date] = frozenset()
) -> bool:
    """Tell whether a permission lets its option be used on `day`: it has begun, and was asked for in time (art. 19)."""
    return effective_on <= day and applied_on <= latest_application(effective_on, holidays)
