"""Cards dealt against arts. 7 and 9, and what becomes of the error by art. 10: put right, cancelled, or paid."""

import pytest

from tests.processors.reconstruct.scene import BANKER_SIX, BANKER_WINS, PLAYER_WINS, TIE, Scene, playing


def dealt(player: str, banker: str) -> Scene:
    """Return a table at which two hands have just been dealt in order."""
    scene = playing()
    scene.begin()
    scene.bet("player")
    scene.no_more_bets()
    scene.deal(player, banker)
    return scene


@pytest.mark.parametrize("hands", [PLAYER_WINS, BANKER_WINS, BANKER_SIX, TIE], ids=["player", "banker", "six", "tie"])
def test_hands_dealt_by_the_book_are_nobodys_fault(hands: tuple[str, str]) -> None:
    scene = playing()
    scene.play(hands, ("player",))
    assert (scene.codes, scene.refusals, scene.round().status) == ([], [], "settled")


@pytest.mark.parametrize(
    ("player", "banker", "hand", "item"),
    [
        ("2S 4H KD", "7D KC", "player", "9(2)"),
        ("7S KH", "6D KC 2S", "banker", "9(4)(4)"),
        ("2S 3H 8C", "3D KC 2S", "banker", "9(4)(1)"),
    ],
    ids=["player draws to 6", "banker draws to 6", "banker 3 against an 8"],
)
def test_third_card_against_the_tableau(player: str, banker: str, hand: str, item: str) -> None:
    """Art. 9(2) and (4): named as soon as the card lies there, with its sub-item."""
    scene = dealt(player, banker)
    alert = scene.alert("third_card_drawn")
    assert (alert.alert_id, alert.evidence.expected) == (f"BAC-01:1:1:third_card_drawn:{hand}", item)
    assert alert.evidence.player_cards == tuple(player.split())


def test_natural_ignored_is_told_for_each_hand_that_drew() -> None:
    """Art. 9(2) and (4)(6): a natural of either hand stands both."""
    scene = dealt("9S KH 2C", "2D KC 3C")
    assert [(alert.code, alert.alert_id[-6:]) for alert in scene.alerts] == [
        ("natural_ignored", "player"),
        ("natural_ignored", "banker"),
    ]


def test_banker_answers_a_wrong_card_as_it_lies() -> None:
    """Art. 9: one wrong card of the player's is one error, though the banker then draws to it."""
    scene = dealt("2S 4H 6C", "6D KC 2S")
    assert scene.codes == ["third_card_drawn"]


def test_missing_third_card_is_found_at_the_call() -> None:
    """Art. 9(1): nobody can know before that no card is to come."""
    scene = dealt("2S 3H", "7D KC")
    assert scene.codes == []
    scene.call()
    alert = scene.alert("third_card_missed")
    assert (alert.evidence.expected, alert.evidence.actual) == ("9(1)", "stood")


def test_missing_third_card_is_found_at_the_end_at_the_latest() -> None:
    """Arts. 9(1) and 10: whoever pays without calling has not dealt the card either."""
    scene = dealt("2S 3H", "7D KC")
    scene.of_round("stake_collected", bet_id="B1", amount=100_000)
    scene.close()
    assert scene.codes == ["third_card_missed", "uncorrected_round_paid"]


def test_side_bets_may_be_settled_before_the_third_card() -> None:
    """Arts. 9(1), 10 and 13(4): a pair is decided by two cards, and a card yet to come is none that was missed."""
    scene = playing()
    scene.begin()
    scene.bet("player_pair", 100_000)
    scene.no_more_bets()
    scene.deal("2S 3H", "7D KC")
    scene.of_round("stake_collected", bet_id="B1", amount=100_000)
    scene.draw("player", "4H", 3)
    scene.call()
    scene.close()
    assert scene.codes == []


def test_third_card_dealt_after_the_call_puts_the_miss_right() -> None:
    """Art. 10: put right at once, and called anew."""
    scene = dealt("2S 3H", "7D KC")
    scene.call()
    scene.draw("player", "4H")
    assert scene.alert("third_card_missed").status == "corrected"
    scene.call()
    scene.settle()
    scene.close()
    assert (scene.codes, scene.round().tableau_errors, scene.round().alerts) == (["third_card_missed"], (), 1)


@pytest.mark.parametrize(
    ("order", "first_wrong"),
    [("BPBP", 1), ("PPBB", 2), ("PBBP", 3)],
    ids=["banker first", "two by two", "second round turned"],
)
def test_first_four_cards_out_of_order_are_one_error(order: str, first_wrong: int) -> None:
    """Art. 7(1): from the player, by turns; what follows from the first wrong card is not wrong besides."""
    scene = playing()
    scene.begin()
    ids = [
        scene.draw({"P": "player", "B": "banker"}[hand], card)
        for hand, card in zip(order, ("2S", "4H", "5D", "3C"), strict=True)
    ]
    scene.call()
    scene.close()
    assert scene.alert("deal_order").evidence.event_ids == tuple(ids[:first_wrong])
    assert scene.round().tableau_errors == ("7(1)",)
    assert scene.hours[0].dealing_errors == 1


def test_player_card_after_the_bankers_third_is_out_of_order() -> None:
    """Art. 9: the player's third card comes first."""
    scene = dealt("2S 3H", "2D KC")
    scene.draw("banker", "3S")
    assert scene.codes == []
    scene.draw("player", "6S")
    scene.call()
    assert scene.codes == ["deal_order"]
    assert scene.alert("deal_order").evidence.expected == "player"


def test_bankers_third_card_without_the_players_is_a_miss() -> None:
    """Art. 9(1) and (3)(1): the banker draws to 2 whatever the player does, so only the player's card is wrong."""
    scene = dealt("2S 3H", "2D KC 3S")
    scene.call()
    assert scene.codes == ["third_card_missed"]


def test_third_hand_of_three_before_the_banker_has_two() -> None:
    """Arts. 7(1) and 9(2): out of order, and in the end a card too many besides."""
    scene = playing()
    scene.begin()
    for hand, card in (("player", "2S"), ("banker", "7D"), ("player", "4S"), ("player", "3D"), ("banker", "KC")):
        scene.draw(hand, card)
    scene.call()
    assert scene.codes == ["deal_order", "third_card_drawn"]


# -- art. 10: put right ----------------------------------------------------------------------------------------------


def test_misdealt_card_taken_out_is_corrected() -> None:
    """Art. 10: the alert stays, as put right; the round is paid with a good conscience."""
    scene = dealt("2S 4H KD", "7D KC")
    correction = scene.misdeal("player", 3)
    alert = scene.alert("third_card_drawn")
    assert (alert.status, alert.evidence.event_ids[-1]) == ("corrected", correction)
    scene.call()
    scene.settle()
    scene.close()
    assert scene.codes == ["third_card_drawn"]
    assert (scene.round().player_cards, scene.round().tableau_errors) == (("2S", "4H"), ())
    # Taken out of the hand, but out of the shoe all the same.
    assert (scene.shoe_fact().seen["KD"], scene.shoe_fact().cards_out) == (1, 13)


def test_misread_card_takes_the_alert_back() -> None:
    """Art. 10: where the dealer did nothing wrong, nothing may stand against the dealer."""
    scene = dealt("2S 4H KD", "7D KC")
    assert scene.codes == ["third_card_drawn"]
    scene.misread("player", 2, "3H")
    assert scene.codes == []
    scene.call()
    scene.settle()
    scene.close()
    assert (scene.codes, scene.round().alerts) == ([], 0)
    assert scene.shoe_fact().seen == {"2S": 1, "3H": 1, "KD": 1, "7D": 1, "KC": 1}


def test_ghost_card_read_and_taken_back() -> None:
    """Art. 10: a reading of a card that never lay there."""
    scene = dealt("2S 4H KD", "7D KC")
    scene.misread("player", 3, None)
    assert (scene.codes, scene.state.round and scene.state.round.player) == ([], ["2S", "4H"])
    assert scene.state.shoe is not None
    assert scene.state.shoe.cards_out == 12


def test_card_that_was_not_read_is_added() -> None:
    """Art. 10: a correction may name the place behind the last card of a hand."""
    scene = dealt("2S 3H", "7D KC")
    scene.misread("player", 3, "4H")
    scene.call()
    assert (scene.codes, scene.state.round and scene.state.round.player) == ([], ["2S", "3H", "4H"])


def test_better_reading_may_show_an_error() -> None:
    """Art. 9: after the correction the hands are judged as they really lie."""
    scene = dealt("2S 3H 4H", "7D KC")
    scene.misread("player", 2, "5H")
    assert scene.codes == []
    scene.call()
    assert scene.codes == ["third_card_drawn"]


def test_error_that_a_reading_does_not_explain_stands() -> None:
    scene = dealt("2S 4H KD", "7D KC")
    scene.misread("player", 2, "5H")
    assert scene.alert("third_card_drawn").status == "raised"


@pytest.mark.parametrize(
    ("position", "status"), [(2, "corrected"), (3, "raised")], ids=["dealt anew", "another card taken out"]
)
def test_cards_out_of_order_are_put_right_by_dealing_them_anew(position: int, status: str) -> None:
    """Arts. 7(1) and 10."""
    scene = playing()
    scene.begin()
    for hand, card in (("player", "2S"), ("player", "3H"), ("banker", "7D"), ("banker", "KC"), ("player", "4C")):
        scene.draw(hand, card)
    scene.misdeal("player", position, "9C")
    assert scene.alert("deal_order").status == status


def test_third_cards_out_of_order_are_put_right_by_dealing_them_anew() -> None:
    """Arts. 9 and 10."""
    scene = dealt("2S 3H", "2D KC")
    scene.draw("banker", "3S")
    scene.draw("player", "6S")
    scene.misdeal("player", 2, "3D")
    assert scene.alert("deal_order").status == "raised"
    scene.misdeal("banker", 3, "4S")
    assert scene.alert("deal_order").status == "corrected"


def test_better_reading_or_one_more_card_puts_no_order_right() -> None:
    """Art. 7(1): who got the cards when is not a matter of what they are."""
    scene = playing()
    scene.begin()
    for hand, card in (("banker", "2S"), ("player", "3H"), ("banker", "5D"), ("player", "2C")):
        scene.draw(hand, card)
    scene.misread("player", 2, "4C")
    assert scene.alert("deal_order").status == "raised"


def test_hand_left_with_one_card_is_not_judged() -> None:
    """Art. 10: two cards taken out; what stood against the third stands no more."""
    scene = dealt("2S 4H KD", "7D KC")
    scene.misdeal("banker", 2)
    assert scene.alert("third_card_drawn").status == "corrected"
    scene.call("player")
    assert scene.codes == ["third_card_drawn"]


def test_correction_of_a_card_that_never_was_is_refused() -> None:
    scene = dealt("2S 4H", "7D KC")
    scene.misdeal("player", 3)
    scene.begin()
    scene.misread("player", 2, "3H")
    assert scene.refusals == ["card_position", "card_position"]


def test_card_for_a_place_taken_is_refused() -> None:
    scene = dealt("2S 4H", "7D KC")
    scene.draw("banker", "5C", position=2)
    (letter,) = scene.dead_letters
    assert (letter.reason, letter.shoe, letter.round) == ("card_position", 1, 1)
    scene.call("player")
    scene.close()
    assert (scene.codes, scene.round().banker_cards) == (["round_incomplete"], ("7D", "KC"))


# -- art. 10: void, or paid ------------------------------------------------------------------------------------------


def test_void_round_with_an_error_is_by_the_book() -> None:
    """Art. 10: what can't be put right is cancelled."""
    scene = dealt("2S 4H KD", "7D KC")
    scene.void()
    scene.close()
    assert scene.codes == ["third_card_drawn"]
    assert (scene.round().status, scene.round().outcome, scene.bet_of("B1").result) == ("void", None, "void")


def test_nothing_is_judged_once_the_round_is_void() -> None:
    """Art. 10: cards that follow, and the call, mean nothing any more."""
    scene = dealt("2S 4H", "7D KC")
    scene.void()
    scene.draw("player", "KD")
    scene.call("player")
    scene.misread("player", 1, "3S")
    scene.close()
    assert scene.codes == []


def test_error_paid_without_being_put_right() -> None:
    """Art. 10: one alert for the error, one for the payment, however many chips move."""
    scene = dealt("2S 4H KD", "7D KC")
    scene.call()
    scene.settle()
    scene.bet("tie", 10_000)
    scene.of_round("payout_made", bet_id="B2", amount=80_000)
    alert = scene.alert("uncorrected_round_paid")
    assert scene.codes.count("uncorrected_round_paid") == 1
    assert set(scene.alert("third_card_drawn").evidence.event_ids) <= set(alert.evidence.event_ids)


def test_misreading_found_after_the_payment_clears_the_dealer() -> None:
    """Art. 10: no error, so no payment of one; the call was right, too."""
    scene = dealt("2S 4H KD", "7D KC")
    scene.call("banker")
    scene.settle()
    assert scene.codes == ["third_card_drawn", "uncorrected_round_paid"]
    scene.misread("player", 2, "3H")
    scene.close()
    assert (scene.codes, scene.round().alerts) == ([], 0)


def test_misreading_found_after_the_payment_may_convict_the_dealer() -> None:
    """Art. 10: the error was paid, though nobody saw it then."""
    scene = dealt("2S 3H KD", "7D KC")
    scene.call()
    scene.settle()
    assert scene.codes == []
    scene.misread("player", 2, "4H")
    scene.close()
    assert scene.codes == ["third_card_drawn", "uncorrected_round_paid"]


def test_one_misreading_of_two_errors_clears_only_its_own() -> None:
    """Art. 10: paid uncorrected as long as one error stands."""
    scene = dealt("9S KH 2C", "2D KC 3C")
    scene.of_round("stake_collected", bet_id="B1", amount=100_000)
    scene.misread("banker", 3, None)
    assert scene.codes == ["natural_ignored", "uncorrected_round_paid"]


def test_taking_the_card_out_after_the_payment_is_too_late() -> None:
    """Art. 10: it was paid uncorrected all the same."""
    scene = dealt("2S 4H KD", "7D KC")
    scene.of_round("stake_collected", bet_id="B1", amount=100_000)
    scene.misdeal("player", 3)
    assert scene.alert("uncorrected_round_paid").status == "raised"


def test_dealing_error_in_a_demonstration_is_paid_by_nobody() -> None:
    """Arts. 2(2) and 10: a demonstration has no money, so none is paid wrongly."""
    scene = playing()
    scene.begin("demonstration")
    scene.bet("player")
    scene.deal("2S 4H KD", "7D KC")
    scene.of_round("stake_collected", bet_id="B1", amount=100_000)
    scene.close()
    assert "uncorrected_round_paid" not in scene.codes


# -- art. 11: the call -----------------------------------------------------------------------------------------------


def test_wrong_call() -> None:
    """Art. 11."""
    scene = dealt(*PLAYER_WINS)
    called = scene.call("banker")
    alert = scene.alert("result_mismatch")
    assert (alert.evidence.expected, alert.evidence.actual) == ("player", "banker")
    assert alert.evidence.event_ids[-1] == called


def test_wrong_call_put_right() -> None:
    """Arts. 10 and 11: called anew, the round goes by the cards."""
    scene = dealt(*PLAYER_WINS)
    scene.call("banker")
    scene.call()
    assert scene.alert("result_mismatch").status == "corrected"


def test_call_is_compared_again_when_cards_change() -> None:
    """Arts. 10 and 11: still wrong after a misdeal was put right, then right."""
    scene = dealt("2S 4H KD", "7D KC")
    scene.call("player")
    scene.misdeal("player", 3)
    assert (scene.alert("result_mismatch").status, scene.state.round and len(scene.state.round.raised)) == ("raised", 2)
    scene.misdeal("player", 2, "6H")
    assert scene.alert("result_mismatch").status == "corrected"


def test_misreading_makes_a_right_call_right() -> None:
    """Arts. 10 and 11: the dealer saw the cards better than the shoe did."""
    scene = dealt("9S KH", "6D KC")
    scene.call("tie")
    assert scene.codes == ["result_mismatch"]
    scene.misread("banker", 1, "9D")
    scene.settle()
    scene.close()
    assert (scene.codes, scene.round().outcome, scene.round().alerts) == ([], "tie", 0)


def test_call_before_the_cards_is_no_call_against_them() -> None:
    scene = playing()
    scene.begin()
    scene.draw("player", "9S")
    scene.call("banker")
    assert scene.codes == []


# -- art. 4 ----------------------------------------------------------------------------------------------------------


def test_card_found_face_up_changes_nothing() -> None:
    """Art. 4: it stays valid, and so do the bets."""
    scene = dealt(*PLAYER_WINS)
    scene.of_round("card_exposed", card="6D")
    scene.call()
    scene.settle()
    scene.close()
    assert (scene.codes, scene.round().exposed_cards) == ([], 1)


def test_round_cancelled_for_a_card_found_face_up() -> None:
    """Art. 4."""
    scene = dealt(*PLAYER_WINS)
    scene.of_round("card_exposed", card="6D")
    scene.void("card face up")
    scene.close()
    assert scene.codes == ["void_without_error"]


def test_round_cancelled_for_something_else() -> None:
    """Art. 10: nobody sees why a patron tears a card."""
    scene = dealt(*PLAYER_WINS)
    scene.void()
    scene.close()
    assert scene.codes == []


@pytest.mark.parametrize("put_right", [False, True])
def test_round_cancelled_for_an_error_though_a_card_lay_face_up(put_right: bool) -> None:
    """Arts. 4 and 10: whether the attempt to put it right sufficed is for the house to say."""
    scene = dealt("2S 4H KD", "7D KC")
    scene.of_round("card_exposed", card="KD")
    if put_right:
        scene.misdeal("player", 3)
    scene.void("misdeal")
    scene.close()
    assert scene.codes == ["third_card_drawn"]


def fourth_card() -> Scene:
    """Return a table at which the banker was dealt a fourth card."""
    scene = dealt("2S 3H KC", "2D KC 4C")
    scene.of_round("card_drawn", hand="banker", position=4, card="9H")
    return scene


def test_fourth_card_is_one_too_many() -> None:
    """Art. 9 gives a hand one third card: what lies beyond it is told, and counts for nothing."""
    scene = fourth_card()
    alert = scene.alert("third_card_drawn")
    assert (alert.alert_id, alert.evidence.expected) == ("BAC-01:1:1:third_card_drawn:banker 4", "9")
    scene.call()
    scene.settle()
    scene.close()
    assert scene.codes == ["third_card_drawn", "uncorrected_round_paid"]
    assert (scene.round().banker_cards, scene.round().status) == (("2D", "KC", "4C"), "settled")


def test_fourth_card_taken_out_is_put_right() -> None:
    """Art. 10."""
    scene = fourth_card()
    scene.of_round("card_corrected", hand="banker", position=4, reason="misdeal")
    scene.call()
    scene.settle()
    scene.close()
    assert [(alert.code, alert.status) for alert in scene.alerts] == [("third_card_drawn", "corrected")]


def test_fourth_card_that_was_misread_never_lay_there() -> None:
    scene = fourth_card()
    scene.of_round("card_corrected", hand="banker", position=4, reason="misread", card="8H")
    assert scene.codes == ["third_card_drawn"]
    assert scene.state.shoe is not None
    assert ("9H" in scene.state.shoe.seen, scene.state.shoe.seen["8H"]) == (False, 1)
    scene.of_round("card_corrected", hand="banker", position=4, reason="misread")
    assert (scene.codes, "8H" in scene.state.shoe.seen) == ([], False)


def test_fourth_card_stands_whatever_is_corrected_beside_it() -> None:
    scene = fourth_card()
    scene.misread("player", 1, "2C")
    assert scene.codes == ["third_card_drawn"]


def test_fourth_card_in_a_round_not_fully_seen_or_void_accuses_nobody() -> None:
    scene = dealt("2S 3H KC", "2D KC 4C")
    scene.void()
    scene.of_round("card_drawn", hand="banker", position=4, card="9H")
    assert scene.codes == []
    scene = playing()
    scene.begin()
    with scene.lost():
        scene.bet("player")
    scene.deal("2S 3H KC", "2D KC 4C")
    scene.pass_gap_limit()
    scene.of_round("card_drawn", hand="banker", position=4, card="9H")
    scene.of_round("card_corrected", hand="banker", position=4, reason="misdeal")
    assert "third_card_drawn" not in scene.codes


@pytest.mark.parametrize("known", [False, True], ids=["correction of none", "the same again"])
def test_fourth_card_that_makes_no_sense_is_refused(known: bool) -> None:
    scene = fourth_card() if known else dealt("2S 3H KC", "2D KC 4C")
    if known:
        scene.of_round("card_drawn", hand="banker", position=4, card="9H")
    else:
        scene.of_round("card_corrected", hand="banker", position=4, reason="misdeal")
    assert scene.refusals == ["card_position"]
