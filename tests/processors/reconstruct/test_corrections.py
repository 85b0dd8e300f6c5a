"""Supervisors' corrections: events taken back or replaced, corrections of corrections, and those that can't be."""

from datetime import timedelta
from typing import Any

import pytest

from processors.reconstruct import corrections as corrections_module
from processors.reconstruct import journal as journal_module
from processors.reconstruct.fold import FoldSettings, TableFold
from tests.processors.reconstruct.scene import (
    BANKER_WINS,
    EPOCH,
    FLOAT,
    HKD,
    PLAYER_WINS,
    TIE,
    Scene,
    playing,
)

NARROW = FoldSettings(window_rounds=8)


def overpaid() -> tuple[Scene, str]:
    """Return a table after a round with a payout keyed in wrongly, and that payout's id."""
    scene = playing()
    scene.begin()
    scene.bet("player")
    scene.no_more_bets()
    scene.deal(*PLAYER_WINS)
    scene.call()
    payout = scene.of_round("payout_made", bet_id="B1", amount=1_100 * HKD)
    scene.close()
    assert scene.codes == ["overpaid"]
    return scene, payout


def standing_alerts(scene: Scene) -> list[str]:
    """Return the codes of the alerts that stand, but for the corrections' own."""
    return [code for code in scene.codes if code != "correction_recorded"]


@pytest.mark.parametrize("by_house", [False, True], ids=["by the table", "by the house"])
def test_replaced_field_counts_as_if_it_had_been_right(by_house: bool) -> None:
    scene, payout = overpaid()
    scene.correct(payout, by_house=by_house, amount=1_000 * HKD)
    assert (standing_alerts(scene), scene.round().alerts, scene.bet_of("B1").paid) == ([], 0, 1_000 * HKD)
    assert (scene.hours[0].paid, scene.hours[0].alerts, scene.state.expected_float) == (
        1_000 * HKD,
        0,
        FLOAT - 1_000 * HKD,
    )
    revised = {fact.fact: fact.revision for fact in (scene.round(), scene.bet_of("B1"), scene.hours[0])}
    assert revised == {"round": 1, "bet": 1, "table_hour": 1}


def test_only_what_comes_out_differently_is_given_out_again() -> None:
    """No road, no shoe, no other bet; and the facts name the correction as what brought them about."""
    scene, payout = overpaid()
    before = len(scene.given_out)
    scene.correct(payout, amount=1_000 * HKD)
    revised = scene.given_out[before:]
    assert sorted(fact.fact for fact in revised) == ["alert", "alert", "bet", "round", "table_hour"]
    assert {fact.src_offset for fact in revised} == {scene.records[-1].offset}


def test_event_taken_back_never_happened() -> None:
    """But the table was heard of then: that it was silent can't be said."""
    scene, payout = overpaid()
    scene.correct(payout)
    assert standing_alerts(scene) == ["winning_bet_unpaid"]
    scene.wait(60)
    alive = scene.send("heartbeat")
    scene.wait(60)
    scene.send("heartbeat")
    scene.correct(alive)
    assert "table_silent" not in scene.codes


def test_whole_outcome_may_change() -> None:
    """Arts. 11, 12 and 17: winner, roads, carried stakes and sums follow."""
    scene = playing()
    scene.begin()
    scene.bet("player")
    scene.no_more_bets()
    _, _, _, banker_second = scene.deal("9S KH", "6D 3C")
    called = scene.call("player")
    scene.of_round("payout_made", bet_id="B1", amount=1_000 * HKD)
    scene.close()
    scene.begin()
    scene.withdraw("B1")
    scene.close()
    assert scene.round(1).outcome == "tie"
    scene.correct(banker_second, card="KC")
    assert (scene.round(1).outcome, scene.bet_of("B1", 1).result, scene.round(2).bets) == ("player", "win", 0)
    assert [(cell.road, cell.mark) for cell in scene.roads] == [("bead_plate", "P"), ("big_road", "P")]
    assert scene.refusals == ["no_such_bet"]
    scene.correct(called, outcome="tie")
    assert "result_mismatch" in scene.codes


def test_roads_that_no_longer_come_up_are_retracted() -> None:
    """A shoe with one round fewer on the road has fewer cells on all of them."""
    scene = playing()
    for hands in (BANKER_WINS, PLAYER_WINS, PLAYER_WINS, BANKER_WINS, PLAYER_WINS):
        scene.play(hands)
    opened = next(
        record for record in scene.records if b'"round":5' in record.value and b"round_opened" in record.value
    )
    cells = len(scene.roads)
    for offset, kind in ((0, "round_opened"), (6, "result_called")):
        event = scene.records[opened.offset + offset]
        assert kind.encode() in event.value
        scene.correct(f"BAC-01:1:{event.offset + 1}")
    assert scene.round(5).status == "incomplete"
    assert len(scene.roads) == cells - 4
    assert {fact.retracted for fact in scene.given_out if fact.fact == "road" and fact.revision} == {True}


def test_corrected_configuration_changes_every_verdict_under_it() -> None:
    """SJM(1): limits that were keyed in wrongly never were the limits."""
    scene = Scene()
    published = scene.publish(scene.configuration)
    scene.send("table_opened")
    scene.load()
    scene.play(PLAYER_WINS, ("player", 100))
    assert scene.codes == ["below_minimum"]
    bets = [offer.model_dump(mode="json") | {"minimum": 100} for offer in scene.configuration.bets]
    configuration = scene.configuration.model_dump(mode="json") | {"bets": bets}
    scene.correct(published, configuration=configuration)
    assert (standing_alerts(scene), scene.refusals) == ([], [])


def test_corrected_moment_corrects_the_clock() -> None:
    scene = playing()
    wrong = scene.send("heartbeat", occurred_at=scene.now.replace(hour=3))
    scene.send("heartbeat")
    assert scene.codes == ["clock_skew"]
    scene.correct(wrong, occurred_at=scene.now.isoformat())
    assert standing_alerts(scene) == []


# -- corrections of corrections -------------------------------------------------------------------------------------


def test_retracted_correction_leaves_the_event_as_it_was() -> None:
    scene, payout = overpaid()
    correction = scene.correct(payout, amount=1_000 * HKD)
    scene.correct(correction)
    assert (standing_alerts(scene), scene.bet_of("B1").paid) == (["overpaid"], 1_100 * HKD)
    assert [fact.revision for fact in scene.given_out if fact.fact == "bet"] == [0, 1, 2]


def test_newest_correction_holds_until_it_is_retracted() -> None:
    scene, payout = overpaid()
    scene.correct(payout, amount=1_000 * HKD)
    second = scene.correct(payout, amount=900 * HKD)
    assert standing_alerts(scene) == ["underpaid"]
    scene.correct(second)
    assert standing_alerts(scene) == []


def test_retraction_may_be_retracted() -> None:
    scene, payout = overpaid()
    first = scene.correct(payout, amount=1_000 * HKD)
    second = scene.correct(first)
    scene.correct(second)
    assert standing_alerts(scene) == []


def test_house_takes_its_own_correction_back() -> None:
    scene, payout = overpaid()
    correction = scene.correct(payout, by_house=True, amount=1_000 * HKD)
    scene.correct(correction, by_house=True)
    assert (standing_alerts(scene), scene.refusals) == (["overpaid"], [])


# -- corrections that come before what they correct -----------------------------------------------------------------


@pytest.mark.parametrize("by", ["gap", "late"])
def test_correction_may_come_before_its_event(by: str) -> None:
    """A console is quicker than a controller that was cut off."""
    scene = playing()
    scene.begin()
    scene.bet("player")
    scene.no_more_bets()
    scene.deal(*PLAYER_WINS)
    scene.call()
    with scene.lost() as lost:
        payout = scene.of_round("payout_made", bet_id="B1", amount=1_100 * HKD)
    scene.correct(payout, by_house=True, amount=1_000 * HKD)
    if by == "late":
        scene.pass_gap_limit()
    scene.append(lost[0])
    scene.close()
    assert (standing_alerts(scene), scene.bet_of("B1").paid, scene.refusals) == ([], 1_000 * HKD, [])


def test_retraction_may_come_before_the_correction_it_takes_back() -> None:
    scene, payout = overpaid()
    with scene.lost() as lost:
        correction = scene.correct(payout, amount=1_000 * HKD)
    scene.correct(correction, by_house=True)
    scene.append(lost[0])
    assert (standing_alerts(scene), scene.refusals) == (["overpaid"], [])


def test_two_corrections_that_take_each_other_back() -> None:
    """Which of them holds makes no difference to anything else; no loop, no refusal."""
    scene, payout = overpaid()
    first = f"BAC-01:0:{(scene.now - EPOCH + timedelta(seconds=2)) // timedelta(microseconds=1)}"
    with scene.lost() as lost:
        second = scene.correct(first)
    assert scene.correct(second, by_house=True) == first
    scene.append(lost[0])
    scene.correct(payout, amount=1_000 * HKD)
    assert (scene.refusals, standing_alerts(scene)) == ([], [])


def test_late_correction_is_newer_or_older_by_its_number() -> None:
    """What the table decided last holds, whatever the log got last."""
    scene, payout = overpaid()
    with scene.lost() as lost:
        scene.correct(payout, amount=900 * HKD)
    scene.correct(payout, amount=1_000 * HKD)
    scene.pass_gap_limit()
    scene.append(lost[0])
    assert standing_alerts(scene) == []


def test_late_correction_reaches_back_to_its_event() -> None:
    """Told again from the event on, not from where the correction stands."""
    scene, payout = narrow()
    while scene.number < 10:
        scene.play()
    with scene.lost() as lost:
        scene.correct(payout, amount=1_100 * HKD)
    scene.pass_gap_limit()
    scene.append(lost[0])
    assert (scene.bet_of("B1", 1).paid, scene.round(1).paid) == (1_100 * HKD, 1_100 * HKD)


def test_correction_of_an_event_that_never_comes() -> None:
    """It is kept as a dead letter once nobody can expect the event any more, and is so for ever."""
    scene = Scene(NARROW).open()
    scene.load()
    scene.correct(f"BAC-01:1:{scene.seq + 900_000}", amount=1)
    record = scene.records[-1]
    for _ in range(30):
        scene.play()
    (letter,) = scene.dead_letters
    assert (letter.reason, letter.src_offset) == ("correction", record.offset)
    assert "never came" in letter.detail


# -- corrections that can't be ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"amount": 0}, "as corrected would be invalid"),
        ({"amount": "much"}, "as corrected would be invalid"),
        ({"seq": 5}, "can't change seq"),
        ({"type": "heartbeat", "epoch": 3}, "can't change epoch, type"),
    ],
)
def test_replacement_that_makes_no_event(changes: dict[str, Any], says: str) -> None:
    """The original stands, and nobody reads that it was corrected."""
    scene, payout = overpaid()
    refused = scene.correct(payout, **changes)
    (letter,) = scene.dead_letters
    assert (letter.reason, letter.event_id, scene.codes) == ("correction", refused, ["overpaid"])
    assert says in letter.detail


def test_refusal_stands_when_the_story_is_told_again() -> None:
    """A late event before it changes nothing about a correction that could not be."""
    scene, payout = overpaid()
    with scene.lost() as lost:
        scene.send("heartbeat")
    scene.send("heartbeat")
    scene.correct(payout, amount=0)
    scene.pass_gap_limit()
    (letter,) = scene.dead_letters
    scene.append(lost[0])
    assert scene.dead_letters == [letter]


def test_replacement_found_to_make_no_event_when_the_event_comes() -> None:
    """The event then counts as it was sent."""
    scene = playing()
    scene.begin()
    with scene.lost() as lost:
        scene.bet("player")
    refused = scene.correct(f"BAC-01:1:{scene.seq}", by_house=True, stake=0)
    assert scene.codes == ["correction_recorded"]
    scene.append(lost[0])
    (letter,) = scene.dead_letters
    assert (letter.event_id, scene.codes) == (refused, [])
    assert scene.state.round is not None
    assert scene.state.round.bets["B1"].stake == 1_000 * HKD


def test_replacements_found_to_make_no_event_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """However far apart they came: none of them is told as made."""
    monkeypatch.setattr(journal_module, "BYTES_PER_CHECKPOINT", 300)
    scene = playing()
    scene.begin()
    with scene.lost() as lost:
        scene.bet("player")
    bet = f"BAC-01:1:{scene.seq}"
    scene.correct(bet, by_house=True, stake=0)
    scene.correct(bet, by_house=True, stake=-1)
    scene.append(lost[0])
    assert (scene.refusals, scene.codes) == (["correction", "correction"], [])


@pytest.mark.parametrize(
    ("target", "says"),
    [("BAC-02:1:3", "no event of table BAC-01"), ("itself", "names itself")],
)
def test_target_that_no_correction_can_have(target: str, says: str) -> None:
    scene = playing()
    scene.correct(f"BAC-01:1:{scene.seq + 1}" if target == "itself" else target)
    (letter,) = scene.dead_letters
    assert says in letter.detail


def test_replacement_of_nothing() -> None:
    scene, payout = overpaid()
    scene.send(
        "correction", target_event_id=payout, action="replace", changes={}, authorised_by="PM-7", reason="none given"
    )
    assert "replaces no field" in scene.dead_letters[0].detail


@pytest.mark.parametrize("order", ["known", "awaited"])
def test_correction_can_be_retracted_not_replaced(order: str) -> None:
    scene, payout = overpaid()
    if order == "known":
        correction = scene.correct(payout, amount=1_000 * HKD)
        scene.correct(correction, reason="another reason")
    else:
        with scene.lost() as lost:
            correction = scene.correct(payout, amount=1_000 * HKD)
        scene.correct(correction, by_house=True, reason="another reason")
        scene.append(lost[0])
    (letter,) = scene.dead_letters
    assert "retracted, not replaced" in letter.detail
    assert standing_alerts(scene) == []


def test_retraction_of_a_refused_correction() -> None:
    scene, payout = overpaid()
    refused = scene.correct(payout, seq=5)
    scene.correct(refused)
    assert [("was refused itself" in letter.detail) for letter in scene.dead_letters] == [False, True]


def test_no_more_corrections_than_can_be_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corrections_module, "MAX_CORRECTIONS", 2)
    scene, payout = overpaid()
    for amount in (3, 2, 1_000 * HKD):
        scene.correct(payout, amount=amount)
    assert (scene.refusals, scene.bet_of("B1").paid) == (["correction"], 2)


# -- the end of what can be revised ------------------------------------------------------------------------------------


def far_on(scene: Scene) -> None:
    """Play until the rounds so far lie before what can still be revised."""
    first = scene.fold.journal.story.first
    for _ in range(40):
        scene.play()
    assert scene.fold.journal.story.first > first


def narrow() -> tuple[Scene, str]:
    """Return a table with a narrow window after a round, and the id of that round's payout."""
    scene = Scene(NARROW).open()
    scene.load()
    scene.play(PLAYER_WINS, ("player",))
    return scene, f"BAC-01:1:{scene.seq - 1}"


def test_event_too_old_to_be_corrected() -> None:
    """Said at once, and kept saying when the story is told again."""
    scene, payout = narrow()
    far_on(scene)
    scene.correct(payout, amount=1)
    (letter,) = scene.dead_letters
    assert "before what can still be revised" in letter.detail
    assert scene.bet_of("B1", 1).paid == 1_000 * HKD
    scene.correct(scene.send("heartbeat"))
    assert scene.dead_letters == [letter]


def test_oldest_event_that_can_be_corrected() -> None:
    scene, _ = narrow()
    far_on(scene)
    oldest = scene.fold.journal.story.entries[0]
    scene.correct(f"BAC-01:{oldest.epoch}:{oldest.seq}")
    assert scene.refusals == []
    scene.correct(f"BAC-01:{oldest.epoch}:{oldest.seq - 1}")
    assert scene.refusals == ["correction"]


def test_correction_stays_in_effect_when_its_event_is_out_of_reach() -> None:
    scene, payout = narrow()
    correction = scene.correct(payout, amount=1_100 * HKD)
    far_on(scene)
    assert (scene.fold.journal.corrections.kept, scene.bet_of("B1", 1).paid) == ({}, 1_100 * HKD)
    scene.correct(correction)
    assert (scene.refusals, scene.bet_of("B1", 1).paid) == (["correction"], 1_100 * HKD)


def play_with_late_correction(scene: Scene, target: str, amount: int) -> str:
    """Play on until `target` is nearly out of reach, correct it, and play until it is."""
    while scene.number < 15:
        scene.play()
    assert not scene.fold.journal.story.is_over(target)
    correction = scene.correct(target, amount=amount)
    while not scene.fold.journal.story.is_over(target):
        scene.play()
    assert scene.fold.journal.story.place(correction) is not None
    return correction


@pytest.mark.parametrize("amount", [1_100 * HKD, 0], ids=["in effect", "refused"])
def test_correction_in_reach_of_an_event_that_is_not(amount: int) -> None:
    """What it said is told as before when the story is told again; what it did can't be undone any more."""
    scene, payout = narrow()
    correction = play_with_late_correction(scene, payout, amount)
    letters, alerts = scene.dead_letters, scene.alerts
    scene.correct(scene.send("heartbeat"))
    assert (scene.dead_letters, scene.alerts[:-1]) == (letters, alerts)
    scene.correct(correction)
    says = "was refused itself" if amount == 0 else "corrected lies before what can still be revised"
    assert says in scene.dead_letters[-1].detail


def test_retraction_is_final_with_what_it_took_back() -> None:
    """The correction is out of effect for good, and the retraction no longer a matter of dispute."""
    scene, payout = narrow()
    while scene.number < 15:
        scene.play()
    first = scene.correct(payout, amount=1_100 * HKD)
    second = scene.correct(first)
    while not scene.fold.journal.story.is_over(payout):
        scene.play()
    assert scene.fold.journal.corrections.kept == {}
    scene.correct(scene.send("heartbeat"))
    assert scene.refusals == []
    scene.correct(second)
    assert scene.refusals == ["correction"]
    assert scene.bet_of("B1", 1).paid == 1_000 * HKD


def test_houses_event_too_old_to_be_corrected() -> None:
    """Pitwatch's own events are placed by the clock that numbers them."""
    scene = Scene(NARROW)
    published = scene.house("configuration_published", configuration=scene.configuration.model_dump(mode="json"))
    scene.load()
    far_on(scene)
    scene.correct(published)
    assert scene.refusals == ["correction"]
    # One that is yet to come is waited for.
    scene.correct(f"BAC-01:0:{2 * 10**15}")
    assert scene.refusals == ["correction"]


def test_corrections_survive_a_restart_of_the_fold() -> None:
    scene, payout = narrow()
    scene.play(TIE)
    first = scene.correct(payout, amount=1_100 * HKD)
    scene.correct(payout, seq=4)
    scene.correct(f"BAC-01:1:{scene.seq + 100}")
    scene.fold = TableFold.restore(scene.fold.snapshot(), NARROW)
    scene.correct(first)
    assert (scene.bet_of("B1", 1).paid, scene.refusals) == (1_000 * HKD, ["correction"])
