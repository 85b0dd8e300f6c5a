"""Money that moves after its round was over counts in its own round, until the next one ends."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from processors.reconstruct.fold import FoldSettings, TableFold
from processors.reconstruct.table import may_come_again
from schemas.configuration import Commission, TableConfiguration, preset
from schemas.facts import AlertFact
from schemas.wire import encode
from tests.processors.reconstruct.scene import (
    BANKER_WINS,
    FLOAT,
    HKD,
    MACAU,
    PLAYER_WINS,
    TIE,
    Scene,
    called,
    playing,
    with_changes,
)

STAKE = 1_000 * HKD
MARKED = with_changes(MACAU, configuration_id="marked", commission=Commission(collection="marked"))


def over(hands: tuple[str, str] = PLAYER_WINS, configuration: TableConfiguration = MACAU) -> Scene:
    """Return such a table whose round was closed with nothing paid or collected."""
    scene = called(hands, configuration)
    scene.close()
    return scene


def stands(scene: Scene) -> list[str]:
    """Return the codes of the alerts that are not put right."""
    return sorted(alert.code for alert in scene.alerts if alert.status == "raised")


def _nothing(scene: Scene) -> None:
    """Nobody goes on."""


def _next_round(scene: Scene) -> None:
    scene.begin()
    scene.number -= 1


def _shoe_taken_away(scene: Scene) -> None:
    scene.take_shoe_away()


def _next_shoe(scene: Scene) -> None:
    number = scene.number
    scene.load()
    scene.shoe, scene.number = scene.shoe - 1, number


def _table_closed(scene: Scene) -> None:
    scene.send("table_closed")


MEANWHILE = [_nothing, _next_round, _shoe_taken_away, _next_shoe, _table_closed]


@pytest.mark.parametrize("meanwhile", MEANWHILE)
def test_what_is_paid_and_collected_afterwards_puts_right_what_was_told(meanwhile: Callable[[Scene], None]) -> None:
    """Art. 17."""
    scene = over()
    assert stands(scene) == ["losing_stake_not_collected", "winning_bet_unpaid"]
    closed_at = scene.round(1).closed_at
    meanwhile(scene)
    shoe = scene.shoe
    scene.of_round("payout_made", bet_id="B1", amount=STAKE)
    scene.of_round("stake_collected", bet_id="B2", amount=STAKE)
    assert (stands(scene), scene.refusals) == ([], [])
    paid = scene.alert("winning_bet_unpaid")
    assert (paid.status, paid.evidence.due, paid.evidence.paid, paid.revision) == ("corrected", STAKE, 0, 1)
    assert scene.alert("losing_stake_not_collected").status == "corrected"
    fact = scene.round(1, shoe)
    assert (fact.paid, fact.collected, fact.alerts, fact.status) == (STAKE, STAKE, 2, "settled")
    assert (fact.closed_at, fact.occurred_at) == (closed_at, closed_at)
    assert [(bet.paid, bet.collected) for bet in scene.bets] == [(STAKE, 0), (0, STAKE)]
    (hour,) = scene.hours
    assert (hour.paid, hour.collected, hour.alerts, hour.rounds) == (STAKE, STAKE, 2, 1)


def test_chips_of_a_round_that_is_over_leave_the_tray_all_the_same() -> None:
    scene = over()
    scene.of_round("payout_made", bet_id="B1", amount=STAKE)
    scene.send("float_counted", amount=FLOAT - STAKE)
    assert "float_unexplained" not in scene.codes


def test_half_of_a_payout_leaves_the_other_half_due() -> None:
    scene = over()
    scene.of_round("payout_made", bet_id="B1", amount=STAKE // 2)
    assert stands(scene) == ["losing_stake_not_collected", "underpaid"]
    scene.of_round("payout_made", bet_id="B1", amount=STAKE // 2)
    assert stands(scene) == ["losing_stake_not_collected"]
    scene.of_round("payout_made", bet_id="B1", amount=HKD)
    assert stands(scene) == ["losing_stake_not_collected", "overpaid"]
    assert scene.alert("winning_bet_unpaid").revision == 1, "what is put right is told once"


def test_what_is_wrong_again_stands_again() -> None:
    """Art. 18: a payout in full is explained by commission that is taken on top, and no more by too much of it."""
    scene = called(BANKER_WINS, MARKED)
    scene.of_round("payout_made", bet_id="B2", amount=STAKE)
    scene.of_round("stake_collected", bet_id="B1", amount=STAKE)
    scene.close()
    assert stands(scene) == ["commission_missing"]
    scene.of_round("commission_charged", bet_id="B2", amount=20 * HKD)
    assert stands(scene) == ["commission_wrong"]
    scene.of_round("commission_charged", bet_id="B2", amount=30 * HKD)
    assert stands(scene) == []
    assert scene.alert("commission_wrong").evidence.due == 50 * HKD
    scene.of_round("commission_charged", bet_id="B2", amount=HKD)
    assert stands(scene) == ["commission_wrong"]
    assert [entry.round for entry in scene.commissions] == [1, 1, 1]
    assert scene.state.ledger == {2: 51 * HKD}


@pytest.mark.parametrize(
    ("kind", "code"), [("payout_made", "losing_bet_paid"), ("stake_collected", "stake_wrongly_collected")]
)
def test_what_is_done_wrong_afterwards_is_a_deviation(kind: str, code: str) -> None:
    scene = called()
    scene.settle()
    scene.close()
    assert scene.codes == []
    scene.of_round(kind, bet_id="B2", amount=STAKE)
    assert scene.codes == [code]
    assert scene.round().alerts == 1


def test_chips_moved_afterwards_for_a_bet_that_never_stood() -> None:
    scene = over(TIE)
    scene.of_round("payout_made", bet_id="B9", amount=7)
    scene.of_round("stake_collected", bet_id="B9", amount=9)
    assert scene.codes == ["overpaid", "stake_wrongly_collected"]
    assert [alert.text_en.partition(":")[0] for alert in scene.alerts] == [
        "Bet B9 overpaid",
        "Bet B9 over-collected",
    ]
    assert (scene.round().paid, scene.round().collected) == (7, 9)
    assert [bet.revision for bet in scene.bets] == [0, 0], "the bets are what they were"


def test_commission_on_a_bet_that_never_stood_is_refused() -> None:
    scene = over()
    scene.of_round("commission_charged", bet_id="B9", amount=7)
    assert scene.refusals == ["no_such_bet"]
    assert scene.round().revision == 0


def test_void_round_is_paid_afterwards() -> None:
    """Art. 10."""
    scene = called()
    scene.void()
    scene.close()
    scene.of_round("payout_made", bet_id="B1", amount=STAKE)
    assert (scene.codes, scene.round().status) == (["void_round_paid"], "void")


def test_demonstration_is_nothing_to_pay_for() -> None:
    """Art. 2(2): it has no bets, and belongs to no hour."""
    scene = playing()
    scene.demonstrate()
    scene.of_round("payout_made", bet_id="B1", amount=STAKE)
    assert ("overpaid" in scene.codes, scene.round().paid, scene.hours) == (True, STAKE, [])


def test_bet_placed_in_a_demonstration_is_owed_nothing() -> None:
    scene = playing()
    scene.begin("demonstration")
    scene.bet()
    scene.deal(*PLAYER_WINS)
    scene.close()
    scene.of_round("stake_collected", bet_id="B1", amount=STAKE)
    assert (scene.bet_of("B1").result, scene.bet_of("B1").collected) == ("void", STAKE)


def test_round_with_an_uncorrected_error_is_paid_afterwards() -> None:
    """Art. 10."""
    scene = playing()
    scene.begin()
    scene.bet("player", STAKE)
    scene.deal("2S 3H", "7D KC")
    scene.call("banker")
    scene.close()
    assert "uncorrected_round_paid" not in scene.codes
    scene.of_round("stake_collected", bet_id="B1", amount=STAKE)
    assert "uncorrected_round_paid" in scene.codes


@pytest.mark.parametrize("goes_on", [False, True])
def test_stake_that_a_tie_left_stands_no_more_once_it_was_collected(goes_on: bool) -> None:
    """Art. 12."""
    scene = over(TIE)
    if goes_on:
        _next_round(scene)
    scene.of_round("stake_collected", bet_id="B1", amount=STAKE)
    assert scene.codes == ["stake_wrongly_collected"]
    if goes_on:
        scene.number += 1
    else:
        scene.begin()
    scene.no_more_bets()
    scene.finish()
    assert [bet.bet_id for bet in scene.bets if bet.round == 2] == ["B2"]
    assert scene.codes == ["stake_wrongly_collected"]


def test_bet_of_the_next_round_keeps_its_name_to_itself() -> None:
    """Only what a tie left standing is the same stake."""
    scene = over()
    _next_round(scene)
    scene.number += 1
    scene.bet("player", STAKE, 1, bet_id="B1")
    scene.number -= 1
    scene.of_round("stake_collected", bet_id="B1", amount=STAKE)
    assert scene.state.round is not None
    assert list(scene.state.round.bets) == ["B1"]


def test_nothing_is_left_to_do_once_a_round_left_open_was_settled() -> None:
    scene = called()
    _next_round(scene)
    assert scene.round().status == "incomplete"
    scene.of_round("payout_made", bet_id="B1", amount=STAKE)
    assert scene.round().status == "incomplete"
    scene.of_round("stake_collected", bet_id="B2", amount=STAKE)
    assert (scene.round().status, scene.codes) == ("settled", ["round_left_open"])


def test_round_before_the_last_is_over_for_good() -> None:
    scene = over()
    scene.number += 1
    scene.play()
    scene.number = 1
    scene.of_round("payout_made", bet_id="B1", amount=STAKE)
    assert scene.refusals == ["round_over"]


def test_nothing_is_known_any_more_of_a_round_behind_a_gap() -> None:
    scene = over()
    with scene.lost():
        scene.of_round("payout_made", bet_id="B1", amount=STAKE // 2)
    scene.of_round("payout_made", bet_id="B1", amount=STAKE // 2)
    scene.pass_gap_limit()
    assert scene.refusals == ["round_over"]
    assert "underpaid" not in scene.codes


def test_round_keeps_its_dealer_and_its_rules() -> None:
    """What is put in force after a round says nothing about it."""
    scene = over(BANKER_WINS)
    scene.publish(preset("commission_free"))
    scene.send("dealer_in", dealer_id="D-2")
    scene.of_round("payout_made", bet_id="B2", amount=950 * HKD)
    scene.of_round("commission_charged", bet_id="B2", amount=50 * HKD)
    fact = scene.round()
    assert (fact.dealer_id, fact.configuration_id, fact.commission_due) == ("D-1", "macau", 50 * HKD)
    assert stands(scene) == ["losing_stake_not_collected"]
    assert (scene.state.dealer_id, scene.fold.journal.table.rules.configuration.configuration_id) == (
        "D-2",
        "commission_free",
    )


def test_table_without_rules_at_the_time_is_judged_by_the_regulation() -> None:
    scene = Scene()
    scene.send("table_opened")
    scene.load()
    scene.begin()
    scene.bet("player", STAKE)
    scene.deal(*PLAYER_WINS)
    scene.call()
    scene.close()
    scene.publish(MACAU)
    scene.of_round("payout_made", bet_id="B1", amount=STAKE)
    assert (stands(scene), scene.round().configuration_id) == ([], "")


def doubtful(hands: tuple[str, str] = PLAYER_WINS) -> Scene:
    """Return a table that may have published another configuration unheard, and nobody named one since."""
    scene = playing()
    with scene.lost():
        scene.send("heartbeat")
    scene.pass_gap_limit()
    scene.names_configuration = False
    scene.number += 1
    scene.begin()
    scene.bet("player", STAKE, 1)
    scene.no_more_bets()
    scene.deal(*hands)
    scene.call()
    return scene


def test_deviation_under_rules_in_doubt_is_no_accusation() -> None:
    """It says that there are other rules, and so that nobody knows what any bet was due."""
    scene = doubtful(("6D KC", "9S KH"))
    scene.settle()
    scene.close()
    assert (scene.bet_of("B1").result, scene.hours[0].handle) == ("lose", STAKE)
    scene.of_round("payout_made", bet_id="B1", amount=7)
    assert scene.codes == ["telemetry_gap"]
    assert (scene.bet_of("B1").result, scene.bet_of("B1").paid) == ("unknown", 7)
    assert (scene.round().status, scene.round().handle, scene.hours[0].handle) == ("incomplete", 0, 0)
    scene.of_round("payout_made", bet_id="B1", amount=7)
    assert (scene.bet_of("B1").result, scene.bet_of("B1").paid) == ("unknown", 14)


def test_hour_that_nobody_remembers_keeps_its_sums() -> None:
    scene = over()
    scene.state.hours.clear()
    scene.of_round("payout_made", bet_id="B1", amount=STAKE)
    assert scene.hours[0].paid == 0
    assert scene.round().paid == STAKE


def test_what_may_be_told_of_it_yet_is_not_forgotten() -> None:
    scene = over()
    _next_round(scene)
    state = scene.state
    for key in (("round", 1, 1), ("bet", 1, 1, "B1"), ("alert", "BAC-01:1:1:underpaid:B1"), ("alert", "BAC-01:1:2:x")):
        assert may_come_again(state, key), key
    for key in (("round", 1, 3), ("bet", 1, 3, "B1"), ("alert", "BAC-01:1:3:underpaid:B1"), ("dead_letter", "1:0")):
        assert not may_come_again(state, key), key


def test_fold_taken_up_again_pays_as_the_one_that_never_stopped() -> None:
    scene = over(TIE)
    restored = TableFold.restore(scene.fold.snapshot(), FoldSettings())
    before = len(scene.records)
    scene.of_round("stake_collected", bet_id="B1", amount=STAKE)
    scene.begin()
    scene.change("B2", 2 * STAKE)
    scene.no_more_bets()
    scene.finish()
    given_out = [fact for record in scene.records[before:] for fact in restored.apply(record)]
    assert [encode(fact) for fact in given_out] == [encode(fact) for fact in scene.given_out[-len(given_out) :]]
    assert restored.state == scene.state


# -- before or after -------------------------------------------------------------------------------------------------

Move = tuple[str, str, int]
Hands = tuple[str, str]

AMOUNTS = st.sampled_from((50 * HKD, 500 * HKD, 950 * HKD, STAKE, 8 * STAKE))
CHIPS = st.tuples(st.sampled_from(("payout_made", "stake_collected")), st.sampled_from(("B1", "B2", "B9")), AMOUNTS)
# Commission on a bet that never stood can't be used, which leaves a round in play in doubt and one that is over not.
CHARGES = st.tuples(st.just("commission_charged"), st.sampled_from(("B1", "B2")), AMOUNTS)
MOVES = st.lists(CHIPS | CHARGES, max_size=6)
HANDS = st.sampled_from((PLAYER_WINS, BANKER_WINS, TIE, ("2S 3H", "7D KC")))


def settled(moves: list[Move], split: int, hands: Hands, configuration: TableConfiguration, *, closes: bool) -> Scene:
    """Return a table that moved what is before `split` in the round and the rest afterwards."""
    scene = called(hands, configuration)
    for number, (kind, bet_id, amount) in enumerate((*moves, ("", "", 0))):
        if number == split:
            if closes:
                scene.close()
            else:
                _next_round(scene)
        if kind:
            scene.of_round(kind, bet_id=bet_id, amount=amount)
    return scene


@settings(max_examples=150)
@given(MOVES, st.integers(0, 6), HANDS, st.sampled_from((MACAU, MARKED, preset("commission_free"))), st.booleans())
def test_it_is_the_same_whether_money_moves_before_a_round_ends_or_after(
    moves: list[Move], split: int, hands: Hands, configuration: TableConfiguration, closes: bool
) -> None:
    """The same bets, sums and tray, and the same alerts stand; some are there besides that were put right."""

    def told_of(scene: Scene) -> tuple[object, ...]:
        fact = scene.round(1)
        sums = (fact.status, fact.handle, fact.house_win, fact.commission_due, fact.commission, fact.paid)
        bets = [(bet.result, bet.due, bet.net, bet.paid, bet.collected, bet.commission) for bet in scene.bets]
        alerts = {_said(alert) for alert in scene.alerts if alert.status == "raised"}
        (hour,) = scene.hours
        state = scene.state
        return sums, bets, alerts, (hour.paid, hour.collected, hour.handle), state.expected_float, state.ledger

    before = settled(moves, len(moves), hands, configuration, closes=closes)
    after = settled(moves, min(split, len(moves)), hands, configuration, closes=closes)
    assert told_of(after) == told_of(before)
    assert {alert.alert_id for alert in after.alerts} >= {alert.alert_id for alert in before.alerts}


def _said(alert: AlertFact) -> tuple[object, ...]:
    evidence = alert.evidence
    return alert.alert_id, alert.article, alert.dealer_id, evidence.due, evidence.paid, evidence.expected
