"""The order of events: gaps and what fills them, restarts, repeats, numbers that can't be, and dead letters."""

from base64 import b64decode, b64encode
from datetime import timedelta

import msgspec
import pytest

from processors.reconstruct import fold as fold_module
from processors.reconstruct import sequencer as sequencer_module
from processors.reconstruct.fold import FoldSettings, TableFold
from schemas.log import Record
from tests.processors.reconstruct.scene import HKD, MACAU, PLAYER_WINS, TIE, Scene, playing, standing, with_changes


def in_a_round() -> Scene:
    """Return a table in whose round a bet was placed."""
    scene = playing()
    scene.begin()
    scene.bet("player")
    return scene


def gaps(scene: Scene) -> list[str]:
    """Return what the alerts that stand say is missing."""
    return [alert.evidence.actual for alert in scene.alerts if alert.code == "telemetry_gap"]


# -- gaps ------------------------------------------------------------------------------------------------------------


def test_events_out_of_order_wait_for_their_turn() -> None:
    scene = in_a_round()
    with scene.lost() as late:
        scene.no_more_bets()
    scene.draw("player", "9S")
    assert scene.fold.waits == (1, scene.seq)
    assert (scene.codes, scene.state.round and scene.state.round.player) == ([], [])
    scene.append(late[0])
    assert (scene.codes, scene.state.round and scene.state.round.player) == ([], ["9S"])
    assert not scene.fold.waits


def test_gap_is_given_up_by_the_logs_own_clock() -> None:
    """Any record shows that time has passed: a repeat, another's, or none that can be read."""
    for sign_of_life in ("heartbeat", "repeat", "rubbish", "house", "another table's"):
        scene = in_a_round()
        with scene.lost():
            scene.no_more_bets()
        waiting = scene.draw("player", "9S")
        scene.wait(5)
        assert scene.codes == []
        if sign_of_life == "heartbeat":
            scene.send("heartbeat")
        elif sign_of_life == "repeat":
            scene.append(scene.records[0].value)
        elif sign_of_life == "rubbish":
            scene.append(b"\x00")
        elif sign_of_life == "house":
            scene.house("table_silent", silent_since=scene.now, last_event_id=waiting)
        else:
            scene.append(scene.records[-1].value.replace(b"BAC-01", b"BAC-02"))
        scene.wait(0.1)
        scene.append(b"")
        assert ("telemetry_gap" in scene.codes, scene.fold.waits) == (True, None), sign_of_life


def test_gap_is_given_up_when_too_much_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sequencer_module, "MAX_PENDING", 3)
    scene = in_a_round()
    with scene.lost():
        scene.no_more_bets()
    for _ in range(4):
        scene.now -= timedelta(seconds=1)
        scene.send("heartbeat")
    assert (scene.codes, scene.fold.waits) == (["telemetry_gap"], None)


def test_several_gaps_are_given_up_one_after_the_other() -> None:
    """Each waits its own time."""
    scene = in_a_round()
    with scene.lost():
        scene.send("heartbeat")
    scene.send("heartbeat")
    with scene.lost():
        scene.send("heartbeat")
    scene.wait(2)
    scene.send("heartbeat")
    scene.wait(1)
    scene.send("heartbeat")
    assert scene.codes == ["telemetry_gap"]
    scene.wait(3)
    scene.send("heartbeat")
    assert scene.codes == ["telemetry_gap", "telemetry_gap"]


@pytest.mark.parametrize("named", ["last missing", "first found", "last waiting"])
def test_pitwatch_gives_a_gap_up(named: str) -> None:
    """`gap_expired` names the last event given up, or any that waits behind it."""
    scene = in_a_round()
    with scene.lost():
        scene.no_more_bets()
        scene.send("heartbeat")
    scene.send("heartbeat")
    scene.send("heartbeat")
    through = scene.seq - {"last missing": 2, "first found": 1, "last waiting": 0}[named]
    scene.house("gap_expired", through_epoch=1, through_seq=through)
    assert (scene.codes, scene.fold.waits) == (["telemetry_gap"], None)


def test_pitwatch_gives_up_no_more_than_it_names() -> None:
    scene = in_a_round()
    with scene.lost():
        scene.send("heartbeat")
    scene.send("heartbeat")
    first = scene.seq
    with scene.lost():
        scene.send("heartbeat")
    scene.send("heartbeat")
    scene.house("gap_expired", through_epoch=1, through_seq=first)
    assert (scene.codes, scene.fold.waits) == (["telemetry_gap"], (1, scene.seq))
    scene.house("gap_expired", through_epoch=1, through_seq=first)
    assert scene.codes == ["telemetry_gap"]


def test_event_of_a_gap_comes_too_late_for_its_place() -> None:
    """The gap shrinks to what is still missing, on either side."""
    scene = in_a_round()
    with scene.lost() as lost:
        for _ in range(5):
            scene.send("heartbeat")
    scene.pass_gap_limit()
    first = scene.seq - 6
    assert gaps(scene) == [f"1:{first}–{first + 4}"]
    scene.append(lost[2])
    assert gaps(scene) == [f"1:{first}–{first + 1}", f"1:{first + 3}–{first + 4}"]
    for raw in (lost[0], lost[4], lost[3]):
        scene.append(raw)
    assert gaps(scene) == [f"1:{first + 1}"]
    scene.append(lost[1])
    assert (scene.codes, scene.refusals) == ([], [])


def test_late_event_is_a_repeat_the_second_time() -> None:
    scene = in_a_round()
    with scene.lost() as lost:
        scene.no_more_bets()
    scene.pass_gap_limit()
    scene.append(lost[0])
    repeats = scene.fold.repeats
    assert scene.append(lost[0]) == []
    assert scene.fold.repeats == repeats + 1


# -- beginnings ------------------------------------------------------------------------------------------------------


def test_first_events_out_of_order() -> None:
    """The beginning is known by its number: nothing comes before it."""
    scene = Scene()
    with scene.lost() as first:
        scene.send("heartbeat")
    scene.send("table_opened", opening_float=5)
    assert scene.fold.waits == (1, 2)
    scene.append(first[0])
    assert (scene.state.is_open, scene.codes) == (True, [])


def test_table_heard_of_in_the_middle_of_its_story() -> None:
    """What came before is no gap, but it is welcome if it comes after all."""
    scene = Scene()
    with scene.lost() as lost:
        scene.send("table_opened", opening_float=5)
        scene.send("heartbeat")
    scene.send("heartbeat")
    scene.pass_gap_limit()
    assert (scene.codes, scene.state.expected_float) == ([], None)
    scene.append(lost[1])
    scene.append(lost[0])
    assert (scene.codes, scene.state.expected_float, scene.refusals) == ([], 5, [])
    scene.append(lost[1])
    assert scene.fold.repeats == 1


def test_beginning_that_comes_late_is_told_in_order() -> None:
    """Each event in its place, whether the next one is there already or not."""
    scene = Scene()
    with scene.lost() as lost:
        scene.send("table_opened", opening_float=5)
        scene.send("float_counted", amount=5)
        scene.send("fill", amount=2, slip="F-1")
        scene.send("float_counted", amount=7)
    scene.send("heartbeat")
    scene.pass_gap_limit()
    for raw in (lost[0], lost[1], lost[3], lost[2]):
        scene.append(raw)
    assert (scene.codes, scene.state.expected_float) == ([], 7)


def test_epochs_before_the_first_heard_of_are_welcome_too() -> None:
    scene = Scene()
    with scene.lost() as lost:
        scene.send("table_opened", opening_float=5)
        scene.send("heartbeat")
    scene.restart()
    scene.send("heartbeat")
    scene.pass_gap_limit()
    scene.append(lost[1])
    scene.append(lost[0])
    assert (scene.state.expected_float, scene.codes, scene.refusals) == (5, [], [])


@pytest.mark.parametrize("follows", [None, (0, 0)])
def test_first_boot_that_is_heard_of_is_taken_at_once(follows: tuple[int, int] | None) -> None:
    scene = Scene()
    scene.epoch, scene.follows = 4, follows
    scene.send("table_opened")
    assert scene.state.is_open


# -- restarts --------------------------------------------------------------------------------------------------------


def test_restart_that_says_what_it_follows_is_no_gap() -> None:
    scene = in_a_round()
    scene.restart()
    scene.finish()
    assert (scene.codes, scene.round().status) == ([], "settled")


def test_restart_waits_for_the_end_of_the_epoch_before() -> None:
    scene = in_a_round()
    with scene.lost() as late:
        scene.no_more_bets()
    scene.restart()
    scene.draw("player", "9S")
    assert scene.fold.waits == (2, 1)
    scene.append(late[0])
    assert scene.codes == []
    assert not scene.fold.waits


def test_restart_that_follows_lost_events() -> None:
    scene = in_a_round()
    with scene.lost() as lost:
        scene.no_more_bets()
        scene.send("heartbeat")
    last = scene.seq
    scene.restart()
    scene.finish()
    scene.pass_gap_limit()
    assert scene.alert("telemetry_gap").evidence.actual == f"1:{last - 1}–{last}"
    assert scene.round().status == "incomplete"
    for raw in lost:
        scene.append(raw)
    assert (scene.codes, scene.round().status) == ([], "settled")


def test_restart_that_does_not_say_what_it_follows() -> None:
    """Anything may be missing before it, so nobody is judged by what was seen."""
    scene = in_a_round()
    last = scene.seq
    scene.restart(says_what_it_follows=False)
    scene.finish()
    scene.pass_gap_limit()
    assert scene.alert("telemetry_gap").evidence.actual == f"1:{last + 1}–?"
    assert scene.round().status == "incomplete"


def test_event_from_behind_an_end_that_nobody_knew() -> None:
    """It shows that something was missing indeed, and there may be more."""
    scene = in_a_round()
    with scene.lost() as lost:
        scene.no_more_bets()
        scene.send("heartbeat")
    last = scene.seq
    scene.restart(says_what_it_follows=False)
    scene.finish()
    scene.pass_gap_limit()
    scene.append(lost[1])
    assert sorted(gaps(scene)) == sorted([f"1:{last - 1}", f"1:{last + 1}–?"])
    repeats = scene.fold.repeats
    scene.append(lost[1])
    assert scene.fold.repeats == repeats + 1


def test_controller_that_remembers_less_than_it_sent() -> None:
    """It lost nothing of what it had sent before it went down."""
    scene = in_a_round()
    scene.restart()
    scene.follows = (1, 5)
    scene.finish()
    assert (scene.codes, scene.round().status) == ([], "settled")


def test_first_event_of_an_epoch_is_lost() -> None:
    """So is the word of what came before: two holes, and both close when it comes."""
    scene = in_a_round()
    last = scene.seq
    with scene.lost() as lost:
        scene.restart()
        scene.no_more_bets()
    scene.finish()
    scene.pass_gap_limit()
    assert gaps(scene) == [
        f"1:{last + 1}–?",
        "2:1",
    ]
    scene.append(lost[0])
    assert (scene.codes, scene.round().status) == ([], "settled")


def test_first_event_of_an_epoch_comes_late_and_tells_of_more() -> None:
    scene = in_a_round()
    with scene.lost() as lost:
        scene.no_more_bets()
        last = scene.seq
        scene.restart()
        scene.send("heartbeat")
    scene.finish()
    scene.pass_gap_limit()
    scene.append(lost[1])
    assert scene.alert("telemetry_gap").evidence.actual == f"1:{last}"
    scene.append(lost[0])
    assert (scene.codes, scene.round().status) == ([], "settled")


def test_whole_epochs_that_went_by_unheard() -> None:
    """The last one's count is known, the end of the one before it is not."""
    scene = in_a_round()
    last = scene.seq
    with scene.lost() as lost:
        scene.restart()
        scene.no_more_bets()
        scene.restart()
        scene.send("heartbeat")
        scene.send("heartbeat")
    scene.restart()
    scene.finish()
    scene.pass_gap_limit()
    assert gaps(scene) == [
        f"1:{last + 1}–?",
        "3:1–2",
    ]
    for raw in lost:
        scene.append(raw)
    assert (scene.codes, scene.round().status) == ([], "settled")


@pytest.mark.parametrize("follows", [(9, 5), (2, 0), (0, 0)], ids=["a later epoch", "nothing sent", "a first boot"])
def test_restart_that_cannot_follow_what_it_says(follows: tuple[int, int]) -> None:
    scene = in_a_round()
    scene.restart()
    scene.epoch, scene.follows = 3, follows
    scene.finish()
    scene.pass_gap_limit()
    assert scene.codes == ["round_incomplete", "telemetry_gap"]


def test_only_the_first_event_of_an_epoch_says_what_it_follows() -> None:
    """What a later one says about it is not believed."""
    scene = in_a_round()
    last = scene.seq
    scene.restart()
    scene.seq = 1
    scene.send("heartbeat", follows=(1, last))
    scene.pass_gap_limit()
    assert scene.codes == ["telemetry_gap", "telemetry_gap"]


# -- repeats and conflicts -------------------------------------------------------------------------------------------


def test_repeats_say_nothing_new() -> None:
    """Right away, while waiting, written otherwise, or a long time afterwards."""
    scene = in_a_round()
    assert scene.append(scene.records[-1].value) == []
    assert scene.append(scene.records[0].value) == []
    reordered = msgspec.json.encode(dict(reversed(msgspec.json.decode(scene.records[-3].value).items())))
    assert reordered != scene.records[-3].value
    assert scene.append(reordered) == []
    with scene.lost():
        scene.send("heartbeat")
    scene.send("heartbeat")
    assert scene.append(scene.records[-1].value) == []
    assert (scene.fold.repeats, scene.refusals) == (4, [])


@pytest.mark.parametrize("while_it_waits", [False, True])
def test_another_event_of_the_same_number_is_refused(while_it_waits: bool) -> None:
    scene = in_a_round()
    if while_it_waits:
        with scene.lost():
            scene.send("heartbeat")
    kept = scene.bet("tie", 500 * HKD)
    scene.seq -= 1
    refused = scene.bet("tie", 900 * HKD)
    scene.house("gap_expired", through_epoch=1, through_seq=scene.seq)
    (letter,) = scene.dead_letters
    assert (letter.reason, letter.event_id) == ("conflict", f"BAC-01:1:{scene.seq}")
    assert scene.state.round is not None
    assert (kept in scene.state.round.bets, refused in scene.state.round.bets) == (True, False)


def long_ago(monkeypatch: pytest.MonkeyPatch) -> Scene:
    """Return a table whose first rounds lie before what can still be revised."""
    scene = Scene(FoldSettings(window_rounds=8)).open()
    scene.load()
    for _ in range(40):
        scene.play()
    assert scene.fold.journal.story.first > 0
    return scene


def test_repeat_of_an_event_long_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = long_ago(monkeypatch)
    assert scene.append(scene.records[20].value) == []
    assert (scene.fold.repeats, scene.refusals) == (1, [])


def test_number_used_before_it_happened(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new controller that counts its boots from one again: its events are no repeats, and must not vanish as such."""
    scene = long_ago(monkeypatch)
    scene.seq = 20
    scene.send("heartbeat")
    (letter,) = scene.dead_letters
    assert (letter.reason, scene.fold.repeats) == ("numbering", 0)
    assert "boot count" in letter.detail


def test_nothing_is_taken_for_a_repeat_once_holes_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Too many holes to remember: what then comes of one of the oldest may be either, and is a dead letter."""
    monkeypatch.setattr(sequencer_module, "MAX_HOLES_KEPT", 2)
    scene = in_a_round()
    lost: list[bytes] = []
    for _ in range(4):
        with scene.lost() as one:
            scene.send("heartbeat")
        lost += one
        scene.pass_gap_limit()
    scene.append(lost[0])
    assert scene.refusals == ["too_late"]
    scene.append(lost[3])
    assert (scene.refusals, len(scene.alerts)) == (["too_late"], 3)
    scene.append(scene.records[3].value)
    assert scene.fold.repeats == 1


def test_epochs_are_forgotten_like_holes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sequencer_module, "MAX_EPOCHS_KEPT", 2)
    scene = in_a_round()
    with scene.lost() as lost:
        scene.send("heartbeat")
    for _ in range(4):
        scene.restart(says_what_it_follows=False)
        scene.send("heartbeat")
        scene.pass_gap_limit()
    scene.append(scene.records[3].value)
    assert (scene.fold.repeats, scene.refusals) == (1, [])
    # Its hole is still remembered, its epoch is not.
    scene.append(lost[0])
    assert scene.refusals == []
    scene.append(lost[0])
    assert scene.fold.repeats == 2


# -- numbers that can't be right -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("epoch", "seq"), [(1, 2_000_000), (2, 2_000_000), (1_002, 1), (1, 0)])
def test_damaged_numbers_are_refused(epoch: int, seq: int) -> None:
    """And the table goes on as if nothing had happened."""
    scene = in_a_round()
    before = scene.epoch, scene.seq
    scene.epoch, scene.seq, scene.follows = epoch, seq - 1, None
    scene.send("heartbeat")
    scene.epoch, scene.seq = before
    scene.finish()
    assert (scene.refusals, scene.codes, scene.round().status) == (["numbering"], [], "settled")


@pytest.mark.parametrize(("epoch", "seq"), [(10**7, 1), (1, 10**13)])
def test_no_table_begins_with_such_numbers(epoch: int, seq: int) -> None:
    scene = Scene()
    scene.epoch, scene.seq = epoch, seq - 1
    scene.send("heartbeat")
    assert scene.refusals == ["numbering"]
    assert "any beginning" in scene.dead_letters[0].detail


def test_damage_that_waited_before_the_beginning_was_known() -> None:
    """Too far from the numbers that the table turned out to have."""
    scene = Scene()
    scene.epoch, scene.seq, scene.follows = 500_000, 6, None
    damaged = scene.send("heartbeat")
    scene.epoch, scene.seq = 3, 70
    scene.send("table_opened")
    scene.pass_gap_limit()
    (letter,) = scene.dead_letters
    assert (letter.reason, letter.event_id) == ("numbering", damaged)
    assert (scene.state.is_open, scene.fold.waits) == (True, None)


@pytest.mark.parametrize("known", [False, True], ids=["at the very beginning", "later"])
def test_table_must_not_use_pitwatchs_epoch(known: bool) -> None:
    scene = in_a_round() if known else Scene()
    scene.epoch, scene.seq = 0, -1 if not known else 6
    scene.send("heartbeat")
    assert scene.refusals == ["system_epoch"]


@pytest.mark.parametrize("kind", ["gap_expired", "table_silent"])
def test_table_must_not_send_pitwatchs_events(kind: str) -> None:
    scene = in_a_round()
    fields: dict[str, dict[str, object]] = {
        "gap_expired": {"through_epoch": 1, "through_seq": 1},
        "table_silent": {"silent_since": scene.now, "last_event_id": "BAC-01:1:1"},
    }
    scene.send(kind, **fields[kind])
    assert scene.refusals == ["system_type"]


def test_event_of_another_table_is_refused() -> None:
    scene = in_a_round()
    scene.append(scene.records[-1].value.replace(b"BAC-01", b"BAC-02"))
    (letter,) = scene.dead_letters
    assert (letter.reason, letter.table_id, letter.event_id) == ("wrong_table", "BAC-01", f"BAC-02:1:{scene.seq}")


# -- Pitwatch's own events -------------------------------------------------------------------------------------------


def test_repeat_of_pitwatchs_own_event() -> None:
    scene = in_a_round()
    scene.house("gap_expired", through_epoch=1, through_seq=1)
    assert scene.append(scene.records[-1].value) == []
    assert scene.fold.repeats == 1


def test_two_of_pitwatchs_own_events_with_one_number() -> None:
    scene = in_a_round()
    scene.house("gap_expired", through_epoch=1, through_seq=1)
    scene.now -= timedelta(seconds=1)
    scene.correct(f"BAC-01:1:{scene.seq}", by_house=True)
    assert scene.refusals == ["conflict"]


@pytest.mark.parametrize("restarted", [False, True])
def test_own_event_whose_number_was_forgotten_is_not_taken_again(
    monkeypatch: pytest.MonkeyPatch, restarted: bool
) -> None:
    """An old configuration, say, must not come back into force."""
    monkeypatch.setattr(fold_module, "MAX_SYSTEM_IDS", 2)
    scene = Scene(FoldSettings(window_rounds=8)).open()
    scene.house("configuration_published", configuration=with_changes(MACAU, seats=7).model_dump(mode="json"))
    old = scene.records[-1].value
    scene.house("configuration_published", configuration=scene.configuration.model_dump(mode="json"))
    for _ in range(2):
        scene.house("gap_expired", through_epoch=1, through_seq=1)
    assert scene.append(old) == []
    assert scene.fold.repeats == 1, "the journal knows it still"
    scene.load()
    for _ in range(40):
        scene.play()
    if restarted:
        scene.fold = TableFold.restore(scene.fold.snapshot(), scene.settings)
    before = scene.fold.state
    scene.append(old)
    assert scene.refusals == ["too_late"]
    assert scene.fold.state == before


def test_repeat_of_pitwatchs_own_event_long_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene(FoldSettings(window_rounds=8)).open()
    scene.house("gap_expired", through_epoch=1, through_seq=1)
    own = scene.records[-1].value
    scene.load()
    for _ in range(40):
        scene.play()
    assert scene.append(own) == []
    assert scene.fold.repeats == 1


# -- dead letters ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", "not_json"),
        (b"\xff\xfe", "not_json"),
        (b"[]", "not_json"),
        (b"{}", "unknown_type"),
        (b'{"type":"card_flown","event_id":"BAC-01:1:5","shoe":3,"round":7}', "unknown_type"),
        (b'{"type":"card_drawn","event_id":"BAC-01:1:5","shoe":3,"round":7,"card":"1S"}', "invalid"),
        (b'{"type":"heartbeat","schema_version":9,"event_id":"BAC-01:1:5","shoe":3,"round":7}', "unknown_version"),
        (b" " * 70_000, "too_long"),
        (b'rejected by the gateway, system_type: {"event_id":"BAC-01:1:5","shoe":3,"round":7}', "system_type"),
    ],
)
def test_bytes_that_are_no_event(raw: bytes, reason: str) -> None:
    """A dead letter names its table, and shoe, round and event as far as they can be told; it holds every byte."""
    scene = in_a_round()
    (letter,) = scene.append(raw)
    (kept,) = scene.dead_letters
    assert letter is kept
    assert (kept.reason, kept.table_id, b64decode(kept.raw)) == (reason, "BAC-01", raw)
    named = b"event_id" in raw
    assert (kept.event_id, kept.shoe, kept.round) == (("BAC-01:1:5", 3, 7) if named else ("", 0, 0))
    record = scene.records[-1]
    assert (kept.src_partition, kept.src_offset, kept.occurred_at) == (
        record.partition,
        record.offset,
        record.appended_at,
    )


def test_bad_message_stops_nothing() -> None:
    scene = in_a_round()
    scene.append(b"?")
    scene.finish()
    assert (scene.codes, scene.round().status) == ([], "settled")


def test_dead_letter_of_an_event_is_taken_back_when_it_makes_sense_after_all() -> None:
    """The bet it changes was placed by an event that came late."""
    scene = playing()
    scene.begin()
    with scene.lost() as lost:
        scene.bet("player")
    scene.pass_gap_limit()
    changed = scene.change("B1", 2_000 * HKD)
    (letter,) = scene.dead_letters
    assert (letter.reason, letter.event_id) == ("no_such_bet", changed)
    assert b64encode(scene.records[-1].value).decode() == letter.raw
    scene.append(lost[0])
    assert scene.dead_letters == []
    scene.finish()
    assert scene.bet_of("B1").stake == 2_000 * HKD


def test_facts_say_which_record_brought_them_about() -> None:
    scene = playing()
    scene.play(TIE, ("player",))
    record = scene.records[-1]
    for fact in (scene.round(), scene.bet_of("B1"), scene.shoe_fact(), *scene.roads):
        assert (fact.src_topic, fact.src_partition, fact.src_offset) == (record.topic, record.partition, record.offset)


def test_late_event_is_what_brought_revised_facts_about() -> None:
    scene = in_a_round()
    with scene.lost() as lost:
        scene.bet("tie", 100)
    scene.finish()
    scene.pass_gap_limit()
    revised = scene.append(lost[0])
    assert {fact.src_offset for fact in revised} == {scene.records[-1].offset}
    assert standing(scene.given_out)


def test_records_of_other_partitions_are_named_as_such() -> None:
    scene = Scene()
    scene.send("heartbeat")
    raw = scene.records[0].value
    facts = scene.fold.apply(Record("table-events", 5, 77, "BAC-01", raw.replace(b"BAC-01", b"BAC-02"), scene.now))
    assert [(fact.src_partition, fact.src_offset) for fact in facts] == [(5, 77)]


def test_round_in_two_epochs_is_one_round() -> None:
    scene = playing()
    scene.begin()
    scene.bet("player")
    scene.restart()
    scene.no_more_bets()
    scene.restart()
    scene.finish(PLAYER_WINS)
    assert (scene.codes, scene.bet_of("B1").net) == ([], 1_000 * HKD)
