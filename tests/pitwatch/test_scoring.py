"""Labels held against alerts: what counts as found, as missed and as unexpected."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pitwatch.scoring import Line, score
from producers.simulator import Label
from schemas.alerts import ALERTS
from schemas.facts import AlertFact
from tests.pitwatch.floor_facts import alert_fact, label

places = st.tuples(st.sampled_from(["BAC-101", "BAC-102"]), st.integers(1, 2), st.integers(0, 3))
bets = st.sampled_from(["", "B1", "B2"])
labels_of_codes = st.lists(
    st.tuples(places, st.lists(st.sampled_from(list(ALERTS)), min_size=1, max_size=2, unique=True), bets), max_size=12
)


def made(place: tuple[str, int, int], codes: list[str], bet_id: str) -> Label:
    table_id, shoe, number = place
    return label(*codes, table_id=table_id, shoe=shoe, round=number, bet_id=bet_id)


def answers(labels: list[Label]) -> list[AlertFact]:
    """Return the alerts that a faultless pipeline would raise, told apart by a number."""
    return [
        alert_fact(
            code,
            planted.table_id,
            planted.shoe,
            planted.round,
            alert_id=f"{number}:{index}",
            bet_id="" if index else planted.bet_id,
        )
        for number, planted in enumerate(labels)
        for index, code in enumerate(planted.codes)
    ]


def test_an_alert_of_the_code_at_the_place_answers_a_label() -> None:
    result = score([label("overpaid")], [alert_fact("overpaid")])
    assert result.agrees
    assert [(claim.code, alert.code) for claim, alert in result.found] == [("overpaid", "overpaid")]


def test_what_the_table_put_right_itself_was_found() -> None:
    assert score([label("third_card_drawn")], [alert_fact("third_card_drawn", status="corrected")]).agrees


@pytest.mark.parametrize(
    "elsewhere",
    [
        alert_fact("underpaid"),
        alert_fact("overpaid", table_id="BAC-102"),
        alert_fact("overpaid", shoe=2),
        alert_fact("overpaid", round=2),
        alert_fact("overpaid", bet_id="B2"),
    ],
    ids=["code", "table", "shoe", "round", "bet"],
)
def test_an_alert_about_anything_else_answers_nothing(elsewhere: AlertFact) -> None:
    result = score([label("overpaid", bet_id="B1")], [elsewhere])
    assert [claim.code for claim in result.missed] == ["overpaid"]
    assert result.unexpected == [elsewhere]
    assert not result.agrees


def test_a_retracted_alert_was_never_raised() -> None:
    retracted = alert_fact("overpaid", retracted=True)
    assert score([label("overpaid")], [retracted]).missed
    assert score([], [retracted]).agrees


def test_each_label_needs_an_alert_of_its_own() -> None:
    result = score([label("late_bet"), label("late_bet")], [alert_fact("late_bet")])
    assert len(result.found) == len(result.missed) == 1


def test_the_alert_about_the_same_bet_is_taken_first() -> None:
    about_none, about_it = alert_fact("late_bet"), alert_fact("late_bet", bet_id="B1")
    result = score([label("late_bet"), label("late_bet", bet_id="B1")], [about_none, about_it])
    assert {claim.bet_id: alert for claim, alert in result.found} == {"B1": about_it, "": about_none}


def test_what_follows_from_a_deviation_may_be_about_another_bet() -> None:
    planted = label("third_card_missed", "uncorrected_round_paid", bet_id="B1")
    raised = [alert_fact("third_card_missed", bet_id="B1"), alert_fact("uncorrected_round_paid", bet_id="B2")]
    result = score([planted], raised)
    assert result.agrees
    assert (result.labels, len(result.found)) == (1, 2)


def test_unfinished_rounds_are_left_out_on_both_sides() -> None:
    planted, raised = [label("overpaid", round=4)], [alert_fact("late_bet", round=4)]
    result = score(planted, raised, {("BAC-101", 1, 4)})
    assert result.agrees
    assert result.labels == 0


def test_codes_are_listed_in_the_order_of_the_catalogue() -> None:
    result = score([label("late_bet"), label("overpaid")], [alert_fact("overpaid"), alert_fact("third_card_drawn")])
    assert result.by_code() == [
        Line("third_card_drawn", 0, 0, 1),
        Line("overpaid", 1, 0, 0),
        Line("late_bet", 0, 1, 0),
    ]


@given(labels_of_codes, st.data())
def test_a_faultless_pipeline_agrees_and_one_alert_less_is_one_missed(
    drawn: list[tuple[tuple[str, int, int], list[str], str]], data: st.DataObject
) -> None:
    labels = [made(*one) for one in drawn]
    raised = data.draw(st.permutations(answers(labels)))
    assert score(labels, raised).agrees
    if raised:
        dropped = data.draw(st.integers(0, len(raised) - 1))
        less = score(labels, raised[:dropped] + raised[dropped + 1 :])
        assert len(less.missed) == 1
        assert not less.unexpected
        assert score(labels[1:], raised).unexpected
