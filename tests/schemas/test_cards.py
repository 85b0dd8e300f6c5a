"""Cards as codes: how they are read, what they count (art. 5), and what they burn (art. 2(1))."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.cards import (
    CARDS,
    CARDS_PER_DECK,
    FACE,
    POINTS,
    RANK_OF,
    RANKS,
    SUIT_OF,
    SUITS,
    parse_card,
    parse_cards,
    total,
)
from schemas.errors import InvalidCard


def test_a_deck_holds_every_rank_in_every_suit_once() -> None:
    assert len(CARDS) == len(set(CARDS)) == CARDS_PER_DECK
    assert set(CARDS) == {rank + suit for rank in RANKS for suit in SUITS}


@pytest.mark.parametrize(
    ("rank", "points"),
    [("A", 1), ("2", 2), ("3", 3), ("4", 4), ("5", 5), ("6", 6), ("7", 7), ("8", 8), ("9", 9), ("10", 0), ("J", 0),
     ("Q", 0), ("K", 0)],
)  # fmt: skip
def test_a_card_counts_its_pips_and_court_cards_and_tens_nothing(rank: str, points: int) -> None:
    """Art. 5."""
    assert {POINTS[rank + suit] for suit in ("", *SUITS)} == {points}


def test_a_face_says_its_pips_and_ten_for_tens_and_court_cards() -> None:
    """Art. 2(1): the first card's face."""
    assert [FACE[rank] for rank in RANKS] == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10]


@given(st.sampled_from(CARDS))
def test_every_code_reads_back_as_itself_in_any_case(card: str) -> None:
    assert parse_card(card) == parse_card(f" {card.lower()} ") == card
    assert RANK_OF[card] + SUIT_OF[card] == card


@pytest.mark.parametrize(
    ("text", "card"), [("Th", "10H"), ("10♠", "10S"), ("q♦", "QD"), ("t", "10"), ("a", "A"), ("9♣", "9C"), ("K♥", "KH")]
)
def test_other_ways_of_writing_a_card_are_read(text: str, card: str) -> None:
    assert parse_card(text) == card


@pytest.mark.parametrize("text", ["", "1", "11H", "HA", "A♠♠", "joker", "10HH", "Z", "0D"])
def test_what_is_no_card_is_refused_with_how_to_write_one(text: str) -> None:
    with pytest.raises(InvalidCard, match="write rank then suit"):
        parse_card(text)


def test_cards_are_read_with_spaces_or_commas_between_them() -> None:
    assert parse_cards("8h, TS 3") == ("8H", "10S", "3")
    assert parse_cards("") == ()


@given(st.lists(st.sampled_from(CARDS), max_size=3))
def test_a_total_is_the_last_digit_of_the_sum_and_nine_is_the_most(cards: list[str]) -> None:
    """Art. 5: totals of ten fall away."""
    assert total(cards) == sum(POINTS[card] for card in cards) % 10 <= 9


def test_eight_and_nine_make_seven() -> None:
    assert total(("8S", "9H")) == 7
