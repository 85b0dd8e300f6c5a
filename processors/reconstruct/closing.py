"""The end of a round: what every bet was due, the verdicts on it, and the facts that follow."""

import msgspec

from processors.reconstruct.dealing import accuse_uncorrected, has_hands, judge_round
from processors.reconstruct.doubts import are_rules_known, end_round
from processors.reconstruct.money import judge_money, judge_void
from processors.reconstruct.owners import side_beside
from processors.reconstruct.rows import Settled, Totals, count_hour, emit_bets, emit_round
from processors.reconstruct.shoe_rows import emit_cells, emit_shoe
from processors.reconstruct.state import BetState, FinishedRound, RoundState, ShoeState
from processors.reconstruct.table import EvidenceRow, Table
from processors.rules.hands import RoundView, view
from processors.rules.procedure import void_grounds
from processors.rules.roads import LETTERS, add
from processors.rules.settlement import VOIDED, Due, due
from schemas.catalogue import MAIN_BETS
from schemas.events import Event


def finish(table: Table, event: Event, *, closed: bool = True) -> None:
    """End the round in play and emit its facts. `closed` is False where its own end was never reported."""
    play = table.play()
    left_open = not closed and _is_left_open(event, play)
    if left_open:
        _tell_left_open(table, event, play)
    # A void may come before any card; everything else that ends without two hands, or a call, was not fully seen.
    is_over = has_hands(play) and (closed or (left_open and bool(play.called)))
    play.complete = play.complete and (is_over or play.voided)
    if play.complete:
        _judge(table, event, play)
    elif not left_open:
        table.alert(event, "round_incomplete")
    seen = hands_of(play)
    outcome = outcome_of(play, seen)
    totals = _settle_bets(table, event, play, seen, is_open=left_open)
    emit_round(table, event.occurred_at, seen, outcome, totals)
    _close_books(table, event, play, seen, outcome, totals)
    _keep(table, event, play, is_open=left_open)
    end_round(table, event)


def _is_left_open(event: Event, play: RoundState) -> bool:
    """Tell whether the table itself went on without closing the round: nothing that it sent was lost.

    While a controller restarts, things may happen that it never sends.
    """
    return play.complete and not play.voided and event.epoch == play.epoch


def _tell_left_open(table: Table, event: Event, play: RoundState) -> None:
    """Tell of it, unless it was told why: a round can't be closed any more once its shoe was changed (art. 3(2))."""
    if table.alert_id("shoe_changed_in_round") not in play.raised:
        ids = (*play.card_event_ids[-1:], event.event_id)
        table.alert(event, "round_left_open", "", EvidenceRow(event_ids=ids))


def _judge(table: Table, event: Event, play: RoundState) -> None:
    """Judge the round as a whole: its hands by art. 9, and by arts. 4 and 10 what became of errors."""
    if not play.voided:
        judge_round(table, event)
        accuse_uncorrected(table, event)
    elif play.exposed and not play.erred and void_grounds(len(play.dealing_errors), play.exposed):
        table.alert(event, "void_without_error")


def hands_of(play: RoundState) -> RoundView | None:
    """Return the hands of a round that is over, None where they were not fully seen."""
    return view(tuple(play.player), tuple(play.banker)) if play.complete and has_hands(play) else None


def outcome_of(play: RoundState, seen: RoundView | None) -> str | None:
    """Return the outcome by the cards; for a round not fully seen, the dealer's call is better than nothing."""
    if play.voided:
        return None
    return seen.outcome if seen else play.called or None


def _settle_bets(
    table: Table, event: Event, play: RoundState, seen: RoundView | None, *, is_open: bool = False
) -> Totals:
    """Work out what every bet is due, judge what was done instead, and emit the bets.

    While a round `is_open`, what is missing may still be paid or collected: only what was done wrong is told.
    """
    settled = dues_of(table, play, seen)
    for bet, owed in settled:
        if owed is VOIDED:
            if play.voided and play.complete:
                judge_void(table, event, bet)
        elif owed is not None:
            play.outstanding |= judge_money(table, event, bet, owed, is_open=is_open)
    if play.complete and not play.voided and not are_rules_known(table, event, play, settled):
        play.rules_known = False
        settled = [(bet, None) for bet, _ in settled]
    return emit_bets(table, event.occurred_at, play, settled)


def dues_of(table: Table, play: RoundState, seen: RoundView | None) -> list[Settled]:
    """Work out what every bet of a round that is over is due."""
    if play.voided or play.kind != "live":
        return [(bet, VOIDED) for bet in play.bets.values()]
    if seen is None or table.state.named or not play.rules_known:
        return [(bet, None) for bet in play.bets.values()]
    settlement, sides = table.rules.settlement, table.rules.sides
    return [
        (bet, _due_beside(table, play, bet, seen) if bet.bet in sides else due(bet.bet, bet.stake, seen, settlement))
        for bet in play.bets.values()
    ]


def _due_beside(table: Table, play: RoundState, bet: BetState, seen: RoundView) -> Due | None:
    """Return what a lucky six is due that goes with its owner's main bet, None where nobody knows which that is."""
    side = table.rules.sides[bet.bet] or side_beside(play, bet)
    return None if side is None else due(bet.bet, bet.stake, seen, table.rules.settlement, side)


def _close_books(
    table: Table, event: Event, play: RoundState, seen: RoundView | None, outcome: str | None, totals: Totals
) -> None:
    """Move the shoe, the roads, the hour and the standing stakes on past the round."""
    state, shoe = table.state, table.state.shoe
    assert shoe is not None
    state.round = None
    state.last_round = play.number
    state.rounds_finished += 1
    if play.kind == "live":
        tied = outcome == "tie"
        state.standing = _standing(play) if tied and play.complete else {}
        # Stakes that nobody saw stand on after another tie; a void gives them back.
        state.carry_unknown = not play.voided and (not play.complete or (play.carry_unknown and tied))
        count_hour(table, event.occurred_at, play, totals)
    _count_shoe(table, event, play, shoe, outcome, seen)


def _keep(table: Table, event: Event, play: RoundState, *, is_open: bool) -> None:
    """Remember the round, and what the table was when it ended, for money that moves afterwards."""
    state = table.state
    hour = table.hour_of(play.opened_at).name if play.kind == "live" else ""
    rules = state.configuration, state.dealer_id, state.named, state.is_doubtful
    state.finished = FinishedRound(play, event.occurred_at, is_open, hour, *rules)


def _standing(play: RoundState) -> dict[str, BetState]:
    """Art. 12: the stakes on the two sides that a tie leaves where they are, apart from the round they stood in."""
    return {
        bet.bet_id: msgspec.structs.replace(bet, event_ids=[*bet.event_ids])
        for bet in play.bets.values()
        if bet.bet in MAIN_BETS and not bet.collected
    }


def _count_shoe(
    table: Table, event: Event, play: RoundState, shoe: ShoeState, outcome: str | None, seen: RoundView | None
) -> None:
    if not play.complete:
        shoe.complete = False
        for card in (*play.player, *play.banker, *play.surplus.values()):
            shoe.doubtful[card] = shoe.doubtful.get(card, 0) + 1
    if play.kind == "demonstration":
        shoe.demonstrations += 1
    else:
        shoe.rounds += 1
        shoe.rounds_of_unknown_kind += not play.kind_known
        shoe.voids += play.voided
        shoe.banker_wins += outcome == "banker"
        shoe.player_wins += outcome == "player"
        shoe.ties += outcome == "tie"
        if outcome:
            player_pair, banker_pair = (seen.player_pair, seen.banker_pair) if seen else (False, False)
            cells = add(shoe.roads, LETTERS[outcome], player_pair, banker_pair, play.number)
            emit_cells(table, event, play, cells)
    emit_shoe(table, event, "in_play", day=(play.gaming_day, play.shift))
