"""The end of a round: what every bet was due, what the table did instead, and the facts that follow."""

from datetime import datetime

from processors.reconstruct.dealing import DEALING_ERRORS, has_hands, judge_round
from processors.reconstruct.state import BetState, HourState, RoundState, ShoeRow, ShoeState, TableHourRow
from processors.reconstruct.table import EvidenceRow, Table, Who
from processors.rules.hands import RoundView, view
from processors.rules.procedure import void_grounds
from processors.rules.roads import LETTERS, add
from processors.rules.settlement import VOIDED, Due, due, net
from schemas.cards import total
from schemas.catalogue import MAIN_BETS
from schemas.events import Event
from schemas.facts import BetFact, CommissionFact, RoadFact, RoundFact
from schemas.structs import struct_of

RoundRow = struct_of(RoundFact, tag="round", tag_field="fact")
BetRow = struct_of(BetFact, tag="bet", tag_field="fact")
RoadRow = struct_of(RoadFact, tag="road", tag_field="fact")
CommissionRow = struct_of(CommissionFact, tag="commission", tag_field="fact")


class Totals:
    """Sums over a round's bets, in minor units."""

    __slots__ = ("collected", "commission", "commission_due", "handle", "house_win", "paid", "stakes")

    def __init__(self) -> None:
        self.stakes = self.handle = self.house_win = self.commission_due = 0
        self.paid = self.collected = self.commission = 0

    def count(self, bet: BetState, owed: Due | None) -> None:
        """Add one bet. A stake that the cards don't decide (push, void, unknown) is no handle."""
        self.stakes += bet.stake
        self.paid += bet.paid
        self.collected += bet.collected
        self.commission += bet.commission
        if owed is not None and owed.result != "push":
            self.handle += bet.stake
            self.house_win -= net(bet.stake, owed)
            self.commission_due += owed.commission


def finish(table: Table, event: Event, *, closed: bool = True) -> None:
    """End the round in play and emit its facts. `closed` is False where its own end was never reported."""
    play = table.play()
    if not closed or not has_hands(play):
        # A void may come before any card; everything else that ends without two hands was not fully seen.
        play.complete = play.complete and play.voided
    if play.complete and not play.voided:
        judge_round(table, event)
    if not play.complete:
        table.alert(event, "round_incomplete")
    elif play.voided and play.exposed and void_grounds(len(play.dealing_errors), play.exposed):
        table.alert(event, "void_without_error")
    seen = view(tuple(play.player), tuple(play.banker)) if play.complete and has_hands(play) else None
    totals = _settle_bets(table, event, seen)
    _emit_round(table, event, seen, totals)
    _close_books(table, event, seen, totals)


def _settle_bets(table: Table, event: Event, seen: RoundView | None) -> Totals:
    play, rules, totals = table.play(), table.rules, Totals()
    no_contest = play.voided or play.kind != "live"
    decided = None if no_contest else seen
    for bet in play.bets.values():
        owed = VOIDED if no_contest else due(bet.bet, bet.stake, decided, rules.settlement) if decided else None
        if play.complete:
            if play.voided:
                _judge_void(table, event, bet)
            elif owed is not None and play.kind == "live":
                _judge_money(table, event, bet, owed)
        totals.count(bet, owed)
        _emit_bet(table, event, bet, owed)
    return totals


def _judge_void(table: Table, event: Event, bet: BetState) -> None:
    """Art. 10: a void round gives every stake back, and nothing more."""
    if moved := bet.paid or bet.collected:
        _money_alert(table, event, bet, "void_round_paid", 0, moved)


def _judge_money(table: Table, event: Event, bet: BetState, owed: Due) -> None:
    """Compare what was paid, collected and charged on a bet with what was due (arts. 17 and 18)."""
    result = owed.result
    lost = bet.stake if result == "lose" else 0
    if bet.collected < lost:
        _money_alert(table, event, bet, "losing_stake_not_collected", lost, bet.collected)
    elif bet.collected > lost:
        _money_alert(table, event, bet, "stake_wrongly_collected", lost, bet.collected)
    if result == "win":
        _judge_commission(table, event, bet, owed)
        _judge_payout(table, event, bet, owed)
    elif bet.paid:
        code = "losing_bet_paid" if result == "lose" else "push_paid"
        _money_alert(table, event, bet, code, 0, bet.paid)


def _judge_commission(table: Table, event: Event, bet: BetState, owed: Due) -> None:
    """Art. 18. Where commission is deducted, a payout net of it shows that it was taken, record or none."""
    if bet.commission == owed.commission:
        return
    if bet.commission:
        _money_alert(table, event, bet, "commission_wrong", owed.commission, bet.commission)
    elif table.rules.marked or bet.paid != owed.winnings - owed.commission:
        _money_alert(table, event, bet, "commission_missing", owed.commission, 0)


def _judge_payout(table: Table, event: Event, bet: BetState, owed: Due) -> None:
    """Art. 17. What the commission's own alert explains is not said again as a wrong payout."""
    winnings = owed.winnings
    due_now = winnings if table.rules.marked else winnings - owed.commission
    explained = winnings if table.rules.marked else winnings - bet.commission
    if bet.paid in (due_now, explained):
        return
    wrong = "overpaid" if bet.paid > due_now else "underpaid"
    _money_alert(table, event, bet, wrong if bet.paid else "winning_bet_unpaid", due_now, bet.paid)


def _money_alert(table: Table, event: Event, bet: BetState, code: str, expected: int, actual: int) -> None:
    table.alert(
        event,
        code,
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


def _result(owed: Due | None) -> str:
    if owed is VOIDED:
        return "void"
    return owed.result if owed else "unknown"


def _status(play: RoundState) -> str:
    if play.voided:
        return "void"
    return "settled" if play.complete else "incomplete"


def _emit_bet(table: Table, event: Event, bet: BetState, owed: Due | None) -> None:
    play, state, rules = table.play(), table.state, table.rules
    result = _result(owed)
    winnings, commission = (owed.winnings, owed.commission) if owed else (0, 0)
    table.emit(
        ("bet", play.shoe, play.number, bet.bet_id),
        BetRow(
            table_id=state.table_id,
            occurred_at=event.occurred_at,
            gaming_day=play.gaming_day,
            shift=play.shift,
            pit=rules.configuration.pit,
            shoe=play.shoe,
            round=play.number,
            bet_id=bet.bet_id,
            bet=bet.bet,
            seat=bet.seat,
            area=bet.area,
            posture=bet.posture,
            patron_id=bet.patron_id,
            dealer_id=state.dealer_id,
            currency=rules.configuration.currency,
            placed_at=bet.placed_at,
            carried=bet.carried,
            stake=bet.stake,
            result=result,  # type: ignore[arg-type]  # one of the fact's words, chosen above
            winnings=winnings,
            due=winnings if rules.marked else winnings - commission,
            commission_due=commission,
            net=net(bet.stake, owed) if owed else 0,
            paid=bet.paid,
            collected=bet.collected,
            commission=bet.commission,
        ),
    )


def _emit_round(table: Table, event: Event, seen: RoundView | None, totals: Totals) -> None:
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
            player_total=total(play.player),
            banker_total=total(play.banker),
            outcome=_outcome(play, seen),  # type: ignore[arg-type]  # one of the three, or None
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
            alerts=play.alerts,
            void_reason=play.void_reason,
        ),
    )


def _outcome(play: RoundState, seen: RoundView | None) -> str | None:
    """Return the outcome by the cards; for a round not fully seen, the dealer's call is better than nothing."""
    if play.voided:
        return None
    if not play.complete:
        return play.called or None
    return seen.outcome if seen else None


def _close_books(table: Table, event: Event, seen: RoundView | None, totals: Totals) -> None:
    """Move the shoe, the roads, the hour and the standing stakes on past the round."""
    play, state = table.play(), table.state
    outcome = _outcome(play, seen)
    state.round = None
    state.last_round = play.number
    state.rounds_finished += 1
    if play.kind == "live":
        state.standing = _standing(play) if outcome == "tie" and play.complete else {}
        state.carry_unknown = not play.complete
        _count_hour(table, event, play, totals)
    if state.shoe:
        _count_shoe(table, event, play, state.shoe, outcome, seen)
    if state.next_configuration is not None:
        table.configure(state.next_configuration, event.occurred_at)
        state.next_configuration = None


def _standing(play: RoundState) -> dict[str, BetState]:
    """Art. 12: the stakes on the two sides that a tie leaves where they are."""
    return {bet.bet_id: bet for bet in play.bets.values() if bet.bet in MAIN_BETS and not bet.collected}


def _count_shoe(
    table: Table, event: Event, play: RoundState, shoe: ShoeState, outcome: str | None, seen: RoundView | None
) -> None:
    if play.kind == "demonstration":
        shoe.demonstrations += 1
    else:
        shoe.rounds += 1
        shoe.voids += play.voided
        shoe.banker_wins += outcome == "banker"
        shoe.player_wins += outcome == "player"
        shoe.ties += outcome == "tie"
        if outcome:
            _extend_roads(table, event, play, shoe, outcome, seen)
    emit_shoe(table, event, "in_play", day=(play.gaming_day, play.shift))


def _extend_roads(
    table: Table, event: Event, play: RoundState, shoe: ShoeState, outcome: str, seen: RoundView | None
) -> None:
    player_pair, banker_pair = (seen.player_pair, seen.banker_pair) if seen else (False, False)
    pit, table_id, at = table.rules.configuration.pit, table.state.table_id, event.occurred_at
    for cell in add(shoe.roads, LETTERS[outcome], player_pair, banker_pair, play.number):
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


def _count_hour(table: Table, event: Event, play: RoundState, totals: Totals) -> None:
    state = table.state
    begins = play.opened_at.replace(minute=0, second=0, microsecond=0)
    hour = state.hour
    # An hour never comes back: a clock that was set back must not overwrite sums already given out.
    if hour is None or begins > hour.hour:
        hour = state.hour = HourState(begins)
    hour.rounds += 1
    hour.voids += play.voided
    hour.cards += len(play.player) + len(play.banker)
    hour.bets += len(play.bets)
    hour.handle += totals.handle
    hour.house_win += totals.house_win
    hour.commission_due += totals.commission_due
    hour.paid += totals.paid
    hour.collected += totals.collected
    hour.dealing_errors += sum(error.code in DEALING_ERRORS for error in play.dealing_errors)
    hour.alerts += play.alerts
    configuration = table.rules.configuration
    table.emit(
        ("table_hour", hour.hour.isoformat()),
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


def commission_entry(
    table: Table, event: Event, seat: int, patron_id: str, entry: str, amount: int, bet_id: str = ""
) -> None:
    """Enter commission in the position's ledger (art. 18) and emit the entry; `amount` is not negative."""
    state, play = table.state, table.state.round
    signed = -amount if entry == "settled" else amount
    balance = state.ledger.get(seat, 0) + (0 if entry == "deducted" else signed)
    if balance:
        state.ledger[seat] = balance
    else:
        state.ledger.pop(seat, None)
    if seat in state.doubtful_debts:
        state.doubtful_debts[seat] = min(state.doubtful_debts[seat], max(balance, 0))
    day, shift = (play.gaming_day, play.shift) if play else table.day_of(event.occurred_at)
    table.emit(
        ("commission", event.event_id),
        CommissionRow(
            table_id=state.table_id,
            occurred_at=event.occurred_at,
            gaming_day=day,
            shift=shift,
            pit=table.rules.configuration.pit,
            entry_id=event.event_id,
            shoe=state.shoe.number if state.shoe else 0,
            round=play.number if play else 0,
            seat=seat,
            patron_id=patron_id,
            bet_id=bet_id,
            entry=entry,  # type: ignore[arg-type]  # one of the fact's words, from the callers
            amount=signed,
            balance=balance,
            currency=table.rules.configuration.currency,
        ),
    )
