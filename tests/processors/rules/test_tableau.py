"""Art. 9: the published table row by row, each sub-item, and what is found in a round dealt against it."""

import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.rules.hands import view
from processors.rules.tableau import TableauError, banker_draws, judge, next_card, player_draws
from schemas.alerts import ALERTS
from schemas.cards import CARDS, POINTS, Hand, parse_cards, total

cards = st.sampled_from(CARDS)
hands = st.lists(cards, min_size=2, max_size=3).map(tuple)
Hands = tuple[tuple[str, ...], tuple[str, ...]]


def dealt(shoe: list[str]) -> Hands:
    """Deal a round from six cards by asking who is next until nobody is."""
    player: tuple[str, ...] = ()
    banker: tuple[str, ...] = ()
    coming = iter(shoe)
    while hand := next_card(player, banker):
        if hand == "player":
            player += (next(coming),)
        else:
            banker += (next(coming),)
    return player, banker


def judged(player: str, banker: str) -> tuple[TableauError, ...]:
    return judge(parse_cards(player), parse_cards(banker))


def test_the_banker_draws_as_the_published_table_says(vectors: Path) -> None:
    """Art. 9(3)–(4), 110 rows: the player's total is one that draws, or 6 where the player stood."""
    with (vectors / "third_card_rule_macau_55_2004.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 110
    for row in rows:
        stood = row["player_third_card_value"] == "none"
        third = None if stood else int(row["player_third_card_value"])
        verdict = banker_draws(6 if stood else 5, int(row["banker_two_card_total"]), third)
        assert verdict.draw == (row["banker_draws"] == "1"), row


def test_recorded_rounds_were_dealt_by_the_tableau_and_total_as_recorded(vectors: Path) -> None:
    with (vectors / "hands_6deck.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 3145
    for row in rows:
        player, banker = parse_cards(row["player_cards"]), parse_cards(row["banker_cards"])
        round_ = view(player, banker)
        recorded = (int(row["player_total"]), int(row["banker_total"]), row["result"])
        assert (round_.player_total, round_.banker_total, round_.outcome[0].upper()) == recorded, row
        assert judge(player, banker) == (), row


@pytest.mark.parametrize("two", range(10))
def test_the_player_draws_to_five_and_stands_from_six(two: int) -> None:
    """Art. 9(1)–(2)."""
    assert player_draws(two, 7) == ((True, "9(1)") if two <= 5 else (False, "9(2)"))


@pytest.mark.parametrize("natural", [8, 9])
def test_a_natural_stands_both_hands(natural: int) -> None:
    """Art. 9(2) and 9(4)(5)–(6)."""
    for two in range(10):
        assert player_draws(two, natural) == (False, "9(2)")
        assert banker_draws(natural, two, None) == (False, "9(4)(5)" if two >= 7 else "9(4)(6)")


@pytest.mark.parametrize(
    ("banker", "third", "draw", "item"),
    [
        (0, 8, True, "9(3)(1)"), (1, 0, True, "9(3)(1)"), (2, 9, True, "9(3)(1)"),
        (3, 9, True, "9(3)(2)"), (3, 0, True, "9(3)(2)"), (3, 8, False, "9(4)(1)"),
        (4, 2, True, "9(3)(3)"), (4, 7, True, "9(3)(3)"), (4, 1, False, "9(4)(2)"), (4, 0, False, "9(4)(2)"),
        (5, 4, True, "9(3)(4)"), (5, 7, True, "9(3)(4)"), (5, 3, False, "9(4)(3)"), (5, 8, False, "9(4)(3)"),
        (6, 6, True, "9(3)(5)"), (6, 7, True, "9(3)(5)"), (6, 5, False, "9(4)(4)"), (6, None, False, "9(4)(4)"),
        (0, None, True, "9(3)(6)"), (5, None, True, "9(3)(6)"), (7, 6, False, "9(4)(5)"), (7, None, False, "9(4)(5)"),
    ],
)  # fmt: skip
def test_each_verdict_on_the_banker_names_its_sub_item(banker: int, third: int | None, draw: bool, item: str) -> None:
    assert banker_draws(6 if third is None else 0, banker, third) == (draw, item)


@pytest.mark.parametrize(
    ("player", "banker", "hand"),
    [
        ("", "", "player"), ("5H", "", "banker"), ("5H", "2H", "player"), ("5H KH", "2H", "banker"),
        ("5H KH", "2H KS", "player"), ("5H KH 8S", "2H KS", "banker"), ("5H KH 8S", "2H KS 4S", None),
        ("5H KH 8S", "3H KS", None), ("6H KH", "5H KS", "banker"), ("6H KH", "6S KS", None), ("9H KH", "2H KS", None),
        ("2H KH", "8H KS", None),
    ],
)  # fmt: skip
def test_cards_go_to_the_player_first_and_by_turns_and_then_by_the_tableau(
    player: str, banker: str, hand: Hand | None
) -> None:
    """Arts. 7(1) and 9."""
    assert next_card(parse_cards(player), parse_cards(banker)) == hand


@pytest.mark.parametrize(
    ("player", "banker", "hand"), [("", "2H", "player"), ("5H KH", "", "banker"), ("5H KH 8S", "2H", "banker"),
     ("5H", "2H KH", "player"), ("2H 3H", "3S KH 4S", "player"), ("2H 3H 4S", "3S KH 4S", None)]
)  # fmt: skip
def test_after_a_wrong_card_the_rules_go_on_from_what_lies_there(player: str, banker: str, hand: Hand | None) -> None:
    assert next_card(parse_cards(player), parse_cards(banker)) == hand


@pytest.mark.parametrize(
    ("player", "banker", "error"),
    [
        ("2H 3H", "7H KS", ("player", "9(1)", "draw", "stood", False)),
        ("6H KH 2S", "7H KS", ("player", "9(2)", "stand", "drew", False)),
        ("2H 3H 4S", "8H KS", ("player", "9(2)", "stand", "drew", True)),
        ("2H 3H 8S", "2S KS", ("banker", "9(3)(1)", "draw", "stood", False)),
        ("2H 3H 8S", "3S KS 4S", ("banker", "9(4)(1)", "stand", "drew", False)),
        ("6H KH", "5H KS", ("banker", "9(3)(6)", "draw", "stood", False)),
        ("9H KH", "2H KS 5S", ("banker", "9(4)(6)", "stand", "drew", True)),
        ("6H KH", "8H KS 5S", ("banker", "9(4)(5)", "stand", "drew", True)),
    ],
)
def test_a_wrong_or_missed_card_is_named_with_its_sub_item(player: str, banker: str, error: tuple[object, ...]) -> None:
    assert judged(player, banker) == (error,)


def test_both_hands_may_be_wrong_at_once() -> None:
    errors = judged("8H KH 2S", "3H KS 5S")
    assert [(error.hand, error.natural_ignored) for error in errors] == [("player", True), ("banker", True)]


@pytest.mark.parametrize(
    ("player", "banker", "kind", "article"),
    [
        ("2H 3H", "7H KS", "third_card_missed", "9(1)"),
        ("6H KH 2S", "7H KS", "third_card_drawn", "9(2)"),
        ("9H KH", "2H KS 5S", "natural_ignored", "9(4)(6)"),
    ],
)
def test_an_error_is_a_finding_of_the_alert_catalogue(player: str, banker: str, kind: str, article: str) -> None:
    (error,) = judged(player, banker)
    finding = error.finding
    assert (finding.kind, finding.article, finding.expected) == (kind, article, article)
    assert finding.actual == f"{error.hand} {error.actual}"
    assert finding.kind in ALERTS


@given(st.lists(cards, min_size=6, max_size=6))
def test_a_round_dealt_as_the_rules_ask_is_without_error(shoe: list[str]) -> None:
    assert judge(*dealt(shoe)) == ()


@given(hands, hands)
def test_hands_without_error_are_those_that_the_rules_deal(player: tuple[str, ...], banker: tuple[str, ...]) -> None:
    first_four = [player[0], banker[0], player[1], banker[1]]
    again = dealt([*first_four, *player[2:], *banker[2:], "AS", "AS"])
    assert (judge(player, banker) == ()) == (again == (player, banker))


@given(hands, hands)
def test_every_error_contradicts_what_was_done(player: tuple[str, ...], banker: tuple[str, ...]) -> None:
    for error in judge(player, banker):
        drew = len(player if error.hand == "player" else banker) == 3
        assert (error.expected, error.actual) == (("stand", "drew") if drew else ("draw", "stood"))
        natural = total(player[:2]) >= 8 or total(banker[:2]) >= 8
        assert error.natural_ignored == (drew and natural)


@given(st.lists(cards, min_size=6, max_size=6))
def test_a_third_card_is_the_last_of_a_hand(shoe: list[str]) -> None:
    """Art. 9: one third card a hand at most, and none beside a natural."""
    player, banker = dealt(shoe)
    assert 2 <= len(player) <= 3
    assert 2 <= len(banker) <= 3
    if (POINTS[player[0]] + POINTS[player[1]]) % 10 >= 8:
        assert len(player) == len(banker) == 2
