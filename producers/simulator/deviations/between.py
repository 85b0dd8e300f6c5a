"""What goes wrong between rounds: silence, a short tray, commission left unpaid, corrections, late demonstrations."""

from typing import Final

from producers.simulator.controller import SECOND
from producers.simulator.payments import SUPERVISOR
from producers.simulator.performing import demonstrate
from producers.simulator.plan import Finding
from producers.simulator.table import Table

_CARDS_LEFT: Final = 20
_LONGEST_LIMIT_SECONDS: Final = 600
_CORRECTABLE: Final = 600 * SECOND


def table_silent(table: Table) -> Finding | None:
    """The table says nothing for longer than its configuration allows, where that isn't the better part of an hour."""
    limit = table.configuration.silence_limit_seconds
    if limit > _LONGEST_LIMIT_SECONDS:
        return None
    table.controller.fall_silent(limit * (1.3 + 1.7 * table.rng.random()))
    return _finding(table.controller.send("heartbeat"), "table_silent", f"silent for more than {limit} s")


def float_unexplained(table: Table) -> Finding | None:
    """Chips are missing from the tray when it is counted; the count stands from then on."""
    missing = table.settings.chip * (1 + int(table.rng.random() * 40))
    if table.float < missing:
        return None
    table.float -= missing
    counted = table.controller.send("float_counted", amount=table.float)
    return _finding(counted, "float_unexplained", f"{missing} missing from the tray")


def commission_unsettled(table: Table) -> Finding | None:
    """A patron gets up with commission marked at the seat (art. 18); the house collects it before the shoe ends."""
    stays = {wager.patron for wager in table.carried}
    for seat, patron in table.seated.items():
        if patron.owes and patron not in stays:
            del table.seated[seat]
            table.kept_free[seat] = patron
            left = table.controller.send("patron_left", seat=seat, patron_id=patron.patron_id)
            return _finding(left, "commission_unsettled", f"left owing {patron.owes}", seat)
    return None


def correction_recorded(table: Table) -> Finding | None:
    """A supervisor replaces how a buy-in was paid for, which changes no verdict and no count."""
    if not table.last_buy_in or table.controller.now - table.last_buy_in_at > _CORRECTABLE:
        return None
    correction = table.controller.send(
        "correction",
        target_event_id=table.last_buy_in,
        action="replace",
        changes={"means": "marker"},
        authorised_by=SUPERVISOR,
        reason="a marker was keyed in as cash",
    )
    table.last_buy_in = ""
    return _finding(correction, "correction_recorded", "a buy-in's means replaced")


def demonstration_after_play(table: Table) -> Finding | None:
    """Art. 2(2): a demonstration is played after live rounds of the shoe, and not one too many."""
    shoe = table.shoe
    assert shoe is not None
    left = shoe.source.until_cut or 0
    allowed = table.configuration.demonstrations - shoe.demonstrations
    if allowed <= 0 or not shoe.live_rounds or table.carried or left < _CARDS_LEFT or shoe.cut_round or shoe.forged:
        return None
    opening = demonstrate(table)
    return _finding(opening.event_id, "demonstration_after_play", "a demonstration after live rounds", of_round=True)


def _finding(event_id: str, code: str, described: str, seat: int | None = None, *, of_round: bool = False) -> Finding:
    return Finding((code,), lambda: event_id, described, seat=seat, of_round=of_round)


BETWEEN_DEVIATIONS: Final = {
    "table_silent": table_silent,
    "float_unexplained": float_unexplained,
    "commission_unsettled": commission_unsettled,
    "correction_recorded": correction_recorded,
    "demonstration_after_play": demonstration_after_play,
}
