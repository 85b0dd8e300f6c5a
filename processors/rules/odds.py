"""Exact odds of every bet from the cards that may still come, counted over all ordered draws of six cards.

A round uses four to six cards; counting six for each makes every draw weigh the same. The draws come from
`processors.rules.draws`; which of them win a bet, and at what, is the catalogue's to say.
"""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import cache
from math import sqrt
from typing import Final, NamedTuple

from processors.rules.bets import LOSE, Ruling, rulings
from processors.rules.draws import count_hands, count_pairs
from processors.rules.hands import HANDS_CASES
from schemas.cards import CARDS, RANK_OF, RANKS, SUIT_OF, SUITS, Hand
from schemas.catalogue import COMMISSION_BETS, checked_odds
from schemas.errors import PitwatchError
from schemas.terms import FIVE_PERCENT

Composition = Mapping[str, int]
"""How many of each card may still come; codes of ranks alone where suits weren't recorded."""

CARDS_PER_ROUND: Final = 6
MAX_CARDS: Final = 65_000
"""More than a thousand decks: `draws` packs counts of six cards into 96 bits each."""


class InvalidComposition(PitwatchError, ValueError):
    """Raised for cards that no round can be dealt from."""


class RoundCounts(NamedTuple):
    """Ordered six-card draws: how many in all, by `hands_key` and by `pairs_key`; `suits` says if suits were known."""

    total: int
    hands: tuple[int, ...]
    pairs: tuple[int, ...]
    suits: bool

    @property
    def combinations(self) -> dict[str, int]:
        """The draws in all, and those that banker, player and tie win."""
        won = {"total": self.total, "banker": 0, "player": 0, "tie": 0}
        for case, count in zip(HANDS_CASES, self.hands, strict=True):
            won[case.outcome] += count
        return won


class BetOdds(NamedTuple):
    """A bet's exact odds: of `total` draws, how many bring each payout to one (-1: lost, 0: pushed)."""

    total: int
    draws: tuple[tuple[Fraction, int], ...]

    @property
    def probabilities(self) -> dict[Fraction, Fraction]:
        """The probability of each payout to one; they add up to 1."""
        return {payout: Fraction(count, self.total) for payout, count in self.draws}

    @property
    def house_edge(self) -> Fraction:
        """The share of a stake that the house keeps in the long run; below zero where the patron has the edge."""
        return -self._moment(1)

    @property
    def standard_deviation(self) -> float:
        """The standard deviation of what one unit staked wins or loses."""
        return sqrt(self._moment(2) - self._moment(1) ** 2)

    def _moment(self, power: int) -> Fraction:
        return sum((payout**power * count for payout, count in self.draws), Fraction(0)) / self.total


def remaining(decks: int, seen: Iterable[str] = (), *, continuous: bool = False) -> dict[str, int]:
    """Return what may still come of so many decks (art. 1) once these cards were seen.

    Cards burned unseen may still come as far as anyone knows, so they aren't among `seen`. With a continuous shuffler
    nothing is ever gone: cards go back after each round (art. 7(2)). One card seen without its suit leaves ranks only.
    A count below zero tells of more copies than the decks hold.
    """
    gone = () if continuous else tuple(seen)
    if all(SUIT_OF[card] for card in gone):
        left = dict.fromkeys(CARDS, decks)
    else:
        gone = tuple(RANK_OF[card] for card in gone)
        left = dict.fromkeys(RANKS, decks * len(SUITS))
    for card in gone:
        left[card] -= 1
    return left


def _checked(composition: Composition) -> int:
    for card, count in composition.items():
        if card not in RANK_OF:
            raise InvalidComposition(
                f"{card[:20]!r} is no card: count codes such as 10H, or 10 where suits are unknown"
            )
        if count < 0:
            raise InvalidComposition(f"{card} is counted {count} times: more were seen than the decks hold")
    cards = sum(composition.values())
    if not CARDS_PER_ROUND <= cards <= MAX_CARDS:
        raise InvalidComposition(
            f"{cards} cards are left: a round may need {CARDS_PER_ROUND}, and no more than {MAX_CARDS} are counted"
        )
    return cards


def enumerate_rounds(composition: Composition) -> RoundCounts:
    """Count every ordered draw of six cards by what it makes of the round. Raises `InvalidComposition`.

    A composition with any rank but no suit counts as one whose suits are unknown.
    """
    cards = _checked(composition)
    ranks: dict[str, int] = dict.fromkeys(RANKS, 0)
    for card, count in composition.items():
        ranks[RANK_OF[card]] += count
    suits = all(SUIT_OF[card] for card in composition)
    total = cards * (cards - 1) * (cards - 2) * (cards - 3) * (cards - 4) * (cards - 5)
    return RoundCounts(total, count_hands(ranks), count_pairs(ranks, composition if suits else None), suits)


@cache
def full_shoe(decks: int) -> RoundCounts:
    """Return the counts of a shoe of so many decks that nothing was drawn from."""
    return enumerate_rounds(remaining(decks))


class _Reading(NamedTuple):
    """Where in the counts a bet looks: the cases of each rule that wins or pushes, and those it can't decide."""

    pairs: bool
    rules: tuple[tuple[Ruling, tuple[int, ...]], ...]
    undecided: tuple[int, ...]


@cache
def _reading(bet: str, side: Hand | None) -> _Reading:
    pairs, rows, by_rule = rulings(bet, side)
    cases: dict[Ruling | None, list[int]] = {None: [], **{ruling: [] for ruling in by_rule}}
    for key, row in enumerate(rows):
        cases[row].append(key)
    kept = tuple((ruling, tuple(cases[ruling])) for ruling in by_rule if ruling.result != "lose")
    return _Reading(pairs, kept, tuple(cases[None]))


def evaluate(
    bet: str,
    counts: RoundCounts | Composition,
    odds: tuple[Fraction, ...] | None = None,
    commission: Fraction = FIVE_PERCENT,
    side: Hand | None = None,
) -> BetOdds | None:
    """Return a bet's exact odds, or None where it needs suits that weren't recorded.

    `odds` are a table's own, one for each paying rule; `commission` is taken of the banker bet's winnings, unrounded
    (art. 18); `side` is the main side a one-hand bet follows. Raises `InvalidOdds`, `UnknownBet`, `InvalidComposition`.
    """
    pairs, rules, undecided = _reading(bet, side)
    if not isinstance(counts, RoundCounts):
        counts = enumerate_rounds(counts)
    drawn = counts.pairs if pairs else counts.hands
    if any(drawn[key] for key in undecided):
        return None
    own = checked_odds(bet, odds) if odds is not None else None
    kept = 1 - commission if bet in COMMISSION_BETS else 1
    draws: dict[Fraction, int] = {}
    for ruling, keys in rules:
        payout = (own[ruling.paying] if own and ruling.paying >= 0 else ruling.odds) * kept
        draws[payout] = draws.get(payout, 0) + sum(map(drawn.__getitem__, keys))
    draws[LOSE] = counts.total - sum(draws.values())
    return BetOdds(counts.total, tuple(draws.items()))
