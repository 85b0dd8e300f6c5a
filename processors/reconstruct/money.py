"""What a table moved, charged and took in on a bet, against what was due (arts. 10, 12, 17 and 18)."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from processors.reconstruct.state import BetState
from processors.reconstruct.table import EvidenceRow, Standing, Table, Who
from processors.rules.findings import Finding
from processors.rules.settlement import Due
from schemas.alerts import ALERTS
from schemas.catalogue import CATALOGUE
from schemas.events import Event

ODDS_IN: Final = {name: pay.item for name, bet in CATALOGUE.items() for pay in bet.pays if pay.item.startswith("17(")}
"""The paragraph of art. 17 for each bet that has one."""


class Deviation(NamedTuple):
    """A kind of alert, and the amounts that were due and were moved, minor units."""

    code: str
    due: int
    moved: int


def judge_void(table: Table, event: Event, bet: BetState) -> None:
    """Art. 10: a void round gives every stake back, and nothing more."""
    if moved := bet.paid or bet.collected or bet.commission:
        tell(table, event, bet, Deviation("void_round_paid", 0, moved))


def judge_money(table: Table, event: Event, bet: BetState, owed: Due, *, is_open: bool = False) -> bool:
    """Compare what was collected, paid and charged on a bet with what was due: one alert for each thing done wrong.

    What was not done yet is no deviation while the round `is_open`; the answer is whether there is any of that kind.
    """
    for deviation in deviations(table, bet, owed, is_open=is_open):
        tell(table, event, bet, deviation)
    return is_open and falls_short(table, bet, owed)


def falls_short(table: Table, bet: BetState, owed: Due) -> bool:
    """Tell whether a bet lacks nothing but what may still be moved: no more than was due was moved so far."""
    if owed.result != "win":
        return owed.result == "lose" and bet.collected < bet.stake
    due_now, commission = _due_now(table, owed), owed.commission
    is_settled = bet.paid == due_now and bet.commission == commission
    return not is_settled and bet.paid <= due_now and bet.commission <= commission


def deviations(table: Table, bet: BetState, owed: Due, *, is_open: bool) -> list[Deviation]:
    """Return what was done wrong with a bet; what was not done yet is no deviation while the round `is_open`."""
    result, _, commission, _, inexact = owed
    lost = bet.stake if result == "lose" else 0
    found: list[Deviation] = []
    if bet.collected != lost and not (is_open and bet.collected < lost):
        code = "losing_stake_not_collected" if bet.collected < lost else "stake_wrongly_collected"
        found.append(Deviation(code, lost, bet.collected))
    if result != "win":
        if bet.paid:
            found.append(Deviation("losing_bet_paid" if result == "lose" else "push_paid", 0, bet.paid))
        if bet.commission:
            found.append(Deviation("commission_wrong", 0, bet.commission))
        return found
    due_now = _due_now(table, owed)
    if bet.paid == due_now and bet.commission == commission:
        return found
    if is_open and bet.paid <= due_now and bet.commission <= commission:
        return found
    if inexact and _is_as_good(table, bet.paid - due_now, commission):
        return found
    if due_now and not bet.paid:
        # Commission is due on what is paid, so its absence is no second deviation.
        found.append(Deviation("winning_bet_unpaid", due_now, 0))
    elif table.rules.judged:
        # Else at what odds such a table pays, and how it takes commission, nobody has said.
        found += _commission_deviations(table, bet, owed)
        found += _payout_deviations(table, bet, owed)
    return found


def _due_now(table: Table, owed: Due) -> int:
    return owed.winnings if table.rules.marked else owed.winnings - owed.commission


def _is_as_good(table: Table, more: int, commission: int) -> bool:
    """Tell whether a payout may differ by `more` where the table's own policy allows no rounding and there was a rest.

    The stake should not have been taken; now either of the two payable amounts is as good as the other.
    """
    settlement = table.rules.settlement
    return -settlement.commission.unit * bool(commission) <= more <= settlement.payout.unit


def _commission_deviations(table: Table, bet: BetState, owed: Due) -> Iterator[Deviation]:
    """Art. 18. Where commission is deducted, only a payout in full shows that it was not taken at all."""
    if bet.commission == owed.commission:
        return
    if bet.commission:
        yield Deviation("commission_wrong", owed.commission, bet.commission)
    elif table.rules.marked or bet.paid == owed.winnings:
        yield Deviation("commission_missing", owed.commission, 0)


def _payout_deviations(table: Table, bet: BetState, owed: Due) -> Iterator[Deviation]:
    """Art. 17. What the commission's own alert explains is not said again as a wrong payout."""
    due_now = _due_now(table, owed)
    explained = due_now if table.rules.marked or bet.commission == owed.commission else owed.winnings - bet.commission
    if bet.paid not in (due_now, explained):
        yield Deviation("overpaid" if bet.paid > due_now else "underpaid", due_now, bet.paid)


def _article(code: str, bet: str) -> str:
    """Return the paragraph of art. 17 that the bet's odds stand in, and what the catalogue says of anything else."""
    article = ALERTS[code].article
    return ODDS_IN.get(bet, article) if article == "17" else article


def tell(table: Table, event: Event, bet: BetState, deviation: Deviation, status: Standing = "raised") -> None:
    """Raise an alert of a deviation, or tell that it was put right."""
    code, due, moved = deviation
    table.alert(
        event,
        Finding(code, _article(code, bet.bet), due, moved),
        bet.bet_id,
        EvidenceRow(
            event_ids=tuple(bet.event_ids),
            bet_id=bet.bet_id,
            bet=bet.bet,
            expected=table.money(due),
            actual=table.money(moved),
            due=due,
            paid=moved,
        ),
        who=Who(bet.seat, bet.patron_id),
        status=status,
    )
