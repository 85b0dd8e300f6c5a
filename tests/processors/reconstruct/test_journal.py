"""What can still be revised: the window, revisions that never go back, and folds written down and taken up again."""

import msgspec
import pytest

from processors.reconstruct import journal as journal_module
from processors.reconstruct.fold import FoldSettings, TableFold
from processors.reconstruct.state import ShoeState, TableState
from processors.reconstruct.table import may_come_again
from schemas.facts import Fact
from schemas.log import Record
from schemas.wire import encode
from tests.processors.reconstruct.scene import (
    BANKER_WINS,
    HKD,
    MACAU,
    PLAYER_WINS,
    TIE,
    Scene,
    playing,
    standing,
    with_changes,
)

NARROW = FoldSettings(window_rounds=8)
# Cards go back after every round, so that the same ones may come as often as a test likes.
ENDLESS = with_changes(MACAU, shuffling="continuous")


def narrow() -> Scene:
    """Return an open table of which about the last ten rounds can be revised."""
    return playing(ENDLESS, NARROW)


# -- late events -----------------------------------------------------------------------------------------------------


def test_late_event_changes_what_followed() -> None:
    """A bet that nobody saw until the round was over: settled as due in the end."""
    scene = playing()
    scene.begin()
    with scene.lost() as lost:
        scene.bet("player", 1_000 * HKD, 1)
    scene.bet("banker", 500 * HKD, 2)
    scene.no_more_bets()
    scene.deal(*PLAYER_WINS)
    scene.call()
    scene.of_round("payout_made", bet_id="B1", amount=1_000 * HKD)
    scene.of_round("stake_collected", bet_id="B2", amount=500 * HKD)
    scene.close()
    scene.pass_gap_limit()
    scene.append(lost[0])
    assert (scene.codes, scene.round().house_win, scene.hours[0].bets) == ([], -500 * HKD, 2)
    assert scene.bet_of("B2").result == "lose"


def test_late_event_of_rounds_ago_is_put_in_its_place() -> None:
    """Checkpoints lie in between; only what it changes is given out again, the shoe's newest version once."""
    scene = playing(ENDLESS)
    with scene.lost() as lost:
        scene.burn()
    scene.pass_gap_limit()
    scene.send("dealer_in", dealer_id="D-1")
    for _ in range(20):
        scene.play(PLAYER_WINS, ("player",))
    before = len(scene.given_out)
    scene.append(lost[0])
    assert [(fact.fact, fact.retracted) for fact in scene.given_out[before:]] == [
        ("alert", True),
        ("round", False),
        ("shoe", False),
    ]
    assert (scene.round(1).burned_cards, scene.shoe_fact().complete) == (1, True)


def test_late_event_too_old_for_its_place() -> None:
    scene = narrow()
    with scene.lost() as lost:
        scene.send("heartbeat")
    scene.pass_gap_limit()
    for _ in range(40):
        scene.play()
    scene.append(lost[0])
    (letter,) = scene.dead_letters
    assert (letter.reason, letter.event_id) == ("too_late", "BAC-01:1:5")
    assert "telemetry_gap" in scene.codes
    # The first copy is kept as a dead letter; a second one is a repeat of it.
    assert scene.append(lost[0]) == []


def test_late_events_about_a_gap_that_is_forgotten() -> None:
    """The end of an epoch is learnt too late to change the story; the numbers remember it all the same."""
    scene = narrow()
    scene.send("heartbeat")
    with scene.lost() as lost:
        scene.restart()
        scene.send("heartbeat")
    for _ in range(40):
        scene.play()
    scene.append(lost[0])
    assert scene.refusals == ["too_late"]
    assert [hole for hole in scene.fold.sequencer.missing if hole.epoch == 1] == []


def test_window_is_kept_at_least() -> None:
    """Eight rounds back can always be revised, whatever was cleared up."""
    scene = narrow()
    for _ in range(60):
        scene.play()
        opening = next(r for r in reversed(scene.records) if f'"round":{max(1, scene.number - 7)},'.encode() in r.value)
        assert not scene.fold.journal.story.is_over(f"BAC-01:1:{opening.offset + 1}")
    assert len(scene.fold.journal.story.entries) < 20 * 9
    assert {head.number for head in scene.fold.journal.emissions.heads.values() if head.number >= 0}


def test_window_of_no_rounds() -> None:
    """Nothing can be revised, and whoever tries is told so, or waited for; nothing else changes."""
    scene = playing(ENDLESS, FoldSettings(window_rounds=0))
    with scene.lost() as lost:
        scene.send("heartbeat")
    for _ in range(16):
        scene.play(PLAYER_WINS, ("player",))
    assert scene.fold.journal.story.entries == []
    scene.correct("BAC-01:0:5", by_house=True)
    scene.append(lost[0])
    scene.play()
    assert scene.refusals == ["correction", "too_late"]
    assert (scene.round().status, scene.shoe_fact().rounds) == ("settled", 17)


def test_idle_table_does_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Heartbeats without rounds are forgotten by their size."""
    monkeypatch.setattr(journal_module, "BYTES_PER_CHECKPOINT", 2_000)
    monkeypatch.setattr(journal_module, "MAX_BYTES", 10_000)
    scene = playing()
    for _ in range(300):
        scene.send("heartbeat")
    assert 0 < sum(len(entry.raw) for entry in scene.fold.journal.story.entries) < 12_000


# -- revisions never go back -----------------------------------------------------------------------------------------


@pytest.fixture
def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a journal forget after some twenty entries."""
    monkeypatch.setattr(journal_module, "BYTES_PER_CHECKPOINT", 2_000)
    monkeypatch.setattr(journal_module, "MAX_BYTES", 6_000)


def forget(scene: Scene) -> None:
    """Let so much time pass that everything so far lies before what can be revised."""
    newest = scene.fold.journal.story.first + len(scene.fold.journal.story.entries)
    while scene.fold.journal.story.first < newest:
        scene.send("heartbeat")


@pytest.mark.usefixtures("forgetful")
def test_keys_that_come_again_keep_their_revisions() -> None:
    """A shoe, an hour, the newest cell of the big road, alerts of a round in play: `standing` checks every revision."""
    scene = playing()
    scene.play(BANKER_WINS)
    scene.play(BANKER_WINS)
    forget(scene)
    scene.play(TIE)
    assert [fact.revision for fact in scene.given_out if fact.fact == "shoe"] == [0, 1, 2, 3]
    assert [fact.revision for fact in scene.given_out if fact.fact == "table_hour"] == [0, 1, 2]
    assert [fact.revision for fact in scene.given_out if fact.fact == "road"][-1] == 1
    scene.begin()
    scene.deal("9S KH", "6D KC")
    scene.call("banker")
    forget(scene)
    scene.call("player")
    assert (scene.alert("result_mismatch").revision, scene.alert("result_mismatch").status) == (1, "corrected")


@pytest.mark.usefixtures("forgetful")
def test_withdrawn_key_comes_again_with_a_higher_revision() -> None:
    """Raised, explained away by a late event, and raised anew."""
    scene = playing()
    scene.begin()
    scene.deal("9S KH", "6D KC")
    with scene.lost() as lost:
        scene.misread("player", 1, "6S")
    scene.send("heartbeat")
    scene.pass_gap_limit()
    scene.append(lost[0])
    scene.call("player")
    correction = scene.correct(f"BAC-01:1:{scene.seq}", outcome="tie")
    assert "result_mismatch" not in scene.codes
    scene.correct(correction)
    assert scene.alert("result_mismatch").revision == 2


@pytest.mark.parametrize("written_down", [False, True])
def test_alert_raised_withdrawn_and_raised_again(written_down: bool) -> None:
    """By a correction, by its retraction, and by the dealer calling wrongly once more."""
    scene = playing()
    scene.begin()
    scene.deal(*PLAYER_WINS)
    called = scene.call("banker")
    correction = scene.correct(called, outcome="player")
    assert "result_mismatch" not in scene.codes
    if written_down:
        scene.fold = TableFold.restore(scene.fold.snapshot(), scene.settings)
    scene.call("tie")
    assert scene.alert("result_mismatch").revision == 2
    if written_down:
        scene.fold = TableFold.restore(scene.fold.snapshot(), scene.settings)
    scene.call("player")
    scene.correct(correction)
    assert (scene.alert("result_mismatch").revision, scene.alert("result_mismatch").status) == (3, "corrected")


def test_withdrawn_alert_is_out_of_the_story(monkeypatch: pytest.MonkeyPatch) -> None:
    """Raised anew and then explained away as well, it stays away, here and in a fold taken up from a snapshot."""
    monkeypatch.setattr(journal_module, "BYTES_PER_CHECKPOINT", 300)
    scene = playing()
    scene.begin()
    scene.deal(*PLAYER_WINS)
    scene.correct(scene.call("banker"), outcome="player")
    scene.send("heartbeat")
    scene.correct(scene.call("tie"), outcome="player")
    assert [fact.revision for fact in scene.given_out if getattr(fact, "code", "") == "result_mismatch"] == [0, 1, 2, 3]
    scene.fold = taken_up(scene)
    scene.call("tie")
    assert scene.alert("result_mismatch").revision == 4


def test_alert_withdrawn_twice_is_given_out_once() -> None:
    """A call that was never wrong, and then was not made at all: nobody need be told a second time."""
    scene = playing()
    scene.begin()
    scene.deal("9S KH", "6D KC")
    called = scene.call("tie")
    scene.misread("player", 1, "6S")
    before = len(scene.given_out)
    scene.correct(called)
    assert [fact.fact for fact in scene.given_out[before:]] == ["alert"]
    assert scene.codes == ["correction_recorded"]


def test_alert_withdrawn_stays_so_whatever_else_it_would_have_said() -> None:
    scene = playing()
    scene.begin()
    wrong = scene.deal("2S 4H KD", "7D KC")[-1]
    scene.misread("player", 2, "3H")
    before = len(scene.given_out)
    scene.correct(wrong, card="QD")
    assert [getattr(fact, "code", "") for fact in scene.given_out[before:]] == ["correction_recorded"]


def test_alert_that_late_events_raise_and_withdraw_at_once_is_not_given_out() -> None:
    """A third card read by mistake, lost together with its correction."""
    scene = playing()
    scene.begin()
    scene.deal("9S KH", "6D KC")
    with scene.lost() as lost:
        scene.draw("player", "2S", 3)
    scene.misread("player", 3, None)
    scene.call("player")
    scene.house("gap_expired", through_epoch=1, through_seq=scene.seq)
    facts = scene.append(lost[0])
    assert "natural_ignored" not in {getattr(fact, "code", "") for fact in facts}
    assert scene.codes == []
    scene.fold = TableFold.restore(scene.fold.snapshot(), scene.settings)
    scene.draw("player", "3S", 3)
    assert scene.alert("natural_ignored").revision == 1


def test_keys_that_may_come_again() -> None:
    empty = TableState("BAC-01")
    keys: list[tuple[str | int, ...]] = [("shoe", 1), ("road", 1, "big_road", 0), ("table_hour", "x"), ("alert", "y")]
    assert not any(may_come_again(empty, key) for key in keys)
    shoe = TableState("BAC-01", shoe=ShoeState(1, 8, "shoe", playing().now))
    assert [may_come_again(shoe, key) for key in (*keys, ("bet", 1, 1, "B1"))] == [True, False, False, False, False]


def test_fact_that_was_given_out_is_never_changed() -> None:
    """Whoever took a fact may write it down whenever it likes."""
    scene = playing()
    scene.play()
    kept = [(fact, encode(fact)) for fact in scene.given_out]
    opened = next(r.offset + 1 for r in scene.records if b"round_opened" in r.value)
    correction = scene.correct(f"BAC-01:1:{opened}")
    scene.play()
    scene.correct(correction)
    scene.correct(f"BAC-01:1:{scene.seq - 1}")
    assert all(encode(fact) == raw for fact, raw in kept)


# -- written down and taken up again ---------------------------------------------------------------------------------


def taken_up(scene: Scene) -> TableFold:
    return TableFold.restore(scene.fold.snapshot(), scene.settings)


def test_fold_goes_on_as_if_it_had_never_stopped() -> None:
    scene = playing()
    scene.play(TIE, ("player",))
    scene.begin()
    other = taken_up(scene)
    assert (other.table_id, other.state, other.waits, other.silence_limit) == (
        scene.fold.table_id,
        scene.state,
        scene.fold.waits,
        scene.fold.silence_limit,
    )
    here: list[Fact] = []
    there: list[Fact] = []
    for record in _more(scene):
        here += scene.fold.apply(record)
        there += other.apply(record)
    assert [encode(fact) for fact in here] == [encode(fact) for fact in there] != []


def _more(scene: Scene) -> list[Record]:
    twin = Scene(scene.settings)
    twin.__dict__.update({name: value for name, value in scene.__dict__.items() if name != "fold"})
    twin.fold, twin.records, twin.given_out = taken_up(scene), list(scene.records), []
    twin.bet("banker", 500 * HKD, 2)
    twin.no_more_bets()
    twin.finish(BANKER_WINS)
    return twin.records[len(scene.records) :]


def test_revisions_go_on_behind_a_snapshot_of_a_window_that_moved() -> None:
    scene = narrow()
    for _ in range(30):
        scene.play()
    scene.fold = taken_up(scene)
    assert scene.fold.journal.story.first > 0
    scene.play(TIE)
    assert (scene.shoe_fact().revision, scene.shoe_fact().rounds, scene.hours[-1].revision) == (31, 31, 30)


def test_rules_in_force_survive_the_snapshot() -> None:
    """Art. 13: an offer of the day is on offer behind a snapshot between rounds, too."""
    dated = [{"bet": "player", "minimum": 100, "maximum": 10**9, "effective_from": "2026-03-01"}]
    scene = playing(with_changes(ENDLESS, bets=dated), NARROW)
    for _ in range(30):
        scene.play()
    assert scene.fold.journal.table.rules.offers.keys() == {"player"}
    assert taken_up(scene).journal.table.rules == scene.fold.journal.table.rules


def test_pending_events_survive_the_snapshot() -> None:
    scene = playing()
    scene.begin()
    with scene.lost() as lost:
        scene.no_more_bets()
    scene.draw("player", "9S")
    scene.fold = taken_up(scene)
    assert scene.fold.waits == (1, scene.seq)
    scene.append(lost[0])
    assert scene.state.round is not None
    assert scene.state.round.player == ["9S"]
    assert not scene.fold.waits


def test_repeats_of_pitwatchs_own_events_are_known_behind_the_snapshot() -> None:
    scene = playing()
    scene.house("gap_expired", through_epoch=1, through_seq=1)
    raw = scene.records[-1].value
    scene.fold = taken_up(scene)
    scene.append(raw)
    assert scene.fold.repeats == 1


def test_settings_of_the_day_hold_behind_the_snapshot() -> None:
    """Whoever takes a fold up says how long gaps are waited for."""
    scene = playing()
    hasty = TableFold.restore(scene.fold.snapshot(), FoldSettings(gap_limit_ms=100, window_rounds=3))
    assert (hasty.sequencer.gap_limit.total_seconds(), hasty.journal.window_rounds) == (0.1, 3)


@pytest.mark.parametrize("damage", ["cut", "other", "version"])
def test_bytes_that_are_no_snapshot(damage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = playing()
    snapshot = scene.fold.snapshot()
    if damage == "version":
        monkeypatch.setattr("processors.reconstruct.fold.VERSION", 1)
        snapshot = scene.fold.snapshot()
    with pytest.raises(msgspec.MsgspecError):
        TableFold.restore({"cut": snapshot[:50], "other": b"{}"}.get(damage, snapshot), NARROW)


def test_snapshot_of_a_full_window_fits_into_a_message() -> None:
    scene = playing()
    for number in range(130):
        if number % 8 == 0:
            scene.load()
        scene.play(PLAYER_WINS, *(("player", 1_000 * HKD, seat) for seat in range(1, 7)))
    assert len(scene.fold.journal.story.entries) > 80 * 20
    assert len(scene.fold.snapshot()) < 300_000


def test_facts_stand_once_each() -> None:
    scene = playing()
    scene.play(TIE, ("player",))
    assert len(standing(scene.given_out)) == len({(f.fact, encode(f)) for f in standing(scene.given_out).values()})
