"""What a table moved, charged and took in on a bet, against what was due (arts. 10, 12, 17 and 18)."""

from typing import Final

from processors.reconstruct.state import BetState
from processors.reconstruct.table import EvidenceRow, Table, Who
from processors.rules.findings import Finding
from processors.rules.settlement import Due
from schemas.alerts import ALERTS
from schemas.catalogue import CATALOGUE
from schemas.events import Event

ODDS_IN: Final = {name: pay.item for name, bet in CATALOGUE.items() for pay in bet.pays if pay.item.startswith("17(")}
"""The paragraph of art. 17 for each bet that has one."""


def judge_void(table: Table, event: Event, bet: BetState) -> None:
    """Art. 10: a void round gives every stake back, and nothing more."""
    if moved := bet.paid or bet.collected or bet.commission:
        _alert(table, event, bet, "void_round_paid", 0, moved)


def judge_money(table: Table, event: Event, bet: BetState, owed: Due, *, is_open: bool = False) -> bool:
    """Compare what was collected, paid and charged on a bet with what was due: one alert for each thing done wrong.

    What was not done yet is no deviation while the round `is_open`; the answer is whether there is any of that kind.
    """
    result, _, commission, _, inexact = owed
    lost = bet.stake if result == "lose" else 0
    outstanding = is_open and bet.collected < lost
    if bet.collected != lost and not outstanding:
        code = "losing_stake_not_collected" if bet.collected < lost else "stake_wrongly_collected"
        _alert(table, event, bet, code, lost, bet.collected)
    if result != "win":
        if bet.paid or bet.commission:
            _judge_no_win(table, event, bet, result)
        return outstanding
    due_now = _due_now(table, owed)
    if bet.paid == due_now and bet.commission == commission:
        return False
    if is_open and bet.paid <= due_now and bet.commission <= commission:
        return True
    if inexact and _is_as_good(table, bet.paid - due_now, commission):
        return False
    if due_now and not bet.paid:
        # Commission is due on what is paid, so its absence is no second deviation.
        _alert(table, event, bet, "winning_bet_unpaid", due_now, 0)
        return False
    if not table.rules.judged:
        # At what odds such a table pays, and how it takes commission, nobody has said.
        return False
    _judge_commission(table, event, bet, owed)
    _judge_payout(table, event, bet, owed)
    return False


def _due_now(table: Table, owed: Due) -> int:
    return owed.winnings if table.rules.marked else owed.winnings - owed.commission


def _is_as_good(table: Table, more: int, commission: int) -> bool:
    """Tell whether a payout may differ by `more` where the table's own policy allows no rounding and there was a rest.

    The stake should not have been taken; now either of the two payable amounts is as good as the other.
    """
    settlement = table.rules.settlement
    return -settlement.commission.unit * bool(commission) <= more <= settlement.payout.unit


def _judge_no_win(table: Table, event: Event, bet: BetState, result: str) -> None:
    if bet.paid:
        _alert(table, event, bet, "losing_bet_paid" if result == "lose" else "push_paid", 0, bet.paid)
    if bet.commission:
        _alert(table, event, bet, "commission_wrong", 0, bet.commission)


def _judge_commission(table: Table, event: Event, bet: BetState, owed: Due) -> None:
    """Art. 18. Where commission is deducted, only a payout in full shows that it was not taken at all."""
    if bet.commission == owed.commission:
        return
    if bet.commission:
        _alert(table, event, bet, "commission_wrong", owed.commission, bet.commission)
    elif table.rules.marked or bet.paid == owed.winnings:
        _alert(table, event, bet, "commission_missing", owed.commission, 0)


def _judge_payout(table: Table, event: Event, bet: BetState, owed: Due) -> None:
    """Art. 17. What the commission's own alert explains is not said again as a wrong payout."""
    due_now = _due_now(table, owed)
    explained = due_now if table.rules.marked or bet.commission == owed.commission else owed.winnings - bet.commission
    if bet.paid not in (due_now, explained):
        _alert(table, event, bet, "overpaid" if bet.paid > due_now else "underpaid", due_now, bet.paid)


def _article(code: str, bet: str) -> str:
    """Return the paragraph of art. 17 that the bet's odds stand in, and what the catalogue says of anything else."""
    article = ALERTS[code].article
    return ODDS_IN.get(bet, article) if article == "17" else article


def _alert(table: Table, event: Event, bet: BetState, code: str, expected: int, actual: int) -> None:
    table.alert(
        event,
        Finding(code, _article(code, bet.bet), expected, actual),
        bet.bet_id,
        EvidenceRow(
            event_ids=tuple(bet.event_ids),
            bet_id=bet.bet_id,
            bet=bet.bet,
            expected=table.money(expected),
            actual=table.money(actual),
            due=expected,
            paid=actual,
        ),
        who=Who(bet.seat, bet.patron_id),
    )
