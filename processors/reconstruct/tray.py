"""The chips in the tray, and the commission that positions owe it (art. 18)."""

from processors.reconstruct.state import BetState
from processors.reconstruct.table import EvidenceRow, Table, Who
from schemas.events import CommissionCharged, CommissionSettled, Event
from schemas.facts import CommissionFact
from schemas.structs import struct_of

CommissionRow = struct_of(CommissionFact, tag="commission", tag_field="fact")


def move_chips(table: Table, amount: int) -> None:
    """Note that `amount` came into the tray, or left it where negative."""
    if table.state.expected_float is not None:
        table.state.expected_float += amount


def count_float(table: Table, event: Event, amount: int) -> None:
    """Compare the tray with what every recorded movement since the last count gives."""
    expected = table.state.expected_float
    if expected is not None and expected != amount:
        evidence = EvidenceRow(expected=table.money(expected), actual=table.money(amount), due=expected, paid=amount)
        table.alert(event, "float_unexplained", event.event_id, evidence)
    table.state.expected_float = amount


def charge_commission(table: Table, event: CommissionCharged, bet: BetState) -> None:
    """Enter commission on a bet: a debt where the table marks it, taken at once where it is deducted (art. 18)."""
    marked = table.rules.marked
    balance = _owe(table, bet.seat, event.amount if marked else 0)
    entry = "marked" if marked else "deducted"
    _emit_commission(table, event, Who(bet.seat, bet.patron_id), entry, event.amount, balance, bet.bet_id)


def settle_commission(table: Table, event: CommissionSettled) -> None:
    """Enter what a position pays of its debt."""
    move_chips(table, event.amount)
    balance = _owe(table, event.seat, -event.amount)
    _emit_commission(table, event, Who(event.seat, event.patron_id or ""), "settled", -event.amount, balance)


def _owe(table: Table, seat: int, amount: int) -> int:
    """Add to a position's debt and return it."""
    state = table.state
    balance = state.ledger.get(seat, 0) + amount
    _write(state.ledger, seat, balance)
    # No part of a debt is more than the whole.
    for part in (state.doubtful_debts, state.demanded):
        _write(part, seat, min(part.get(seat, 0), max(balance, 0)))
    return balance


def _write(book: dict[int, int], seat: int, amount: int) -> None:
    if amount:
        book[seat] = amount
    else:
        book.pop(seat, None)


def _emit_commission(
    table: Table, event: Event, who: Who, entry: str, amount: int, balance: int, bet_id: str = ""
) -> None:
    """Emit an entry of a position's commission ledger; `amount` is negative for a debt settled."""
    state, play, configuration = table.state, table.state.round, table.rules.configuration
    day, shift = (play.gaming_day, play.shift) if play else table.day_of(event.occurred_at)
    table.emit(
        ("commission", event.event_id),
        CommissionRow(
            table_id=state.table_id,
            occurred_at=event.occurred_at,
            gaming_day=day,
            shift=shift,
            pit=configuration.pit,
            entry_id=event.event_id,
            shoe=play.shoe if play else state.shoe.number if state.shoe else 0,
            round=play.number if play else 0,
            seat=who.seat or 0,
            patron_id=who.patron_id,
            bet_id=bet_id,
            entry=entry,  # type: ignore[arg-type]  # one of the fact's words, from the callers
            amount=amount,
            balance=balance,
            currency=configuration.currency,
        ),
    )


def demand_commission(table: Table, event: Event, seats: tuple[int, ...], patron_id: str = "") -> None:
    """Raise an alert for each of the seats that still owes commission, once for every debt (art. 18)."""
    state = table.state
    for seat in seats:
        owed = state.ledger.get(seat, 0) - state.doubtful_debts.get(seat, 0)
        if owed > state.demanded.get(seat, 0):
            state.demanded[seat] = owed
            evidence = EvidenceRow(expected=table.money(owed), actual=str(seat), due=owed)
            table.alert(event, "commission_unsettled", f"{seat}:{event.event_id}", evidence, who=Who(seat, patron_id))
