"""Chips moved after betting closed, when the cards are known: past posting, capping, pinching, moving (art. 13)."""

from collections.abc import Iterator
from typing import Final

from producers.simulator.betting import OTHER, choose_holders, differential_kept, welcome
from producers.simulator.dealing import showing
from producers.simulator.patrons import Patron
from producers.simulator.payments import settle
from producers.simulator.places import Place
from producers.simulator.plan import Finding, RoundPlan, Step, Wager
from producers.simulator.table import Table


def late_bet(table: Table, plan: RoundPlan) -> Finding | None:
    """A bet on what has won already."""
    assert table.shoe is not None
    plan.holders = choose_holders(table, plan)
    for patron, place in _winning_places(table, plan):
        wager = plan.place(patron, place, place.lowest, table.shoe.next_bet_id(), plan.late)
        settle(table, plan)
        return _finding(plan.late[0], wager, "late_bet", f"{place.lowest} on {place.bet} after its win")
    return None


def _winning_places(table: Table, plan: RoundPlan) -> Iterator[tuple[Patron, Place]]:
    """Yield each patron with each bet that has won and that they could have placed in time."""
    shown = showing(plan.hands)
    for patron in table.company():
        placed = {wager.place.bet for wager in plan.of(patron)}
        for place in table.places.all.values():
            allowed = patron not in plan.mains if place.side else welcome(plan, patron, place)
            if allowed and place.bet not in placed and table.terms.due(place.bet, place.lowest, shown).result == "win":
                yield patron, place


def late_increase(table: Table, plan: RoundPlan) -> Finding | None:
    """A winning stake is raised."""
    for wager in _settled_as(plan, "win"):
        stake = wager.place.fit(2 * wager.stake)
        if stake > wager.stake and _late_change(table, plan, wager, stake):
            return _finding(plan.late[0], wager, "late_increase", f"{wager.place.bet} raised to {stake}")
    return None


def late_decrease(table: Table, plan: RoundPlan) -> Finding | None:
    """A losing stake is lowered."""
    for wager in _settled_as(plan, "lose"):
        stake = wager.place.fit(wager.stake // 2)
        if stake and _late_change(table, plan, wager, stake):
            return _finding(plan.late[0], wager, "late_decrease", f"{wager.place.bet} lowered to {stake}")
    return None


def late_move(table: Table, plan: RoundPlan) -> Finding | None:
    """A losing stake is moved to the hand that has won."""
    for wager in _settled_as(plan, "lose"):
        place = table.places.mains[OTHER[wager.side]] if wager.side else None
        # A companion bet would be left behind on the other side.
        accompanied = any(bet.place.companion for bet in plan.of(wager.patron))
        if place is None or accompanied or place.fit(wager.stake) != wager.stake:
            continue
        if _late_change(table, plan, wager, wager.stake, place):
            return _finding(plan.late[0], wager, "late_move", f"moved to {place.bet}")
    return None


def _settled_as(plan: RoundPlan, result: str) -> list[Wager]:
    return [payment.wager for payment in plan.payments if payment.due.result == result and payment.wager.fresh]


def _late_change(table: Table, plan: RoundPlan, wager: Wager, stake: int, place: Place | None = None) -> bool:
    """Change a wager after the cards, unless that broke the differential as well."""
    # Who holds the cards was decided by what lay there when betting closed.
    plan.holders = choose_holders(table, plan)
    before = wager.place, wager.stake
    plan.change(wager, stake, place, plan.late)
    if differential_kept(table, plan):
        settle(table, plan)
        return True
    plan.change(wager, before[1], before[0], plan.late)
    plan.late.clear()
    wager.touched = False
    return False


def _finding(step: Step, wager: Wager, code: str, description: str) -> Finding:
    return Finding((code,), step.shown_by, description, wager.bet_id, wager.patron.seat)


LATE_DEVIATIONS: Final = {
    "late_bet": late_bet,
    "late_increase": late_increase,
    "late_decrease": late_decrease,
    "late_move": late_move,
}
