"""What was not fully seen convicts nobody: gaps, beginnings that were missed, rounds that were never closed."""

from collections.abc import Callable

import pytest

from schemas.configuration import Commission, preset
from tests.processors.reconstruct.scene import (
    BANKER_WINS,
    FLOAT,
    HKD,
    MACAU,
    PLAYER_WINS,
    TIE,
    Scene,
    playing,
    with_changes,
)

MARKED = with_changes(MACAU, commission=Commission(collection="marked"))
FREE = preset("commission_free")
GAP = ["round_incomplete", "telemetry_gap"]


def with_loss(during: Callable[[Scene], object], configuration: object = MACAU) -> Scene:
    """Return a table in a round with a bet on each side, in which the events of `during` were lost for good."""
    scene = playing(configuration)  # type: ignore[arg-type]  # a configuration
    scene.begin()
    scene.bet("player", 1_000 * HKD, 1)
    scene.bet("banker", 1_000 * HKD, 2)
    with scene.lost():
        during(scene)
    scene.send("heartbeat")
    scene.pass_gap_limit()
    return scene


def test_gap_is_told_of_with_what_is_missing() -> None:
    scene = with_loss(lambda scene: (scene.bet(), scene.bet()))
    alert = scene.alert("telemetry_gap")
    first = scene.seq - 4
    assert alert.evidence.actual == f"1:{first}–{first + 1}"
    assert alert.evidence.event_ids == (f"BAC-01:1:{first + 2}",)
    assert (alert.shoe, alert.round, alert.alert_id) == (1, 1, f"BAC-01:1:1:telemetry_gap:1:{first}")


def test_single_missing_event_is_named_alone() -> None:
    scene = with_loss(Scene.no_more_bets)
    assert scene.alert("telemetry_gap").evidence.actual == f"1:{scene.seq - 3}"


def everything_wrong(scene: Scene) -> None:
    """Do in a round nearly everything that the articles forbid."""
    scene.bet("tie", 1, 3, posture="standing", area="reserved")
    scene.bet("dragon_seven", 1, 4)
    scene.no_more_bets()
    scene.change("B1", 2_000 * HKD)
    scene.change("B2", 2_000 * HKD, "player")
    scene.withdraw("B3")
    scene.bet("player", 10**11, 1)
    scene.of_round("cards_held_by", hand="player", seat=9)
    for hand, card in (("banker", "9S"), ("banker", "KH"), ("player", "2D"), ("player", "3C"), ("player", "4C")):
        scene.draw(hand, card)
    scene.burn()
    scene.call("tie")
    scene.of_round("payout_made", bet_id="B1", amount=77)
    scene.of_round("stake_collected", bet_id="B9", amount=77)
    scene.of_round("commission_charged", bet_id="B2", amount=77)
    scene.misdeal("player", 3)
    scene.close()


def test_round_with_a_gap_is_not_judged() -> None:
    """Status incomplete: not fully seen, so nobody is accused."""
    scene = with_loss(lambda scene: scene.bet())
    everything_wrong(scene)
    assert scene.codes == GAP
    fact = scene.round()
    assert (fact.status, fact.outcome, fact.handle, fact.house_win) == ("incomplete", "tie", 0, 0)
    assert scene.bet_of("B1").result == "unknown"
    assert (fact.paid, fact.collected) == (77, 77)


def test_the_same_round_is_judged_where_nothing_is_missing() -> None:
    scene = playing()
    scene.begin()
    scene.bet("player", 1_000 * HKD, 1)
    scene.bet("banker", 1_000 * HKD, 2)
    everything_wrong(scene)
    assert len(set(scene.codes)) > 10
    assert "round_incomplete" not in scene.codes


def test_rounds_after_the_gap_are_judged_again() -> None:
    scene = with_loss(lambda scene: scene.bet())
    scene.finish()
    scene.begin()
    scene.bet("player", 1)
    scene.no_more_bets()
    assert scene.codes == ["below_minimum", *GAP]


def test_events_that_were_lost_are_judged_when_they_come_after_all() -> None:
    """The gap is explained away, and the round's verdicts appear."""
    scene = playing()
    scene.begin()
    scene.bet("player", 1_000 * HKD, 1)
    with scene.lost() as lost:
        scene.no_more_bets()
    scene.pass_gap_limit()
    scene.bet("tie", 100, 2)
    scene.finish()
    assert scene.codes == GAP
    for raw in lost:
        scene.append(raw)
    assert (scene.codes, scene.round().status) == (["late_bet"], "settled")
    assert [fact.revision for fact in scene.given_out if fact.fact == "round"] == [0, 1]


# -- what a gap may hide ---------------------------------------------------------------------------------------------


def test_count_after_a_gap_accuses_nobody() -> None:
    """COMAR 36.05.03.02: chips may have moved unseen; from this count on they are followed again."""
    scene = with_loss(lambda scene: scene.send("fill", amount=100, slip="F-1"))
    scene.finish()
    scene.send("float_counted", amount=FLOAT - 12_345)
    assert scene.codes == GAP
    scene.send("float_counted", amount=FLOAT)
    assert scene.codes == ["float_unexplained", *GAP]


def test_debt_may_have_been_settled_in_the_gap() -> None:
    """Art. 18: what is marked afterwards is owed for certain."""
    scene = playing(MARKED)
    scene.play(BANKER_WINS, ("banker", 1_000 * HKD, 4))
    with scene.lost():
        scene.send("commission_settled", seat=4, amount=5_000)
    scene.pass_gap_limit()
    scene.load()
    assert scene.codes == ["telemetry_gap"]
    scene.play(BANKER_WINS, ("banker", 600 * HKD, 4))
    scene.load()
    assert scene.alert("commission_unsettled").evidence.due == 3_000


def test_debt_asked_for_before_a_gap_may_grow_behind_it() -> None:
    """Art. 18."""
    scene = playing(MARKED)
    scene.play(BANKER_WINS, ("banker", 1_000 * HKD, 4))
    scene.load()
    with scene.lost():
        scene.send("heartbeat")
    scene.pass_gap_limit()
    scene.play(BANKER_WINS, ("banker", 600 * HKD, 4))
    scene.load()
    assert [alert.evidence.due for alert in scene.alerts if alert.code == "commission_unsettled"] == [5_000, 3_000]


def test_another_dealer_may_deal_behind_the_gap() -> None:
    """An error is never put to a dealer who may have been relieved."""
    scene = with_loss(lambda scene: scene.send("dealer_out", dealer_id="D-1"))
    scene.finish()
    scene.play(PLAYER_WINS, ("player", 1))
    assert (scene.alert("below_minimum").dealer_id, scene.round().dealer_id) == ("", "")
    scene.send("dealer_in", dealer_id="D-2")
    scene.play()
    assert scene.round().dealer_id == "D-2"


def test_another_patron_may_sit_there_behind_the_gap() -> None:
    scene = playing()
    scene.send("patron_seated", seat=4, patron_id="P-77")
    with scene.lost():
        scene.send("patron_left", seat=4, patron_id="P-77")
    scene.pass_gap_limit()
    scene.play(PLAYER_WINS, ("player", 1_000 * HKD, 4))
    scene.begin()
    scene.bet("player", seat=4, patron_id=None)
    scene.finish()
    assert scene.bet_of("B2").patron_id == ""


def test_silence_across_a_gap_is_none() -> None:
    scene = playing()
    with scene.lost():
        scene.send("heartbeat")
    scene.wait(300)
    scene.pass_gap_limit()
    assert scene.codes == ["telemetry_gap"]


def test_opening_with_a_gap_is_not_judged() -> None:
    """Art. 2(1): the cut, or the burning, may be what is missing."""
    scene = Scene().open()
    with scene.lost():
        scene.load(burned=3)
    scene.send("card_burned", shoe=1, reason="opening")
    scene.pass_gap_limit()
    scene.play()
    assert (scene.codes, scene.shoe_fact().complete) == (["telemetry_gap"], False)


def test_next_shoe_is_judged_again() -> None:
    """Art. 2(1)."""
    scene = with_loss(lambda scene: scene.bet())
    scene.finish()
    scene.load(cut=None)
    scene.play()
    assert (scene.codes, scene.shoe_fact().complete) == (sorted(["shoe_not_cut", *GAP]), True)


def test_round_of_unknown_kind_is_no_live_round_before_a_demonstration() -> None:
    """Art. 2(2): it may have been a demonstration itself."""
    scene = playing(with_changes(MACAU, demonstrations=3))
    with scene.lost():
        scene.begin("demonstration")
    scene.deal(*PLAYER_WINS)
    scene.pass_gap_limit()
    scene.close()
    scene.demonstrate()
    assert scene.codes == ["option_without_approval", *GAP]
    scene.play()
    scene.demonstrate()
    assert "demonstration_after_play" in scene.codes


def test_card_misread_in_a_round_with_a_gap_is_no_copy_too_many() -> None:
    """Art. 1: its correction may be what is missing. What is certain stays certain."""
    scene = playing()
    for _ in range(8):
        scene.burn("KS")
    scene.begin()
    with scene.lost():
        scene.send("heartbeat")
    scene.pass_gap_limit()
    scene.draw("player", "KS")
    scene.draw("banker", "KC")
    scene.close()
    assert scene.codes == GAP
    scene.burn("KS")
    assert scene.codes == ["excess_copies", *GAP]
    for _ in range(8):
        scene.burn("KC")
    assert scene.codes == ["excess_copies", *GAP]


def test_shoe_whose_loading_nobody_saw_has_no_copies_too_many() -> None:
    """Art. 1: nobody knows how many decks it holds."""
    scene = Scene()
    scene.shoe = 4
    for _ in range(20):
        scene.burn("KS")
    assert scene.codes == []


# -- stakes that nobody saw ------------------------------------------------------------------------------------------


def after_an_unseen_tie(configuration: object = MACAU, rounds: int = 1) -> Scene:
    """Return a table in the round after a tie that came with a gap, and so many ties after it."""
    scene = playing(configuration)  # type: ignore[arg-type]  # a configuration
    scene.begin()
    with scene.lost():
        scene.bet("player", 250_000 * HKD, 5)
    scene.pass_gap_limit()
    scene.deal(*TIE)
    scene.call()
    scene.close()
    for _ in range(1, rounds):
        scene.play(TIE)
    scene.begin()
    return scene


@pytest.mark.parametrize("rounds", [1, 3])
def test_stakes_that_a_tie_left_unseen_are_paid_rightly(rounds: int) -> None:
    """Art. 12: through as many ties as come."""
    scene = after_an_unseen_tie(rounds=rounds)
    scene.no_more_bets()
    scene.deal(*PLAYER_WINS)
    scene.call()
    scene.of_round("payout_made", bet_id="B1", amount=250_000 * HKD)
    scene.of_round("commission_charged", bet_id="B1", amount=1)
    scene.change("B1", 1)
    scene.close()
    assert (scene.codes, scene.round().status) == (GAP, "settled")
    assert scene.refusals == ["no_such_bet", "no_such_bet"]
    scene.begin()
    scene.of_round("payout_made", bet_id="B1", amount=1)
    assert scene.codes == ["overpaid", *GAP]


def test_stakes_that_a_tie_left_unseen_may_even_the_sides() -> None:
    """Art. 14."""
    scene = after_an_unseen_tie()
    scene.bet("banker", 300_000 * HKD, 2)
    scene.no_more_bets()
    assert scene.codes == GAP


def test_stakes_that_a_tie_left_unseen_may_be_the_highest() -> None:
    """Art. 16(2)."""
    scene = after_an_unseen_tie()
    scene.bet("player", 1_000 * HKD, 2)
    scene.of_round("cards_held_by", hand="player", seat=5)
    assert scene.codes == GAP


def test_stakes_that_a_tie_left_unseen_may_go_with_a_lucky_six() -> None:
    """Wiki(1); both sides are both sides all the same."""
    scene = after_an_unseen_tie(FREE)
    scene.bet("lucky_six", 100 * HKD, 5)
    scene.bet("player", 1_000 * HKD, 6)
    scene.bet("banker_commission_free", 1_000 * HKD, 6)
    scene.no_more_bets()
    assert scene.codes == ["both_sides", *GAP]


def test_void_leaves_no_stake_standing_seen_or_unseen() -> None:
    """Art. 10."""
    scene = playing()
    scene.begin()
    with scene.lost():
        scene.bet()
    scene.pass_gap_limit()
    scene.void()
    scene.close()
    scene.begin()
    scene.of_round("payout_made", bet_id="B1", amount=5)
    assert scene.codes == sorted(["overpaid", *GAP])
    assert scene.round(1).status == "void"


def test_gap_between_rounds_leaves_what_stands_standing() -> None:
    """Art. 12: stakes are changed within rounds only, and the rounds on both sides of the gap were seen."""
    scene = playing()
    scene.play(TIE, ("player",))
    with scene.lost():
        scene.send("heartbeat")
    scene.pass_gap_limit()
    scene.play(PLAYER_WINS)
    assert (scene.codes, scene.bet_of("B1", 2).net) == (["telemetry_gap"], 1_000 * HKD)


def test_whole_rounds_that_went_by_unseen() -> None:
    """Art. 12: what stands after them nobody knows, and what stood before stands no more."""
    scene = playing()
    scene.play(TIE, ("player",))
    with scene.lost():
        scene.play(TIE, ("banker", 1_000 * HKD, 2))
    scene.play(PLAYER_WINS)
    scene.pass_gap_limit()
    assert scene.codes == ["telemetry_gap"]
    scene.begin()
    assert scene.round(3).bets == 0
    assert (scene.shoe_fact().complete, scene.shoe_fact().rounds) == (False, 2)


# -- beginnings and ends that nobody saw -----------------------------------------------------------------------------


@pytest.mark.parametrize("first", ["bet", "no_more_bets", "draw", "call", "payout", "correction", "void", "close"])
def test_round_taken_up_in_the_middle(first: str) -> None:
    """Whatever is seen first, the round is not fully seen, and neither is its shoe."""
    scene = Scene()
    scene.publish(MACAU)
    scene.shoe, scene.number, scene.seq = 3, 17, 800
    actions: dict[str, Callable[[], object]] = {
        "bet": lambda: scene.bet("player", 1),
        "no_more_bets": scene.no_more_bets,
        "draw": lambda: scene.draw("banker", "9S", 2),
        "call": lambda: scene.of_round("result_called", outcome="tie"),
        "payout": lambda: scene.of_round("payout_made", bet_id="B1", amount=5),
        "correction": lambda: scene.misread("player", 1, "9S"),
        "void": scene.void,
        "close": lambda: None,
    }
    actions[first]()
    scene.close()
    scene.pass_gap_limit()
    assert scene.codes == ["round_incomplete", "telemetry_gap"]
    assert scene.round().status == ("void" if first == "void" else "incomplete")
    assert (scene.shoe_fact().complete, scene.shoe_fact().status) == (False, "in_play")
    if first != "void":
        scene.begin()
        scene.of_round("payout_made", bet_id="B1", amount=5)
        assert scene.codes == ["round_incomplete", "telemetry_gap"]


def test_table_taken_up_between_rounds() -> None:
    """Stakes may stand from rounds before, and shoes be opened as they were."""
    scene = Scene()
    scene.seq, scene.shoe, scene.number = 800, 3, 16
    scene.begin()
    scene.of_round("payout_made", bet_id="B1", amount=5)
    scene.finish()
    scene.pass_gap_limit()
    assert (scene.codes, scene.round().status) == ([], "settled")
    assert scene.shoe_fact().complete is False


@pytest.mark.parametrize("end", ["table", "shoe not seen", "bet of the next"])
def test_round_that_something_else_ended(end: str) -> None:
    scene = playing()
    scene.begin()
    if end == "table":
        scene.send("table_closed")
    elif end == "shoe not seen":
        scene.shoe += 1
        scene.burn()
    else:
        scene.number += 1
        scene.bet()
    assert scene.codes == ["round_left_open"]
    assert scene.round(1, 1).status == "incomplete"


def test_round_closed_without_two_hands() -> None:
    """Cards are missing, though nothing else is."""
    scene = playing()
    scene.begin()
    scene.bet("player")
    scene.draw("player", "9S")
    scene.close()
    assert (scene.codes, scene.round().player_cards) == (["round_incomplete"], ("9S",))


def test_card_that_leaves_a_place_empty() -> None:
    """A second card without a first: one was not read, so nothing is judged."""
    scene = playing()
    scene.begin()
    scene.draw("player", "9S", 2)
    scene.draw("banker", "KH", 1)
    scene.draw("banker", "KC", 2)
    scene.call("banker")
    scene.close()
    assert (scene.codes, scene.round().status) == (["round_incomplete"], "incomplete")


def test_shoe_taken_up_in_the_middle() -> None:
    """Arts. 1 and 2: as many decks as configured, as far as anybody knows; nothing of its opening is judged."""
    scene = Scene().open(with_changes(MACAU, decks=6))
    scene.shoe = 2
    scene.white_card(1)
    scene.begin()
    scene.finish()
    fact = scene.shoe_fact()
    assert (scene.codes, fact.decks, fact.complete, fact.cut_card_round) == ([], 6, False, 1)


@pytest.mark.parametrize(
    ("shoe", "number", "reason"),
    [(2, 2, "round_over"), (1, 9, "shoe_over"), (2, 1_004, "numbering"), (1_003, 1, "numbering")],
)
def test_numbers_that_cannot_come_next(shoe: int, number: int, reason: str) -> None:
    """A number that was used, or that no table reaches unheard, is refused; the table goes on."""
    scene = playing()
    scene.load()
    for _ in range(2):
        scene.play()
    scene.begin()
    refused = scene.send("round_opened", shoe=shoe, round=number)
    (letter,) = scene.dead_letters
    assert (letter.reason, letter.event_id, letter.shoe, letter.round) == (reason, refused, shoe, number)
    scene.finish()
    assert (scene.codes, scene.round(3).status) == ([], "settled")


@pytest.mark.parametrize(
    "event",
    [
        ("round_opened", {}),
        ("bet_placed", {"bet_id": "B1", "bet": "tie", "stake": 1, "seat": 1}),
        ("bet_changed", {"bet_id": "B9", "stake": 1}),
        ("commission_charged", {"bet_id": "B9", "amount": 1}),
        ("card_drawn", {"hand": "player", "position": 1, "card": "2S"}),
        ("card_corrected", {"hand": "player", "position": 3, "reason": "misdeal"}),
    ],
    ids=lambda event: event[0],
)
def test_round_of_which_something_was_not_understood_is_not_judged(event: tuple[str, dict[str, object]]) -> None:
    """An event that can't be used says something all the same: a stake raised, a card dealt anew, a round reopened."""
    kind, fields = event
    scene = playing()
    scene.begin()
    scene.bet("player")
    scene.no_more_bets()
    scene.deal("2S 4H", "7D KC")
    scene.of_round(kind, **fields)
    scene.call("tie")
    scene.of_round("payout_made", bet_id="B1", amount=7)
    scene.close()
    assert len(scene.refusals) == 1
    assert (scene.codes, scene.round().status) == (["round_incomplete"], "incomplete")


def test_chips_moved_in_a_round_that_is_over_leave_the_tray_uncertain() -> None:
    """COMAR 36.05.03.02: whether they moved at all nobody knows, so the next count accuses nobody."""
    scene = playing()
    scene.play(PLAYER_WINS, ("player",))
    scene.number += 1
    scene.play()
    scene.number -= 1
    scene.of_round("payout_made", bet_id="B1", amount=7)
    scene.send("float_counted", amount=FLOAT)
    assert (scene.refusals, scene.codes) == (["round_over"], [])
    scene.send("float_counted", amount=FLOAT - 7)
    assert scene.codes == ["float_unexplained"]


@pytest.mark.parametrize(("shoe", "reason"), [(1, "shoe_over"), (2, "shoe_over"), (1_003, "numbering")])
def test_shoes_that_cannot_come_next(shoe: int, reason: str) -> None:
    scene = playing()
    scene.load()
    scene.send("shoe_loaded", shoe=shoe, decks=8)
    assert scene.refusals == [reason]
