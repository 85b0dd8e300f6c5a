"""What alerts say in English: bets, hands, results, cards and options by the names that people use."""

from typing import Final

from schemas.cards import RANK_OF, SUIT_OF
from schemas.catalogue import CATALOGUE

_SUITS: Final = {"S": "spades", "H": "hearts", "D": "diamonds", "C": "clubs"}
_RANKS: Final = {"A": "ace", "K": "king", "Q": "queen", "J": "jack"}

_CARDS: Final = {
    card: f"{_RANKS.get(RANK_OF[card], RANK_OF[card])} of {_SUITS[suit]}" for card, suit in SUIT_OF.items() if suit
}

WORDS: Final[dict[str, str]] = {
    **{name: bet.en for name, bet in CATALOGUE.items()},
    **_CARDS,
    # Options that need permission (art. 19).
    "burn_by_first_card": "burning by the first card",
    "demonstration_rounds": "demonstration rounds",
    "continuous_shuffler": "continuous shuffler",
    "one_more_round": "one more round after the cut card",
    "tie_changes": "changes after a tie",
}
"""Identifier in an alert's evidence → what people call it. All else is English already."""


def in_english(text: str) -> str:
    """Return what an alert's evidence says, with names in place of identifiers."""
    return WORDS.get(text, text)
