"""Wrong payments: what the dealer moves is not what is due (arts. 10, 17 and 18)."""

from collections.abc import Callable
from typing import Final

from producers.simulator.payments import void_round
from producers.simulator.plan import Finding, Payment, RoundPlan
from producers.simulator.table import Table
from schemas.catalogue import COMMISSION_BETS


def overpaid(table: Table, plan: RoundPlan) -> Finding | None:
    """A winning bet is paid one chip too much."""
    for payment in _with(plan, "win"):
        # A banker win paid gross would look like commission forgotten.
        if payment.charged != table.settings.chip:
            payment.paid += table.settings.chip
            return _finding(payment, "overpaid", payment.shown_by("payout_made"))
    return None


def underpaid(_table: Table, plan: RoundPlan) -> Finding | None:
    """A winning bet is paid half."""
    for payment in _with(plan, "win"):
        if payment.paid > 1:
            payment.paid //= 2
            return _finding(payment, "underpaid", payment.shown_by("payout_made"))
    return None


def losing_bet_paid(_table: Table, plan: RoundPlan) -> Finding | None:
    """A losing stake is collected, and paid nevertheless."""
    for payment in _with(plan, "lose"):
        payment.paid = payment.wager.stake
        return _finding(payment, "losing_bet_paid", payment.shown_by("payout_made"))
    return None


def winning_bet_unpaid(_table: Table, plan: RoundPlan) -> Finding | None:
    """A winning bet is passed over; not one that also owes commission."""
    for payment in _with(plan, "win"):
        if payment.wager.place.bet not in COMMISSION_BETS:
            payment.paid = 0
            return _finding(payment, "winning_bet_unpaid", plan.closing.shown_by)
    return None


def losing_stake_not_collected(_table: Table, plan: RoundPlan) -> Finding | None:
    """A losing stake is left to its owner."""
    for payment in _with(plan, "lose"):
        payment.collected = 0
        return _finding(payment, "losing_stake_not_collected", plan.closing.shown_by)
    return None


def stake_wrongly_collected(_table: Table, plan: RoundPlan) -> Finding | None:
    """A winning stake is taken although its winnings are paid, or a pushed one that would not stay on the layout."""
    for payment in (*_with(plan, "win"), *_with(plan, "push")):
        if not (payment.wager.side and plan.hands.outcome == "tie"):
            payment.collected = payment.wager.stake
            return _finding(payment, "stake_wrongly_collected", payment.shown_by("stake_collected"))
    return None


def push_paid(_table: Table, plan: RoundPlan) -> Finding | None:
    """A pushed stake is paid as though it had won (art. 12)."""
    for payment in _with(plan, "push"):
        payment.paid = payment.wager.stake
        return _finding(payment, "push_paid", payment.shown_by("payout_made"))
    return None


def commission_missing(_table: Table, plan: RoundPlan) -> Finding | None:
    """A banker win is paid 1:1 and nothing is charged (art. 18)."""
    for payment in _with(plan, "win"):
        if payment.charged:
            payment.charged = 0
            payment.paid = payment.due.winnings
            return _finding(payment, "commission_missing", payment.shown_by("payout_made"))
    return None


def commission_wrong(table: Table, plan: RoundPlan) -> Finding | None:
    """A banker win is charged half the commission, and paid accordingly (art. 18)."""
    for payment in _with(plan, "win"):
        if payment.charged > 1:
            payment.charged //= 2
            if not table.terms.marked:
                payment.paid = payment.due.winnings - payment.charged
            return _finding(payment, "commission_wrong", payment.shown_by("commission_charged"))
    return None


def void_round_paid(_table: Table, plan: RoundPlan) -> Finding | None:
    """A round is cancelled after its call, and one bet is settled nevertheless (art. 10)."""
    for payment in (*_with(plan, "win"), *_with(plan, "lose")):
        if not payment.charged:
            void_round(plan, "a card was found on the floor", called=True)
            plan.payments = [payment]
            kind = "payout_made" if payment.paid else "stake_collected"
            return _finding(payment, "void_round_paid", payment.shown_by(kind))
    return None


def correction_recorded(table: Table, plan: RoundPlan) -> Finding | None:
    """A payout is made as due but keyed in wrongly, and a supervisor puts the record right: nothing else may remain."""
    for payment in _with(plan, "win"):
        payment.recorded = payment.paid + table.settings.chip
        found = _finding(payment, "correction_recorded", payment.shown_by("correction"))
        # A correction names an event, no round.
        return found._replace(of_round=False)
    return None


def _with(plan: RoundPlan, result: str) -> list[Payment]:
    return [payment for payment in plan.payments if payment.due.result == result]


def _finding(payment: Payment, code: str, shown_by: Callable[[], str]) -> Finding:
    wager, due = payment.wager, payment.due
    described = f"{wager.place.bet} {wager.stake}, {due.result}, due {due.payout}: paid {payment.paid}"
    return Finding((code,), shown_by, described, wager.bet_id, wager.patron.seat)


PAYING_DEVIATIONS: Final = {
    "overpaid": overpaid,
    "underpaid": underpaid,
    "losing_bet_paid": losing_bet_paid,
    "winning_bet_unpaid": winning_bet_unpaid,
    "losing_stake_not_collected": losing_stake_not_collected,
    "stake_wrongly_collected": stake_wrongly_collected,
    "push_paid": push_paid,
    "commission_missing": commission_missing,
    "commission_wrong": commission_wrong,
    "void_round_paid": void_round_paid,
    "correction_recorded": correction_recorded,
}
