"""The past told again: any moment of it, with everything that became known of it later."""

import json
from collections.abc import Iterable
from datetime import timedelta
from typing import cast

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pitwatch.history import cut as cut_module
from pitwatch.history.cut import find_cut
from pitwatch.history.fact_book import Scope
from pitwatch.history.reader import Reader, find_events, tables_heard
from pitwatch.history.telling import History, tell, with_evidence
from processors.reconstruct.fold import FoldSettings, TableFold
from processors.reconstruct.state import TableState
from schemas.facts import AlertFact, BetFact, RoundFact, ShoeFact
from schemas.log import EventLog, Record
from schemas.topics import TABLE_EVENTS
from tests.pitwatch.table_log import NOON, MemoryLog, Message, Sent, Table

SETTINGS = FoldSettings()
TABLE = Scope()
HOUR = timedelta(hours=1)
LONG_AGO = timedelta(days=3)


def reading(messages: Iterable[Message]) -> Reader:
    return Reader(cast(EventLog, MemoryLog(messages)), "T1")


def told(messages: Iterable[Message], sent: Sent | None = None, scope: Scope = TABLE) -> History:
    """Tell table T1 up to the moment of `sent`, or to the end of the log."""
    reader = reading(messages)
    cut = None
    if sent is not None:
        cut = find_cut(reader, SETTINGS, sent.moment)
        assert cut is not None
    return with_evidence(tell(reader, SETTINGS, scope, cut), reader)


def state_of(sent: list[Sent]) -> object:
    """Return what a fold that gets these events, and no others, knows of the table."""
    fold = TableFold("T1", SETTINGS)
    for offset, one in enumerate(sent):
        fold.apply(Record(TABLE_EVENTS, 0, offset, "T1", one.raw, one.arrives_at))
    return _plain(fold.state)


def plain(history: History) -> object:
    return _plain(history.state)


def _plain(state: TableState) -> object:
    """Return what is known of the table, but for when the log came to know of it."""
    fields = msgspec.to_builtins(state, str_keys=True)
    return {name: value for name, value in fields.items() if not name.endswith("last_appended_at")}


def codes(history: History) -> list[str]:
    return [alert.code for alert in history.facts.of(AlertFact)]


@pytest.fixture(scope="module")
def evening() -> Table:
    table = Table()
    table.open()
    table.play_evening()
    return table


# -- the moment ------------------------------------------------------------------------------------------------------


def test_at_every_moment_the_table_is_what_its_events_until_then_made_it(evening: Table) -> None:
    for count, sent in enumerate(evening.sent, start=1):
        assert plain(told(evening.messages(), sent)) == state_of(evening.sent[:count])


def test_without_a_moment_it_is_all_of_them(evening: Table) -> None:
    history = told(evening.messages())
    assert plain(history) == state_of(evening.sent)
    assert history.moment is None


def test_before_the_first_event_nothing_is_known(evening: Table) -> None:
    first = evening.sent[0].moment
    assert find_cut(reading(evening.messages()), SETTINGS, first) is not None
    assert find_cut(reading(evening.messages()), SETTINGS, first - timedelta(microseconds=1)) is None


@settings(max_examples=50)
@given(st.data())
def test_repeats_and_disorder_on_the_way_change_no_moment(evening: Table, data: st.DataObject) -> None:
    """Events come up to three places late, some twice; whatever moment is asked for, the table was the same."""
    sent = evening.sent
    shifts = data.draw(st.lists(st.integers(0, 3), min_size=len(sent), max_size=len(sent)))
    twice = data.draw(st.sets(st.integers(0, len(sent) - 1), max_size=5))
    order = sorted(range(len(sent)), key=lambda place: (place + shifts[place], place))
    arrived: list[Message] = [("T1", sent[place]) for place in order for _ in range(2 if place in twice else 1)]
    count = data.draw(st.integers(1, len(sent)))
    assert plain(told(arrived, sent[count - 1])) == state_of(sent[:count])


@pytest.mark.parametrize("most", [1, 8], ids=["one after the other", "some at a time"])
def test_a_long_history_is_weighed_a_part_at_a_time(evening: Table, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr(cut_module, "MAX_DISORDER", most)
    sent = evening.sent[20]
    assert plain(told(evening.messages(), sent)) == state_of(evening.sent[:21])


@pytest.mark.parametrize("clock_off", [HOUR, -HOUR, -LONG_AGO])
def test_a_clock_that_was_wrong_once_moves_no_other_moment(clock_off: timedelta) -> None:
    table = Table()
    table.open()
    before = table.sent[7]
    table.clock_off = clock_off
    table.send("heartbeat")
    table.clock_off = timedelta()
    after = table.send("heartbeat")
    last = [table.send("heartbeat") for _ in range(10)][-1]
    for sent in (before, after, last):
        assert told(table.messages(), sent).state.last_event_id == sent.id


def test_a_number_that_is_no_tables_moves_nothing() -> None:
    """A damaged message claims the moment of the first; it is refused, now and then."""
    table = Table()
    first = table.send("heartbeat")
    damaged = Sent({**first.event, "event_id": "T1:900000:1", "epoch": 900_000, "seq": 1}, first.moment)
    table.send("heartbeat")
    assert told([*table.messages(), ("T1", damaged)], first).state.last_event_id == first.id


# -- gaps ------------------------------------------------------------------------------------------------------------


def test_events_that_came_late_stand_in_their_place() -> None:
    """The card is missing until long after the round; whoever asks for the round today gets it whole."""
    table = Table()
    table.open()
    table.play_evening()
    late = next(sent for sent in table.sent if sent.event["type"] == "card_drawn" and sent.event["round"] == 1)
    closed = next(sent for sent in table.sent if sent.event["type"] == "round_closed")
    history = told([*table.messages(without=late), ("T1", late)], closed, Scope(1, 1))
    found = next(one for one in history.facts.of(RoundFact) if one.round == 1)
    assert (found.status, found.player_cards) == ("settled", ("5H", "2S"))
    assert codes(history) == []


@pytest.mark.parametrize("decided", [False, True], ids=["by the log's clock", "by Pitwatch's own event"])
def test_a_gap_given_up_later_is_a_gap_at_its_moment(decided: bool) -> None:
    table = Table()
    table.open()
    table.send("round_opened", shoe=1, round=1)
    lost = table.send("card_drawn", shoe=1, round=1, hand="player", position=1, card="2H")
    asked = table.send("card_drawn", shoe=1, round=1, hand="banker", position=1, card="3H")
    if decided:
        table.decide("gap_expired", through_epoch=1, through_seq=asked.event["seq"])
        for sent in table.sent:
            sent.arrives_at = NOON
    else:
        for _ in range(10):
            table.send("heartbeat")
    history = told(table.messages(without=lost), asked, Scope(1, 1))
    assert history.waits is None
    assert history.state.last_event_id == asked.id
    assert codes(history) == ["telemetry_gap"]
    assert history.state.round is not None
    assert not history.state.round.complete


def test_a_gap_given_up_is_one_though_another_is_still_waited_for() -> None:
    table = Table()
    table.open()
    first = table.send("heartbeat")
    asked = table.send("dealer_out", dealer_id="D-1")
    table.now += HOUR
    table.send("heartbeat")
    second = table.send("heartbeat")
    table.send("heartbeat")
    messages = [message for message in table.messages(without=first) if message[1] is not second]
    assert told(messages).waits is not None
    history = told(messages, asked)
    assert (history.waits, history.state.dealer_id) == (None, "")


def test_a_gap_that_may_still_close_is_waited_for_then_too() -> None:
    table = Table()
    table.open()
    lost = table.send("heartbeat")
    asked = table.send("dealer_out", dealer_id="D-1")
    history = told(table.messages(without=lost), asked)
    assert history.waits == (1, asked.event["seq"])
    assert history.state.dealer_id == "D-1"


def test_a_silence_is_known_from_the_moment_it_was_found() -> None:
    table = Table()
    table.open()
    last = table.sent[-1]
    table.now += timedelta(minutes=5)
    silent = table.decide("table_silent", silent_since=last.moment.isoformat(), last_event_id=last.id)
    assert codes(told(table.messages(), last)) == []
    assert codes(told(table.messages(), silent)) == ["table_silent"]


# -- corrections -----------------------------------------------------------------------------------------------------


class Corrected:
    """An evening with a payment of 300 in place of 600, and what supervisors did about it afterwards."""

    def __init__(self) -> None:
        self.table = Table()
        self.table.open()
        self.short = self.table.play_evening()
        self.asked = self.table.sent[-1]
        self.table.send("heartbeat")

    def correct(self, target: Sent, *, by_table: bool = False, **changes: object) -> Sent:
        """Replace fields of an event, or take it back where no fields are given."""
        send = self.table.send if by_table else self.table.decide
        return send(
            "correction",
            target_event_id=target.id,
            action="replace" if changes else "retract",
            changes=changes,
            authorised_by="PM-7",
            reason="wrong amount keyed in",
        )

    def told(self) -> History:
        """Tell round 3 as it was at the moment asked for: when it closed, unless that was changed."""
        return told(self.table.messages(), self.asked, Scope(1, 3))

    def told_now(self) -> History:
        """Tell round 3 as it stands after all."""
        return told(self.table.messages(), None, Scope(1, 3))


def paid(history: History) -> int:
    (bet,) = history.facts.of(BetFact)
    return bet.paid


def test_without_a_correction_the_bet_was_paid_short() -> None:
    history = Corrected().told()
    assert (paid(history), codes(history)) == (30_000, ["underpaid"])


@pytest.mark.parametrize("by_table", [True, False])
def test_a_correction_made_later_is_in_effect_before(by_table: bool) -> None:
    """That it was made is no part of the story yet; what it says is, and the evidence names it."""
    evening = Corrected()
    correction = evening.correct(evening.short, by_table=by_table, amount=60_000)
    evening.table.send("heartbeat")
    history = evening.told()
    assert (paid(history), codes(history)) == (60_000, [])
    assert [seen.event.event_id for seen in history.corrections] == [correction.id]
    (bet,) = history.facts.of(BetFact)
    assert (bet.src_partition, bet.src_offset) == (0, evening.table.sent.index(correction))
    assert history.state.last_event_id == evening.asked.id
    assert history.state.expected_float == 100_000_000 + 100_000 - 50_000 - 48_000 - 60_000


@pytest.mark.parametrize("by_table", [True, False])
@pytest.mark.parametrize(
    ("amounts", "now_paid"), [((50_000, 60_000), 60_000), ((60_000, None), 30_000), ((60_000, None, 45_000), 45_000)]
)
def test_the_newest_correction_holds_unless_it_was_taken_back(
    by_table: bool, amounts: tuple[int | None, ...], now_paid: int
) -> None:
    """None takes the correction before it back."""
    evening = Corrected()
    last = evening.short
    for amount in amounts:
        if amount is None:
            evening.correct(last, by_table=by_table)
        else:
            last = evening.correct(evening.short, by_table=by_table, amount=amount)
    assert paid(evening.told_now()) == now_paid
    assert paid(evening.told()) == now_paid


@pytest.mark.parametrize("by_table", [True, False])
def test_a_correction_of_the_time_may_be_taken_back_later(by_table: bool) -> None:
    evening = Corrected()
    correction = evening.correct(evening.short, by_table=by_table, amount=60_000)
    evening.asked = evening.table.send("heartbeat")
    assert paid(evening.told()) == 60_000
    evening.correct(correction, by_table=by_table)
    history = evening.told()
    assert (paid(history), codes(history)) == (30_000, ["underpaid"])


def test_a_correction_of_the_time_is_part_of_the_story() -> None:
    evening = Corrected()
    evening.correct(evening.short, amount=60_000)
    evening.asked = evening.table.send("heartbeat")
    assert codes(told(evening.table.messages(), evening.asked)) == ["correction_recorded"]


@pytest.mark.parametrize("by_table", [True, False])
def test_a_refused_correction_changes_nothing(by_table: bool) -> None:
    evening = Corrected()
    evening.correct(evening.short, by_table=by_table, amount=-1)
    history = evening.told()
    assert (paid(history), history.corrections) == (30_000, ())


def test_a_correction_of_what_came_later_says_nothing_of_before() -> None:
    evening = Corrected()
    later = evening.table.send("dealer_in", dealer_id="D-2")
    evening.correct(later, dealer_id="D-3")
    history = evening.told()
    assert (history.state.dealer_id, history.corrections) == ("D-1", ())
    assert evening.told_now().state.dealer_id == "D-3"


# -- reading ---------------------------------------------------------------------------------------------------------


def test_a_reader_stops_where_the_log_ended_when_it_was_made() -> None:
    table = Table()
    first = table.send("heartbeat")
    log = MemoryLog(table.messages())
    reader = Reader(cast(EventLog, log), "T1")
    log.records.append(log.records[0]._replace(offset=1))
    assert [record.value for record in reader.records()] == [first.raw]
    assert [record.value for record in reader.records()] == [first.raw]
    assert reader.length == 1


def test_only_whole_identities_are_found() -> None:
    """T1:1:1 is also the beginning of T1:1:10, the target of a correction, and a word in its reason."""
    table = Table()
    sent = [table.send("heartbeat") for _ in range(12)]
    table.send("correction", target_event_id="T1:1:1", action="retract", authorised_by="PM-7", reason="T1:1:1")
    found = find_events(reading([*table.messages(), ("T1", b'"T1:1:1"'), ("T1", sent[0])]), {"T1:1:1"})
    assert [(seen.event.event_id, seen.record.offset) for seen in found] == [("T1:1:1", 0)]


def test_tables_are_known_from_the_log_and_from_the_folds() -> None:
    messages: list[Message] = [(name, Table(name).send("heartbeat")) for name in ("T2", "T1")]
    assert tables_heard(cast(EventLog, MemoryLog(messages, states=("T7",)))) == ["T1", "T2", "T7"]


def test_events_of_another_shoe_or_round_are_no_evidence() -> None:
    table = Table()
    table.open()
    table.play_evening()
    table.load(2)
    table.send("round_opened", shoe=2, round=1)
    history = told(table.messages(), None, Scope(2, 1))
    assert [json.loads(seen.record.value)["type"] for seen in history.events] == ["round_opened"]


def test_a_table_is_told_with_the_rounds_of_its_newest_shoe_alone() -> None:
    table = Table()
    table.open()
    table.play_evening()
    assert [one.round for one in told(table.messages()).facts.of(RoundFact)] == [1, 2, 3]
    table.load(2)
    history = told(table.messages())
    assert history.facts.of(RoundFact) == []
    assert [shoe.shoe for shoe in history.facts.of(ShoeFact)] == [1, 2]
