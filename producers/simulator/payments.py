"""The chips of a round: what is due, what the dealer moves, and what stays on the layout."""

from producers.simulator.controller import SECOND
from producers.simulator.dealing import showing
from producers.simulator.patrons import Patron
from producers.simulator.plan import Payment, RoundPlan, Step, Wager
from producers.simulator.table import Table

SUPERVISOR = "PM-7"
"""The pit manager who authorises voids and corrections."""


def settle(table: Table, plan: RoundPlan) -> None:
    """Decide every wager by the cards as they lie, and plan to pay it so."""
    shown, due = showing(plan.hands), table.terms.due
    payments = []
    for wager in plan.wagers:
        payment = Payment(wager, due(wager.place.bet, wager.stake, shown))
        result, _, payment.charged, payment.paid = payment.due
        if result == "lose":
            payment.collected = wager.stake
        payments.append(payment)
    plan.payments = payments


def void_round(plan: RoundPlan, reason: str, *, called: bool = False) -> None:
    """Cancel the round, before its result is called or after: nothing is paid, every stake goes back (art. 10)."""
    plan.void = (reason, SUPERVISOR)
    plan.payments = []
    if not called:
        plan.called = None


def pay(table: Table, plan: RoundPlan, microseconds: float) -> None:
    """Take the losing stakes, then pay the winning ones; chips come from the cage first where the tray has too few."""
    payments = plan.payments
    needed = sum([payment.paid for payment in payments])
    if needed > table.float:
        fill(table, needed + table.opening_float)
    moves = _collections(payments) + _payouts(payments)
    table.send([step for _, step in moves], plan.number, microseconds)
    for payment, step in moves:
        payment.event_ids[step.kind] = step.event_id
    table.float += sum([payment.collected for payment in payments]) - needed


def _collections(payments: list[Payment]) -> list[tuple[Payment, Step]]:
    return [
        (payment, Step("stake_collected", bet_id=payment.wager.bet_id, amount=payment.collected))
        for payment in payments
        if payment.collected
    ]


def _payouts(payments: list[Payment]) -> list[tuple[Payment, Step]]:
    moves = []
    for payment in payments:
        if payment.paid:
            amount = payment.paid if payment.recorded is None else payment.recorded
            moves.append((payment, Step("payout_made", bet_id=payment.wager.bet_id, amount=amount)))
        if payment.charged:
            moves.append((payment, Step("commission_charged", bet_id=payment.wager.bet_id, amount=payment.charged)))
    return moves


def correct_record(table: Table, plan: RoundPlan) -> None:
    """Have a supervisor put right a payout that was recorded otherwise than it was made."""
    for payment in plan.payments:
        if payment.recorded is not None:
            table.controller.wait(20 * SECOND)
            payment.event_ids["correction"] = table.controller.send(
                "correction",
                target_event_id=payment.event_ids["payout_made"],
                action="replace",
                changes={"amount": payment.paid},
                authorised_by=SUPERVISOR,
                reason="the payout was keyed in wrongly",
            )


def clear_layout(table: Table, plan: RoundPlan) -> None:
    """Give patrons what is theirs; stakes on a hand stay where a tie left them (art. 12)."""
    if plan.void:
        for wager in plan.wagers:
            wager.patron.chips += wager.stake
        for payment in plan.payments:
            payment.wager.patron.chips += payment.paid - payment.collected
        return
    outcome = plan.hands.outcome
    for payment in plan.payments:
        _clear(table, payment, tied=outcome == "tie")
    if outcome != "tie":
        table.last_winner = outcome
    for patron in table.standing:
        # Whoever has no seat to mark commission at pays it at once.
        if patron.owes:
            pay_commission(table, patron)


def _clear(table: Table, payment: Payment, *, tied: bool) -> None:
    wager, patron, result = payment.wager, payment.wager.patron, payment.due.result
    patron.chips += payment.paid
    if payment.charged and table.terms.marked:
        patron.owes += payment.charged
    if wager.side and result == "push" and tied:
        _leave_standing(table, wager)
    elif not payment.collected:
        patron.chips += wager.stake
    if wager.side and result != "push":
        patron.settle(won=result == "win")


def _leave_standing(table: Table, wager: Wager) -> None:
    wager.placed, wager.touched = None, False
    table.carried.append(wager)


def pay_commission(table: Table, patron: Patron) -> None:
    """Have a patron pay the commission marked at their position (art. 18)."""
    fields: dict[str, object] = {"patron_id": patron.patron_id} if patron.patron_id else {}
    table.controller.wait(SECOND)
    table.controller.send("commission_settled", seat=patron.seat, amount=patron.owes, **fields)
    table.float += patron.owes
    patron.commit(patron.owes)
    patron.owes = 0


def fill(table: Table, amount: int) -> None:
    """Have chips brought from the cage."""
    table.slips += 1
    table.float += amount
    table.controller.send("fill", amount=amount, slip=f"F{table.slips:05}")
