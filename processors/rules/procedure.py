"""How shoes are opened and closed, rounds called and cancelled, places and cards held: a check for each article.

Every check returns a finding, or None where the article was kept.
"""

from collections.abc import Collection, Iterable, Mapping
from datetime import date, timedelta
from typing import Final, Literal

from processors.rules.findings import Finding
from processors.rules.hands import RoundView
from schemas.cards import FACE
from schemas.catalogue import Outcome
from schemas.configuration import Approval, Option

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


def shoe_decks(decks: int, configured: int | None = None) -> Finding | None:
    """Art. 1(1): a shoe holds 6 to 12 decks, and as many as the table's configuration says where it says so."""
    if configured is not None and decks != configured:
        return Finding("shoe_refused", "1", configured, decks)
    if not FEWEST_DECKS <= decks <= MOST_DECKS:
        return Finding("shoe_refused", "1", f"{FEWEST_DECKS} to {MOST_DECKS}", decks)
    return None


def cut_depth(cards_behind: int, least: int = CUT_DEPTH) -> Finding | None:
    """Art. 2(1): the white card goes in above at least about twelve cards from the end."""
    return Finding("cut_depth", "2(1)", least, cards_behind) if cards_behind < least else None


def cards_to_burn(method: BurnMethod, decks: int, first_card: str | None, first_included: bool = False) -> int | None:
    """Return how many cards art. 2(1) burns in all: one a deck, or as the first card's face says (a court card: ten).

    The first card is shown, then as many more go as its face says, so an ace makes two; with `first_included` it is
    itself one of them, and an ace makes one. None where the face must be known and isn't.
    """
    if method == "decks":
        return decks
    return None if first_card is None else FACE[first_card] + (not first_included)


def burn_count(
    burned: int, method: BurnMethod, decks: int, first_card: str | None = None, first_included: bool = False
) -> Finding | None:
    """Art. 2(1): as many cards are burned as the table's method says, see `cards_to_burn`."""
    due = cards_to_burn(method, decks, first_card, first_included)
    return Finding("burn_count", "2(1)", due, burned) if due is not None and burned != due else None


def demonstrations(held: int, allowed: int = DEMONSTRATIONS) -> Finding | None:
    """Art. 2(2): at most three demonstration rounds a shoe, or fewer where the table allows fewer."""
    allowed = min(allowed, DEMONSTRATIONS)
    return Finding("demonstrations_exceeded", "2(2)", allowed, held) if held > allowed else None


def demonstration_time(live_rounds: int) -> Finding | None:
    """Art. 2(2): demonstrations come when a shoe is begun, before any live round."""
    return Finding("demonstration_after_play", "2(2)", 0, live_rounds) if live_rounds else None


def round_after_cut_card(number: int, cut_card_round: int, more: int = 0) -> Finding | None:
    """Art. 3(1): the round the white card appeared in, or before, is the last, or `more` (0 or 1) follow it."""
    after = number - cut_card_round
    return Finding("round_after_cut_card", "3(1)", more, after) if after > more else None


def shoe_change(round_in_play: bool) -> Finding | None:
    """Art. 3(2): the house may change the shoe after any round, so not within one."""
    return Finding("shoe_changed_in_round", "3(2)", "after the round", "in the round") if round_in_play else None


def burn_before_round(cards_dealt: int) -> Finding | None:
    """Art. 8: the house may burn cards before any round begins, so not once its cards are out."""
    return Finding("burned_in_round", "8", 0, cards_dealt) if cards_dealt else None


def article_of_call(outcome: Outcome) -> str:
    """Return the article that names `outcome` as the result: a tie's is art. 12, a hand's art. 11."""
    return "12" if outcome == "tie" else "11"


def called_result(called: Outcome, view: RoundView) -> Finding | None:
    """Arts. 11 and 12: the dealer calls the hand with the higher total, or a tie."""
    if called == view.outcome:
        return None
    return Finding("result_mismatch", article_of_call(view.outcome), view.outcome, called)


def void_grounds(uncorrected_errors: int, exposed_cards: int) -> Finding | None:
    """Arts. 4 and 10: a round is void for an error that can't be corrected, and never for a card found face up."""
    if uncorrected_errors:
        return None
    return Finding("void_without_error", "4" if exposed_cards else "10", "a valid round", "void")


def reserved_place(seat: int, area: Area, posture: Posture) -> Finding | None:
    """Art. 15: a standing patron doesn't bet on the place reserved for a seat."""
    if posture == "standing" and area == "reserved":
        return Finding("reserved_place", "15", "shared", seat)
    return None


def holder(seat: int, seated_stakes: Mapping[int, int], allowed: bool = True) -> Finding | None:
    """Art. 16: where the house lets patrons hold cards, the seated patron with the highest stake does, or the dealer.

    `seated_stakes` are the stakes on the hand by seat, seated patrons only. Where several stakes are the highest, any
    of those seats may hold.
    """
    if seat == DEALER:
        return None
    if not allowed:
        return Finding("holder_not_highest", "16(1)", str(DEALER), str(seat))
    highest = max(seated_stakes.values(), default=0)
    entitled = [other for other, stake in sorted(seated_stakes.items()) if stake == highest > 0]
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


def option_use(
    option: Option, day: date, approvals: Iterable[Approval], holidays: Collection[date] = frozenset()
) -> Finding | None:
    """Art. 19: an option of arts. 2, 3, 7 or 12 is used once permission is in force that was asked for in time."""
    if any(
        approval.option == option
        and approval.effective_on <= day
        and approval.applied_on <= latest_application(approval.effective_on, holidays)
        for approval in approvals
    ):
        return None
    return Finding("option_without_approval", "19", "approval in force", option)
