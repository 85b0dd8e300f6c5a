"""Counting ordered draws of six cards by what art. 9 makes of them: totals and counts of both hands, and pairs.

The hands are counted over the ten point values. For each way the player's cards can fall, the banker's draws are
counted all at once: a list of ten counts is packed into one integer, a lane of 96 bits for each point value, so that
one multiplication serves all ten. Values of ten and more come out of the packing and fall away at the end (art. 5).
"""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Final, NamedTuple

from processors.rules.hands import PairKind, hands_key, pairs_key
from processors.rules.tableau import NATURALS, STOOD, banker_draws, player_draws
from schemas.cards import POINTS, RANK_OF, RANKS

_LANE: Final = 96
_MASK: Final = (1 << _LANE) - 1
_AT: Final = tuple(1 << (_LANE * value) for value in range(20))
"""One card in the lane of its value."""

# Art. 9 as the count reads it: the banker's totals that draw and that stand, for each points of the player's third
# card (at the last place: none); and the player's totals that draw.
_NO_THIRD: Final = 10
_LOW: Final = range(8)
_BANKER_DRAWS: Final = tuple(
    tuple(two for two in _LOW if banker_draws(0, two, third).draw) for third in (*range(10), STOOD)
)
_BANKER_STANDS: Final = tuple(tuple(two for two in _LOW if two not in draws) for draws in _BANKER_DRAWS)
_PLAYER_DRAWS: Final = tuple(two for two in _LOW if player_draws(two, 0).draw)
_DRAWN_TO: Final = max(two for draws in _BANKER_DRAWS for two in draws) + 1

# A card that leaves takes two kinds of draws of a third card with it: those where it was the third, and those where
# the third was the other of a pair with it. By the value that leaves and the total of the pair: their lanes.
_LEAVING: Final = tuple(tuple(_AT[value] + _AT[(two - value) % 10] for two in range(_DRAWN_TO)) for value in range(10))


class _Shoe(NamedTuple):
    """Cards by point values: `left` of each, also `packed`; `two[t]` ordered pairs of cards worth t.

    `joined[t]`, packed by the third card's value, counts a third card with the other cards that make t with it.
    """

    left: list[int]
    packed: int
    two: list[int]
    joined: list[int]

    @classmethod
    def of(cls, ranks: Mapping[str, int]) -> "_Shoe":
        """The shoe that holds so many cards of each rank."""
        left = [0] * 10
        for rank, count in ranks.items():
            left[POINTS[rank]] += count
        others = [[left[two - value] - (2 * value % 10 == two) for value in range(10)] for two in range(10)]
        packed = sum(count * lane for count, lane in zip(left, _AT, strict=False))
        two = [sum(count * other for count, other in zip(left, row, strict=True)) for row in others]
        joined = [
            sum(count * other * lane for count, other, lane in zip(left, row, _AT, strict=False))
            for row in others[:_DRAWN_TO]
        ]
        return cls(left, packed, two, joined)

    def others(self, value: int) -> list[int]:
        """How many cards besides one of `value` make each total with it."""
        others = self.left[-value:] + self.left[:-value] if value else self.left.copy()
        others[2 * value % 10] -= 1
        return others

    def without(self, value: int) -> "_Shoe":
        """The shoe when one card of `value` has left it."""
        others = self.others(value)
        left = self.left.copy()
        left[value] -= 1
        two = [pairs - 2 * other for pairs, other in zip(self.two, others, strict=True)]
        leaving = zip(self.joined, others, _LEAVING[value], strict=False)
        return _Shoe(left, self.packed - _AT[value], two, [joined - other * lanes for joined, other, lanes in leaving])

    def three(self, totals: tuple[int, ...]) -> int:
        """Count pairs worth one of `totals` with a third card, packed by the points of all three.

        The third card may be neither card of its pair, so twice the draws that joined it to another go off.
        """
        return sum((self.two[two] * self.packed - 2 * self.joined[two]) << (_LANE * two) for two in totals)

    def three_without(self, value: int, others: list[int], totals: tuple[int, ...]) -> int:
        """The same as ``without(value).three(totals)``, for half the work; `others` are those of `value`."""
        packed, leaving, counts = self.packed - _AT[value], _LEAVING[value], 0
        for two in totals:
            gone = 2 * others[two]
            row = (self.two[two] - gone) * packed - 2 * self.joined[two] + gone * leaving[two]
            counts += row << (_LANE * two)
        return counts


def _unpacked(packed: int) -> list[int]:
    counts = [0] * 10
    value = 0
    while packed:
        counts[value % 10] += packed & _MASK
        packed >>= _LANE
        value += 1
    return counts


# The banker's totals with which neither hand draws, by the player's.
_BOTH_STAND: Final = tuple(
    tuple(b for b in range(10) if not (player_draws(p, b).draw or banker_draws(p, b, STOOD).draw)) for p in range(10)
)


def _player_pairs(shoe: _Shoe) -> Iterator[tuple[int, int, _Shoe]]:
    """Yield what the player's first two cards are worth, in how many ordered ways, and the shoe without them."""
    for first, cards in enumerate(shoe.left):
        if cards:
            one = shoe.without(first)
            for second in range(first, 10):
                ways = cards * one.left[second] * (1 if first == second else 2)
                if ways:
                    yield (first + second) % 10, ways, one.without(second)


class _Tally:
    """The counts of a shoe as they build up: plain for hands of known totals, packed where the banker draws."""

    def __init__(self, cards: int) -> None:
        self.one_more = cards - 5
        self.two_more = (cards - 4) * self.one_more
        self.counts = [0] * 400
        self.banker_drew = {2: [0] * 10, 3: [0] * 10}

    def two_each(self, player: int, ways: int, shoe: _Shoe) -> None:
        """Four cards: either hand has a natural, or both stand."""
        for banker in _BOTH_STAND[player]:
            self.counts[hands_key(player, banker, 2, 2)] += ways * shoe.two[banker] * self.two_more

    def player_stands(self, player: int, ways: int, shoe: _Shoe) -> None:
        """Five cards: the banker alone draws."""
        self.banker_drew[2][player] += ways * self.one_more * shoe.three(_BANKER_DRAWS[_NO_THIRD])

    def player_draws(self, two: int, ways: int, shoe: _Shoe) -> None:
        """Five cards or six: the player draws, and the banker as art. 9(3)-(4) says."""
        for value, cards in enumerate(shoe.left):
            if cards:
                player, weight, others = (two + value) % 10, ways * cards, shoe.others(value)
                for banker in _BANKER_STANDS[value]:
                    pairs = shoe.two[banker] - 2 * others[banker]
                    self.counts[hands_key(player, banker, 3, 2)] += weight * pairs * self.one_more
                self.banker_drew[3][player] += weight * shoe.three_without(value, others, _BANKER_DRAWS[value])

    def finished(self) -> tuple[int, ...]:
        """The counts by `hands_key`."""
        for player_count, by_player in self.banker_drew.items():
            for player, packed in enumerate(by_player):
                for banker, count in enumerate(_unpacked(packed)):
                    self.counts[hands_key(player, banker, player_count, 3)] += count
        return tuple(self.counts)


def count_hands(ranks: Mapping[str, int]) -> tuple[int, ...]:
    """Count the draws of six from cards of these ranks by `hands_key`; there must be six cards."""
    shoe = _Shoe.of(ranks)
    tally = _Tally(sum(shoe.left))
    for player, ways, left in _player_pairs(shoe):
        tally.two_each(player, ways, left)
        if player in _PLAYER_DRAWS:
            tally.player_draws(player, ways, left)
        elif player not in NATURALS:
            tally.player_stands(player, ways, left)
    return tally.finished()


def _falling(count: int, cards: int) -> int:
    """Ordered draws of so many cards from `count` of them."""
    ways = 1
    for gone in range(cards):
        ways *= count - gone
    return ways


def _kinds(ranks: Mapping[str, int], suited: Mapping[str, int] | None) -> dict[PairKind, dict[str, int]]:
    """The ordered pairs of each rank, by kind."""
    pairs: dict[str, int] = {rank: _falling(ranks[rank], 2) for rank in RANKS}
    if suited is None:
        return {"unknown": pairs}
    perfect: dict[str, int] = dict.fromkeys(RANKS, 0)
    for card, count in suited.items():
        perfect[RANK_OF[card]] += _falling(count, 2)
    return {"perfect": perfect, "mixed": {rank: pairs[rank] - perfect[rank] for rank in RANKS}}


def _alike(ranks: Mapping[str, int], suited: Mapping[str, int] | None) -> dict[tuple[PairKind, PairKind], int]:
    """The ordered draws of four that give both hands a pair of one rank, by the kinds of pair."""
    four = sum(_falling(count, 4) for count in ranks.values())
    if suited is None:
        return {("unknown", "unknown"): four}
    player_perfect = both_perfect = 0
    twos = dict.fromkeys(RANKS, 0)
    for card, count in suited.items():
        player_perfect += _falling(count, 2) * _falling(ranks[RANK_OF[card]] - 2, 2)
        both_perfect += _falling(count, 4) - _falling(count, 2) ** 2
        twos[RANK_OF[card]] += _falling(count, 2)
    both_perfect += sum(two * two for two in twos.values())
    one = player_perfect - both_perfect
    return {
        ("perfect", "perfect"): both_perfect,
        ("perfect", "mixed"): one,
        ("mixed", "perfect"): one,
        ("mixed", "mixed"): four - 2 * one - both_perfect,
    }


def count_pairs(ranks: Mapping[str, int], suited: Mapping[str, int] | None) -> tuple[int, ...]:
    """Count the draws of six by `pairs_key`, from cards of these ranks and, where suits are known, of these codes."""
    kinds = _kinds(ranks, suited)
    alike = _alike(ranks, suited)
    cards = sum(ranks.values())
    counts = dict.fromkeys(product(("none", *kinds), repeat=2), 0)
    # Pairs of two ranks: all, less those of one.
    for first, second in product(kinds, kinds):
        own, other = kinds[first], kinds[second]
        counts[first, second] = sum(own.values()) * sum(other.values()) - sum(own[rank] * other[rank] for rank in RANKS)
    for kind, pairs in kinds.items():
        # A pair, and any two of the cards left.
        ways = sum(pairs.values()) * _falling(cards - 2, 2)
        both = sum(counts[kind, other] + alike[kind, other] for other in kinds)
        counts[kind, "none"] = counts["none", kind] = ways - both
    counts["none", "none"] = _falling(cards, 4) - sum(counts.values()) - sum(alike.values())
    rest = _falling(cards - 4, 2)
    table = [0] * 32
    for (first, second), count in counts.items():
        table[pairs_key(first, second, alike=False)] = count * rest
    for (first, second), count in alike.items():
        table[pairs_key(first, second, alike=True)] = count * rest
    return tuple(table)
