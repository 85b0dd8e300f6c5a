"""What the simulated shoes deal, against the exact odds of eight decks: chi-square and z with a fixed seed."""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from math import sqrt
from random import Random

import pytest

from producers.simulator import mixed_floor, table_stream
from producers.simulator.dealing import Hands, deal, showing
from producers.simulator.settlement import Terms
from producers.simulator.shoe import ContinuousShuffler, Shoe
from schemas.cards import CARDS
from schemas.configuration import preset

ROUNDS = 40_000
OUTCOMES = {"banker": 0.458597, "player": 0.446247, "tie": 0.095156}
PAIR = 31 / 415
"""The second card has the first one's rank: 31 of the 415 cards left."""
MEAN_CARDS = 4.93882

# A chance of one in a thousand of a higher value, by degrees of freedom.
CRITICAL = {1: 10.83, 2: 13.82, 51: 87.97}


def shoes() -> Iterator[Hands]:
    """Deal whole shoes down to fourteen cards."""
    rng = Random(20250301)
    while True:
        shoe, left = Shoe(8, rng), 8 * 52
        while left > 14:
            hands, draws = deal(shoe.ahead(6))
            shoe.take(len(draws))
            left -= len(draws)
            yield hands


def shuffler() -> Iterator[Hands]:
    """Deal from a continuous shuffler."""
    cards = ContinuousShuffler(8, Random(20250301))
    while True:
        hands, draws = deal(cards.ahead(6))
        cards.take(len(draws))
        yield hands


@pytest.fixture(scope="module", params=[shoes, shuffler], ids=["shoe", "continuous shuffler"])
def dealt(request: pytest.FixtureRequest) -> list[Hands]:
    rounds = request.param()
    return [next(rounds) for _ in range(ROUNDS)]


def chi_square(seen: Counter[str], expected: dict[str, float]) -> float:
    assert set(seen) <= set(expected)
    total = sum(seen.values())
    return sum((seen[name] - total * share) ** 2 / (total * share) for name, share in expected.items())


def test_outcomes_fall_as_often_as_the_exact_odds_say(dealt: list[Hands]) -> None:
    assert chi_square(Counter(hands.outcome for hands in dealt), OUTCOMES) < CRITICAL[2]


def test_pairs_fall_as_often_as_they_must(dealt: list[Hands]) -> None:
    """Art. 13(4): same rank, whatever the suit."""
    for name in ("player_pair", "banker_pair"):
        seen = Counter("pair" if getattr(showing(hands), name) else "none" for hands in dealt)
        assert chi_square(seen, {"pair": PAIR, "none": 1 - PAIR}) < CRITICAL[1]


def test_rounds_take_as_many_cards_as_they_must(dealt: list[Hands]) -> None:
    counts = [len(hands.player) + len(hands.banker) for hands in dealt]
    mean = sum(counts) / ROUNDS
    deviation = sqrt(sum((count - mean) ** 2 for count in counts) / ROUNDS)
    assert abs(mean - MEAN_CARDS) < 3.3 * deviation / sqrt(ROUNDS)


def test_every_card_comes_first_equally_often(dealt: list[Hands]) -> None:
    seen = Counter(hands.player[0] for hands in dealt)
    assert chi_square(seen, dict.fromkeys(CARDS, 1 / 52)) < CRITICAL[51]


@pytest.mark.parametrize(
    ("bet", "edge", "deviation"),
    [
        ("banker", 0.010579, 0.92737),
        ("player", 0.012351, 0.95115),
        ("tie", 0.143596, 2.64087),
        ("player_pair", 0.103614, 3.15486),
        ("lucky_six", 0.166836, 3.59564),
        ("banker_commission_free", 0.014581, 0.92964),
    ],
)
def test_the_house_wins_its_edge(dealt: list[Hands], bet: str, edge: float, deviation: float) -> None:
    """Domain: edges and standard deviations of one unit staked, eight decks."""
    terms, won = Terms(preset("macau")), 0
    for hands in dealt:
        due = terms.due(bet, 10_000, showing(hands))
        won += 10_000 if due.result == "lose" else -due.payout
    z = (won / 10_000 - ROUNDS * edge) / (deviation * sqrt(ROUNDS))
    assert abs(z) < 3.3


def test_a_played_table_deals_the_same_odds() -> None:
    """The whole procedure in between, burns, cuts and voids, favours nobody."""
    floor = mixed_floor(seed=6, start=datetime(2025, 3, 1, tzinfo=UTC), hours=60, tables=5)
    outcomes = Counter(
        str(getattr(arrival.event, "outcome", ""))
        for arrival in table_stream(floor, 4)
        if arrival.event.type == "result_called"
    )
    assert sum(outcomes.values()) > 5_000
    assert chi_square(outcomes, OUTCOMES) < CRITICAL[2]
