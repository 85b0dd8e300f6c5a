"""The dealer's chart against the published table, and against Pitwatch's own rules."""

import csv
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from processors.rules.hands import view
from processors.rules.tableau import judge, next_card
from producers.simulator.dealing import Draw, Hands, banker_must_draw, deal, player_must_draw, showing
from schemas.cards import CARDS, parse_cards

cards = st.sampled_from(CARDS)
six_cards = st.lists(cards, min_size=6, max_size=6)
hand = st.lists(cards, min_size=2, max_size=3).map(tuple)


def hands(player: str, banker: str) -> Hands:
    return Hands(parse_cards(player), parse_cards(banker))


def test_the_banker_draws_as_the_published_table_says(vectors: Path) -> None:
    """Art. 9(3)–(4), 110 rows."""
    with (vectors / "third_card_rule_macau_55_2004.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 110
    faces = ["KS", "AS", "2S", "3S", "4S", "5S", "6S", "7S", "8S", "9S"]
    for row in rows:
        third = row["player_third_card_value"]
        player = ("KS", "6S") if third == "none" else ("KS", "5S", faces[int(third)])
        banker = ("KD", faces[int(row["banker_two_card_total"])])
        assert banker_must_draw(Hands(player, banker)) == (row["banker_draws"] == "1"), row


def test_the_player_draws_to_five_and_a_natural_ends_the_round() -> None:
    """Art. 9(1)–(2)."""
    assert player_must_draw(hands("2S 3S", "KS 7S"))
    assert not player_must_draw(hands("2S 4S", "KS 2D"))
    assert not player_must_draw(hands("2S 3S", "KS 8S"))
    assert not banker_must_draw(hands("KS 9S", "KD 2S"))


def test_cards_fall_alternately_and_the_player_first() -> None:
    """Art. 7(1)."""
    dealt, draws = deal(list(parse_cards("2S KD 3S 3D 8H 9H")))
    assert dealt == hands("2S 3S 8H", "KD 3D")
    assert draws == [
        Draw("player", 1, "2S"),
        Draw("banker", 1, "KD"),
        Draw("player", 2, "3S"),
        Draw("banker", 2, "3D"),
        Draw("player", 3, "8H"),
    ]


@given(six_cards)
def test_a_dealt_round_is_one_that_pitwatch_finds_nothing_wrong_with(shoe: list[str]) -> None:
    dealt, draws = deal(shoe)
    player: tuple[str, ...] = ()
    banker: tuple[str, ...] = ()
    for draw in draws:
        assert next_card(player, banker) == draw.hand
        if draw.hand == "player":
            player += (draw.card,)
        else:
            banker += (draw.card,)
    assert next_card(player, banker) is None
    assert judge(player, banker) == ()
    assert (player, banker) == tuple(dealt)
    assert [draw.card for draw in draws] == shoe[: len(draws)]


@given(hand, hand)
def test_what_the_cards_show_is_what_pitwatch_sees(player: tuple[str, ...], banker: tuple[str, ...]) -> None:
    shown, seen = showing(Hands(player, banker)), view(player, banker)
    assert shown.outcome == seen.outcome == Hands(player, banker).outcome
    assert (shown.player_total, shown.banker_total) == (seen.player_total, seen.banker_total)
    assert (shown.player_pair, shown.banker_pair) == (seen.player_pair, seen.banker_pair)
    assert (shown.player_natural, shown.banker_natural) == (seen.player_natural, seen.banker_natural)
    assert None not in shown
