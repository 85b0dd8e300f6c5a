"""The table itself: its clock and its silences, who deals, which rules are in force, and the gaming day."""

from datetime import timedelta

import pytest

from schemas.configuration import GamingDay, Shift
from tests.processors.reconstruct.scene import (
    BANKER_WINS,
    HKD,
    MACAU,
    PLAYER_WINS,
    Scene,
    playing,
    with_changes,
)

# -- silence ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("seconds", "codes"), [(119, []), (120, ["table_silent"])])
def test_silence_between_two_events(seconds: int, codes: list[str]) -> None:
    """An open table is heard of every two minutes, or it is told of: `wait` comes on top of a second an event."""
    scene = playing()
    scene.wait(seconds)
    scene.send("heartbeat")
    assert scene.codes == codes
    if codes:
        alert = scene.alert("table_silent")
        assert (alert.evidence.actual, alert.evidence.expected) == ("121 s", "120 s")
        assert alert.evidence.event_ids == (f"BAC-01:1:{scene.seq - 1}", f"BAC-01:1:{scene.seq}")


def test_closed_table_may_be_silent() -> None:
    scene = Scene().open()
    scene.send("table_closed")
    scene.wait(9999)
    scene.send("heartbeat")
    assert scene.codes == []


def test_table_taken_up_in_play_is_open() -> None:
    """Where the opening was not seen, a round shows that the table is open."""
    scene = Scene()
    scene.seq = 500
    scene.shoe, scene.number = 3, 16
    scene.begin()
    scene.pass_gap_limit()
    assert scene.state.is_open


def silent(scene: Scene, last: str) -> str:
    return scene.house("table_silent", silent_since=scene.now - timedelta(seconds=150), last_event_id=last)


def test_silence_that_pitwatch_noticed_first() -> None:
    """One silence, one alert: the table's next event only says how long it was."""
    scene = playing()
    last = scene.send("heartbeat")
    scene.wait(150)
    silent(scene, last)
    assert scene.alert("table_silent").evidence.actual == "151 s"
    assert scene.state.silence_reported == last
    scene.wait(60)
    scene.send("heartbeat")
    assert scene.alert("table_silent").evidence.actual == "212 s"


def test_silence_that_is_over_already() -> None:
    """What Pitwatch noticed may reach the log after the table's next event."""
    scene = playing()
    last = scene.send("heartbeat")
    scene.send("heartbeat")
    silent(scene, last)
    assert (scene.codes, scene.state.silence_reported) == ([], "")


# -- clock -----------------------------------------------------------------------------------------------------------


def test_clock_ahead_is_told_of_once() -> None:
    """Ahead of the log's own, and coming right again is no second fault; neither is a silence."""
    scene = playing()
    scene.send("heartbeat", occurred_at=scene.now + timedelta(seconds=300))
    scene.send("heartbeat", occurred_at=scene.now + timedelta(seconds=301))
    scene.send("heartbeat")
    scene.send("heartbeat")
    alert = scene.alert("clock_skew")
    assert (scene.codes, alert.evidence.actual) == (["clock_skew"], "+299.0 s")


def test_clock_set_back() -> None:
    """Back by more than the tolerance, and forward again: one step, no silence."""
    scene = playing()
    scene.send("heartbeat", occurred_at=scene.now - timedelta(seconds=300))
    scene.send("heartbeat")
    scene.send("heartbeat")
    assert (scene.codes, scene.alert("clock_skew").evidence.actual) == (["clock_skew"], "-300.0 s")


@pytest.mark.parametrize("seconds", [1.9, -1.9])
def test_clock_within_its_tolerance(seconds: float) -> None:
    scene = playing()
    scene.send("heartbeat", occurred_at=scene.now + timedelta(seconds=seconds))
    scene.send("heartbeat")
    assert scene.codes == []


@pytest.mark.parametrize("ahead", [0.5, 300])
def test_silence_of_a_table_whose_clock_is_ahead(ahead: float) -> None:
    """What it says of the time between two events is right, as long as it doesn't step."""
    scene = playing()
    for pause in (0, 200):
        scene.wait(pause)
        scene.send("heartbeat", occurred_at=scene.now + timedelta(seconds=1 + ahead))
    assert scene.codes == (["table_silent"] if ahead < 1 else ["clock_skew", "table_silent"])


def test_silence_after_a_clock_step_is_believed_again() -> None:
    scene = playing()
    scene.send("heartbeat", occurred_at=scene.now - timedelta(seconds=60))
    scene.send("heartbeat")
    scene.wait(200)
    scene.send("heartbeat")
    assert scene.codes == ["clock_skew", "table_silent"]


HOUR = timedelta(hours=1)


def heartbeats(scene: Scene, count: int, behind: timedelta, seconds: float = 20) -> None:
    for _ in range(count):
        scene.wait(seconds - 1)
        scene.send("heartbeat", occurred_at=scene.now + timedelta(seconds=1) - behind)


def test_clock_that_was_behind_and_is_set_right_is_no_silence() -> None:
    """Its events came all the time, one every twenty seconds."""
    scene = Scene()
    heartbeats(scene, 3, HOUR)
    scene.send("table_opened", opening_float=None, occurred_at=scene.now + timedelta(seconds=1) - HOUR)
    heartbeats(scene, 3, HOUR)
    heartbeats(scene, 3, timedelta(0))
    alert = scene.alert("clock_skew")
    assert scene.codes == ["clock_skew"]
    assert (alert.evidence.actual, alert.evidence.event_ids) == ("-3600.0 s", (f"BAC-01:1:{scene.seq - 2}",))


def test_table_that_is_silent_as_its_clock_is_set_right_is_silent() -> None:
    """Nothing came to the log for longer than the limit, whatever else was wrong."""
    scene = playing()
    heartbeats(scene, 3, timedelta(seconds=1.9))
    scene.wait(200)
    heartbeats(scene, 1, timedelta(0))
    assert scene.codes == ["table_silent"]


def test_events_kept_back_over_a_silence_are_no_clock_behind() -> None:
    """A network that was down for an hour: what had been kept comes in a heap, then the table is heard again."""
    scene = playing()
    scene.wait(3_600)
    for minutes in (59, 58, 57):
        scene.send("heartbeat", occurred_at=scene.now + timedelta(seconds=1) - timedelta(minutes=minutes))
    scene.send("heartbeat")
    assert scene.codes == ["table_silent"]


@pytest.mark.parametrize(
    ("before", "behind"),
    [(0, timedelta(seconds=100)), (1, HOUR), (3, timedelta(seconds=100))],
    ids=["first event", "one event before", "steps within the limit"],
)
def test_clock_set_right_where_nothing_can_be_said(before: int, behind: timedelta) -> None:
    """A step below the limit was no silence; and a single event may have been kept back for an hour."""
    scene = Scene()
    scene.state.is_open = True
    heartbeats(scene, before, behind)
    heartbeats(scene, 1, timedelta(0))
    assert scene.codes == (["table_silent"] if behind == HOUR else [])


def test_clock_that_steps_and_is_still_wrong_is_taken_at_its_word() -> None:
    scene = playing()
    heartbeats(scene, 3, timedelta(0))
    scene.wait(3_600)
    heartbeats(scene, 3, HOUR)
    heartbeats(scene, 1, timedelta(minutes=30))
    assert scene.codes == ["table_silent"]


# -- dealers ---------------------------------------------------------------------------------------------------------


def test_dealers_relieve_each_other() -> None:
    """Every fact names who dealt; somebody who is gone already can't leave once more."""
    scene = playing()
    scene.play()
    scene.send("dealer_out", dealer_id="D-1")
    scene.play()
    scene.send("dealer_in", dealer_id="D-2")
    scene.send("dealer_out", dealer_id="D-1")
    scene.play()
    assert [fact.dealer_id for fact in scene.rounds] == ["D-1", "", "D-2"]


# -- configuration ---------------------------------------------------------------------------------------------------


def test_configuration_changes_from_the_next_round_on() -> None:
    """Art. 17: a round is settled by the rules it began with."""
    scene = playing()
    scene.begin()
    scene.bet("player", 500 * HKD)
    changed = with_changes(MACAU, configuration_id="dear", bets=[{"bet": "player", "minimum": 10**6, "maximum": 10**8}])
    scene.publish(changed)
    scene.no_more_bets()
    scene.finish()
    assert (scene.codes, scene.round().configuration_id) == ([], "macau")
    scene.play(PLAYER_WINS, ("player", 500 * HKD))
    assert (scene.codes, scene.round().configuration_id) == (["below_minimum"], "dear")


def test_house_publishes_a_configuration() -> None:
    """With epoch 0, outside the controller's numbering."""
    scene = Scene()
    scene.send("table_opened")
    scene.house("configuration_published", configuration=MACAU.model_dump(mode="json"))
    scene.load()
    scene.play()
    assert (scene.round().configuration_id, scene.codes, scene.refusals) == ("macau", [], [])


@pytest.mark.parametrize(
    ("configuration", "pit", "currency"),
    [(MACAU, "PIT-1", "HKD"), (with_changes(MACAU, pit="VIP-2", currency="MOP"), "VIP-2", "MOP")],
)
def test_facts_name_pit_and_currency(configuration: object, pit: str, currency: str) -> None:
    scene = playing(configuration)  # type: ignore[arg-type]  # one of the two above
    scene.play(BANKER_WINS, ("banker",))
    assert {fact.pit for fact in scene.given_out} <= {pit, "PIT-1"}
    (commission,) = scene.commissions
    assert {fact.pit for fact in (scene.round(), scene.bet_of("B1"), commission, *scene.hours)} == {pit}
    assert {scene.round().currency, scene.bet_of("B1").currency, commission.currency} == {currency}


def test_new_tail_is_drawn_from_the_next_shoe_on() -> None:
    scene = playing()
    scene.publish(with_changes(MACAU, road_tail="stick"))
    tails = [scene.state.shoe and scene.state.shoe.roads.tail]
    scene.load()
    tails.append(scene.state.shoe and scene.state.shoe.roads.tail)
    assert tails == ["redrop", "stick"]


# -- the gaming day --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hour", "minute", "day", "shift"),
    [
        (5, 59, "2026-03-01", "night"),
        (6, 0, "2026-03-02", "day"),
        (13, 59, "2026-03-02", "day"),
        (14, 0, "2026-03-02", "swing"),
        (22, 0, "2026-03-02", "night"),
        (0, 0, "2026-03-01", "night"),
    ],
)
def test_gaming_day_and_shift_at_the_table(hour: int, minute: int, day: str, shift: str) -> None:
    """Local time at the table: UTC and eight hours."""
    scene = playing()
    local = scene.now.replace(hour=0, minute=0, second=0) - timedelta(hours=8)
    scene.now = local + timedelta(hours=hour, minutes=minute, seconds=-1)
    scene.begin()
    assert scene.state.round is not None
    assert (scene.state.round.gaming_day, scene.state.round.shift) == (day, shift)


def test_gaming_day_of_ones_own() -> None:
    hours = GamingDay(
        begins_at_hour=10,
        utc_offset_hours=-5,
        shifts=(Shift(name="early", begins_at_hour=2), Shift(name="late", begins_at_hour=12)),
    )
    scene = playing(with_changes(MACAU, gaming_day=hours.model_dump()))
    scene.play()
    assert (scene.round().gaming_day, scene.round().shift) == ("2026-03-01", "early")


def test_round_belongs_to_the_day_on_which_it_began() -> None:
    """Its bets, alerts and commission, too, however long it lasts."""
    scene = playing()
    scene.now = scene.now.replace(hour=21, minute=59, second=50)
    scene.begin()
    scene.bet("banker", 100)
    scene.wait(60)
    scene.no_more_bets()
    scene.finish(BANKER_WINS)
    scene.send("float_counted", amount=1)
    days = {fact.fact: fact.gaming_day for fact in (scene.round(), scene.bet_of("B1"), *scene.commissions)}
    assert days == {"round": "2026-03-02", "bet": "2026-03-02", "commission": "2026-03-02"}
    assert {alert.code: alert.gaming_day for alert in scene.alerts if alert.round} == {"below_minimum": "2026-03-02"}
    assert scene.alert("float_unexplained").gaming_day == "2026-03-03"


# -- corrections are told of -----------------------------------------------------------------------------------------


def test_correction_is_told_of_apart_from_rounds() -> None:
    """Art. 10: who, what and why; the round in play then has nothing to do with it."""
    scene = playing()
    bought = scene.send("buy_in", seat=1, amount=100, means="cash")
    scene.begin()
    corrected = scene.correct(bought, means="marker")
    scene.finish()
    alert = scene.alert("correction_recorded")
    assert (alert.shoe, alert.round, alert.severity) == (1, 0, "info")
    assert alert.evidence.event_ids == (bought, corrected)
    assert alert.evidence.actual == f"replace {bought}: seen on the tape (PM-7)"
    assert scene.round().alerts == 0
