"""Who has fallen silent, judged as the fold judges it."""

from datetime import datetime, timedelta
from typing import cast

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from processors.live.openings import CORRECTIONS, NUMBERS_PER_RUN, RUNS
from processors.live.silences import DEFAULT_LIMIT_SECONDS, Silence, WatchedTable, hear, silences
from processors.reconstruct.fold import FoldSettings, TableFold
from schemas.configuration import preset
from schemas.wire import decode_event
from tests.processors.reconstruct.scene import MACAU, START, Scene, with_changes
from tests.producers.table import event
from tests.properties.stories import fold_all, stories

TABLE = "BAC-01"
LIMIT = timedelta(seconds=DEFAULT_LIMIT_SECONDS)
MOMENT = timedelta(microseconds=1)


class Watch:
    """One watched table, which hears an event each second."""

    def __init__(self) -> None:
        self.table = WatchedTable()
        self.now = START

    def hear(self, seq: int, type: str = "heartbeat", epoch: int = 1, /, **fields: object) -> datetime:
        type, epoch = str(fields.pop("type", type)), cast(int, fields.pop("epoch", epoch))
        self.now += timedelta(seconds=1)
        hear(self.table, decode_event(event(seq, TABLE, epoch, type, **fields)), self.now)
        return self.now

    def silent(self, now: datetime, listening_since: datetime = START) -> list[Silence]:
        return list(silences({TABLE: self.table}, now, listening_since))


@pytest.fixture
def watch() -> Watch:
    return Watch()


def retraction(target: str) -> dict[str, object]:
    """Return the fields of the event by which a supervisor takes another back."""
    fields = {"target_event_id": target, "action": "retract", "authorised_by": "PM-7", "reason": "seen on the tape"}
    return {"type": "correction", **fields}


def opened(watch: Watch) -> datetime:
    return watch.hear(1, "table_opened", follows=(0, 0))


def test_open_table_is_silent_once_its_limit_is_over(watch: Watch) -> None:
    heard = opened(watch)
    assert watch.silent(heard + LIMIT) == []
    assert watch.silent(heard + LIMIT + MOMENT) == [Silence(TABLE, "BAC-01:1:1", heard)]


def test_table_that_never_opened_or_closed_is_not_missed(watch: Watch) -> None:
    assert watch.silent(START + 10 * LIMIT) == []
    watch.hear(1)
    assert watch.silent(START + 10 * LIMIT) == []
    watch.hear(2, "table_opened")
    watch.hear(3, "table_closed")
    assert watch.silent(START + 10 * LIMIT) == []


@pytest.mark.parametrize(
    ("type", "fields"),
    [
        ("round_opened", {"shoe": 1, "round": 1, "kind": "live"}),
        ("betting_closed", {"shoe": 1, "round": 1}),
    ],
)
def test_who_plays_is_open_though_the_opening_was_missed(watch: Watch, type: str, fields: dict[str, object]) -> None:
    heard = watch.hear(5, type, **fields)
    assert len(watch.silent(heard + LIMIT + MOMENT)) == 1


def test_opening_that_comes_late_doesnt_undo_the_closing(watch: Watch) -> None:
    watch.hear(3, "table_closed")
    heard = watch.hear(2, "table_opened")
    assert watch.silent(heard + 2 * LIMIT) == []
    assert watch.table.last == (1, 3)


def test_silence_counts_from_when_somebody_listened(watch: Watch) -> None:
    heard = opened(watch)
    since = heard + timedelta(hours=1)
    assert watch.silent(since + LIMIT, since) == []
    assert watch.silent(since + LIMIT + MOMENT, since) == [Silence(TABLE, "BAC-01:1:1", heard)]


def test_silence_is_said_once_and_the_next_one_again(watch: Watch) -> None:
    heard = opened(watch)
    said = watch.hear(1_000_000, "table_silent", 0, silent_since=heard.isoformat(), last_event_id="BAC-01:1:1")
    assert watch.silent(said + 10 * LIMIT) == []
    assert watch.table.heard_at == heard, "what Pitwatch writes is no sign of life"
    heard = watch.hear(2)
    assert watch.silent(heard + LIMIT + MOMENT) == [Silence(TABLE, "BAC-01:1:2", heard)]


def test_what_was_said_while_events_were_held_back_is_said_again(watch: Watch) -> None:
    """The fold holds back what is behind a gap, so it passed over a silence that was said to begin there."""
    opened(watch)
    heard = watch.hear(3)
    watch.hear(1_000_000, "table_silent", 0, silent_since=heard.isoformat(), last_event_id="BAC-01:1:3")
    watch.hear(1_000_001, "gap_expired", 0, through_epoch=1, through_seq=3)
    assert watch.silent(heard + LIMIT + MOMENT) == [Silence(TABLE, "BAC-01:1:3", heard)]


@pytest.mark.parametrize("epoch", [0, 1])
def test_limit_is_the_configurations(watch: Watch, epoch: int) -> None:
    limits = preset("macau").model_copy(update={"silence_limit_seconds": 7}).model_dump(mode="json")
    opened(watch)
    watch.hear(2, "configuration_published", epoch, configuration=limits)
    heard = watch.hear(3)
    assert watch.silent(heard + timedelta(seconds=7)) == []
    assert len(watch.silent(heard + timedelta(seconds=7) + MOMENT)) == 1


def test_repeat_is_a_sign_of_life_and_no_newer_event(watch: Watch) -> None:
    opened(watch)
    watch.hear(2)
    heard = watch.hear(1, "table_opened", follows=(0, 0))
    assert watch.silent(heard + LIMIT + MOMENT) == [Silence(TABLE, "BAC-01:1:2", heard)]


@pytest.mark.parametrize("number", [(1, 2_000_000), (2_000, 1), (2, 2_000_000)])
def test_number_that_the_fold_takes_for_damage_is_not_heard(watch: Watch, number: tuple[int, int]) -> None:
    heard = opened(watch)
    watch.hear(number[1], "heartbeat", number[0])
    assert watch.silent(heard + LIMIT + MOMENT) == [Silence(TABLE, "BAC-01:1:1", heard)]


@pytest.mark.parametrize("number", [(1, 10**13), (10**7, 1)])
def test_first_number_may_be_damage_too(watch: Watch, number: tuple[int, int]) -> None:
    watch.hear(number[1], "table_opened", number[0])
    assert watch.silent(START + 10 * LIMIT) == []


def test_controller_that_counts_from_one_again_is_not_heard(watch: Watch) -> None:
    """The fold refuses every event of it, so nobody knows how the table stands."""
    watch.hear(1, "table_opened", 3, follows=(0, 0))
    heard = watch.hear(2, "heartbeat", 3)
    watch.hear(1, "heartbeat", 1, follows=(0, 0), occurred_at="2026-01-15T12:00:01Z")
    assert watch.silent(heard + LIMIT + MOMENT) == [Silence(TABLE, "BAC-01:3:2", heard)]


def test_next_boot_is_heard(watch: Watch) -> None:
    opened(watch)
    heard = watch.hear(1, "heartbeat", 2, follows=(1, 1))
    assert watch.silent(heard + LIMIT + MOMENT) == [Silence(TABLE, "BAC-01:2:1", heard)]


@settings(max_examples=50, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(stories(house=True, clock=False, at_most=8))
def test_watch_sees_a_table_as_its_fold_does(scene: Scene) -> None:
    table = WatchedTable()
    fold = TableFold(scene.table_id, FoldSettings())
    for record in scene.records:
        hear(table, decode_event(record.value), record.appended_at)
        fold_all(fold, [record])
        assert f"{scene.table_id}:{table.last[0]}:{table.last[1]}" == fold.state.last_event_id
        assert table.is_open == fold.state.is_open
        assert timedelta(seconds=table.limit_seconds) == fold.silence_limit


@settings(max_examples=100)
@given(
    st.lists(st.tuples(st.sampled_from(("open", "close", "play", "heartbeat", "correct", "correct")), st.integers()))
)
def test_watch_follows_supervisors_as_the_fold_does(happenings: list[tuple[str, int]]) -> None:
    """Openings and closings are taken back, changed, and corrections of them taken back in turn."""
    scene = Scene()
    scene.publish(MACAU)
    scene.load()
    sent: list[str] = [scene.send("heartbeat")]
    for what, chance in happenings:
        if what == "correct":
            # Most often one that matters: a correction, or what was sent last.
            target = sent[chance % len(sent)] if chance % 3 else sent[-1 - chance % min(4, len(sent))]
            changes: dict[str, object] = {"opening_float": 7} if chance % 5 == 0 else {}
            sent.append(scene.correct(target, by_house=chance % 2 == 0, **changes))
        elif what == "play":
            sent.append(scene.begin())
        elif what == "heartbeat":
            sent.append(scene.send("heartbeat"))
        else:
            sent.append(scene.send("table_opened" if what == "open" else "table_closed"))
    table = WatchedTable()
    fold = TableFold(scene.table_id, FoldSettings())
    for record in scene.records:
        hear(table, decode_event(record.value), record.appended_at)
        # A snapshot at any moment changes nothing.
        table = msgspec.msgpack.decode(msgspec.msgpack.encode(table), type=WatchedTable)
        fold_all(fold, [record])
        assert table.is_open == fold.state.is_open


def test_table_whose_closing_was_taken_back_is_missed_again(watch: Watch) -> None:
    opened(watch)
    watch.hear(2, "table_closed")
    heard = watch.hear(3, **retraction("BAC-01:1:2"))
    assert watch.silent(heard + LIMIT + MOMENT) == [Silence(TABLE, "BAC-01:1:3", heard)]
    # And that was a mistake: it is closed after all.
    heard = watch.hear(4, **retraction("BAC-01:1:3"))
    assert watch.silent(heard + LIMIT + MOMENT) == []


def test_table_whose_opening_was_taken_back_is_not_missed(watch: Watch) -> None:
    opened(watch)
    heard = watch.hear(1_000_000, epoch=0, **retraction("BAC-01:1:1"))
    assert watch.silent(heard + LIMIT + MOMENT) == []


def test_correction_may_come_before_what_it_corrects(watch: Watch) -> None:
    opened(watch)
    watch.hear(3, **retraction("BAC-01:1:2"))
    heard = watch.hear(2, "table_closed")
    assert watch.silent(heard + LIMIT + MOMENT) == [Silence(TABLE, "BAC-01:1:3", heard)]


def test_newest_correction_holds(watch: Watch) -> None:
    """A closing is taken back, and then put right instead."""
    opened(watch)
    watch.hear(2, "table_closed")
    watch.hear(3, **retraction("BAC-01:1:2"))
    heard = watch.hear(4, **retraction("BAC-01:1:2") | {"action": "replace", "changes": {"closing_float": 5}})
    assert watch.silent(heard + LIMIT + MOMENT) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"target_event_id": "BAC-02:1:2"},
        {"target_event_id": "BAC-01:1:3"},
        {"action": "replace"},
        {"action": "replace", "changes": {"type": "heartbeat"}},
    ],
)
def test_correction_that_cant_hold_changes_nothing(watch: Watch, changes: dict[str, object]) -> None:
    opened(watch)
    watch.hear(2, "table_closed")
    heard = watch.hear(3, **retraction("BAC-01:1:2") | changes)
    assert watch.silent(heard + LIMIT + MOMENT) == []


def test_what_old_corrections_did_is_final(watch: Watch) -> None:
    opened(watch)
    watch.hear(2, "table_closed")
    for seq in range(3, 3 + 2 * CORRECTIONS):
        # The same one again and again is one, and others are about what doesn't matter here.
        watch.hear(3, **retraction("BAC-01:1:2"))
        watch.hear(seq + 1, **retraction("BAC-01:1:1000"))
    assert len(watch.table.openings.fixes) == CORRECTIONS
    assert watch.table.is_open


def test_little_is_kept_of_a_long_evening(watch: Watch) -> None:
    for seq in range(1, 400):
        watch.hear(seq, "table_closed" if seq % 20 == 0 else "table_opened")
    assert len(watch.table.openings.runs) == RUNS
    assert max(len(run.numbers) for run in watch.table.openings.runs) == NUMBERS_PER_RUN
    watch.hear(400, "table_closed")
    watch.hear(401, **retraction("BAC-01:1:400"))
    assert watch.table.is_open


def test_late_events_have_their_places_among_the_others(watch: Watch) -> None:
    for seq in (1, 4, 2, 3, 2):
        watch.hear(seq, "table_closed" if seq == 3 else "table_opened")
    assert [(run.opens, run.numbers) for run in watch.table.openings.runs] == [
        (True, [(1, 1), (1, 2)]),
        (False, [(1, 3)]),
        (True, [(1, 4)]),
    ]
    watch.hear(5, **retraction("BAC-01:1:4"))
    assert not watch.table.is_open


def test_what_comes_later_than_all_that_is_kept_is_passed_over(watch: Watch) -> None:
    for seq in range(10, 10 + RUNS):
        watch.hear(seq, "table_closed" if seq % 2 else "table_opened")
    kept = watch.table.openings.runs
    watch.hear(9, "table_closed")
    assert watch.table.openings.runs == kept
    assert len(kept) == RUNS


def test_state_of_an_older_version_is_gone_on_with() -> None:
    watch = Watch()
    old = {"last": (1, 5), "is_open": True, "standing": (1, 3), "heard_at": START, "last_at": START}
    watch.table = msgspec.msgpack.decode(msgspec.msgpack.encode(old), type=WatchedTable)
    watch.hear(6, "table_closed")
    assert not watch.table.is_open
    watch.hear(7, **retraction("BAC-01:1:6"))
    assert watch.table.is_open


def test_fold_takes_what_the_watch_says() -> None:
    """From the watch's silence to the alert: the same last event, the same limit."""
    scene = Scene()
    scene.open(with_changes(MACAU, configuration_id="brisk", silence_limit_seconds=5))
    table = WatchedTable()
    for record in scene.records:
        hear(table, decode_event(record.value), record.appended_at)
    scene.wait(6)
    (found,) = silences({scene.table_id: table}, scene.now, START)
    scene.house("table_silent", last_event_id=found.last_event_id, silent_since=found.since)
    assert [alert.code for alert in scene.alerts] == ["table_silent"]
