"""Events of the table itself: opening, chips, people, commission debts, corrections and silence."""

from datetime import datetime

from processors.reconstruct.sequencer import Entry
from processors.reconstruct.settle import commission_entry, finish
from processors.reconstruct.table import EvidenceRow, Table, Who
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
    Heartbeat,
    PatronLeft,
    PatronSeated,
    TableClosed,
    TableOpened,
    TableSilent,
)


def observe(table: Table, event: Event, appended_at: datetime) -> None:
    """Watch the table's clock and its silences, from the times of its events alone."""
    state, rules = table.state, table.rules
    at, last = event.occurred_at, state.last_occurred_at
    if last is not None:
        if at < last:
            # A clock that was ahead and comes right again was told of when it went ahead.
            if last - at > rules.clock_tolerance and not state.clock_ahead:
                _clock_skew(table, event, at.timestamp() - last.timestamp())
        elif state.is_open and at - last > rules.silence_limit:
            silence(table, event, state.last_event_id, last)
    ahead = at > appended_at + rules.clock_tolerance
    if ahead and not state.clock_ahead:
        _clock_skew(table, event, at.timestamp() - appended_at.timestamp())
    state.clock_ahead = ahead
    state.last_occurred_at = at
    state.last_event_id = event.event_id


def _clock_skew(table: Table, event: Event, seconds: float) -> None:
    tolerance = table.rules.clock_tolerance.total_seconds()
    evidence = EvidenceRow(expected=f"{tolerance:.1f} s", actual=f"{seconds:+.1f} s")
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
    if event.last_event_id == table.state.last_event_id:
        table.state.silence_reported = event.last_event_id
        silence(table, event, event.last_event_id, event.silent_since)


def gap(table: Table, missing: Entry, found: Event) -> None:
    """Some of the table's events never came: nothing that they may have changed is judged any more."""
    state = table.state
    state.last_occurred_at = None
    state.expected_float = None
    state.doubtful_debts = dict(state.ledger)
    state.carry_unknown = True
    if state.shoe:
        state.shoe.complete = False
    if state.round:
        state.round.complete = False
    span = f"{missing.epoch}:{missing.seq}" + (f"–{missing.last}" if missing.last != missing.seq else "")
    table.alert(found, "telemetry_gap", f"{missing.epoch}:{missing.seq}", EvidenceRow(actual=span))


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
    state.standing = {}
    demand_commission(table, event, tuple(state.ledger))


def configuration_published(table: Table, event: ConfigurationPublished) -> None:
    """From the next round on, these are the rules. A round in play keeps those it began with."""
    if table.state.round:
        table.state.next_configuration = event.configuration
    else:
        table.configure(event.configuration, event.occurred_at)


def count_float(table: Table, event: Event, amount: int) -> None:
    """Compare the tray with what every recorded movement since the last count gives."""
    expected = table.state.expected_float
    if expected is not None and expected != amount:
        evidence = EvidenceRow(expected=table.money(expected), actual=table.money(amount), due=expected, paid=amount)
        table.alert(event, "float_unexplained", event.event_id, evidence)
    table.state.expected_float = amount


def float_counted(table: Table, event: FloatCounted) -> None:
    """The tray is counted."""
    count_float(table, event, event.amount)


def move_chips(table: Table, amount: int) -> None:
    """Note that `amount` came into the tray, or left it where negative."""
    if table.state.expected_float is not None:
        table.state.expected_float += amount


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
    demand_commission(table, event, (event.seat,))


def demand_commission(table: Table, event: Event, seats: tuple[int, ...]) -> None:
    """Raise an alert for each of the seats that still owes commission (art. 18)."""
    state = table.state
    for seat in seats:
        owed = state.ledger.get(seat, 0) - state.doubtful_debts.get(seat, 0)
        if owed > 0:
            evidence = EvidenceRow(expected=table.money(owed), actual=str(seat), due=owed)
            table.alert(event, "commission_unsettled", f"{seat}:{event.event_id}", evidence, who=Who(seat))


def commission_settled(table: Table, event: CommissionSettled) -> None:
    """A position pays what it owes."""
    move_chips(table, event.amount)
    commission_entry(table, event, event.seat, event.patron_id or "", "settled", event.amount)


def heartbeat(table: Table, event: Heartbeat) -> None:
    """Nothing happened, and that is known."""


def correction(table: Table, event: Correction) -> None:
    """Record who corrected what, and why; the journal has put the correction itself into effect."""
    words = f"{event.action} {event.target_event_id}: {event.reason} ({event.authorised_by})"
    ids = (event.target_event_id, event.event_id)
    table.alert(event, "correction_recorded", event.event_id, EvidenceRow(actual=words, event_ids=ids))
