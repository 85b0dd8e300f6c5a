"""The interpreter of the catalogue: which rule a round meets, for every bet, and what it can't know."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.rules.bets import LOSE, UnsupportedBet, interpret, rule, rulings, settle
from processors.rules.hands import view
from schemas.cards import CARDS, RANK_OF, Hand, parse_cards
from schemas.catalogue import CATALOGUE, NEEDS_SUITS, PUSH, BetDefinition, Pay, UnknownBet, When

hands = st.lists(st.sampled_from(CARDS), min_size=2, max_size=3).map(tuple)
bets = st.sampled_from(sorted(CATALOGUE))

# Player's cards, banker's cards, then what each bet wins to one: "-" is lost, "0" pushed.
ROUNDS = [
    ("9H KH", "7S KS", "player 1 banker - banker_commission_free - banker_ez - tie - small 1.5 big -"),
    ("9H KH", "7S KS", "dragon_bonus_player 1 dragon_bonus_banker - panda_eight - lucky_seven -"),
    ("8H KH", "8S KS", "player 0 banker 0 banker_commission_free 0 banker_ez 0 tie 8 tiger_tie -"),
    ("8H KH", "8S KS", "dragon_bonus_player 0 dragon_bonus_banker 0"),
    ("6H KH", "6S KS", "tie 8 tiger_tie 35 dragon_bonus_player - lucky_six - tiger - small_six -"),
    ("4H KH 4S", "8D KS", "tie 8 dragon_bonus_player - dragon_bonus_banker -"),
    ("2H KH", "6S KS", "banker 1 banker_commission_free 1/2 banker_ez 1 lucky_six 12 small_six 22 big_six - tiger 12"),
    ("2H KH", "6S KS", "small_tiger 22 big_tiger - dragon_bonus_banker 1"),
    ("2H KH KS", "2S KD 4S", "banker 1 banker_commission_free 1/2 lucky_six 20 small_six - big_six 50 tiger 20"),
    ("2H KH KS", "2S KD 4S", "small_tiger - big_tiger 50 big 0.54 small - dragon_seven -"),
    ("2H KH KS", "3S KD 4S", "banker 1 banker_commission_free 1 banker_ez 0 dragon_seven 40 dragon_bonus_banker 2"),
    ("2H KH KS", "7S KD", "banker_ez 1 dragon_seven - big 0.54"),
    ("4H KH 4S", "3D KS", "player 1 panda_eight 25 dragon_bonus_player 2"),
    ("8H KH", "3D KS", "panda_eight - dragon_bonus_player 1"),
    ("7H KH", "6D KS", "lucky_seven 6 super_lucky_seven 30"),
    ("4H KH 3S", "6D KS", "lucky_seven 15 super_lucky_seven 40"),
    ("4H KH 3S", "2D KS 4D", "lucky_seven 15 super_lucky_seven 100"),
    ("7H KH", "2D KS 4D", "lucky_seven 6 super_lucky_seven -"),
    ("7H KH", "5D KS", "lucky_seven 6 super_lucky_seven -"),
    ("7H KH", "7D KS", "lucky_seven - super_lucky_seven -"),
    ("5H 2H 2D", "KD KS", "dragon_bonus_player 30"),
    ("5H 2H 2D", "AD KS", "dragon_bonus_player 10"),
    ("5H 2H 2D", "2D KS", "dragon_bonus_player 6"),
    ("5H 2H 2D", "3D KS", "dragon_bonus_player 4"),
    ("5H 2H 2D", "4D KS", "dragon_bonus_player 2"),
    ("5H 2H 2D", "5D KS", "dragon_bonus_player 1"),
    ("5H 2H 2D", "6D KS", "dragon_bonus_player - dragon_bonus_banker -"),
    ("KD KS", "5H 2H 2D", "dragon_bonus_banker 30 dragon_bonus_player -"),
    ("JH JS", "JD QD", "player_pair 11 banker_pair - either_pair 5 perfect_pair - tiger_pair 4"),
    ("JD QD", "JH JS", "player_pair - banker_pair 11 either_pair 5 perfect_pair - tiger_pair 4"),
    ("JH JS", "QD QH", "player_pair 11 banker_pair 11 either_pair 5 perfect_pair - tiger_pair 20"),
    ("JH JS", "JD JH", "player_pair 11 banker_pair 11 either_pair 5 perfect_pair - tiger_pair 100"),
    ("JH JH", "JD JS", "perfect_pair 25 tiger_pair 100"),
    ("JH JS", "QD QD", "perfect_pair 25 tiger_pair 20"),
    ("JH JH", "QD QD", "perfect_pair 200 tiger_pair 20"),
    ("JH QH", "KD AD", "player_pair - banker_pair - either_pair - perfect_pair - tiger_pair -"),
    ("2H 3H", "2D 2S AS", "big 0.54 small -"),
    ("2H 3H AH", "2D 2S AS", "big 0.54 small -"),
]  # fmt: skip


@pytest.mark.parametrize(("player", "banker", "wins"), ROUNDS)
def test_each_bet_wins_pushes_or_loses_as_its_sign_says(player: str, banker: str, wins: str) -> None:
    round_ = view(parse_cards(player), parse_cards(banker))
    words = wins.split()
    for bet, odds in zip(words[::2], words[1::2], strict=True):
        assert settle(bet, round_) == (LOSE if odds == "-" else Fraction(odds)), bet


def test_every_bet_has_a_round_that_wins_it_above() -> None:
    won = {bet for *_, wins in ROUNDS for bet, odds in zip(wins.split()[::2], wins.split()[1::2], strict=True)
           if odds not in ("-", "0")}  # fmt: skip
    assert won == set(CATALOGUE)


@given(bets, hands, hands)
def test_a_stake_wins_odds_of_its_bet_or_is_pushed_or_lost(
    bet: str, player: tuple[str, ...], banker: tuple[str, ...]
) -> None:
    won = settle(bet, view(player, banker))
    assert won in {LOSE, PUSH, *CATALOGUE[bet].odds}


@given(hands, hands)
def test_what_one_side_wins_the_other_loses(player: tuple[str, ...], banker: tuple[str, ...]) -> None:
    """Art. 11: without commission, even stakes on both sides come out even."""
    round_ = view(player, banker)
    sides = [settle("player", round_), settle("banker", round_)]
    assert sorted(won for won in sides if won is not None) in ([-1, 1], [0, 0])
    assert (settle("tie", round_) == 8) == (sides == [0, 0])


@given(bets, hands, hands)
def test_changing_the_hands_over_and_the_bet_changes_nothing(
    bet: str, player: tuple[str, ...], banker: tuple[str, ...]
) -> None:
    other: dict[Hand | None, Hand] = {"player": "banker", "banker": "player"}
    side = other.get(CATALOGUE[bet].side)
    assert settle(bet, view(player, banker)) == settle(bet, view(banker, player), side=side)


@given(st.sampled_from(sorted(set(CATALOGUE) - NEEDS_SUITS)), hands, hands)
def test_bets_that_need_no_suits_settle_the_same_without(
    bet: str, player: tuple[str, ...], banker: tuple[str, ...]
) -> None:
    ranks = view(tuple(RANK_OF[card] for card in player), tuple(RANK_OF[card] for card in banker))
    assert settle(bet, ranks) == settle(bet, view(player, banker))


@pytest.mark.parametrize(
    ("player", "banker", "won"),
    [("J J", "JD QD", None), ("JD QD", "J J", None), ("J J", "QH QH", None), ("J Q", "JD JD", 25), ("J Q", "2 3", -1)],
)
def test_without_suits_a_perfect_pair_is_undecided_where_it_hangs_on_them(
    player: str, banker: str, won: int | None
) -> None:
    round_ = view(parse_cards(player), parse_cards(banker))
    assert settle("perfect_pair", round_) == won
    assert (rule("perfect_pair", round_) is None) == (won is None)


def test_the_lucky_six_may_follow_the_patrons_side() -> None:
    """Seed of the wiki: with a player bet it is the player's six that wins."""
    player_six = view(("6H", "KH"), ("5S", "KS"))
    assert settle("lucky_six", player_six) == LOSE
    assert settle("lucky_six", player_six, side="banker") == LOSE
    assert settle("lucky_six", player_six, side="player") == 12


def test_a_table_may_have_its_own_odds_for_what_pays() -> None:
    own = (Fraction(12), Fraction(23))
    assert settle("lucky_six", view(("2H", "KH", "KS"), ("2S", "KD", "4S")), own) == 23
    assert settle("lucky_six", view(("2H", "KH"), ("6S", "KD")), own) == 12
    assert settle("lucky_six", view(("2H", "KH"), ("7S", "KD")), own) == LOSE
    assert settle("player", view(("2H", "KH"), ("2S", "KD")), (Fraction(2),)) == PUSH


def test_a_ruling_names_its_rule_and_its_place_among_those_that_pay() -> None:
    by_rule = rulings("banker_ez").by_rule
    assert [(ruling.result, ruling.item, ruling.rule, ruling.paying) for ruling in by_rule] == [
        ("push", "three-card 7", 0, -1),
        ("win", "17(1)", 1, 0),
        ("push", "12", 2, -1),
        ("lose", "11", 3, -1),
    ]


def test_an_unknown_bet_is_refused() -> None:
    with pytest.raises(UnknownBet):
        settle("lucky", view(("2H", "KH"), ("2S", "KD")))


def test_a_bet_on_totals_and_pairs_together_is_refused() -> None:
    pays = (Pay("a pair that wins", Fraction(20), (When(outcome="player", player_pair=True),)),)
    with pytest.raises(UnsupportedBet, match="royal looks at totals and at pairs"):
        interpret(BetDefinition("royal", "Royal", "皇", "player", pays, "a made-up sign", "Royal"))
