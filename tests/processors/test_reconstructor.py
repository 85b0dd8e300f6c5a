"""The hot path on a real log: whatever the batches, snapshots, crashes and failures, its facts are the pure fold's."""

import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter
from structlog.testing import capture_logs

import processors.table_folds
from processors.fold_snapshots import blank, read_back, write_down
from processors.logs.sqlite import SqliteLog
from processors.logs.transaction import CollectedTransaction
from processors.reconstruct.fold import FoldSettings, TableFold
from processors.reconstructor import GROUP, MARK, Progress, Reconstructor
from processors.table_folds import SnapshotsLost, TableFolds
from producers.simulator import mixed_floor, simulate
from schemas.configuration import TableEntry, preset
from schemas.events import GapExpired, TableSilent
from schemas.facts import AlertFact, Fact
from schemas.log import MAX_MESSAGE_BYTES, LogError, LogUnavailable, Position, Record
from schemas.revisions import COUNTED, counted, first_revision
from schemas.topics import FACT_TOPICS, TABLE_EVENTS
from schemas.wire import decode_event, decode_fact, encode
from tests.producers.table import event
from tests.simulation.crash_floor import messages

NOON = datetime(2026, 1, 15, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
MACAU = preset("macau")
LIMIT = timedelta(seconds=MACAU.silence_limit_seconds)
MESSAGES = messages()[:300]


class FailingLog(SqliteLog):
    """A log whose clock the test sets, whose next commits can fail."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, clock=lambda: self.now)
        self.now = NOON
        self.failures = 0

    @contextmanager
    def transaction(self, group: str) -> Iterator[CollectedTransaction]:
        with super().transaction(group) as transaction:
            yield transaction
            if self.failures:
                self.failures -= 1
                raise LogUnavailable("the disk is full")

    def facts(self) -> dict[str, list[bytes]]:
        return {topic: [record.value for record in self.read(topic, 0, 0, 100_000)] for topic in FACT_TOPICS.values()}


@pytest.fixture
def log(tmp_path: Path) -> Iterator[FailingLog]:
    with closing(FailingLog(tmp_path / "log.sqlite")) as opened:
        yield opened


def send(log: FailingLog, *raw: bytes, key: str = "T01") -> None:
    log.append(TABLE_EVENTS, [(key, one) for one in raw])


def as_counted(fact: Fact) -> Fact:
    """Return a fact with the revision that its fold counted."""
    return cast(Fact, msgspec.structs.replace(cast(msgspec.Struct, fact), revision=counted(fact.revision)))


def open_table(log: FailingLog, table_id: str = "T01") -> None:
    send(log, event(1, table_id, type="table_opened", follows=(0, 0)), key=table_id)


def of_the_pure_fold(records: Sequence[Record]) -> dict[str, list[bytes]]:
    """Return the facts of the records with neither batches nor files in between."""
    folds = {record.key: TableFold(record.key, FoldSettings()) for record in records}
    facts: dict[str, list[bytes]] = {topic: [] for topic in FACT_TOPICS.values()}
    for record in records:
        for fact in folds[record.key].apply(record):
            facts[FACT_TOPICS[fact.fact]].append(encode(fact))
    return facts


@settings(max_examples=20)
@given(
    st.lists(st.sampled_from(["step", "step", "failing step", "stop", "crash"]), max_size=25),
    st.integers(1, 90),
    st.integers(1, 150),
)
def test_facts_never_depend_on_batches_snapshots_and_crashes(happenings: list[str], batch: int, snapshot: int) -> None:
    with TemporaryDirectory() as folder, closing(FailingLog(Path(folder) / "log.sqlite")) as log:

        def start() -> Reconstructor:
            return Reconstructor(log, FoldSettings(), batch_events=batch, snapshot_events=snapshot)

        for first in range(0, len(MESSAGES), 40):
            log.append(TABLE_EVENTS, MESSAGES[first : first + 40])
            log.now += SECOND
        reconstructor = start()
        for what in happenings:
            log.failures = what == "failing step"
            if what == "failing step" and reconstructor.behind():
                with pytest.raises(LogUnavailable):
                    reconstructor.step()
            elif what in {"stop", "crash"}:
                if what == "stop":
                    reconstructor.save_all()
                reconstructor = start()
                reconstructor.claim()
                reconstructor.take_up_all()
            else:
                reconstructor.step()
        log.failures = 0
        while reconstructor.step().events:
            pass
        assert reconstructor.behind() == 0
        assert log.facts() == of_the_pure_fold(log.read(TABLE_EVENTS, 0, 0, 1_000))


def test_step_tells_what_it_did_and_hands_over_what_is_committed(log: FailingLog) -> None:
    handed: list[Fact] = []
    reconstructor = Reconstructor(log, FoldSettings(), batch_events=200, on_facts=handed.extend)
    assert reconstructor.step() == Progress()
    log.append(TABLE_EVENTS, MESSAGES)
    assert reconstructor.wait(60)
    assert reconstructor.behind() == len(MESSAGES)
    first = reconstructor.step()
    assert (first.events, first.facts, reconstructor.behind()) == (200, len(handed), 100)
    log.failures = 1
    with pytest.raises(LogUnavailable):
        reconstructor.step()
    assert len(handed) == first.facts, "what wasn't committed is told to nobody"
    second = reconstructor.step()
    assert (second.events, first.facts + second.facts) == (100, len(handed))
    assert first.alerts + second.alerts == sum(fact.fact == "alert" for fact in handed)
    assert Counter(map(encode, handed)) == Counter(raw for values in log.facts().values() for raw in values)


def test_repeats_are_counted_once_even_where_a_commit_fails(log: FailingLog) -> None:
    reconstructor = Reconstructor(log, FoldSettings(), batch_events=3)
    open_table(log)
    send(log, *[event(2)] * 4)
    log.failures = 1
    with pytest.raises(LogUnavailable):
        reconstructor.step()
    while reconstructor.step().events:
        pass
    assert reconstructor.repeats == 3
    restarted = Reconstructor(log, FoldSettings())
    restarted.claim()
    restarted.take_up_all()
    assert restarted.repeats == 0, "records folded again are no repeats"


def test_how_far_it_is_behind_can_be_asked_while_another_moves_on(log: FailingLog) -> None:
    asked = Reconstructor(log, FoldSettings())
    open_table(log)
    assert asked.behind() == 1
    Reconstructor(log, FoldSettings()).step()
    assert asked.behind() == 0, "to ask must not pin the place: another thread could be moving it"


def test_clean_stop_leaves_nothing_to_fold_again(log: FailingLog) -> None:
    log.append(TABLE_EVENTS, MESSAGES)
    reconstructor = Reconstructor(log, FoldSettings())
    reconstructor.step()
    reconstructor.save_all()
    offsets = {key: read_back(snapshot).offset for key, snapshot in log.states(GROUP)}
    assert offsets == dict.fromkeys({key for key, _ in MESSAGES}, len(MESSAGES))
    restarted = Reconstructor(log, FoldSettings())
    restarted.claim()
    restarted.take_up_all()
    assert restarted.folds.keys() == offsets.keys()
    assert restarted.tables.folded_again == 0
    restarted.save_all()
    assert restarted.step() == Progress()


def test_marks_of_the_runtime_are_no_tables(log: FailingLog) -> None:
    with log.transaction(GROUP) as transaction:
        transaction.save_state(f"replay{MARK}unfinished", b"12")
    reconstructor = Reconstructor(log, FoldSettings())
    reconstructor.take_up_all()
    assert not reconstructor.folds


def test_snapshot_that_cannot_be_read_costs_time_and_nothing_else(log: FailingLog) -> None:
    """After an update, say, that changed what a fold consists of."""
    log.append(TABLE_EVENTS, MESSAGES[:200])
    reconstructor = Reconstructor(log, FoldSettings(), snapshot_events=1)
    reconstructor.step()
    tables = sorted(reconstructor.folds)
    with log.transaction(GROUP) as transaction:
        transaction.save_state(tables[0], b"\xc1")
        transaction.save_state(tables[1], b"\x94\x00\x00\xc0\xc4\x01x")
    log.append(TABLE_EVENTS, MESSAGES[200:])
    restarted = Reconstructor(log, FoldSettings())
    restarted.claim()
    with capture_logs() as logs:
        restarted.step()
    warned = [entry["table_id"] for entry in logs if entry["event"] == "snapshot_unreadable"]
    assert sorted(warned) == tables[:2]
    pure = of_the_pure_fold(log.read(TABLE_EVENTS, 0, 0, 1_000))
    facts = {topic: [decode_fact(value) for value in values] for topic, values in log.facts().items()}
    assert {topic: [encode(as_counted(one)) for one in found] for topic, found in facts.items()} == pure
    # What is told from now on holds against whatever was told before, however often another version had revised it.
    tellings = dict.fromkeys(tables, 0)
    for one in (fact for found in facts.values() for fact in found):
        tellings[one.table_id] = max(tellings[one.table_id], one.revision // COUNTED)
    assert tellings == {table: int(table in tables[:2]) for table in tables}


def test_full_window_of_a_busy_table_fits_a_message(log: FailingLog) -> None:
    floor = mixed_floor(seed=3, start=NOON, hours=24, tables=1)
    (table,) = floor.tables
    floor = floor.model_copy(update={"tables": (table.model_copy(update={"patrons": 14}),), "rounds": 125})
    log.append(TABLE_EVENTS, [(arrival.event.table_id, encode(arrival.event)) for arrival in simulate(floor)])
    reconstructor = Reconstructor(log, FoldSettings(), snapshot_events=1_000)
    while reconstructor.step().events:
        pass
    (fold,) = reconstructor.folds.values()
    assert len(zlib.decompress(fold.snapshot())) > MAX_MESSAGE_BYTES, "else this proves nothing"
    reconstructor.save_all()
    ((_, snapshot),) = log.states(GROUP)
    assert read_back(snapshot).restore(FoldSettings()).snapshot() == fold.snapshot()


def test_snapshot_that_fits_no_message_is_left_out(log: FailingLog, monkeypatch: pytest.MonkeyPatch) -> None:
    reconstructor = Reconstructor(log, FoldSettings(), snapshot_events=1)
    open_table(log)
    reconstructor.step()
    monkeypatch.setattr(processors.table_folds, "MAX_MESSAGE_BYTES", 0)
    send(log, event(2))
    with capture_logs() as logs:
        assert reconstructor.step().events == 1
    assert [(entry["event"], entry["table_id"]) for entry in logs] == [("snapshot_too_long", "T01")]
    restarted = Reconstructor(log, FoldSettings())
    restarted.take_up_all()
    assert restarted.folds["T01"].state.last_event_id == "T01:1:2", "it is folded on from the snapshot before"


def test_table_whose_first_snapshot_fits_no_message_is_known_all_the_same(
    log: FailingLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processors.table_folds, "MAX_MESSAGE_BYTES", 0)
    open_table(log)
    Reconstructor(log, FoldSettings()).step()
    assert read_back(log.state(GROUP, "T01") or b"").offset == 0
    restarted = Reconstructor(log, FoldSettings())
    restarted.take_up_all()
    assert restarted.folds["T01"].state.last_event_id == "T01:1:1"


# -- what the clock decides ------------------------------------------------------------------------------------------


def silent(messages: Sequence[tuple[str, bytes]]) -> list[tuple[str, datetime]]:
    """Return the tables that are said to be silent, and since when."""
    events = [TableSilent.model_validate_json(value) for _, value in messages]
    assert all(one.event_id == f"{one.table_id}:0:{one.seq}" for one in events)
    return [(one.table_id, one.silent_since) for one in events]


def given_up(messages: Sequence[tuple[str, bytes]]) -> list[tuple[str, int, int]]:
    """Return the tables whose gaps are given up, and up to which event."""
    events = [GapExpired.model_validate_json(value) for _, value in messages]
    return [(one.table_id, one.through_epoch, one.through_seq) for one in events]


def alert_codes(log: FailingLog) -> list[str]:
    facts = TypeAdapter(list[AlertFact]).validate_json(b"[" + b",".join(log.facts()["alerts"]) + b"]")
    return [alert.code for alert in facts]


def test_open_table_is_silent_after_its_limit_and_told_once(log: FailingLog) -> None:
    reconstructor = Reconstructor(log, FoldSettings())
    open_table(log)
    send(log, event(1, "T02", type="heartbeat", follows=(0, 0)), key="T02")
    reconstructor.step()
    assert reconstructor.overdue(NOON + LIMIT) == []
    log.now = NOON + LIMIT + SECOND
    events = reconstructor.overdue(log.now)
    assert silent(events) == [("T01", NOON)], "T02 was never opened"
    log.append(TABLE_EVENTS, events)
    reconstructor.step()
    assert alert_codes(log) == ["table_silent"]
    assert reconstructor.overdue(log.now + 10 * LIMIT) == []
    send(log, event(2))
    reconstructor.step()
    assert silent(reconstructor.overdue(log.now + 2 * LIMIT)) == [("T01", log.now)], "a new silence is told again"


@pytest.mark.parametrize("restarted", [False, True])
def test_late_events_that_nothing_follows_are_told_after_the_limit(log: FailingLog, restarted: bool) -> None:
    """The first of a burst at once; the others wait for the table's next word, and for no longer than a gap would."""
    reconstructor = Reconstructor(log, FoldSettings())
    open_table(log)
    send(log, event(6))
    reconstructor.step()
    log.now += 6 * SECOND
    send(log, event(7))
    reconstructor.step()
    assert alert_codes(log) == ["telemetry_gap"]
    send(log, *(event(seq) for seq in (2, 3, 4, 5)))
    reconstructor.step()
    told = len(alert_codes(log))
    if restarted:
        reconstructor.save_all()
        reconstructor = Reconstructor(log, FoldSettings())
        reconstructor.claim()
        reconstructor.take_up_all()
    assert reconstructor.overdue(log.now + 5 * SECOND) == []
    log.now += 6 * SECOND
    events = reconstructor.overdue(log.now)
    assert given_up(events) == [("T01", 1, 5)]
    log.append(TABLE_EVENTS, events)
    reconstructor.step()
    assert len(alert_codes(log)) > told, "the gap is no gap any more"
    assert reconstructor.overdue(log.now) == []


@pytest.mark.parametrize("restarted", [False, True])
def test_table_of_which_everything_is_refused_is_silent(log: FailingLog, restarted: bool) -> None:
    """A replaced controller, say, whose boot count was set back."""
    reconstructor = Reconstructor(log, FoldSettings())
    open_table(log)
    send(log, event(2))
    reconstructor.step()
    for seq in (1, 2):
        log.now += LIMIT
        send(log, event(seq, occurred_at="2026-01-15T13:00:00Z"), b"no event at all")
        reconstructor.step()
    if restarted:
        reconstructor = Reconstructor(log, FoldSettings())
        reconstructor.claim()
        reconstructor.take_up_all()
    assert len(log.facts()["dead-letters"]) == 4
    assert silent(reconstructor.overdue(log.now)) == [("T01", NOON)]


@pytest.mark.parametrize("cleanly", [True, False])
def test_silence_is_noticed_over_a_restart(log: FailingLog, cleanly: bool) -> None:
    before = Reconstructor(log, FoldSettings())
    open_table(log)
    before.step()
    if cleanly:
        before.save_all()
    after = Reconstructor(log, FoldSettings())
    after.claim()
    after.take_up_all()
    assert silent(after.overdue(NOON + 2 * LIMIT)) == [("T01", NOON)]


def test_nobody_was_silent_while_nobody_listened(log: FailingLog) -> None:
    """A start after an hour's outage: the tables have kept their events, and are about to send them."""
    reconstructor = Reconstructor(log, FoldSettings())
    open_table(log)
    send(log, event(3))
    reconstructor.step()
    start = NOON + timedelta(hours=1)
    reconstructor.listen_from(start)
    assert reconstructor.overdue(start) == []
    assert given_up(reconstructor.overdue(start + timedelta(seconds=6))) == [("T01", 1, 3)]
    log.append(TABLE_EVENTS, reconstructor.waiting(start, ["T01"]))
    reconstructor.step()
    assert silent(reconstructor.overdue(start + 2 * LIMIT)) == [("T01", NOON)]


def test_gap_is_given_up_after_its_limit(log: FailingLog) -> None:
    reconstructor = Reconstructor(log, FoldSettings(gap_limit_ms=4_000))
    open_table(log)
    send(log, event(4), event(7))
    reconstructor.step()
    assert reconstructor.overdue(NOON + 4 * SECOND) == []
    events = reconstructor.overdue(NOON + 5 * SECOND)
    assert given_up(events) == [("T01", 1, 7)]
    log.append(TABLE_EVENTS, events)
    reconstructor.step()
    assert alert_codes(log) == ["telemetry_gap", "telemetry_gap"]
    assert reconstructor.overdue(NOON + 5 * SECOND) == []


def test_source_at_its_end_gives_up_its_own_tables_gaps(log: FailingLog) -> None:
    reconstructor = Reconstructor(log, FoldSettings())
    for table_id in ("T01", "T02", "T03"):
        open_table(log, table_id)
    for table_id in ("T01", "T02"):
        send(log, event(3, table_id), key=table_id)
    reconstructor.step()
    assert given_up(reconstructor.waiting(NOON, ["T01", "T03", "T99"])) == [("T01", 1, 3)]
    assert given_up(reconstructor.waiting(NOON, {"T01", "T02"})) == [("T01", 1, 3), ("T02", 1, 3)]


def test_own_events_never_share_a_number(log: FailingLog) -> None:
    reconstructor = Reconstructor(log, FoldSettings())
    open_table(log)
    send(log, event(3))
    reconstructor.step()
    again = [given_up(reconstructor.waiting(NOON, ["T01"])) for _ in range(3)]
    assert again == [[("T01", 1, 3)]] * 3
    numbers = [decode_event(value).seq for _, value in reconstructor.waiting(NOON, ["T01"])]
    assert numbers == [(NOON - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1) + 3]


def test_configuration_is_published_where_another_is_in_force(log: FailingLog) -> None:
    vip = MACAU.model_copy(update={"configuration_id": "vip", "seats": 7})
    entries = [TableEntry(table_id="T01", configuration=MACAU), TableEntry(table_id="T02", configuration=vip)]
    reconstructor = Reconstructor(log, FoldSettings())
    published = reconstructor.to_publish(entries, NOON)
    assert [key for key, _ in published] == ["T01", "T02"]
    log.append(TABLE_EVENTS, published)
    reconstructor.step()
    assert reconstructor.to_publish(entries, NOON) == []
    send(log, event(1, type="table_opened", follows=(0, 0)), event(2, type="shoe_loaded", shoe=1, decks=8))
    send(log, event(3, type="round_opened", shoe=1, round=1))
    reconstructor.step()
    changed = [TableEntry(table_id="T01", configuration=vip)]
    log.append(TABLE_EVENTS, reconstructor.to_publish(changed, NOON + SECOND))
    reconstructor.step()
    assert reconstructor.folds["T01"].state.next_configuration is not None, "it waits for the round to end"
    assert reconstructor.to_publish(changed, NOON + SECOND) == []
    restarted = Reconstructor(log, FoldSettings())
    restarted.claim()
    assert restarted.to_publish([*changed, entries[1]], NOON + SECOND) == []
    assert log.position(GROUP, TABLE_EVENTS, 0) == Position(TABLE_EVENTS, 0, log.end(TABLE_EVENTS, 0)).offset


# -- folds that are taken up -------------------------------------------------------------------------------------------


def test_crash_folds_again_what_came_since_the_snapshots(log: FailingLog) -> None:
    log.append(TABLE_EVENTS, MESSAGES)
    before = Reconstructor(log, FoldSettings(), batch_events=50)
    while before.step().events:
        pass
    after = Reconstructor(log, FoldSettings())
    after.claim()
    after.take_up_all()
    assert 0 < after.tables.folded_again <= len(MESSAGES)
    assert {key: fold.snapshot() for key, fold in after.folds.items()} == {
        key: fold.snapshot() for key, fold in before.folds.items()
    }


@pytest.mark.parametrize("lost", ["the first", "all"])
def test_lost_snapshots_are_noticed_and_nothing_is_told(log: FailingLog, lost: str) -> None:
    """By somebody's mistake with the topic that keeps them; some tables' are left, or none's."""
    log.append(TABLE_EVENTS, MESSAGES[:200])
    before = Reconstructor(log, FoldSettings())
    before.step()
    before.save_all()
    told = log.facts()
    keys = [key for key, _ in log.states(GROUP)]
    for key in keys[:1] if lost == "the first" else keys:
        log.forget_state(GROUP, key)
    log.append(TABLE_EVENTS, MESSAGES[200:])
    restarted = Reconstructor(log, FoldSettings())
    restarted.claim()
    with pytest.raises(SnapshotsLost, match="pitwatch topics replay"):
        restarted.step()
    assert log.facts() == told


def test_log_that_lost_events_is_noticed_before_anything_is_written(
    log: FailingLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or else snapshots of the new events would hide from a replay that the old ones are gone."""
    monkeypatch.setattr(processors.table_folds, "LEADER_SECONDS", 0)
    log.append(TABLE_EVENTS, MESSAGES[:200])
    before = Reconstructor(log, FoldSettings())
    before.step()
    before.save_all()
    with closing(FailingLog(tmp_path / "anew.sqlite")) as anew:
        with anew.transaction(GROUP) as transaction:
            for key, snapshot in log.states(GROUP):
                transaction.save_state(key, snapshot)
        anew.append(TABLE_EVENTS, MESSAGES[200:250])
        restarted = Reconstructor(anew, FoldSettings())
        restarted.claim()
        with pytest.raises(LogError, match="ends at offset 50, and was folded up to 200: the cluster lost records"):
            restarted.step()
        assert dict(anew.states(GROUP)) == dict(log.states(GROUP))
        assert not any(anew.facts().values())
        # Nor is it taken for that where it only takes a moment until all is there.
        anew.append(TABLE_EVENTS, MESSAGES[50:200])
        restarted.step()


def test_fold_that_began_anew_is_written_down_at_once(log: FailingLog) -> None:
    log.append(TABLE_EVENTS, MESSAGES)
    before = Reconstructor(log, FoldSettings())
    while before.step().events:
        pass
    before.save_all()
    key, snapshot = next(iter(log.states(GROUP)))
    with log.transaction(GROUP) as transaction:
        transaction.save_state(key, write_down(msgspec.structs.replace(read_back(snapshot), fold=b"another version's")))
    restarted = Reconstructor(log, FoldSettings())
    restarted.claim()
    restarted.take_up_all()
    assert restarted.tables.folded_again == len(MESSAGES)
    stored = read_back(log.state(GROUP, key) or b"")
    assert (stored.offset, stored.first_revision) == (len(MESSAGES), COUNTED)
    once_more = Reconstructor(log, FoldSettings())
    once_more.claim()
    once_more.take_up_all()
    assert once_more.tables.folded_again == 0


class DividedLog(FailingLog):
    """A log in which the last letter of a table's name is its partition, as far as snapshots go."""

    def partition_of(self, topic: str, key: str) -> int:
        return int(key[-1])

    def read(self, topic: str, partition: int, offset: int, limit: int) -> list[Record]:
        return []

    def end(self, topic: str, partition: int) -> int:
        return 0


REPLAY = first_revision(NOON)
NEVER = (0, 0)
ONCE = (REPLAY, REPLAY)
SINCE = (REPLAY + COUNTED, REPLAY)


@pytest.fixture
def divided(tmp_path: Path) -> Iterator[DividedLog]:
    with closing(DividedLog(tmp_path / "log.sqlite")) as opened:
        yield opened


def taken_up(log: DividedLog, others: Sequence[tuple[str, tuple[int, int]]]) -> tuple[int, int]:
    """Return the first revision and the replay of A0 once all partitions are taken up and its snapshot is lost."""
    with log.transaction(GROUP) as transaction:
        transaction.save_state("A0", b"\xc1")
        for table_id, (first, replayed_from) in others:
            transaction.save_state(table_id, blank(table_id, int(table_id[-1]), first, 0, replayed_from))
    folds = TableFolds(log, FoldSettings(), 100)
    folds.take_up({0: 0, 1: 0})
    with log.transaction(GROUP) as transaction:
        folds.save(transaction, "A0", {0: 0})
    stored = read_back(log.state(GROUP, "A0") or b"")
    return stored.first_revision, stored.replayed_from


@pytest.mark.parametrize(
    ("others", "numbers"),
    [
        ([("B0", NEVER), ("C1", ONCE)], (COUNTED, 0)),
        ([("B0", (3 * COUNTED, 0)), ("C0", NEVER)], (4 * COUNTED, 0)),
        ([("B0", ONCE), ("C0", SINCE), ("D1", NEVER)], (REPLAY + 2 * COUNTED, REPLAY)),
        ([("B1", NEVER), ("C1", (COUNTED, 0))], (2 * COUNTED, 0)),
    ],
    ids=["never replayed", "begun anew", "replayed", "from another partition"],
)
def test_numbers_of_a_snapshot_that_is_lost_are_above_the_others(
    divided: DividedLog, others: Sequence[tuple[str, tuple[int, int]]], numbers: tuple[int, int]
) -> None:
    assert taken_up(divided, others) == numbers


@pytest.mark.parametrize(
    "others",
    [[], [("B0", ONCE), ("C0", NEVER)], [("B1", ONCE)], [("B1", (REPLAY, 0))]],
    ids=["nobody tells", "they don't agree", "another's replay", "another's replay, of an older version"],
)
def test_snapshot_of_which_nothing_is_known_stops_the_worker(
    divided: DividedLog, others: Sequence[tuple[str, tuple[int, int]]]
) -> None:
    with pytest.raises(SnapshotsLost, match=r"of table A0, .* in partition 0 can't be read, .*pitwatch topics replay"):
        taken_up(divided, others)


def test_key_that_is_no_tables_is_refused_after_every_start(log: FailingLog) -> None:
    """It has a snapshot that nobody takes up, and none of the tables is missed for it."""
    tables = {f"no{MARK}table"}
    for seq in (1, 2):
        send(log, event(seq), key=f"no{MARK}table")
        open_table(log, f"T{seq}")
        started = Reconstructor(log, FoldSettings())
        started.claim()
        started.step()
        tables.add(f"T{seq}")
        assert started.folds.keys() == tables
    assert len(log.facts()["dead-letters"]) == 2


def test_quiet_tables_snapshot_is_renewed_so_that_nobody_has_to_read_far(log: FailingLog) -> None:
    reconstructor = Reconstructor(log, FoldSettings(), snapshot_events=10)
    open_table(log, "QUIET")
    open_table(log, "BUSY")
    reconstructor.step()

    def saved_at() -> int:
        return read_back(log.state(GROUP, "QUIET") or b"").offset

    seen = {saved_at()}
    for seq in range(2, 100):
        send(log, event(seq, "BUSY"), key="BUSY")
        reconstructor.step()
        seen.add(saved_at())
        assert log.end(TABLE_EVENTS, 0) - saved_at() <= 2 * 10 * 2 + 1
    assert len(seen) > 1
