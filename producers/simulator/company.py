"""What happens at a table between rounds: dealers and patrons come and go, chips are counted, cards burned."""

from typing import Final

from producers.simulator.controller import SECOND
from producers.simulator.patrons import Patron, arrive
from producers.simulator.payments import fill, pay_commission
from producers.simulator.table import Table

_DEALERS: Final = 5
_DEALER_MINUTES: Final = (20, 60)
_SESSION_MINUTES: Final = (20, 180)
_COMES: Final = 0.08
_STANDING_COMES: Final = 0.2
_STANDING_LEAVES: Final = 0.06
_UNKNOWN: Final = 0.3
_BURNS: Final = 0.01
_COUNTS: Final = 0.01
_LOW_FLOAT: Final = 0.75
_HIGH_FLOAT: Final = 1.25


def open_table(table: Table) -> None:
    """The table opens: a dealer, the first patrons."""
    table.controller.send("table_opened", opening_float=table.float)
    _dealer_in(table)
    for _ in range(table.settings.patrons):
        _seat_somebody(table)


def between_rounds(table: Table) -> None:
    """Let happen what happens between two rounds."""
    rng = table.rng
    if table.controller.now >= table.dealer_until:
        _change_dealer(table)
    _go(table)
    _come(table)
    for patron in table.seated.values():
        if patron.chips < 3 * patron.unit:
            _buy_in(table, patron)
    _balance_tray(table)
    if rng.random() < _COUNTS:
        count_float(table)
    if rng.random() < _BURNS:
        _burn(table)


def close_table(table: Table) -> None:
    """The table closes: everybody leaves, box and tray are counted."""
    for patron in list(table.seated.values()):
        _leave(table, patron)
    table.pause(20)
    count_drop(table)
    table.controller.send("dealer_out", dealer_id=table.dealer_id)
    table.pause(20)
    count_float(table)
    table.controller.wait(SECOND)
    table.controller.send("table_closed", closing_float=table.float)


def count_float(table: Table) -> None:
    """Count the tray."""
    table.pause(2)
    table.controller.send("float_counted", amount=table.float)


def count_drop(table: Table) -> None:
    """Count and empty the drop box."""
    table.pause(2)
    table.controller.send("drop_counted", amount=table.drop)
    table.drop = 0


def _minutes(table: Table, between: tuple[int, int]) -> int:
    low, high = between
    return int((low + (high - low) * table.rng.random()) * 60 * SECOND)


def _dealer_in(table: Table) -> None:
    table.dealer_id = f"D-{table.settings.table_id}-{1 + table.rng.randrange(_DEALERS)}"
    table.dealer_until = table.controller.now + _minutes(table, _DEALER_MINUTES)
    table.controller.wait(SECOND)
    table.controller.send("dealer_in", dealer_id=table.dealer_id)


def _change_dealer(table: Table) -> None:
    table.controller.wait(SECOND)
    table.controller.send("dealer_out", dealer_id=table.dealer_id)
    _dealer_in(table)


def _come(table: Table) -> None:
    rng, settings = table.rng, table.settings
    if len(table.seated) < settings.patrons + 2 and rng.random() < _COMES:
        _seat_somebody(table)
    if len(table.standing) < settings.standing + 1 and rng.random() < _STANDING_COMES:
        seat = 1 + rng.randrange(table.configuration.seats)
        patron_id = None if rng.random() < _UNKNOWN else _next_id(table)
        table.standing.append(arrive(rng, patron_id, seat, "standing", table.places.mains["player"].minimum))


def _seat_somebody(table: Table) -> None:
    free = [
        seat
        for seat in range(1, table.configuration.seats + 1)
        if seat not in table.seated and seat not in table.kept_free
    ]
    if not free:
        return
    seat = free[table.rng.randrange(len(free))]
    patron = arrive(table.rng, _next_id(table), seat, "seated", table.places.mains["player"].minimum)
    patron.leaves_at = table.controller.now + _minutes(table, _SESSION_MINUTES)
    table.seated[seat] = patron
    table.pause(2)
    table.controller.send("patron_seated", seat=seat, patron_id=patron.patron_id)


def _next_id(table: Table) -> str:
    table.met += 1
    return f"P-{table.settings.table_id}-{table.met}"


def _go(table: Table) -> None:
    stays = {wager.patron for wager in table.carried}
    now = table.controller.now
    for patron in [patron for patron in table.seated.values() if patron.leaves_at < now and patron not in stays]:
        _leave(table, patron)
    table.standing = [patron for patron in table.standing if patron in stays or table.rng.random() >= _STANDING_LEAVES]


def _leave(table: Table, patron: Patron) -> None:
    """A patron gets up; commission marked at the seat is paid first (art. 18)."""
    if patron.owes:
        pay_commission(table, patron)
    table.pause(1)
    table.controller.send("patron_left", seat=patron.seat, patron_id=patron.patron_id)
    del table.seated[patron.seat]


def _buy_in(table: Table, patron: Patron) -> None:
    amount = 20 * patron.unit
    if amount > table.float:
        fill(table, amount + table.opening_float)
    means = "cash" if table.rng.random() < 0.8 else "cheque"
    table.pause(1)
    table.last_buy_in = table.controller.send(
        "buy_in", seat=patron.seat, amount=amount, means=means, patron_id=patron.patron_id
    )
    table.last_buy_in_at = table.controller.now
    table.float -= amount
    table.drop += amount
    patron.chips += amount


def _balance_tray(table: Table) -> None:
    if table.float < _LOW_FLOAT * table.opening_float:
        table.pause(5)
        fill(table, table.opening_float - table.float)
    elif table.float > _HIGH_FLOAT * table.opening_float:
        table.slips += 1
        amount = table.float - table.opening_float
        table.float -= amount
        table.pause(5)
        table.controller.send("credit", amount=amount, slip=f"C{table.slips:05}")


def _burn(table: Table) -> None:
    """Art. 8: the house may burn a card before any round; never the one before the white card."""
    shoe = table.shoe
    assert shoe is not None
    if shoe.cut_round is None and not shoe.forged and (shoe.source.until_cut or 0) > 1:
        shoe.source.take(1)
        table.pause(1)
        table.controller.send("card_burned", shoe=shoe.number, reason="before_round")
