"""What alerts say in Chinese: bets, hands, results, cards and what was done, in the words of the floor."""

from typing import Final

from schemas.cards import RANK_OF, SUIT_OF
from schemas.catalogue import CATALOGUE

_SUITS: Final = {"S": "黑桃", "H": "紅心", "D": "方塊", "C": "梅花"}

_CARDS: Final = {card: _SUITS[suit] + RANK_OF[card] for card, suit in SUIT_OF.items() if suit}

WORDS: Final[dict[str, str]] = {
    **{name: bet.zh for name, bet in CATALOGUE.items()},
    **_CARDS,
    # What was done with a stake that a tie left standing (art. 12).
    "cancel": "取消",
    "keep": "維持",
    "raise": "加注",
    "lower": "減注",
    "move": "移注",
    # Options that need permission (art. 19).
    "burn_by_first_card": "按首張牌點數銷牌",
    "demonstration_rounds": "示範牌局",
    "continuous_shuffler": "自動洗派牌機",
    "one_more_round": "白咭後多開一局",
    "tie_changes": "和局後更改投注",
    # Decks of a shoe where nothing else is configured (art. 1).
    "6 to 12": "6 至 12",
}
"""English word of an alert's evidence → the same in Chinese. Numbers and names are the same in both."""

_FIRST_WORDS: Final = {"retract": "撤回", "replace": "更改", "Bet": "注項"}
"""What stands before an event's or a bet's identity."""

_SECONDS: Final = " s"


def in_chinese(text: str) -> str:
    """Return what an alert's evidence says, in Chinese; what people wrote, and names, stay as they are."""
    known = WORDS.get(text)
    if known is not None:
        return known
    first, space, rest = text.partition(" ")
    if first in _FIRST_WORDS:
        return _FIRST_WORDS[first] + space + rest
    return f"{text.removesuffix(_SECONDS)} 秒" if text.endswith(_SECONDS) else text
