"""Money that moves for a round which is over: until the next one ends, it still counts in its own round.

A payout may be made after the round was closed, or after the table went on without closing it. It changes what was
paid and nothing else of the round; the verdict on its bet is looked at again, and what money has put right is told to
be corrected. The cards can't change any more, and so neither can what bets were due.
"""

from collections.abc import Callable
from typing import Final, TypeVar

from processors.reconstruct.closing import dues_of, hands_of, outcome_of
from processors.reconstruct.money import Deviation, deviations, falls_short, judge_void, put_right, tell
from processors.reconstruct.rows import Settled, count_again, emit_bets, emit_round
from processors.reconstruct.state import BetState, FinishedRound, RoundState
from processors.reconstruct.table import Table
from processors.rules.settlement import VOIDED, Due
from schemas.events import BetEvent

E = TypeVar("E", bound=BetEvent)

Move = Callable[[Table, E, RoundState], None]
"""What an event does to the money of a round. Where it raises, it has moved nothing."""

CORRIGIBLE: Final = (
    "losing_stake_not_collected",
    "winning_bet_unpaid",
    "underpaid",
    "overpaid",
    "commission_missing",
    "commission_wrong",
)
"""Alerts about a bet that more money, or more commission, can put right."""


def finished_round(table: Table, event: BetEvent) -> FinishedRound | None:
    """Return the round that ended last, if the event is of that one."""
    finished = table.state.finished
    if finished is None or (finished.play.shoe, finished.play.number) != (event.shoe, event.round):
        return None
    return finished


def move_afterwards(table: Table, event: E, finished: FinishedRound, move: Move[E]) -> None:
    """Have `move` move the event's money in a round that is over, and tell what is different for it.

    Raises what `move` raises.
    """
    play, at = finished.play, finished.closed_at
    with table.turned_back(finished):
        seen = hands_of(play)
        settled = dues_of(table, play, seen)
        before, alerts = emit_bets(table, at, play, settled, only=""), len(play.raised)
        # Moves no stake and no card: what was due stays.
        move(table, event, play)
        changed: str | None = event.bet_id
        if not _is_by_the_rules(table, event, finished, settled):
            play.rules_known = False
            settled, changed = [(bet, None) for bet, _ in settled], None
        now = emit_bets(table, at, play, settled, changed)
        emit_round(table, at, seen, outcome_of(play, seen), now)
        count_again(table, event.occurred_at, finished, before, now, len(play.raised) - alerts)
    _clear_layout(table, event, play)


def _is_by_the_rules(table: Table, event: BetEvent, finished: FinishedRound, settled: list[Settled]) -> bool:
    """Judge the event's bet by all that was moved for it; tell whether the rules that it is judged by are known.

    Where the configuration was in doubt, a deviation is no accusation but a sign that there is another.
    """
    play = finished.play
    for bet, owed in settled:
        if owed is None or bet.bet_id != event.bet_id:
            continue
        if owed is VOIDED:
            if play.voided and play.complete:
                judge_void(table, event, bet)
            continue
        found = deviations(table, bet, owed, is_open=finished.is_open)
        if found and finished.is_doubtful:
            return False
        _tell_anew(table, event, finished, bet, owed, found)
    play.outstanding = finished.is_open and any(
        owed is not None and owed is not VOIDED and falls_short(table, bet, owed) for bet, owed in settled
    )
    return True


def _tell_anew(
    table: Table, event: BetEvent, finished: FinishedRound, bet: BetState, owed: Due, found: list[Deviation]
) -> None:
    """Tell which deviations there are with a bet, and which of those that were told of are put right."""
    for deviation in found:
        tell(table, event, bet, deviation)
    stand = {table.alert_id(deviation.code, bet.bet_id) for deviation in found}
    finished.corrected = [name for name in finished.corrected if name not in stand]
    for code in CORRIGIBLE:
        name = table.alert_id(code, bet.bet_id)
        if name in finished.play.raised and name not in stand and name not in finished.corrected:
            finished.corrected.append(name)
            tell(table, event, bet, put_right(table, bet, owed, code), status="corrected")


def _clear_layout(table: Table, event: BetEvent, play: RoundState) -> None:
    """Art. 12: a stake that a tie left where it is, and that was collected all the same, stands no more."""
    bet = play.bets.get(event.bet_id)
    if bet is None or not bet.collected:
        return
    table.state.standing.pop(bet.bet_id, None)
    now = table.state.round
    if now is not None and (carried := now.bets.get(bet.bet_id)) is not None and carried.carried:
        del now.bets[bet.bet_id]
