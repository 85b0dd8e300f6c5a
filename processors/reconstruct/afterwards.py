"""Money that moves for a round which is over: until the next one ends, it still counts in its own round.

A payout may be made after the round was closed, or after the table went on without closing it. It changes what was
paid and nothing else of the round; the verdict on its bet is looked at again, and what money has put right is told to
be corrected. The cards can't change any more, and so neither can what bets were due.
"""

from collections.abc import Callable
from typing import TypeVar

from processors.reconstruct.closing import dues_of, hands_of, outcome_of
from processors.reconstruct.money import Deviation, deviations, falls_short, judge_void, tell
from processors.reconstruct.rows import Settled, count_again, emit_bets, emit_round
from processors.reconstruct.state import BetState, FinishedRound, RoundState
from processors.reconstruct.table import Table
from processors.rules.settlement import VOIDED
from schemas.events import BetEvent

E = TypeVar("E", bound=BetEvent)

Move = Callable[[Table, E, RoundState], None]
"""What an event does to the money of a round. Where it raises, it has moved nothing."""


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
        stood = _wrong(table, event, finished, settled)
        # Moves no stake and no card: what was due stays.
        move(table, event, play)
        changed: str | None = event.bet_id
        if not _is_by_the_rules(table, event, finished, settled, stood):
            play.rules_known = False
            settled, changed = [(bet, None) for bet, _ in settled], None
        now = emit_bets(table, at, play, settled, changed)
        emit_round(table, at, seen, outcome_of(play, seen), now)
        count_again(table, event.occurred_at, finished, before, now, len(play.raised) - alerts)
    _clear_layout(table, event, play)


Wrong = list[tuple[BetState, Deviation]]
"""What is wrong with a bet."""


def _wrong(table: Table, event: BetEvent, finished: FinishedRound, settled: list[Settled]) -> Wrong:
    """Return the deviations of the event's bet from what was due, as far as that is known."""
    return [
        (bet, deviation)
        for bet, owed in settled
        if bet.bet_id == event.bet_id and owed is not None and owed is not VOIDED
        for deviation in deviations(table, bet, owed, is_open=finished.is_open)
    ]


def _is_by_the_rules(
    table: Table, event: BetEvent, finished: FinishedRound, settled: list[Settled], stood: Wrong
) -> bool:
    """Judge the event's bet by all that was moved for it; tell whether the rules that it is judged by are known.

    `stood` is what was wrong with it before. Where the configuration was in doubt, a deviation is no accusation but a
    sign that there is another.
    """
    play = finished.play
    if play.voided and play.complete:
        for bet, owed in settled:
            if owed is VOIDED and bet.bet_id == event.bet_id:
                judge_void(table, event, bet)
    wrong = _wrong(table, event, finished, settled)
    if wrong and finished.is_doubtful:
        return False
    for bet, deviation in wrong:
        tell(table, event, bet, deviation)
    for bet, deviation in stood:
        is_told = table.alert_id(deviation.code, bet.bet_id) in play.raised
        if is_told and deviation.code not in {now.code for _, now in wrong}:
            # It tells what was wrong: how it stands now, its bet says.
            tell(table, event, bet, deviation, status="corrected")
    play.outstanding = finished.is_open and any(
        owed is not None and owed is not VOIDED and falls_short(table, bet, owed) for bet, owed in settled
    )
    return True


def _clear_layout(table: Table, event: BetEvent, play: RoundState) -> None:
    """Art. 12: a stake that a tie left where it is, and that was collected all the same, stands no more."""
    bet = play.bets.get(event.bet_id)
    if bet is None or not bet.collected:
        return
    table.state.standing.pop(bet.bet_id, None)
    now = table.state.round
    if now is not None and (carried := now.bets.get(bet.bet_id)) is not None and carried.carried:
        del now.bets[bet.bet_id]
