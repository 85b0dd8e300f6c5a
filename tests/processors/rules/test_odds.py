"""Exact odds against published counts, to the unit, and against dealing every draw of a small shoe out."""

import json
from collections.abc import Callable
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from processors.rules.bets import LOSE, settle
from processors.rules.draws import count_hands
from processors.rules.hands import HANDS_CASES, PAIRS_CASES, RoundView, view
from processors.rules.odds import (
    MAX_CARDS,
    InvalidComposition,
    RoundCounts,
    enumerate_rounds,
    evaluate,
    full_shoe,
    remaining,
)
from processors.rules.tableau import next_card
from schemas.cards import CARDS, RANK_OF, RANKS
from schemas.catalogue import CATALOGUE, NEEDS_SUITS, InvalidOdds, UnknownBet

DECKS = (6, 8)

# The names that the published counts give to a bet, our name, its own odds and its commission.
EDGES: list[tuple[str, str, str, str]] = [
    ("banker_5pct", "banker", "", "0.05"),
    ("banker_4pct", "banker", "", "0.04"),
    ("banker_nocomm_6half", "banker_commission_free", "", "0.05"),
    ("banker_ez_3card7_push", "banker_ez", "", "0.05"),
    ("player", "player", "", "0.05"),
    ("tie_8", "tie", "8", "0.05"),
    ("tie_9", "tie", "9", "0.05"),
    ("lucky6_12_20", "lucky_six", "", "0.05"),
    ("lucky6_12_20", "tiger", "", "0.05"),
    ("lucky6_12_23", "lucky_six", "12 23", "0.05"),
    ("super6_flat12", "lucky_six", "12 12", "0.05"),
    ("super6_flat15", "lucky_six", "15 15", "0.05"),
    ("small6_22", "small_six", "", "0.05"),
    ("small6_22", "small_tiger", "", "0.05"),
    ("big6_50", "big_six", "", "0.05"),
    ("big6_50", "big_tiger", "", "0.05"),
    ("lucky7_6_15", "lucky_seven", "", "0.05"),
    ("super_lucky7_30_40_100", "super_lucky_seven", "", "0.05"),
    ("dragon7_40", "dragon_seven", "", "0.05"),
    ("panda8_25", "panda_eight", "", "0.05"),
    ("tiger_tie_35", "tiger_tie", "", "0.05"),
    ("tiger_tie_45", "tiger_tie", "45", "0.05"),
    ("dragon_bonus_player", "dragon_bonus_player", "", "0.05"),
    ("dragon_bonus_banker", "dragon_bonus_banker", "", "0.05"),
    ("pair_11", "player_pair", "", "0.05"),
    ("pair_11", "banker_pair", "", "0.05"),
    ("either_pair_5", "either_pair", "", "0.05"),
    ("tiger_pair_4_20_100", "tiger_pair", "", "0.05"),
    ("perfect_pair_25_one_200_both", "perfect_pair", "", "0.05"),
    ("small_4cards_1.5", "small", "", "0.05"),
    ("big_56cards_0.54", "big", "", "0.05"),
]


@pytest.fixture(scope="module")
def published(vectors: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((vectors / "exact_counts.json").read_text())
    return found


def own_odds(text: str) -> tuple[Fraction, ...] | None:
    return tuple(Fraction(value) for value in text.split()) or None


def edge(bet: str, counts: RoundCounts, odds: str = "", commission: str = "0.05") -> Fraction:
    found = evaluate(bet, counts, own_odds(odds), Fraction(commission))
    assert found is not None
    return found.house_edge


@pytest.mark.parametrize("decks", DECKS)
def test_banker_player_and_tie_win_as_many_draws_as_published(published: dict[str, Any], decks: int) -> None:
    known = published[str(decks)]
    assert full_shoe(decks).combinations == {name: known[name] for name in ("total", "banker", "player", "tie")}


@pytest.mark.parametrize("decks", DECKS)
def test_totals_and_counts_of_cards_fall_as_published(published: dict[str, Any], decks: int) -> None:
    """`joint`: player's total, banker's total, player's cards, banker's cards."""
    drawn = {
        f"{case.player_total},{case.banker_total},{case.player_count},{case.banker_count}": count
        for case, count in zip(HANDS_CASES, full_shoe(decks).hands, strict=True)
        if count
    }
    assert drawn == published[str(decks)]["joint"]


@pytest.mark.parametrize("decks", DECKS)
@pytest.mark.parametrize(
    ("name", "bet", "payout"),
    [
        ("banker_win_6_2card", "small_six", 22), ("banker_win_6_3card", "big_six", 50),
        ("player_win_7_2card", "lucky_seven", 6), ("player_win_7_3card", "lucky_seven", 15),
        ("super_lucky7_p7b6_both3", "super_lucky_seven", 100), ("super_lucky7_p7b6_p3b2", "super_lucky_seven", 40),
        ("super_lucky7_p7b6_p2b2", "super_lucky_seven", 30), ("dragon7", "dragon_seven", 40),
        ("panda8", "panda_eight", 25), ("tie6", "tiger_tie", 35), ("cards_4", "small", Fraction("1.5")),
        ("db_natural_tie", "dragon_bonus_player", 0), ("db_player_nonnat_by9", "dragon_bonus_player", 30),
        ("db_banker_nonnat_by8", "dragon_bonus_banker", 10),
    ],
)  # fmt: skip
def test_each_event_of_a_side_bet_happens_in_as_many_draws_as_published(
    published: dict[str, Any], decks: int, name: str, bet: str, payout: Fraction
) -> None:
    found = evaluate(bet, full_shoe(decks))
    assert found is not None
    assert dict(found.draws)[Fraction(payout)] == published[str(decks)][name]


@pytest.mark.parametrize("decks", DECKS)
@pytest.mark.parametrize(
    ("name", "seen"),
    [
        ("pair_probability", lambda case: case.player_pair),
        ("both_pair_probability", lambda case: case.player_pair and case.banker_pair),
        ("either_pair_probability", lambda case: case.player_pair or case.banker_pair),
        ("both_pair_same_rank_probability", lambda case: case.pairs_alike),
        ("perfect_pair_one_hand_probability", lambda case: case.player_perfect_pair),
        ("perfect_pair_both_probability", lambda case: case.player_perfect_pair and case.banker_perfect_pair),
    ],
)
def test_pairs_are_as_likely_as_published(
    published: dict[str, Any], decks: int, name: str, seen: Callable[[RoundView], bool | None]
) -> None:
    counts = full_shoe(decks)
    drawn = sum(count for case, count in zip(PAIRS_CASES, counts.pairs, strict=True) if seen(case))
    assert Fraction(drawn, counts.total) == Fraction(published[str(decks)][name])


@pytest.mark.parametrize("decks", DECKS)
def test_house_edges_are_exactly_the_published_ones(published: dict[str, Any], decks: int) -> None:
    known = {name: Fraction(value) for name, value in published[str(decks)]["house_edge_exact"].items()}
    counts = full_shoe(decks)
    assert {name for name, *_ in EDGES} == set(known)
    for name, bet, odds, commission in EDGES:
        assert edge(bet, counts, odds, commission) == known[name], name


def test_every_bet_of_the_catalogue_is_among_those_checked() -> None:
    assert {bet for _, bet, *_ in EDGES} == set(CATALOGUE)


@pytest.mark.parametrize(
    ("bet", "percent", "deviation"),
    [
        ("banker", "1.0579", "0.92737"), ("player", "1.2351", "0.95115"), ("tie", "14.3596", "2.64087"),
        ("player_pair", "10.3614", "3.15486"), ("lucky_six", "16.6836", "3.59564"),
        ("banker_commission_free", "1.4581", "0.92964"),
    ],
)  # fmt: skip
def test_edge_and_deviation_of_eight_decks_are_those_people_know(bet: str, percent: str, deviation: str) -> None:
    found = evaluate(bet, full_shoe(8))
    assert found is not None
    assert f"{float(found.house_edge * 100):.4f}" == percent
    assert f"{found.standard_deviation:.5f}" == deviation


def test_a_round_takes_4_93882_cards_on_average() -> None:
    counts = full_shoe(8)
    cards = sum(case.cards * count for case, count in zip(HANDS_CASES, counts.hands, strict=True))
    assert f"{cards / counts.total:.5f}" == "4.93882"


# The oracle: every ordered draw of six from a handful of cards, dealt out and looked at.


def deal(draw: tuple[str, ...]) -> RoundView:
    hands: dict[str, tuple[str, ...]] = {"player": (), "banker": ()}
    for card in draw:
        hand = next_card(hands["player"], hands["banker"])
        if hand is None:
            break
        hands[hand] += (card,)
    return view(hands["player"], hands["banker"])


def by_dealing(shoe: list[str]) -> tuple[dict[int, int], dict[int, int]]:
    hands: dict[int, int] = {}
    pairs: dict[int, int] = {}
    for draw in permutations(shoe, 6):
        round_ = deal(draw)
        hands[round_.hands_key] = hands.get(round_.hands_key, 0) + 1
        pairs[round_.pairs_key] = pairs.get(round_.pairs_key, 0) + 1
    return hands, pairs


def composition(shoe: list[str]) -> dict[str, int]:
    return {card: shoe.count(card) for card in shoe}


def found(counts: tuple[int, ...]) -> dict[int, int]:
    return {key: count for key, count in enumerate(counts) if count}


# Few different cards, so that pairs of every kind turn up among seven.
small_shoes = st.one_of(
    st.lists(st.sampled_from(["2S", "2H", "7H", "KD", "AC"]), min_size=6, max_size=7),
    st.lists(st.sampled_from(CARDS), min_size=6, max_size=7),
)


@settings(max_examples=12)
@given(small_shoes)
def test_counting_comes_to_what_dealing_every_draw_out_does(shoe: list[str]) -> None:
    counts = enumerate_rounds(composition(shoe))
    assert (found(counts.hands), found(counts.pairs)) == by_dealing(shoe)


@settings(max_examples=6)
@given(small_shoes)
def test_so_it_does_for_ranks_alone(shoe: list[str]) -> None:
    ranks: list[str] = [RANK_OF[card] for card in shoe]
    counts = enumerate_rounds(composition(ranks))
    assert not counts.suits
    assert (found(counts.hands), found(counts.pairs)) == by_dealing(ranks)


@settings(max_examples=4)
@given(
    st.lists(st.sampled_from(["2S", "2H", "6H", "KD", "7C"]), min_size=6, max_size=6),
    st.sampled_from(sorted(CATALOGUE)),
)
def test_odds_come_to_what_settling_every_draw_does(shoe: list[str], bet: str) -> None:
    won = [settle(bet, deal(draw)) for draw in permutations(shoe, 6)]
    odds = evaluate(bet, composition(shoe), commission=Fraction(0))
    assert odds is not None
    assert odds.house_edge == -sum(value for value in won if value is not None) / Fraction(len(won))


shoes = (
    st.lists(st.integers(0, 8), min_size=len(CARDS), max_size=len(CARDS))
    .filter(lambda left: sum(left) >= 6)
    .map(lambda left: dict(zip(CARDS, left, strict=True)))
)


@settings(max_examples=20)
@given(shoes, st.sampled_from(sorted(CATALOGUE)))
def test_every_draw_is_counted_once_and_probabilities_add_up(left: dict[str, int], bet: str) -> None:
    counts = enumerate_rounds(left)
    assert sum(counts.hands) == sum(counts.pairs) == counts.total
    assert sum(counts.combinations.values()) == 2 * counts.total
    odds = evaluate(bet, counts)
    assert odds is not None
    assert sum(odds.probabilities.values()) == 1
    assert odds.probabilities[LOSE] >= 0
    assert odds.house_edge == -sum(payout * chance for payout, chance in odds.probabilities.items())


@settings(max_examples=10)
@given(shoes)
def test_suits_change_no_bet_that_needs_none(left: dict[str, int]) -> None:
    ranks: dict[str, int] = dict.fromkeys(RANKS, 0)
    for card, count in left.items():
        ranks[RANK_OF[card]] += count
    with_suits, without = enumerate_rounds(left), enumerate_rounds(ranks)
    assert with_suits.hands == without.hands
    for bet in sorted(set(CATALOGUE) - NEEDS_SUITS):
        assert evaluate(bet, without) == evaluate(bet, with_suits)


def test_bets_on_suits_have_no_odds_without_them() -> None:
    ranks = remaining(8, ["10"])
    assert evaluate("perfect_pair", ranks) is None
    assert evaluate("player_pair", ranks) is not None


def test_a_card_seen_changes_the_odds_of_the_next_round() -> None:
    """With the nines gone there are fewer naturals, and with no sixes gone more lucky sixes."""
    nines = [card for card in CARDS if RANK_OF[card] == "9"] * 8
    assert edge("lucky_six", enumerate_rounds(remaining(8, nines))) < edge("lucky_six", full_shoe(8))


def test_own_odds_and_the_patrons_side_are_taken() -> None:
    six = evaluate("lucky_six", full_shoe(8), side="player")
    assert six is not None
    wins = sum(
        count
        for case, count in zip(HANDS_CASES, full_shoe(8).hands, strict=True)
        if case.outcome == "player" and case.player_total == 6
    )
    assert six.probabilities[LOSE] == 1 - Fraction(wins, full_shoe(8).total)
    with pytest.raises(InvalidOdds):
        evaluate("lucky_six", full_shoe(8), (Fraction(12),))
    with pytest.raises(UnknownBet):
        evaluate("lucky", full_shoe(8))


def test_payouts_that_are_equal_are_one_payout() -> None:
    flat = evaluate("lucky_six", full_shoe(8), (Fraction(12), Fraction(12)))
    assert flat is not None
    assert set(flat.probabilities) == {Fraction(12), LOSE}


def test_what_remains_is_the_decks_less_what_was_seen() -> None:
    assert remaining(8) == dict.fromkeys(CARDS, 8)
    left = remaining(8, ["10H", "10H", "AS"])
    assert (left["10H"], left["AS"], left["KS"]) == (6, 7, 8)
    assert sum(left.values()) == 413


def test_one_card_without_a_suit_leaves_ranks() -> None:
    left = remaining(6, ["10", "10H"])
    assert set(left) == set(RANKS)
    assert (left["10"], left["A"]) == (22, 24)


def test_with_a_continuous_shuffler_nothing_is_ever_gone() -> None:
    """Art. 7(2)."""
    assert remaining(8, ["10H", "10"], continuous=True) == remaining(8)


@pytest.mark.parametrize(
    ("left", "message"),
    [
        ({"2S": 5}, "5 cards are left: a round may need 6"),
        ({}, "0 cards are left"),
        ({"2S": MAX_CARDS + 1}, "no more than 65000 are counted"),
        ({"2S": 8, "3S": -1}, "3S is counted -1 times: more were seen than the decks hold"),
        ({"2S": 8, "1S": 1}, "'1S' is no card"),
    ],
)
def test_cards_that_no_round_can_be_dealt_from_are_refused(left: dict[str, int], message: str) -> None:
    with pytest.raises(InvalidComposition, match=message):
        enumerate_rounds(left)


def test_the_largest_shoe_still_fits_the_packing() -> None:
    counts = enumerate_rounds({"4": MAX_CARDS // 2, "9": MAX_CARDS // 2})
    assert sum(counts.hands) == sum(counts.pairs) == counts.total


def test_counting_hands_needs_every_rank_but_not_every_card() -> None:
    assert sum(count_hands({**dict.fromkeys(RANKS, 0), "K": 6})) == 720
