"""Where cards come from: whole decks, a white card in its place, a forged copy that will be seen."""

from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from producers.simulator.shoe import ContinuousShuffler, Shoe
from schemas.cards import CARDS


@given(st.integers(6, 12), st.integers())
def test_a_shoe_holds_whole_decks_in_an_order_that_its_seed_decides(decks: int, seed: int) -> None:
    """Art. 1."""
    shoe = Shoe(decks, Random(seed))
    assert Counter(shoe.cards) == dict.fromkeys(CARDS, decks)
    assert shoe.cards == Shoe(decks, Random(seed)).cards


def test_looking_draws_nothing_and_drawing_follows_what_was_seen() -> None:
    shoe = Shoe(8, Random(1))
    seen = shoe.ahead(6)
    assert shoe.ahead(6) == seen
    shoe.take(4)
    assert shoe.ahead(2) == seen[4:]


def test_the_white_card_comes_out_after_the_cards_before_it() -> None:
    """Art. 2(1)."""
    shoe = Shoe(6, Random(1))
    assert shoe.until_cut is None
    shoe.cut(12)
    shoe.take(298)
    assert shoe.until_cut == 2
    shoe.take(2)
    assert shoe.until_cut == 0
    shoe.take(1)
    assert shoe.until_cut is None


def test_a_shoe_can_not_be_dealt_beyond_its_last_card() -> None:
    shoe = Shoe(6, Random(1))
    with pytest.raises(AssertionError):
        shoe.take(6 * 52 + 1)


def test_a_forged_shoe_shows_one_copy_too_many_before_the_white_card() -> None:
    """Art. 1."""
    shoe = Shoe(8, Random(3))
    card = shoe.forge(8, 400, Random(4))
    assert card is not None
    assert shoe.cards[8:400].count(card) == 9
    assert len(shoe.cards) == 8 * 52


def test_a_shoe_too_short_to_show_it_is_not_forged() -> None:
    shoe = Shoe(8, Random(3))
    before = list(shoe.cards)
    assert shoe.forge(0, 20, Random(4)) is None
    assert shoe.cards == before


def test_a_continuous_shuffler_gets_every_card_back() -> None:
    """Art. 7(2): no card is ever more than its decks have, and there is no white card."""
    shuffler = ContinuousShuffler(6, Random(5))
    assert shuffler.until_cut is None
    dealt: Counter[str] = Counter()
    for _ in range(2000):
        seen = shuffler.ahead(6)
        assert shuffler.ahead(6) == seen
        shuffler.take(6)
        dealt.update(seen)
    assert min(dealt[card] for card in CARDS) > 6
