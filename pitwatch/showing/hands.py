"""Two hands as they lie on the table, and which line of art. 9 asked for each third card."""

from collections.abc import Sequence
from typing import NamedTuple

from processors.rules.tableau import Verdict, banker_draws, player_draws
from schemas.cards import POINTS, Hand, total


class ThirdCard(NamedTuple):
    """Whether a hand was to draw by `item` of art. 9, and whether it did; `drew` is None while the card may come."""

    item: str
    due: bool
    drew: bool | None

    @property
    def is_wrong(self) -> bool:
        """Whether the hand drew against the rule, or stood against it."""
        return self.drew is not None and self.drew != self.due


class DealtHand(NamedTuple):
    """A hand: its cards in dealing order, its points, and the verdict on its third card, None before there is one."""

    cards: tuple[str, ...]
    total: int
    third: ThirdCard | None


def dealt_hands(player: Sequence[str], banker: Sequence[str], *, over: bool) -> dict[Hand, DealtHand]:
    """Return both hands. While the round isn't `over`, a card that is due may still come."""
    player_third = banker_third = None
    if len(player) >= 2 and len(banker) >= 2:
        player_two, banker_two = total(player[:2]), total(banker[:2])
        player_third = _third(player_draws(player_two, banker_two), player, over=over)
        # What the banker is to do hangs on the player's third card.
        if player_third.drew is not None:
            points = POINTS[player[2]] if player_third.drew else None
            banker_third = _third(banker_draws(player_two, banker_two, points), banker, over=over)
    return {
        "player": DealtHand(tuple(player), total(player), player_third),
        "banker": DealtHand(tuple(banker), total(banker), banker_third),
    }


def _third(verdict: Verdict, cards: Sequence[str], *, over: bool) -> ThirdCard:
    drew = len(cards) > 2
    return ThirdCard(verdict.item, verdict.draw, None if verdict.draw and not drew and not over else drew)
