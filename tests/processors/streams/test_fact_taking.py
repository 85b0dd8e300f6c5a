"""One message of a fact topic: counted, told, or buried; and what happens when that can't be done now."""

import base64
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

import pytest
from hypothesis import given
from hypothesis import settings as given_settings
from hypothesis import strategies as st

from processors.logs.sqlite import SqliteLog
from processors.metrics import STREAM_DEAD_LETTERS, STREAM_FACTS, STREAM_NEWEST
from processors.notify.database import FILE_NAME, OutboxUnavailable
from processors.notify.notifier import Notifier
from processors.notify.recording import RecordingTransport
from processors.store.sink import Sink
from processors.streams.fact_taking import KEPT_BYTES, STREAMS, FactTaking
from processors.streams.floor_now import FloorNow
from processors.streams.watchdog import Share
from schemas.facts import DeadLetterFact
from schemas.log import MAX_MESSAGE_BYTES, Record
from schemas.topics import FACT_TOPICS
from schemas.wire import decode_fact, encode
from tests.contract.store.stored_facts import fact
from tests.processors.notify.samples import route, settings
from tests.processors.store.test_sink import RecordingStore

ROUNDS, ALERTS, DEAD_LETTERS = FACT_TOPICS["round"], FACT_TOPICS["alert"], FACT_TOPICS["dead_letter"]
NOW = datetime.now(UTC)


class Past:
    """What a log's one partition got before, and how many records of it were asked for."""

    def __init__(self, log: SqliteLog) -> None:
        self.log = log
        self.read = 0

    def before(self, record: Record, since: datetime, offset: int | None) -> Iterator[Record]:
        for one in self.log.read(record.topic, record.partition, offset or 0, 10_000):
            if one.offset < record.offset and (offset is not None or one.appended_at >= since):
                self.read += 1
                yield one


class Desk:
    """Takes what is put into a log's topics."""

    def __init__(self, folder: Path, log: SqliteLog, **changes: object) -> None:
        self.folder = folder
        self.log = log
        self.floor = FloorNow([15], [], NOW)
        self.floor.share({Share(topic, 0) for topic in STREAMS})
        self.transport = RecordingTransport()
        self.notifier = Notifier(log, folder, self.transport, settings(route(**changes)))
        self.past = Past(log)
        self.taking = FactTaking(log, self.floor, self.notifier, self.past)

    def record(self, topic: str, value: bytes, key: str = "BAC-01") -> Record:
        (place,) = self.log.append(topic, [(key, value)])
        (record,) = self.log.read(*place, 1)
        return record

    def rounds(self) -> object:
        (window,) = cast(list[dict[str, dict[str, object]]], self.floor.page(datetime.now(UTC))["windows"])
        return window["floor"]["rounds"]

    def told(self) -> list[tuple[str, int]]:
        """Which alerts people are told of here, and as of which revision."""
        with closing(sqlite3.connect(self.folder / FILE_NAME)) as queue:
            return queue.execute("SELECT alert_id, revision FROM sends ORDER BY send_id").fetchall()

    def letters(self) -> list[DeadLetterFact]:
        return [cast(DeadLetterFact, decode_fact(one.value)) for one in self.log.read(DEAD_LETTERS, 0, 0, 100)]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with closing(SqliteLog(tmp_path / "log.sqlite")) as log:
        desk = Desk(tmp_path, log)
        with closing(desk.notifier):
            yield desk


def round_now(**changes: object) -> bytes:
    return encode(fact("round", "BAC-01", opened_at=NOW, **changes))


def alert_now(**changes: object) -> bytes:
    fields = {"severity": "critical", "code": "overpaid", "status": "raised", "revision": 0}
    return encode(fact("alert", "BAC-01", occurred_at=NOW, **fields | changes))


def test_round_is_counted_and_nobody_told(desk: Desk) -> None:
    before = STREAM_FACTS.labels(ROUNDS)._value.get()
    record = desk.record(ROUNDS, round_now())
    desk.taking.take(record)
    assert desk.rounds() == 1
    assert STREAM_FACTS.labels(ROUNDS)._value.get() == before + 1
    assert STREAM_NEWEST.labels(ROUNDS)._value.get() == record.appended_at.timestamp()
    assert desk.notifier.status().pending == 0


def test_alert_is_queued_durably_before_it_is_done(desk: Desk) -> None:
    desk.taking.take(desk.record(ALERTS, alert_now()))
    assert desk.notifier.status().pending == 1


def test_taking_twice_says_it_once(desk: Desk) -> None:
    records = [desk.record(ALERTS, alert_now()), desk.record(ROUNDS, round_now())]
    for record in records * 2:
        desk.taking.take(record)
    assert desk.notifier.status().pending == 1
    assert desk.rounds() == 1


def test_alert_that_cant_be_queued_now_is_for_another_time(desk: Desk) -> None:
    record = desk.record(ALERTS, alert_now())
    desk.notifier.close()
    with pytest.raises(OutboxUnavailable):
        desk.taking.take(record)


def test_worker_without_routes_counts_alerts_all_the_same(desk: Desk) -> None:
    taking = FactTaking(desk.log, desk.floor, None, desk.past)
    taking.take(desk.record(ALERTS, alert_now()))
    assert desk.notifier.status().pending == 0


@pytest.mark.parametrize(
    ("topic", "value", "reason"),
    [
        (ROUNDS, b"", "invalid"),
        (ROUNDS, b"\xff\x00", "invalid"),
        (ROUNDS, b'{"fact":"round"}', "invalid"),
        (ROUNDS, b"[" * 100_000, "invalid"),
        (ROUNDS, alert_now(), "wrong_topic"),
        (ALERTS, b'{"fact":"alert","x":', "invalid"),
        (ALERTS, round_now(), "wrong_topic"),
    ],
)
def test_what_is_no_fact_of_the_topic_is_buried_with_its_bytes(
    desk: Desk, topic: str, value: bytes, reason: str
) -> None:
    before = STREAM_DEAD_LETTERS.labels(topic)._value.get()
    record = desk.record(topic, value)
    desk.taking.take(record)
    (letter,) = desk.letters()
    assert base64.b64decode(letter.raw) == value
    assert (letter.reason, letter.table_id) == (reason, "BAC-01")
    assert (letter.src_topic, letter.src_partition, letter.src_offset) == (topic, 0, record.offset)
    assert STREAM_DEAD_LETTERS.labels(topic)._value.get() == before + 1
    assert (desk.rounds(), desk.notifier.status().pending) == (0, 0)


def test_message_too_long_for_a_dead_letter_keeps_its_beginning(desk: Desk) -> None:
    desk.taking.take(desk.record(ROUNDS, b"x" * MAX_MESSAGE_BYTES))
    (letter,) = desk.letters()
    assert base64.b64decode(letter.raw) == b"x" * KEPT_BYTES
    assert f"the first {KEPT_BYTES} of {MAX_MESSAGE_BYTES} bytes are kept" in letter.detail


def test_dead_letter_is_one_however_often_it_is_buried(desk: Desk) -> None:
    """Its place in the log names it, so the store keeps one row."""
    record = desk.record(ROUNDS, b"noise")
    desk.taking.take(record)
    desk.taking.take(record)
    first, second = desk.letters()
    assert first == second
    store = RecordingStore("store")
    Sink(desk.log, store).drain()
    assert len({(row["src_topic"], row["src_offset"]) for row in store.rows_of("dead_letter")}) == 1


def test_past_is_counted_and_neither_told_nor_buried(desk: Desk) -> None:
    for topic, value in ((ROUNDS, round_now()), (ALERTS, alert_now()), (ROUNDS, b"noise"), (ROUNDS, alert_now())):
        desk.taking.count(desk.record(topic, value))
    assert desk.rounds() == 1
    assert (desk.letters(), desk.notifier.status().pending) == ([], 0)


# -- several workers, one after the other ------------------------------------------------------------------------------


@pytest.fixture
def other(desk: Desk, tmp_path: Path) -> Iterator[Desk]:
    """A worker with a data directory of its own."""
    (tmp_path / "other").mkdir()
    other = Desk(tmp_path / "other", desk.log)
    with closing(other.notifier):
        yield other


def revised(revision: int, **changes: object) -> bytes:
    return alert_now(alert_id="A", revision=revision, **changes)


def test_who_takes_a_partition_over_knows_what_was_told(desk: Desk, other: Desk) -> None:
    desk.taking.take(desk.record(ALERTS, revised(0)))
    other.taking.take(other.record(ALERTS, revised(1, text_en="more is known")))
    assert other.told() == [], "nothing new is no news, whoever told it"
    other.taking.take(other.record(ALERTS, revised(2, status="corrected")))
    assert other.told() == [("A", 2)], "who heard of it hears how it ended"
    # The partition goes back to the first, which has missed that.
    desk.taking.shared()
    desk.taking.take(desk.record(ALERTS, revised(3, status="corrected")))
    assert desk.told() == [("A", 0)]


def test_only_what_came_since_is_read_again(desk: Desk, other: Desk) -> None:
    for number in range(5):
        desk.taking.take(desk.record(ALERTS, alert_now(alert_id=f"{number}")))
    assert desk.past.read == 0
    for number in range(5, 8):
        other.taking.take(other.record(ALERTS, alert_now(alert_id=f"{number}")))
    assert other.past.read == 5
    desk.taking.shared()
    desk.taking.take(desk.record(ALERTS, alert_now(alert_id="8")))
    desk.taking.take(desk.record(ALERTS, alert_now(alert_id="9")))
    assert desk.past.read == 3
    assert [alert_id for alert_id, _ in desk.told() + other.told()] == list("0123489567")


def test_noise_of_the_past_is_passed_over(desk: Desk, other: Desk) -> None:
    for value in (b"noise", round_now(), revised(0)):
        desk.taking.take(desk.record(ALERTS, value))
    other.taking.take(other.record(ALERTS, revised(1)))
    assert other.told() == []
    assert (len(other.letters()), other.notifier.status().unreadable) == (2, 0)


def test_what_others_told_is_no_flood_and_waits_for_no_summary(desk: Desk, other: Desk) -> None:
    for number in range(40):
        desk.taking.take(desk.record(ALERTS, alert_now(alert_id=f"{number}")))
    other.taking.take(other.record(ALERTS, alert_now(alert_id="new")))
    assert other.told() == [("new", 0)]
    assert other.notifier.status().collapsed == 0


ALERT = st.tuples(
    st.sampled_from("ABC"), st.sampled_from([{}, {"status": "corrected"}, {"retracted": True}, {"text_en": "other"}])
)


@given_settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(ALERT, st.integers(0, 2)), max_size=15))
def test_workers_together_tell_what_one_alone_would(
    happenings: list[tuple[tuple[str, dict[str, object]], int]],
) -> None:
    """Whoever has the partition, where each leaves off cleanly: what it took is committed."""
    with TemporaryDirectory() as name, ExitStack() as opened:
        folder = Path(name)
        log = opened.enter_context(closing(SqliteLog(folder / "log.sqlite")))
        desks = []
        for number in range(4):
            (folder / f"{number}").mkdir()
            desks.append(Desk(folder / f"{number}", log, alerts_per_ten_minutes=1000))
            opened.enter_context(closing(desks[-1].notifier))
        alone, owner = desks[3], 0
        for revision, ((alert_id, changes), next_owner) in enumerate(happenings):
            if next_owner != owner:
                owner = next_owner
                for desk in desks[:3]:
                    desk.taking.shared()
            record = alone.record(ALERTS, alert_now(alert_id=alert_id, revision=revision, **changes))
            desks[owner].taking.take(record)
            alone.taking.take(record)
        assert sorted(told for desk in desks[:3] for told in desk.told()) == sorted(alone.told())
