"""Events of the table itself: opening, chips, people, commission debts, corrections and silence."""

from datetime import datetime, timedelta
from typing import Final

from processors.reconstruct.closing import finish
from processors.reconstruct.doubts import doubt_configuration, publish_configuration
from processors.reconstruct.refusals import Unusable
from processors.reconstruct.sequencer import BEGINNING, OPEN_END, Entry
from processors.reconstruct.story import sign_of_life
from processors.reconstruct.table import EvidenceRow, Table
from processors.reconstruct.tray import count_float, demand_commission, move_chips, settle_commission
from schemas.events import (
    BuyIn,
    CommissionSettled,
    ConfigurationPublished,
    Correction,
    Credit,
    DealerIn,
    DealerOut,
    DropCounted,
    Event,
    Fill,
    FloatCounted,
    GapExpired,
    Heartbeat,
    PatronLeft,
    PatronSeated,
    TableClosed,
    TableOpened,
    TableSilent,
)
from schemas.ids import SYSTEM_EPOCH

MOVES_CHIPS: Final = frozenset({"stake_collected", "payout_made"})
"""Events of a round that move chips between the layout and the tray."""


def observe(table: Table, event: Event, appended_at: datetime) -> None:
    """Watch the table's clock and its silences, from the times of its events and of the log's."""
    state = table.state
    at, last = event.occurred_at, state.last_occurred_at
    is_odd = at > appended_at or state.clock_ahead or state.clock_set_back or (last is not None and at < last)
    is_believed = not is_odd or _is_clock_believed(table, event, appended_at)
    if last is not None and state.is_open and at - last > table.rules.silence_limit and is_believed:
        behind = _was_behind(table, at, last, appended_at)
        if behind is None:
            silence(table, event, state.last_event_id, last)
        else:
            _clock_skew(table, event, behind)
    state.before_last_at, state.before_last_appended_at = last, state.last_appended_at
    state.last_occurred_at, state.last_appended_at = at, appended_at
    state.last_event_id = event.event_id


def _is_clock_believed(table: Table, event: Event, appended_at: datetime) -> bool:
    """Tell whether to believe what the clock says of a silence; raise an alert where it went ahead, or back.

    One that was ahead and comes right again was told of when it went ahead.
    """
    state, tolerance = table.state, table.rules.clock_tolerance
    at, last = event.occurred_at, state.last_occurred_at
    was_ahead, was_set_back = state.clock_ahead, state.clock_set_back
    state.clock_ahead = at - appended_at > tolerance
    state.clock_set_back = last is not None and last - at > tolerance and not (state.clock_ahead or was_ahead)
    if state.clock_ahead and not was_ahead:
        _clock_skew(table, event, at - appended_at)
    elif state.clock_set_back and last is not None:
        _clock_skew(table, event, at - last)
    return state.clock_ahead == was_ahead and not (state.clock_set_back or was_set_back)


def _was_behind(table: Table, at: datetime, last: datetime, appended_at: datetime) -> timedelta | None:
    """Return how far the clock had been behind (negative) that is right now; None where it was a silence indeed.

    Its events came to the log steadily all the same. Where the last ones came in a heap instead, they had been kept
    back, and what followed may well have been silence.
    """
    state, rules = table.state, table.rules
    heard, before, before_heard = state.last_appended_at, state.before_last_at, state.before_last_appended_at
    if heard is None or before is None or before_heard is None:
        return None
    passed, tolerance = appended_at - heard, rules.clock_tolerance
    is_set_right = (
        timedelta(0) <= passed <= rules.silence_limit
        and at - last - passed > tolerance
        and abs(appended_at - at) <= tolerance
        and abs((last - before) - (heard - before_heard)) <= tolerance
    )
    return last - heard if is_set_right else None


def _clock_skew(table: Table, event: Event, off: timedelta) -> None:
    tolerance = table.rules.clock_tolerance.total_seconds()
    evidence = EvidenceRow(expected=f"{tolerance:.1f} s", actual=f"{off.total_seconds():+.1f} s")
    table.alert(event, "clock_skew", event.event_id, evidence)


def silence(table: Table, event: Event, last_event_id: str, since: datetime) -> None:
    """Raise or update the alert about the silence that began after `last_event_id`."""
    seconds = (event.occurred_at - since).total_seconds()
    limit = table.rules.silence_limit.total_seconds()
    ids = (last_event_id, event.event_id)
    evidence = EvidenceRow(expected=f"{limit:.0f} s", actual=f"{seconds:.0f} s", event_ids=ids)
    table.alert(event, "table_silent", last_event_id, evidence)


def table_silent(table: Table, event: TableSilent) -> None:
    """Pitwatch's own clock found the table silent; the table's next event will say for how long."""
    _check_writer(table, event)
    if event.last_event_id == table.state.last_event_id:
        table.state.silence_reported = event.last_event_id
        silence(table, event, event.last_event_id, event.silent_since)


def gap_expired(table: Table, event: GapExpired) -> None:
    """Pitwatch waits for missing events no longer; the gap itself is told before this."""
    _check_writer(table, event)


def _check_writer(table: Table, event: Event) -> None:
    if event.epoch != SYSTEM_EPOCH:
        raise Unusable("system_type", f"{table.state.table_id} sent {event.type}, which only Pitwatch writes")


def gap(table: Table, missing: Entry) -> None:
    """Some of the table's events never came: nothing that they may have changed is judged any more."""
    state = table.state
    state.last_occurred_at = None
    state.expected_float = None
    state.doubtful_debts, state.demanded = dict(state.ledger), {}
    # Somebody else may deal and sit there by now.
    state.dealer_id, state.seats = "", {}
    doubt_configuration(state)
    if state.shoe:
        state.shoe.complete = False
    if state.round:
        state.round.complete = False
    # What was moved for it meanwhile, nobody saw.
    state.finished = None
    last = "?" if missing.last == OPEN_END else missing.last
    span = f"{missing.epoch}:{missing.seq}" + (f"–{last}" if last != missing.seq else "")
    epoch, seq = missing.link or BEGINNING
    found = sign_of_life(state.table_id, epoch, seq, missing.appended_at)
    table.alert(found, "telemetry_gap", f"{missing.epoch}:{missing.seq}", EvidenceRow(actual=span))


def doubt(table: Table, event: Event, reason: str) -> None:
    """An event that can't be used says something all the same that nobody knows now: neither tray nor round is certain.

    Where stakes stand that nobody saw, one more word about them changes nothing.
    """
    state, play = table.state, table.state.round
    if event.type in MOVES_CHIPS:
        state.expected_float = None
    if play is None or (getattr(event, "shoe", 0), getattr(event, "round", 0)) != (play.shoe, play.number):
        return
    if reason != "no_such_bet" or not play.carry_unknown:
        play.complete = False


def table_opened(table: Table, event: TableOpened) -> None:
    """The table opens; its tray should hold what it held when it closed."""
    table.state.is_open = True
    if event.opening_float is not None:
        count_float(table, event, event.opening_float)


def table_closed(table: Table, event: TableClosed) -> None:
    """The table closes: nothing is left in play, and debts of commission are due."""
    state = table.state
    if state.round:
        finish(table, event, closed=False)
    if event.closing_float is not None:
        count_float(table, event, event.closing_float)
    state.is_open = False
    state.standing, state.carry_unknown = {}, False
    demand_commission(table, event, tuple(state.ledger))


def configuration_published(table: Table, event: ConfigurationPublished) -> None:
    """From the next round on, these are the rules."""
    publish_configuration(table, event)


def float_counted(table: Table, event: FloatCounted) -> None:
    """The tray is counted."""
    count_float(table, event, event.amount)


def buy_in(table: Table, event: BuyIn) -> None:
    """Chips leave the tray for cash or a marker, which goes into the drop box."""
    move_chips(table, -event.amount)


def fill(table: Table, event: Fill) -> None:
    """Chips come from the cage."""
    move_chips(table, event.amount)


def credit(table: Table, event: Credit) -> None:
    """Chips go to the cage."""
    move_chips(table, -event.amount)


def drop_counted(table: Table, event: DropCounted) -> None:
    """The drop box is no part of the tray; its count is for the books."""


def dealer_in(table: Table, event: DealerIn) -> None:
    """A dealer takes over."""
    table.state.dealer_id = event.dealer_id


def dealer_out(table: Table, event: DealerOut) -> None:
    """The dealer leaves."""
    if table.state.dealer_id == event.dealer_id:
        table.state.dealer_id = ""


def patron_seated(table: Table, event: PatronSeated) -> None:
    """A patron takes a seat."""
    table.state.seats[event.seat] = event.patron_id


def patron_left(table: Table, event: PatronLeft) -> None:
    """A patron leaves; commission marked at the seat should be settled by now."""
    table.state.seats.pop(event.seat, None)
    demand_commission(table, event, (event.seat,), event.patron_id)


def commission_settled(table: Table, event: CommissionSettled) -> None:
    """A position pays what it owes."""
    settle_commission(table, event)


def heartbeat(table: Table, event: Heartbeat) -> None:
    """Nothing happened, and that is known."""


def correction(table: Table, event: Correction) -> None:
    """Record who corrected what, and why; the journal has put the correction itself into effect."""
    words = f"{event.action} {event.target_event_id}: {event.reason} ({event.authorised_by})"
    ids = (event.target_event_id, event.event_id)
    table.alert(event, "correction_recorded", event.event_id, EvidenceRow(actual=words, event_ids=ids), of_round=False)
