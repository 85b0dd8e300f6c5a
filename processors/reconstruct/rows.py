"""The facts of a round, its bets and its hour, written out from what the fold remembers."""

from datetime import datetime
from typing import Any, Final, NamedTuple

from processors.reconstruct.state import BetState, FinishedRound, HourState, RoundState
from processors.reconstruct.table import Table
from processors.rules.hands import RoundView
from processors.rules.settlement import VOIDED, Due, net
from schemas.cards import total
from schemas.facts import BetFact, RoundFact, TableHourFact
from schemas.structs import struct_of

RoundRow = struct_of(RoundFact, tag="round", tag_field="fact")
BetRow = struct_of(BetFact, tag="bet", tag_field="fact")
TableHourRow = struct_of(TableHourFact, tag="table_hour", tag_field="fact")

KEPT_HOURS: Final = 48
"""Hours whose sums are remembered, those last counted in: a clock that was set back may come back to them."""


class Totals(NamedTuple):
    """Sums over a round's bets, minor units. Stakes that the cards don't decide (push, void, unknown) are no handle."""

    stakes: int
    handle: int
    house_win: int
    commission_due: int
    paid: int
    collected: int
    commission: int


Settled = tuple[BetState, Due | None]
"""A bet and what it is due; None where nobody can tell."""


def emit_bets(table: Table, at: datetime, play: RoundState, settled: list[Settled], only: str | None = None) -> Totals:
    """Emit the bets of a round that ended at `at`, or that of id `only` (``""``: none), and return the sums of all."""
    emit, marked, blank = table.emit, table.rules.marked, _blank_bet(table, at, play)
    shoe, number = play.shoe, play.number
    stakes = handle = house_win = commission_due = commission = 0
    paid, collected = play.stray_paid, play.stray_collected
    for bet, owed in settled:
        # All but a bet's own fields are the same in a round.
        row: Any = blank.__copy__()
        row.bet_id, row.bet, row.stake = bet.bet_id, bet.bet, bet.stake
        row.seat, row.area, row.posture, row.patron_id = bet.seat, bet.area, bet.posture, bet.patron_id
        row.placed_at, row.carried = bet.placed_at, bet.carried
        row.paid, row.collected, row.commission = bet.paid, bet.collected, bet.commission
        if owed is not None:
            result, winnings, due_commission, _, _ = owed
            row.result = "void" if owed is VOIDED else result
            row.winnings, row.commission_due = winnings, due_commission
            row.due = winnings if marked else winnings - due_commission
            row.net = gain = net(bet.stake, owed)
            if result != "push":
                handle += bet.stake
                house_win -= gain
                commission_due += due_commission
        stakes += bet.stake
        paid += bet.paid
        collected += bet.collected
        commission += bet.commission
        if only is None or bet.bet_id == only:
            emit(("bet", shoe, number, bet.bet_id), row)
    return Totals(stakes, handle, house_win, commission_due, paid, collected, commission)


def _blank_bet(table: Table, at: datetime, play: RoundState) -> BetFact:
    """Return a bet of the round that nothing is known of."""
    configuration = table.rules.configuration
    return BetRow(
        table_id=table.state.table_id,
        occurred_at=at,
        gaming_day=play.gaming_day,
        shift=play.shift,
        pit=configuration.pit,
        shoe=play.shoe,
        round=play.number,
        bet_id="",
        bet="",
        seat=0,
        area="",
        posture="",
        dealer_id=table.state.dealer_id,
        currency=configuration.currency,
        placed_at=at,
        stake=0,
        result="unknown",
    )


def _status(play: RoundState) -> str:
    if play.voided:
        return "void"
    return "settled" if play.complete and play.rules_known and not play.outstanding else "incomplete"


def emit_round(table: Table, at: datetime, seen: RoundView | None, outcome: str | None, totals: Totals) -> None:
    """Emit a round that was over at `at`; `seen` is None where its hands were not fully seen."""
    play, state, configuration = table.play(), table.state, table.rules.configuration
    table.emit(
        ("round", play.shoe, play.number),
        RoundRow(
            table_id=state.table_id,
            occurred_at=at,
            gaming_day=play.gaming_day,
            shift=play.shift,
            pit=configuration.pit,
            shoe=play.shoe,
            round=play.number,
            kind=play.kind,  # type: ignore[arg-type]  # a kind of round, read from an event
            status=_status(play),  # type: ignore[arg-type]  # one of the fact's words
            opened_at=play.opened_at,
            betting_closed_at=play.betting_closed_at,
            closed_at=at,
            dealer_id=state.dealer_id,
            configuration_id=state.named or (configuration.configuration_id if table.rules.judged else ""),
            currency=configuration.currency,
            player_cards=tuple(play.player),
            banker_cards=tuple(play.banker),
            player_total=seen.player_total if seen else total(play.player),
            banker_total=seen.banker_total if seen else total(play.banker),
            outcome=outcome,  # type: ignore[arg-type]  # one of the three, or None
            called_outcome=play.called or None,  # type: ignore[arg-type]  # read from an event
            natural=seen is not None and (seen.player_natural or seen.banker_natural),
            player_pair=seen is not None and seen.player_pair,
            banker_pair=seen is not None and seen.banker_pair,
            tableau_errors=tuple(f"{error.hand} {error.item}".strip() for error in play.dealing_errors),
            exposed_cards=play.exposed,
            burned_cards=play.burned,
            bets=len(play.bets),
            stakes=totals.stakes,
            handle=totals.handle,
            house_win=totals.house_win,
            commission_due=totals.commission_due,
            paid=totals.paid,
            collected=totals.collected,
            commission=totals.commission,
            alerts=len(play.raised),
            void_reason=play.void_reason,
        ),
    )


def count_hour(table: Table, at: datetime, play: RoundState, totals: Totals) -> None:
    """Add a round that ended at `at` to the hour it began in, and emit that hour's sums."""
    state = table.state
    begins, _, name, _, _ = table.hour_of(play.opened_at)
    hour = state.hours.pop(name, None) or HourState(begins)
    state.hours[name] = hour
    if len(state.hours) > KEPT_HOURS:
        del state.hours[next(iter(state.hours))]
    hour.rounds += 1
    hour.voids += play.voided
    hour.cards += len(play.player) + len(play.banker)
    hour.bets += len(play.bets)
    hour.handle += totals.handle
    hour.house_win += totals.house_win
    hour.commission_due += totals.commission_due
    hour.paid += totals.paid
    hour.collected += totals.collected
    hour.dealing_errors += len(play.dealing_errors)
    hour.alerts += len(play.raised)
    _emit_hour(table, at, play, name)


def count_again(table: Table, at: datetime, finished: FinishedRound, before: Totals, now: Totals, alerts: int) -> None:
    """Count a finished round's sums as they are `now` in its hour instead of those `before`, and so many more alerts.

    An hour that is remembered no more keeps the sums it had.
    """
    hour = table.state.hours.get(finished.hour)
    if hour is None:
        return
    hour.handle += now.handle - before.handle
    hour.house_win += now.house_win - before.house_win
    hour.commission_due += now.commission_due - before.commission_due
    hour.paid += now.paid - before.paid
    hour.collected += now.collected - before.collected
    hour.alerts += alerts
    _emit_hour(table, at, finished.play, finished.hour)


def _emit_hour(table: Table, at: datetime, play: RoundState, name: str) -> None:
    """Emit the sums of the hour called `name`, in which `play` began, as they stood at `at`."""
    hour, configuration = table.state.hours[name], table.rules.configuration
    table.emit(
        ("table_hour", name),
        TableHourRow(
            table_id=table.state.table_id,
            occurred_at=at,
            gaming_day=play.gaming_day,
            shift=play.shift,
            pit=configuration.pit,
            hour=hour.hour,
            currency=configuration.currency,
            rounds=hour.rounds,
            voids=hour.voids,
            cards=hour.cards,
            bets=hour.bets,
            handle=hour.handle,
            house_win=hour.house_win,
            commission_due=hour.commission_due,
            paid=hour.paid,
            collected=hour.collected,
            dealing_errors=hour.dealing_errors,
            alerts=hour.alerts,
        ),
    )
