"""The two hands of a round as the bets see them: totals, naturals, pairs and the outcome (arts. 5, 6, 11 and 13).

A view is built once a round and read by every bet, so what depends on totals and counts alone, and what depends on
pairs alone, is worked out beforehand for every case there is and looked up by a small number.
"""

from itertools import product
from typing import Final, Literal, NamedTuple

from schemas.cards import POINTS, RANK_OF, SUIT_OF
from schemas.catalogue import Outcome
from schemas.errors import PitwatchError

PairKind = Literal["none", "mixed", "perfect", "unknown"]
"""A hand's first two cards: no pair, a pair of two suits, of one suit, or of suits nobody recorded."""

PAIR_KINDS: Final[tuple[PairKind, ...]] = ("none", "mixed", "perfect", "unknown")
_PERFECT: Final[dict[PairKind, bool | None]] = {"none": False, "mixed": False, "perfect": True, "unknown": None}


class InvalidHand(PitwatchError, ValueError):
    """Raised for a hand that isn't two or three cards."""


class RoundView(NamedTuple):
    """A finished round: cards, points, counts of cards, naturals and pairs of both hands.

    ``*_perfect_pair`` is None for a pair whose suits nobody recorded; `pairs_alike` says that both hands hold a pair
    of one rank; `margin` is the winner's total less the loser's. The two keys name the round's row in the tables of
    rulings.
    """

    player_cards: tuple[str, ...]
    banker_cards: tuple[str, ...]
    hands_key: int
    player_total: int
    banker_total: int
    player_count: int
    banker_count: int
    cards: int
    outcome: Outcome
    margin: int
    player_natural: bool
    banker_natural: bool
    pairs_key: int
    player_pair: bool
    banker_pair: bool
    player_perfect_pair: bool | None
    banker_perfect_pair: bool | None
    pairs_alike: bool


_HandsRow = tuple[int, int, int, int, int, int, Outcome, int, bool, bool]
_PairsRow = tuple[int, bool, bool, bool | None, bool | None, bool]


def winner(player_total: int, banker_total: int) -> Outcome:
    """Return the hand with the higher total, or ``tie`` (arts. 11 and 12)."""
    if player_total == banker_total:
        return "tie"
    return "player" if player_total > banker_total else "banker"


def hands_key(player_total: int, banker_total: int, player_count: int, banker_count: int) -> int:
    """Return the number of a case of totals and counts, 0 to 399."""
    return ((player_total * 10 + banker_total) * 2 + player_count - 2) * 2 + banker_count - 2


def pairs_key(player: PairKind, banker: PairKind, alike: bool) -> int:
    """Return the number of a case of pairs, 0 to 31."""
    return (PAIR_KINDS.index(player) * 4 + PAIR_KINDS.index(banker)) * 2 + alike


def _hands_row(player_total: int, banker_total: int, player_count: int, banker_count: int) -> _HandsRow:
    return (
        hands_key(player_total, banker_total, player_count, banker_count),
        player_total, banker_total, player_count, banker_count, player_count + banker_count,
        winner(player_total, banker_total), abs(player_total - banker_total),
        player_count == 2 and player_total >= 8, banker_count == 2 and banker_total >= 8,
    )  # fmt: skip


def _pairs_row(player: PairKind, banker: PairKind, alike: bool) -> _PairsRow:
    return (
        pairs_key(player, banker, alike), player != "none", banker != "none", _PERFECT[player], _PERFECT[banker], alike,
    )  # fmt: skip


def _pair_kind(first: str, second: str) -> PairKind:
    # Art. 13(4): one rank makes a pair whatever the suits; a jack and a queen don't.
    if RANK_OF[first] != RANK_OF[second]:
        return "none"
    if not (SUIT_OF[first] and SUIT_OF[second]):
        return "unknown"
    return "perfect" if first == second else "mixed"


_HANDS: Final = tuple(_hands_row(*case) for case in product(range(10), range(10), (2, 3), (2, 3)))
_PAIRS: Final = tuple(_pairs_row(*case) for case in product(PAIR_KINDS, PAIR_KINDS, (False, True)))

# The first two cards of a hand: their points, and the number of their kind of pair.
_FIRST_TWO: Final[dict[tuple[str, ...], tuple[int, int]]] = {
    (first, second): (POINTS[first] + POINTS[second], PAIR_KINDS.index(_pair_kind(first, second)))
    for first, second in product(POINTS, POINTS)
}

HANDS_CASES: Final = tuple(RoundView._make(((), (), *row, *_PAIRS[0])) for row in _HANDS)
"""A view of each case of totals and counts, by `hands_key`."""

PAIRS_CASES: Final = tuple(RoundView._make(((), (), *_HANDS[0], *row)) for row in _PAIRS)
"""A view of each case of pairs, by `pairs_key`."""


def view(player: tuple[str, ...], banker: tuple[str, ...]) -> RoundView:
    """Return the view of a round from the cards of both hands, in dealing order; whether art. 9 was kept is no matter.

    Raises `InvalidHand` unless each hand is two or three known cards.
    """
    try:
        player_points, player_kind = _FIRST_TWO[player[:2]]
        banker_points, banker_kind = _FIRST_TWO[banker[:2]]
        drawn = 0
        if len(player) > 2:
            (_, _, third) = player
            player_points += POINTS[third]
            drawn = 2
        if len(banker) > 2:
            (_, _, third) = banker
            banker_points += POINTS[third]
            drawn += 1
    except (KeyError, ValueError):
        raise InvalidHand(f"player {player} and banker {banker} aren't two hands of two or three cards") from None
    pairs = (player_kind * 4 + banker_kind) * 2
    if player_kind and banker_kind and RANK_OF[player[0]] == RANK_OF[banker[0]]:
        pairs += 1
    key = (player_points % 10 * 10 + banker_points % 10) * 4 + drawn
    return RoundView._make((player, banker, *_HANDS[key], *_PAIRS[pairs]))
