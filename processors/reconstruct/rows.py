"""The facts of a round, its bets, its shoe and its hour, written out from what the fold remembers."""

from datetime import datetime
from typing import Any, Final, NamedTuple

from processors.reconstruct.state import BetState, HourState, RoundState
from processors.reconstruct.table import Table, Who
from processors.rules.hands import RoundView
from processors.rules.road_layout import Cell
from processors.rules.settlement import VOIDED, Due, net
from schemas.cards import total
from schemas.events import Event
from schemas.facts import BetFact, CommissionFact, RoadFact, RoundFact, ShoeFact, TableHourFact
from schemas.structs import struct_of

RoundRow = struct_of(RoundFact, tag="round", tag_field="fact")
BetRow = struct_of(BetFact, tag="bet", tag_field="fact")
RoadRow = struct_of(RoadFact, tag="road", tag_field="fact")
ShoeRow = struct_of(ShoeFact, tag="shoe", tag_field="fact")
TableHourRow = struct_of(TableHourFact, tag="table_hour", tag_field="fact")
CommissionRow = struct_of(CommissionFact, tag="commission", tag_field="fact")

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


def emit_bets(table: Table, event: Event, play: RoundState, settled: list[Settled]) -> Totals:
    """Emit a round's bets as they stood when it ended, and return their sums."""
    emit, marked, blank = table.emit, table.rules.marked, _blank_bet(table, event, play)
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
        emit(("bet", shoe, number, bet.bet_id), row)
    return Totals(stakes, handle, house_win, commission_due, paid, collected, commission)


def _blank_bet(table: Table, event: Event, play: RoundState) -> BetFact:
    """Return a bet of the round that nothing is known of."""
    configuration = table.rules.configuration
    return BetRow(
        table_id=table.state.table_id,
        occurred_at=event.occurred_at,
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
        placed_at=event.occurred_at,
        stake=0,
        result="unknown",
    )


def _status(play: RoundState) -> str:
    if play.voided:
        return "void"
    return "settled" if play.complete else "incomplete"


def emit_round(table: Table, event: Event, seen: RoundView | None, outcome: str | None, totals: Totals) -> None:
    """Emit a round that is over; `seen` is None where its hands were not fully seen."""
    play, state, configuration = table.play(), table.state, table.rules.configuration
    table.emit(
        ("round", play.shoe, play.number),
        RoundRow(
            table_id=state.table_id,
            occurred_at=event.occurred_at,
            gaming_day=play.gaming_day,
            shift=play.shift,
            pit=configuration.pit,
            shoe=play.shoe,
            round=play.number,
            kind=play.kind,  # type: ignore[arg-type]  # a kind of round, read from an event
            status=_status(play),  # type: ignore[arg-type]  # one of the fact's words
            opened_at=play.opened_at,
            betting_closed_at=play.betting_closed_at,
            closed_at=event.occurred_at,
            dealer_id=state.dealer_id,
            configuration_id=configuration.configuration_id if table.rules.judged else "",
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


def emit_cells(table: Table, event: Event, play: RoundState, cells: list[Cell]) -> None:
    """Emit the cells of the drawn roads that a round has made or changed."""
    pit, table_id, at = table.rules.configuration.pit, table.state.table_id, event.occurred_at
    for cell in cells:
        table.emit(
            ("road", play.shoe, cell.road, cell.index),
            RoadRow(
                table_id=table_id,
                occurred_at=at,
                gaming_day=play.gaming_day,
                shift=play.shift,
                pit=pit,
                shoe=play.shoe,
                road=cell.road,
                index=cell.index,
                column=cell.column,
                row=cell.row,
                mark=cell.mark,
                ties=cell.ties,
                player_pair=cell.player_pair,
                banker_pair=cell.banker_pair,
                round=cell.round,
            ),
        )


def emit_shoe(
    table: Table,
    event: Event,
    status: str,
    *,
    day: tuple[str, str] | None = None,
    closed_at: datetime | None = None,
    reason: str = "",
) -> None:
    """Emit the shoe as it stands."""
    shoe = table.state.shoe
    assert shoe is not None
    gaming_day, shift = day or table.day_of(event.occurred_at)
    table.emit(
        ("shoe", shoe.number),
        ShoeRow(
            table_id=table.state.table_id,
            occurred_at=event.occurred_at,
            gaming_day=gaming_day,
            shift=shift,
            pit=table.rules.configuration.pit,
            shoe=shoe.number,
            status=status,  # type: ignore[arg-type]  # one of the fact's words, from the callers
            complete=shoe.complete,
            decks=shoe.decks,
            shuffling=shoe.shuffling,
            loaded_at=shoe.loaded_at,
            closed_at=closed_at,
            close_reason=reason,
            cut_by=shoe.cut_by,
            cards_behind_cut=shoe.cards_behind_cut,
            burned=shoe.burned,
            cards_out=shoe.cards_out,
            seen=shoe.seen.copy(),
            rounds=shoe.rounds,
            demonstrations=shoe.demonstrations,
            banker_wins=shoe.banker_wins,
            player_wins=shoe.player_wins,
            ties=shoe.ties,
            voids=shoe.voids,
            cut_card_round=shoe.cut_card_round,
        ),
    )


def count_hour(table: Table, event: Event, play: RoundState, totals: Totals) -> None:
    """Add a round to the hour it began in, and emit that hour's sums."""
    state, configuration = table.state, table.rules.configuration
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
    table.emit(
        ("table_hour", name),
        TableHourRow(
            table_id=state.table_id,
            occurred_at=event.occurred_at,
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


def emit_commission(
    table: Table, event: Event, who: Who, entry: str, amount: int, balance: int, bet_id: str = ""
) -> None:
    """Emit an entry of a position's commission ledger; `amount` is negative for a debt settled."""
    state, play, configuration = table.state, table.state.round, table.rules.configuration
    day, shift = (play.gaming_day, play.shift) if play else table.day_of(event.occurred_at)
    table.emit(
        ("commission", event.event_id),
        CommissionRow(
            table_id=state.table_id,
            occurred_at=event.occurred_at,
            gaming_day=day,
            shift=shift,
            pit=configuration.pit,
            entry_id=event.event_id,
            shoe=state.shoe.number if state.shoe else 0,
            round=play.number if play else 0,
            seat=who.seat or 0,
            patron_id=who.patron_id,
            bet_id=bet_id,
            entry=entry,  # type: ignore[arg-type]  # one of the fact's words, from the callers
            amount=amount,
            balance=balance,
            currency=configuration.currency,
        ),
    )
