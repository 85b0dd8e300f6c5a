"""Where cards come from: a shoe that runs down to its cut card, or a continuous shuffler that never does."""

from random import Random
from typing import Final, Protocol

from schemas.cards import CARDS

ROUND_AT_MOST: Final = 6
"""No round takes more cards."""


class CardSource(Protocol):
    """What a dealer draws from: `ahead` looks, `take` draws."""

    def ahead(self, count: int) -> list[str]:
        """Return the next `count` cards without drawing them."""
        ...

    def take(self, count: int) -> None:
        """Draw `count` cards: they are the ones `ahead` showed."""
        ...

    @property
    def until_cut(self) -> int | None:
        """How many cards lie before the white card; None when there is none, or it is out."""
        ...


class Shoe:
    """Shuffled decks (art. 1); `cut` puts the white card in (art. 2(1))."""

    def __init__(self, decks: int, rng: Random) -> None:
        self.cards: list[str] = list(CARDS) * decks
        rng.shuffle(self.cards)
        self._drawn = 0
        self._cut: int | None = None

    def ahead(self, count: int) -> list[str]:
        """Return the next `count` cards without drawing them."""
        return self.cards[self._drawn : self._drawn + count]

    def take(self, count: int) -> None:
        """Draw `count` cards. They must be there: the cut card ends a shoe in time."""
        self._drawn += count
        assert self._drawn <= len(self.cards), "a round went on after the last card of the shoe"

    @property
    def until_cut(self) -> int | None:
        """How many cards lie before the white card; None when there is none, or it is out."""
        return None if self._cut is None or self._cut < self._drawn else self._cut - self._drawn

    def cut(self, cards_behind: int) -> None:
        """Put the white card in with `cards_behind` cards behind it."""
        self._cut = len(self.cards) - cards_behind

    def forge(self, first: int, last: int, rng: Random) -> str | None:
        """Put one card too many between the places `first` and `last`, in place of another, and return what it is.

        All its rightful copies lie between the two places, so that the one too many will be seen; None where no card's
        copies do.
        """
        window = self.cards[first:last]
        copies = len(self.cards) // len(CARDS)
        whole = [card for card in CARDS if window.count(card) == copies]
        if not whole:
            return None
        card = whole[rng.randrange(len(whole))]
        others = [place for place in range(first, last) if self.cards[place] != card]
        self.cards[others[rng.randrange(len(others))]] = card
        return card


class ContinuousShuffler:
    """Cards go back after every round (art. 7(2)), so each round is dealt from whole decks."""

    def __init__(self, decks: int, rng: Random) -> None:
        self._cards = list(CARDS) * decks
        self._rng = rng
        self._next: list[str] = []

    def ahead(self, count: int) -> list[str]:
        """Return the next cards without drawing them; `count` may be no more than a round and two cards need."""
        if not self._next:
            self._next = self._rng.sample(self._cards, ROUND_AT_MOST + 2)
        return self._next[:count]

    def take(self, count: int) -> None:
        """Draw `count` cards and put everything back."""
        assert count <= len(self._next), "a round took more cards than the shuffler was asked for"
        self._next = []

    @property
    def until_cut(self) -> int | None:
        """None: a continuous shuffler has no white card (art. 2(3))."""
        return None
