"""Playing cards as short codes: rank then suit, such as ``10H`` or ``AS``.

A card is a plain string checked against a table, because the hot path reads five cards a round for
thousands of tables and a string costs nothing to carry. A rank alone (``10``, ``A``) stands for a
card whose suit nobody recorded; the rules accept it wherever suits don't matter.
"""

from collections.abc import Iterable
from typing import Final, Literal, get_args

from schemas.errors import InvalidCard

Rank = Literal["A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K"]
Suit = Literal["S", "H", "D", "C"]
Hand = Literal["player", "banker"]

# fmt: off
CardCode = Literal[
    "AS", "2S", "3S", "4S", "5S", "6S", "7S", "8S", "9S", "10S", "JS", "QS", "KS",
    "AH", "2H", "3H", "4H", "5H", "6H", "7H", "8H", "9H", "10H", "JH", "QH", "KH",
    "AD", "2D", "3D", "4D", "5D", "6D", "7D", "8D", "9D", "10D", "JD", "QD", "KD",
    "AC", "2C", "3C", "4C", "5C", "6C", "7C", "8C", "9C", "10C", "JC", "QC", "KC",
]
# fmt: on

RANKS: Final[tuple[Rank, ...]] = get_args(Rank)
SUITS: Final[tuple[Suit, ...]] = get_args(Suit)
CARDS: Final[tuple[str, ...]] = get_args(CardCode)
CARDS_PER_DECK: Final = 52
SUIT_SYMBOLS: Final[dict[str, str]] = {"S": "♠", "H": "♥", "D": "♦", "C": "♣", "": ""}

_CODES: Final[dict[str, tuple[Rank, str]]] = {rank + suit: (rank, suit) for rank in RANKS for suit in ("", *SUITS)}

RANK_OF: Final[dict[str, Rank]] = {code: rank for code, (rank, _) in _CODES.items()}
SUIT_OF: Final[dict[str, str]] = {code: suit for code, (_, suit) in _CODES.items()}

# Art. 5: court cards and tens count nothing, the others their pips, an ace one.
POINTS: Final[dict[str, int]] = {
    code: {"A": 1, "10": 0, "J": 0, "Q": 0, "K": 0}.get(rank) or (int(rank) if rank in "23456789" else int(rank == "A"))
    for code, (rank, _) in _CODES.items()
}

# Art. 2(1) option: the face of the first card says how many to burn; a court card or ten says ten.
FACE: Final[dict[str, int]] = {code: POINTS[code] or 10 for code in _CODES}


def parse_card(text: str) -> str:
    """Return the card's code from `text`, in any case and with ``T`` or a suit symbol accepted.

    Raises `InvalidCard` where the text names no card.
    """
    code = text.strip().upper()
    for suit, symbol in SUIT_SYMBOLS.items():
        if suit:
            code = code.replace(symbol, suit)
    if code.startswith("T"):
        code = "10" + code[1:]
    if code not in _CODES:
        raise InvalidCard(text)
    return code


def parse_cards(text: str) -> tuple[str, ...]:
    """Return the codes of cards written with spaces or commas between them. Raises `InvalidCard`."""
    return tuple(parse_card(part) for part in text.replace(",", " ").split())


def total(cards: Iterable[str]) -> int:
    """Return the points of a hand, 0 to 9 (art. 5: tens fall away)."""
    return sum(POINTS[card] for card in cards) % 10
