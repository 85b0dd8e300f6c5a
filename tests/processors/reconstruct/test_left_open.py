"""A round that the table never closed, though nothing it sent was lost: told of, and judged by what was done."""

from collections.abc import Callable

import pytest

from tests.processors.reconstruct.scene import BANKER_WINS, HKD, PLAYER_WINS, TIE, Scene, called, playing

STAKE = 1_000 * HKD


def _next_round(scene: Scene) -> None:
    scene.begin()


def _bet_of_the_next_round(scene: Scene) -> None:
    scene.number += 1
    scene.bet()


def _next_shoe(scene: Scene) -> None:
    scene.load()


def _shoe_taken_away(scene: Scene) -> None:
    scene.take_shoe_away()


def _table_closed(scene: Scene) -> None:
    scene.send("table_closed")


ENDS = [_next_round, _bet_of_the_next_round, _next_shoe, _shoe_taken_away, _table_closed]


@pytest.mark.parametrize("end", ENDS)
def test_what_was_still_to_be_paid_or_collected_is_held_against_nobody(end: Callable[[Scene], None]) -> None:
    """Art. 17: the dealer may be about to pay."""
    scene = called()
    end(scene)
    assert scene.codes == ["round_left_open"]
    fact = scene.round(1, 1)
    assert (fact.status, fact.outcome, fact.house_win, fact.alerts) == ("incomplete", "player", 0, 1)
    assert fact.handle == 2 * STAKE


def test_payout_after_the_next_round_began_accuses_nobody() -> None:
    scene = called()
    scene.begin()
    scene.number -= 1
    scene.of_round("stake_collected", bet_id="B2", amount=STAKE)
    scene.of_round("payout_made", bet_id="B1", amount=STAKE)
    scene.close()
    assert (scene.codes, scene.round().status) == (["round_left_open"], "settled")
    assert scene.refusals == ["round_over"]


def test_half_of_a_payout_may_still_be_followed_by_the_rest() -> None:
    scene = called()
    scene.settle(paid={"B1": STAKE // 2}, collected={"B2": STAKE // 2})
    scene.begin()
    assert (scene.codes, scene.round(1).status) == (["round_left_open"], "incomplete")


def test_commission_may_still_be_charged() -> None:
    """Art. 18."""
    scene = called(BANKER_WINS)
    scene.settle(charged={"B2": 0})
    scene.begin()
    assert (scene.codes, scene.round(1).status) == (["round_left_open"], "incomplete")


@pytest.mark.parametrize(
    ("paid", "collected", "code"),
    [
        ({"B1": STAKE + HKD}, {}, "overpaid"),
        ({}, {"B1": STAKE}, "stake_wrongly_collected"),
        ({"B2": STAKE}, {}, "losing_bet_paid"),
    ],
)
def test_what_was_done_wrong_is_a_deviation(paid: dict[str, int], collected: dict[str, int], code: str) -> None:
    scene = called()
    scene.settle(paid=paid, collected=collected)
    scene.begin()
    assert scene.codes == sorted([code, "round_left_open"])


def test_it_names_the_last_card_and_the_event_that_ended_it() -> None:
    scene = called()
    last_card = f"BAC-01:1:{scene.seq - 1}"
    opened = scene.begin()
    alert = scene.alert("round_left_open")
    assert (alert.evidence.event_ids, alert.round, alert.severity) == ((last_card, opened), 1, "warning")


def test_round_that_was_settled_and_not_closed() -> None:
    scene = called(BANKER_WINS)
    scene.settle()
    scene.begin()
    assert (scene.codes, scene.round(1).status) == (["round_left_open"], "settled")
    assert scene.shoe_fact().complete is True


def test_tie_that_was_not_closed_leaves_its_stakes_standing() -> None:
    """Art. 12."""
    scene = called(TIE)
    scene.begin()
    assert scene.codes == ["round_left_open"]
    assert scene.state.round is not None
    assert list(scene.state.round.bets) == ["B1", "B2"]


def test_error_of_a_round_that_was_not_closed_is_judged() -> None:
    """Art. 9(1)."""
    scene = playing()
    scene.begin()
    scene.deal("2S 3H", "7D KC")
    scene.call("banker")
    scene.begin()
    assert scene.codes == ["round_left_open", "third_card_missed"]


@pytest.mark.parametrize("dealt", ["nothing", "one hand", "both hands"])
def test_round_without_a_result_is_told_of_and_not_judged(dealt: str) -> None:
    scene = playing()
    scene.begin()
    scene.bet("player", STAKE)
    scene.no_more_bets()
    if dealt == "one hand":
        scene.draw("player", "9S")
    elif dealt == "both hands":
        scene.deal(*PLAYER_WINS)
    scene.begin()
    assert (scene.codes, scene.round(1).status) == (["round_left_open"], "incomplete")
    assert scene.bet_of("B1", 1).result == "unknown"


def test_result_without_cards_is_not_judged() -> None:
    scene = playing()
    scene.begin()
    scene.call("player")
    scene.begin()
    assert (scene.codes, scene.round(1).status) == (["round_left_open"], "incomplete")


def test_void_round_is_over_without_being_closed() -> None:
    """Art. 10."""
    scene = playing()
    scene.begin()
    scene.bet()
    scene.void()
    scene.begin()
    assert (scene.codes, scene.round(1).status) == ([], "void")


def test_round_whose_closing_was_lost_is_nobodys_fault() -> None:
    scene = called()
    with scene.lost():
        scene.settle()
        scene.close()
    scene.begin()
    scene.pass_gap_limit()
    assert (scene.codes, scene.round(1).status) == (["round_incomplete", "telemetry_gap"], "incomplete")


def test_round_in_which_the_controller_restarted_is_nobodys_fault() -> None:
    """Nothing it sent was lost, but nobody knows what happened while it could send nothing."""
    scene = called()
    scene.restart()
    scene.begin()
    assert (scene.codes, scene.round(1).status) == (["round_incomplete"], "incomplete")


def test_closing_that_comes_late_explains_it_away() -> None:
    scene = called()
    scene.settle()
    with scene.lost() as lost:
        scene.close()
    scene.begin()
    scene.pass_gap_limit()
    scene.append(lost[0])
    assert (scene.codes, scene.round(1).status) == ([], "settled")
