"""What a round looks like to the bets: totals, naturals, pairs and the winner."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.rules.hands import HANDS_CASES, PAIRS_CASES, InvalidHand, RoundView, view, winner
from schemas.cards import CARDS, RANK_OF, parse_cards, total

hands = st.lists(st.sampled_from(CARDS), min_size=2, max_size=3).map(tuple)


def seen(player: str, banker: str) -> RoundView:
    return view(parse_cards(player), parse_cards(banker))


@given(hands, hands)
def test_a_view_says_what_the_cards_say(player: tuple[str, ...], banker: tuple[str, ...]) -> None:
    round_ = view(player, banker)
    assert (round_.player_cards, round_.banker_cards) == (player, banker)
    assert (round_.player_total, round_.banker_total) == (total(player), total(banker))
    assert (round_.player_count, round_.banker_count) == (len(player), len(banker))
    assert round_.cards == len(player) + len(banker)
    assert round_.margin == abs(total(player) - total(banker))
    assert round_.outcome == winner(total(player), total(banker))
    assert round_.player_natural == (len(player) == 2 and total(player) >= 8)
    assert round_.banker_natural == (len(banker) == 2 and total(banker) >= 8)
    assert round_.player_pair == (RANK_OF[player[0]] == RANK_OF[player[1]])
    assert round_.banker_pair == (RANK_OF[banker[0]] == RANK_OF[banker[1]])
    assert round_.player_perfect_pair == (player[0] == player[1])
    assert round_.banker_perfect_pair == (banker[0] == banker[1])
    alike = round_.player_pair and round_.banker_pair and RANK_OF[player[0]] == RANK_OF[banker[0]]
    assert round_.pairs_alike == alike


@given(hands, hands)
def test_the_keys_name_the_cases_that_the_view_shows(player: tuple[str, ...], banker: tuple[str, ...]) -> None:
    round_ = view(player, banker)
    hands_case, pairs_case = HANDS_CASES[round_.hands_key], PAIRS_CASES[round_.pairs_key]
    shown = round_._asdict()
    for name in ("player_total", "banker_total", "player_count", "banker_count", "outcome", "margin", "cards"):
        assert getattr(hands_case, name) == shown[name]
    for name in ("player_pair", "banker_pair", "player_perfect_pair", "banker_perfect_pair", "pairs_alike"):
        assert getattr(pairs_case, name) == shown[name]


@pytest.mark.parametrize(
    ("player_total", "banker_total", "outcome"), [(9, 8, "player"), (0, 1, "banker"), (6, 6, "tie"), (0, 0, "tie")]
)
def test_the_higher_total_wins_and_equal_totals_tie(player_total: int, banker_total: int, outcome: str) -> None:
    """Arts. 11 and 12."""
    assert winner(player_total, banker_total) == outcome


def test_a_pair_is_two_cards_of_one_rank() -> None:
    """Art. 13(4): two jacks are a pair, a jack and a queen aren't, and the third card makes none."""
    assert seen("JS JH", "JS QS").player_pair
    assert not seen("JS JH", "JS QS").banker_pair
    assert not seen("2S 3S 3H", "JS QS").player_pair


def test_a_natural_is_eight_or_nine_on_two_cards() -> None:
    round_ = seen("4S 4H", "2S 3S 3H")
    assert round_.player_natural
    assert not round_.banker_natural


def test_without_suits_a_pair_may_be_perfect_or_not() -> None:
    round_ = seen("J J", "J Q")
    assert round_.player_pair
    assert round_.player_perfect_pair is None
    assert round_.banker_perfect_pair is False
    assert seen("J JH", "JH JH").player_perfect_pair is None
    assert seen("J JH", "JH JH").pairs_alike


@pytest.mark.parametrize(
    ("player", "banker"),
    [("8H", "9H 9S"), ("8H 9H", "9S"), ("", ""), ("2H 2S 2C 2D", "9H 9S"), ("8H 9H", "2H 2S 2C 2D")],
)
def test_other_numbers_of_cards_are_no_hands(player: str, banker: str) -> None:
    with pytest.raises(InvalidHand, match="two or three cards"):
        seen(player, banker)


def test_unknown_cards_are_no_hands() -> None:
    with pytest.raises(InvalidHand):
        view(("8H", "1H"), ("9H", "9S"))
    with pytest.raises(InvalidHand):
        view(("8H", "AH"), ("9H", "9S", "0H"))
