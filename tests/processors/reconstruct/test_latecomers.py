"""Late events in a burst: told together, when the log says so, and the same however often the fold is taken up anew."""

from datetime import timedelta

import pytest

from processors.reconstruct import journal as journal_module
from processors.reconstruct import latecomers
from processors.reconstruct.fold import FoldSettings, TableFold
from processors.reconstruct.journal import Journal
from schemas.facts import Fact
from schemas.wire import encode
from tests.processors.reconstruct.scene import HKD, MACAU, PLAYER_WINS, Scene, playing, with_changes

ENDLESS = with_changes(MACAU, shuffling="continuous")
AT_ONCE = timedelta(milliseconds=1)


class Tellings:
    """How often a journal told its history again."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        tell_again = Journal._tell_again

        def counted(journal: Journal) -> None:
            self.count += 1
            tell_again(journal)

        monkeypatch.setattr(Journal, "_tell_again", counted)


@pytest.fixture
def tellings(monkeypatch: pytest.MonkeyPatch) -> Tellings:
    return Tellings(monkeypatch)


def missing(bets: int = 12) -> tuple[Scene, list[bytes]]:
    """Return a table, one bet of each of its rounds lost, and those bets."""
    scene = playing(ENDLESS)
    late: list[bytes] = []
    for _ in range(bets):
        scene.begin()
        with scene.lost() as lost:
            scene.bet("player", 1_000 * HKD, 1)
        scene.bet("banker", 500 * HKD, 2)
        scene.no_more_bets()
        scene.deal(*PLAYER_WINS)
        scene.call()
        scene.of_round("payout_made", bet_id=f"B{scene.bets_placed - 1}", amount=1_000 * HKD)
        scene.of_round("stake_collected", bet_id=f"B{scene.bets_placed}", amount=500 * HKD)
        scene.close()
        late += lost
    scene.pass_gap_limit()
    return scene, late


def arrive(scene: Scene, late: list[bytes], pause: timedelta = AT_ONCE) -> list[Fact]:
    return [fact for raw in late for fact in scene.append(raw, pause=pause)]


def judged(scene: Scene) -> list[tuple[str, int]]:
    return [(fact.status, fact.bets) for fact in scene.rounds]


def test_burst_is_told_twice_at_most(tellings: Tellings) -> None:
    """Its first event at once, all others together at the first word after a pause."""
    scene, late = missing()
    arrive(scene, late)
    assert tellings.count == 1
    assert judged(scene) == [("settled", 2), *[("incomplete", 1)] * 11]
    scene.send("heartbeat")
    assert tellings.count == 2
    assert judged(scene) == [("settled", 2)] * 12
    assert "telemetry_gap" not in scene.codes


def test_late_events_with_a_pause_between_are_told_one_by_one(tellings: Tellings) -> None:
    scene, late = missing(3)
    arrive(scene, late, latecomers.PAUSE)
    assert tellings.count == 3
    assert judged(scene) == [("settled", 2)] * 3


def test_next_late_event_after_a_pause_is_told_with_those_before(tellings: Tellings) -> None:
    scene, late = missing(4)
    arrive(scene, late[:3])
    scene.append(late[3])
    assert (tellings.count, judged(scene)) == (2, [("settled", 2)] * 4)


def test_table_goes_on_while_late_events_wait(tellings: Tellings) -> None:
    """What happens now is told now."""
    scene, late = missing(3)
    arrive(scene, late)
    scene.now -= timedelta(milliseconds=900)
    before = len(scene.given_out)
    scene.begin()
    scene.now -= timedelta(milliseconds=950)
    scene.draw("player", "9S", 1)
    assert scene.state.round is not None
    assert scene.state.round.player == ["9S"]
    assert (tellings.count, len(scene.given_out)) == (1, before)


@pytest.mark.parametrize("word", ["gap_expired", "correction"])
def test_word_of_the_house_is_about_all_that_was_heard(word: str, tellings: Tellings) -> None:
    """Nobody corrects, or gives up, what was heard and not told."""
    scene, late = missing(3)
    arrive(scene, late)
    scene.now -= timedelta(seconds=1)
    if word == "correction":
        scene.correct(f"{scene.table_id}:1:{scene.seq}", by_house=True)
    else:
        waits = scene.fold.waits
        assert waits is not None
        scene.house("gap_expired", through_epoch=waits[0], through_seq=waits[1])
    assert scene.fold.waits is None
    assert judged(scene) == [("settled", 2)] * 3


def test_correction_of_the_tables_own_comes_after_what_was_heard() -> None:
    scene, late = missing(3)
    arrive(scene, late)
    scene.now -= timedelta(seconds=1)
    scene.correct(f"{scene.table_id}:1:{scene.seq}")
    assert scene.fold.latecomers.waiting == {}
    assert judged(scene) == [("settled", 2)] * 3


def test_late_correction_waits_like_any_late_event() -> None:
    """A bet of the first round corrected in the third: both words come late, in a burst."""
    scene, late = missing(2)
    with scene.lost() as correction:
        scene.correct(f"{scene.table_id}:1:{scene.seq - 2}", by_house=False)
    scene.pass_gap_limit()
    arrive(scene, [*late, *correction])
    assert len(scene.fold.latecomers.waiting) == 2
    scene.send("heartbeat")
    assert scene.codes.count("correction_recorded") == 1


def test_repeat_of_a_late_event_that_waits() -> None:
    scene, late = missing(3)
    arrive(scene, late)
    arrive(scene, late[1:])
    assert scene.fold.repeats == 2
    assert scene.append(late[2].replace(b'"stake":100000', b'"stake":200000'), pause=AT_ONCE)[0].fact == "dead_letter"


def test_too_many_late_events_wait_no_longer(monkeypatch: pytest.MonkeyPatch, tellings: Tellings) -> None:
    monkeypatch.setattr(latecomers, "MAX_PENDING", 5)
    scene, late = missing(11)
    arrive(scene, late)
    assert (tellings.count, len(scene.fold.latecomers.waiting)) == (3, 0)


def test_log_whose_clock_goes_back_keeps_nothing_waiting(tellings: Tellings) -> None:
    scene, late = missing(3)
    arrive(scene, late[:1])
    scene.append(late[1], pause=-timedelta(hours=1))
    assert (tellings.count, scene.fold.waits) == (2, None)


def test_late_events_of_a_burst_that_come_too_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of them is a dead letter, and the others of the burst are told all the same."""
    monkeypatch.setattr(journal_module, "BYTES_PER_CHECKPOINT", 2_000)
    monkeypatch.setattr(journal_module, "MAX_BYTES", 12_000)
    scene, late = missing()
    first = scene.fold.journal.story.first
    assert first
    arrive(scene, late)
    scene.send("heartbeat")
    assert scene.refusals
    assert len(scene.refusals) < len(late)
    assert set(scene.refusals) == {"too_late"}


def test_burst_is_told_the_same_wherever_the_fold_is_taken_up() -> None:
    """Also between two late events: byte for byte, revisions included."""
    scene, late = missing()
    arrive(scene, late)
    scene.send("heartbeat")
    for cut in range(len(scene.records) - len(late) - 2, len(scene.records)):
        fold = TableFold(scene.table_id, FoldSettings())
        facts: list[Fact] = []
        for record in scene.records:
            if record.offset == cut:
                fold = TableFold.restore(fold.snapshot(), FoldSettings())
            facts += fold.apply(record)
        assert [encode(fact) for fact in facts] == [encode(fact) for fact in scene.given_out]
