"""A new controller that begins to count anew: nothing it sends can be used, and somebody must be told why."""

from datetime import timedelta
from typing import cast

import pytest

from processors.reconstruct.fold import FoldSettings, TableFold
from schemas.facts import AlertFact
from tests.processors.reconstruct.scene import Scene, playing


def replaced(epoch: int, *, first_heard: int = 7) -> Scene:
    """Return a table heard of in boot `first_heard`, whose controller was then replaced by one in boot `epoch`."""
    scene = Scene()
    scene.epoch = first_heard
    scene.open()
    scene.load()
    scene.play()
    scene.epoch, scene.seq, scene.follows = epoch, 0, (0, 0) if epoch == 1 else (epoch - 1, 3)
    return scene


def told_of(scene: Scene) -> list[tuple[str, str]]:
    alerts = [cast(AlertFact, fact) for fact in scene.given_out if getattr(fact, "code", "") == "controller_replaced"]
    return [(alert.evidence.expected, alert.evidence.actual) for alert in alerts]


@pytest.mark.parametrize("epoch", [1, 3, 7])
def test_new_controller_is_told_of_once_with_both_boot_counts(epoch: int) -> None:
    """Also one in a boot that was never heard of, and one in the very boot that is being heard."""
    scene = replaced(epoch)
    for _ in range(3):
        scene.send("heartbeat")
    alert = scene.alert("controller_replaced")
    assert told_of(scene) == [("7", str(epoch))]
    assert f"boot count above {7}" in alert.text_en
    assert (alert.round, alert.evidence.event_ids, alert.src_offset) == (
        0,
        (f"BAC-01:{epoch}:1",),
        scene.records[-3].offset,
    )
    assert scene.refusals[0] == "numbering"
    assert len(scene.refusals) == 3
    assert scene.state.last_event_id.startswith("BAC-01:7:")


def test_each_further_replacement_is_told_of() -> None:
    """It boots again; then it is given a count above; then yet another one comes."""
    scene = replaced(1)
    scene.send("heartbeat")
    scene.restart()
    scene.send("heartbeat")
    scene.epoch, scene.seq = 1, 5
    scene.send("heartbeat")
    scene.epoch, scene.seq, scene.follows = 8, 0, None
    scene.send("heartbeat")
    scene.pass_gap_limit()
    scene.epoch, scene.seq = 1, 9
    scene.send("heartbeat")
    assert told_of(scene) == [("7", "1"), ("7", "2"), ("8", "1")]


def test_controller_with_a_count_above_is_welcome() -> None:
    scene = replaced(8)
    scene.follows = None
    scene.send("heartbeat")
    scene.pass_gap_limit()
    assert (told_of(scene), scene.refusals) == ([], [])


def test_history_told_again_takes_nothing_back() -> None:
    scene = playing()
    scene.epoch, seq = 2, scene.seq
    scene.seq, scene.follows = 0, (1, seq)
    scene.play()
    called = next(r.offset for r in scene.records if b"result_called" in r.value)
    newest = scene.seq
    scene.epoch, scene.seq = 1, 0
    scene.send("heartbeat")
    scene.epoch, scene.seq = 2, newest
    scene.correct(f"BAC-01:2:{called - seq + 1}", outcome="tie")
    assert "controller_replaced" in scene.codes


def test_it_is_remembered_in_the_snapshot() -> None:
    scene = replaced(1)
    scene.send("heartbeat")
    scene.fold = TableFold.restore(scene.fold.snapshot(), FoldSettings())
    scene.send("heartbeat")
    assert told_of(scene) == [("7", "1")]


def test_old_events_sent_again_are_no_new_controller() -> None:
    """Repeats, and what was kept back until now, happened before the newest event."""
    scene = playing()
    with scene.lost() as lost:
        scene.send("heartbeat")
        scene.restart()
        scene.send("heartbeat")
    scene.restart()
    scene.send("heartbeat")
    scene.pass_gap_limit()
    for raw in (*lost, scene.records[0].value):
        scene.append(raw)
    assert (told_of(scene), scene.refusals, scene.fold.repeats) == ([], [], 1)


def test_missing_event_whose_clock_was_ahead_is_put_in_its_place() -> None:
    """Its number is known to be missing: that says more than its clock."""
    scene = playing()
    with scene.lost() as lost:
        scene.send("heartbeat", occurred_at=scene.now + timedelta(hours=1))
    scene.send("heartbeat")
    scene.restart()
    scene.send("heartbeat")
    scene.pass_gap_limit()
    scene.append(lost[0])
    assert (told_of(scene), scene.refusals) == ([], [])


def test_one_number_used_twice_is_a_conflict_and_no_new_controller() -> None:
    scene = playing()
    scene.seq -= 1
    scene.send("dealer_in", dealer_id="D-9")
    assert (told_of(scene), scene.refusals) == ([], ["conflict"])
