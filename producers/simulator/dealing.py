"""Dealing a round: the third card as a dealer reads it off the chart, and what the cards then show.

This is a second implementation of art. 9, on purpose: the simulator is the other side of the check on Pitwatch's own
rules, so it must not share them.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from schemas.cards import POINTS, RANK_OF, Hand
from schemas.catalogue import Outcome, When

# The chart on the wall. Row: the banker's first two cards, 0 to 9. Column: the player's third card, 0 to 9 points, and
# last that the player stood. D: the banker draws.
_CHART: Final = (
    "DDDDDDDDDDD",
    "DDDDDDDDDDD",
    "DDDDDDDDDDD",
    "DDDDDDDD-DD",
    "--DDDDDD--D",
    "----DDDD--D",
    "------DD---",
    "-----------",
    "-----------",
    "-----------",
)

DEALING_ORDER: Final[tuple[tuple[Hand, int], ...]] = (("player", 1), ("banker", 1), ("player", 2), ("banker", 2))
"""Art. 7(1): player first, alternately, two each."""


class Hands(NamedTuple):
    """The two hands, each of two or three cards."""

    player: tuple[str, ...]
    banker: tuple[str, ...]

    @property
    def natural(self) -> bool:
        """Whether either hand's first two cards make eight or nine (art. 9(2))."""
        return points(self.player[:2]) >= 8 or points(self.banker[:2]) >= 8

    @property
    def outcome(self) -> Outcome:
        """Who wins by the cards as they lie (arts. 11 and 12)."""
        player, banker = points(self.player), points(self.banker)
        return "tie" if player == banker else "player" if player > banker else "banker"


class Draw(NamedTuple):
    """One card to one place of a hand."""

    hand: Hand
    position: int
    card: str


def points(cards: Sequence[str]) -> int:
    """Return a hand's points (art. 5)."""
    return sum([POINTS[card] for card in cards]) % 10


def player_must_draw(hands: Hands) -> bool:
    """Tell whether the player's two cards must be joined by a third (art. 9(1) and (2))."""
    return points(hands.player[:2]) <= 5 and not hands.natural


def banker_must_draw(hands: Hands) -> bool:
    """Tell whether the banker's two cards must be joined by a third, the player's hand as it lies (art. 9(3), (4))."""
    if hands.natural:
        return False
    column = POINTS[hands.player[2]] if len(hands.player) == 3 else 10
    return _CHART[points(hands.banker[:2])][column] == "D"


def deal(cards: Sequence[str]) -> tuple[Hands, list[Draw]]:
    """Return the round that the next six `cards` of the shoe make when dealt by the rules, and its draws in order."""
    hands = Hands((cards[0], cards[2]), (cards[1], cards[3]))
    draws = [Draw(hand, position, card) for (hand, position), card in zip(DEALING_ORDER, cards, strict=False)]
    return draw_on(hands, draws, cards[4:])


def draw_on(hands: Hands, draws: list[Draw], cards: Sequence[str]) -> tuple[Hands, list[Draw]]:
    """Go on by the rules from `hands` as they lie, with the next `cards`; `draws` grows by what is dealt."""
    player, banker = hands
    used = 0
    if len(player) == 2 and len(banker) == 2 and player_must_draw(hands):
        player = (*player, cards[used])
        draws.append(Draw("player", 3, cards[used]))
        used += 1
    if len(banker) == 2 and banker_must_draw(Hands(player, banker)):
        banker = (*banker, cards[used])
        draws.append(Draw("banker", 3, cards[used]))
    return Hands(player, banker), draws


def showing(hands: Hands) -> When:
    """Return everything a pay rule may ask of the round, with no field left open."""
    player, banker = hands
    player_points, banker_points = points(player), points(banker)
    player_ranks = RANK_OF[player[0]], RANK_OF[player[1]]
    banker_ranks = RANK_OF[banker[0]], RANK_OF[banker[1]]
    player_pair, banker_pair = player_ranks[0] == player_ranks[1], banker_ranks[0] == banker_ranks[1]
    return When(
        outcome=hands.outcome,
        player_total=player_points,
        banker_total=banker_points,
        player_count=len(player),
        banker_count=len(banker),
        cards=len(player) + len(banker),
        margin=abs(player_points - banker_points),
        player_natural=len(player) == 2 and player_points >= 8,
        banker_natural=len(banker) == 2 and banker_points >= 8,
        player_pair=player_pair,
        banker_pair=banker_pair,
        player_perfect_pair=player[0] == player[1],
        banker_perfect_pair=banker[0] == banker[1],
        pairs_alike=player_pair and banker_pair and player_ranks == banker_ranks,
    )
