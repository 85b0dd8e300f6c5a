"""The bet catalogue: every bet there, what it pays by default, and that its rules hold together."""

from fractions import Fraction

import pytest

from schemas.catalogue import (
    CATALOGUE,
    COMMISSION_BETS,
    MAIN_BETS,
    NEEDS_SUITS,
    PAIR_CONDITIONS,
    PUSH,
    InvalidOdds,
    UnknownBet,
    When,
    checked_odds,
    definition,
)

# As the tables' signs say it, "to one"; the paying rules in the order they are tried.
ODDS = {
    "player": "1",
    "banker": "1",
    "banker_commission_free": "1/2 1",
    "banker_ez": "1",
    "tie": "8",
    "player_pair": "11",
    "banker_pair": "11",
    "either_pair": "5",
    "perfect_pair": "200 25",
    "lucky_six": "12 20",
    "small_six": "22",
    "big_six": "50",
    "lucky_seven": "6 15",
    "super_lucky_seven": "30 40 100",
    "tiger": "12 20",
    "small_tiger": "22",
    "big_tiger": "50",
    "tiger_tie": "35",
    "tiger_pair": "100 20 4",
    "dragon_seven": "40",
    "panda_eight": "25",
    "dragon_bonus_player": "1 30 10 6 4 2 1",
    "dragon_bonus_banker": "1 30 10 6 4 2 1",
    "small": "1.5",
    "big": "0.54",
}


def test_the_catalogue_holds_the_twenty_five_bets_at_their_usual_odds() -> None:
    assert {name: bet.odds for name, bet in CATALOGUE.items()} == {
        name: tuple(Fraction(value) for value in odds.split()) for name, odds in ODDS.items()
    }


def test_main_bets_stand_on_a_side_and_push_on_a_tie() -> None:
    """Arts. 12 and 13(1)–(2)."""
    assert set(MAIN_BETS) == {"player", "banker", "banker_commission_free", "banker_ez"}
    for name in MAIN_BETS:
        bet = CATALOGUE[name]
        assert bet.side == ("player" if name == "player" else "banker")
        assert bet.pays[-1].odds == PUSH
        assert bet.pays[-1].when == (When(outcome="tie"),)


def test_only_the_banker_bet_bears_commission() -> None:
    """Art. 18."""
    assert set(COMMISSION_BETS) == {"banker"}


def test_only_perfect_pairs_need_suits() -> None:
    assert set(NEEDS_SUITS) == {"perfect_pair"}


def test_no_bet_looks_at_pairs_and_totals_together() -> None:
    for bet in CATALOGUE.values():
        pairs = bet.conditions & PAIR_CONDITIONS
        assert pairs in (frozenset(), bet.conditions), bet.name


@pytest.mark.parametrize("name", ODDS)
def test_every_bet_has_its_names_its_source_and_rules_that_say_when(name: str) -> None:
    bet = CATALOGUE[name]
    assert bet.name == name
    assert bet.en
    assert bet.zh
    assert bet.source
    assert bet.lose_item
    assert bet.paying_rules == len(bet.odds)
    for pay in bet.pays:
        assert pay.item
        assert pay.odds >= 0
        assert all(when != When() for when in pay.when)


def test_names_are_unlike_each_other_in_both_languages() -> None:
    for names in ([bet.en for bet in CATALOGUE.values()], [bet.zh for bet in CATALOGUE.values()]):
        assert len(set(names)) == len(names)


def test_only_the_lucky_six_is_bet_together_with_a_side() -> None:
    assert [name for name, bet in CATALOGUE.items() if bet.companion] == ["lucky_six"]


def test_a_mirrored_bet_is_the_same_bet_on_the_other_hand() -> None:
    assert CATALOGUE["dragon_bonus_player"].mirrored().pays == CATALOGUE["dragon_bonus_banker"].pays
    assert CATALOGUE["player_pair"].mirrored().pays == CATALOGUE["banker_pair"].pays
    six = CATALOGUE["lucky_six"].mirrored()
    assert six.side == "player"
    assert six.pays[0].when == (When(outcome="player", player_total=6, player_count=2),)


@pytest.mark.parametrize("name", ODDS)
def test_a_bet_mirrored_twice_is_itself(name: str) -> None:
    assert CATALOGUE[name].mirrored().mirrored() == CATALOGUE[name]


def test_an_unknown_bet_is_refused_with_the_bets_there_are() -> None:
    with pytest.raises(UnknownBet, match=r"'lucky' is no bet of the catalogue: use one of player, banker, ") as caught:
        definition("lucky")
    assert str(caught.value).endswith("small, big")


def test_odds_fit_one_for_each_paying_rule() -> None:
    own = (Fraction(12), Fraction(23))
    assert checked_odds("lucky_six", own) == own


@pytest.mark.parametrize(
    "odds", [(), (Fraction(12),), (Fraction(12), Fraction(0)), (Fraction(1),) * 3, (Fraction(12), Fraction(1_001))]
)
def test_odds_of_another_shape_are_refused_with_the_usual_ones(odds: tuple[Fraction, ...]) -> None:
    with pytest.raises(InvalidOdds, match="lucky_six needs 2 odds above zero and up to 1,000, such as 12, 20"):
        checked_odds("lucky_six", odds)
