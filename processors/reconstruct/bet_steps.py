"""Events of bets: placed, changed, withdrawn, closed, and the chips that settle them."""

from collections.abc import Iterable

from processors.reconstruct.afterwards import E, Move, finished_round, move_afterwards
from processors.reconstruct.dealing import accuse_uncorrected
from processors.reconstruct.owners import COMPANIONS, SIDE_OF, by_owner, main_stakes
from processors.reconstruct.refusals import Unusable
from processors.reconstruct.rounds import round_of
from processors.reconstruct.state import BetState, RoundState
from processors.reconstruct.table import UNSEEN, EvidenceRow, Table, Who
from processors.reconstruct.tray import charge_commission, move_chips
from processors.rules.findings import Finding
from processors.rules.limits import Stake, change_after_tie, companion, differential, one_side, stake_limits
from processors.rules.procedure import reserved_place
from schemas.cards import Hand
from schemas.catalogue import MAIN_BETS
from schemas.events import (
    BetChanged,
    BetEvent,
    BetPlaced,
    BettingClosed,
    BetWithdrawn,
    CommissionCharged,
    Event,
    PayoutMade,
    RoundEvent,
    StakeCollected,
)
from schemas.money import MAX_BETS, MAX_MOVES


def bet_placed(table: Table, event: BetPlaced) -> None:
    """A stake is put down: at once against the clock of the round, the places, and the bets on offer."""
    play = round_of(table, event)
    if event.bet_id in play.bets:
        raise Unusable("bet_exists", f"bet {event.bet_id} stands already; bet_changed alters it")
    if len(play.bets) >= MAX_BETS:
        raise Unusable("too_many", f"round {event.round} of shoe {event.shoe} holds {MAX_BETS} bets already")
    patron_id = event.patron_id or ""
    if not patron_id and event.posture == "seated":
        patron_id = table.state.seats.get(event.seat, "")
    bet = play.bets[event.bet_id] = BetState(
        event.bet_id,
        event.bet,
        event.stake,
        event.seat,
        event.area,
        event.posture,
        patron_id,
        event.occurred_at,
        [event.event_id],
        late=play.betting_closed,
    )
    if not play.complete:
        return
    if play.kind == "demonstration":
        _alert(table, event, "bet_in_demonstration", bet, actual=table.money(bet.stake))
    elif play.betting_closed:
        _alert(table, event, "late_bet", bet, actual=table.money(bet.stake))
    _judge_offer(table, event, bet)
    if finding := reserved_place(event.seat, event.area, event.posture):
        _alert(table, event, finding, bet, actual=str(finding.actual))


def _judge_offer(table: Table, event: Event, bet: BetState) -> None:
    """Art. 13 and the approvals since: a table takes the bets on its layout."""
    if table.rules.judged and bet.bet not in table.rules.offers:
        _alert(table, event, "bet_not_offered", bet)


def bet_changed(table: Table, event: BetChanged) -> None:
    """A stake is raised, lowered or moved."""
    play = round_of(table, event)
    bet = _bet(play, event)
    moved_to = event.bet or bet.bet
    _judge_change(table, event, play, bet, event.stake, moved_to)
    is_moved = moved_to != bet.bet
    bet.stake = event.stake
    bet.bet = moved_to
    if is_moved and play.complete:
        _judge_offer(table, event, bet)


def bet_withdrawn(table: Table, event: BetWithdrawn) -> None:
    """A stake is taken back."""
    play = round_of(table, event)
    bet = _bet(play, event)
    _judge_change(table, event, play, bet, 0, bet.bet)
    del play.bets[event.bet_id]


def _bet(play: RoundState, event: BetEvent) -> BetState:
    bet = play.bets.get(event.bet_id)
    if bet is None:
        raise Unusable("no_such_bet", f"no bet {event.bet_id} was seen in shoe {event.shoe} round {event.round}")
    bet.event_ids.append(event.event_id)
    return bet


def _judge_change(table: Table, event: BetEvent, play: RoundState, bet: BetState, stake: int, moved_to: str) -> None:
    if not play.complete or play.kind != "live":
        return
    if play.betting_closed:
        _late_change(table, event, bet, stake, moved_to)
    elif bet.carried and table.rules.judged:
        _change_after_tie(table, event, bet, stake, moved_to)


def _late_change(table: Table, event: BetEvent, bet: BetState, stake: int, moved_to: str) -> None:
    """Art. 13's bets are made before the cards: a change after betting closed is past posting, capping or pinching."""
    if moved_to != bet.bet:
        _alert(table, event, "late_move", bet, event.event_id, expected=bet.bet, actual=moved_to)
    elif stake != bet.stake:
        code = "late_increase" if stake > bet.stake else "late_decrease"
        words = {"expected": table.money(bet.stake), "actual": table.money(stake)}
        _alert(table, event, code, bet, event.event_id, **words)


def _change_after_tie(table: Table, event: BetEvent, bet: BetState, stake: int, moved_to: str) -> None:
    """Art. 12: what may be done with a stake that a tie left standing is the table's policy."""
    policy = table.rules.configuration.tie_policy
    done = change_after_tie(Stake(bet.bet, bet.stake), Stake(moved_to, stake), policy)
    if finding := done.finding:
        words = {"expected": str(finding.expected), "actual": str(finding.actual)}
        _alert(table, event, finding, bet, event.event_id, **words)
    elif done.change not in ("keep", "raise"):
        table.unapproved(event, "tie_changes")


def betting_closed(table: Table, event: BettingClosed) -> None:
    """No more bets."""
    play = round_of(table, event)
    if not play.betting_closed:
        close_betting(table, event, play)


def close_betting(table: Table, event: RoundEvent, play: RoundState) -> None:
    """Judge the stakes as they stand at the close: limits, multiples, the differential, who bets on what."""
    play.betting_closed = True
    play.betting_closed_at = event.occurred_at
    if not table.rules.judged or play.kind != "live" or not play.complete:
        return
    offers = table.rules.offers
    totals: dict[Hand, int] = {"player": 0, "banker": 0}
    for bet in play.bets.values():
        limits = offers.get(bet.bet)
        if limits is not None and (finding := stake_limits(bet.stake, *limits)):
            words = {"expected": table.money(int(finding.expected)), "actual": table.money(bet.stake)}
            _alert(table, event, finding, bet, **words)
        if bet.bet in MAIN_BETS:
            totals[SIDE_OF[bet.bet]] += bet.stake
    for bets in by_owner(play).values():
        if len(bets) > 1 or bets[0].bet in COMPANIONS:
            _judge_owner(table, event, play, bets)
    # Stakes that a tie left and nobody saw may make up for a difference.
    limit = None if play.carry_unknown else table.rules.configuration.differential
    if finding := differential(totals["player"], totals["banker"], limit):
        evidence = EvidenceRow(
            event_ids=_event_ids(bet for bet in play.bets.values() if bet.bet in MAIN_BETS),
            expected=table.money(int(finding.expected)),
            actual=table.money(int(finding.actual)),
        )
        table.alert(event, finding, "", evidence)


def _judge_owner(table: Table, event: Event, play: RoundState, bets: list[BetState]) -> None:
    """The wiki's rules on one patron's bets together: one side only, and the lucky six with a side."""
    stakes = main_stakes(bets)
    if table.rules.configuration.one_side_per_patron and (finding := one_side(stakes["player"], stakes["banker"])):
        who = bets[0]
        evidence = EvidenceRow(event_ids=_event_ids(bets), expected=str(finding.expected), actual=str(finding.actual))
        table.alert(event, finding, who.owner, evidence, who=Who(who.seat, who.patron_id))
    if play.carry_unknown:
        # The main bet may be one that a tie left and nobody saw.
        return
    sides = [side for side, stake in stakes.items() if stake]
    for bet in bets:
        if bet.bet in COMPANIONS and (finding := companion(bet.bet, sides)):
            _alert(table, event, finding, bet, expected=str(finding.expected), actual=str(finding.actual))


def _event_ids(bets: Iterable[BetState]) -> tuple[str, ...]:
    return tuple(event_id for bet in bets for event_id in bet.event_ids)


def stake_collected(table: Table, event: StakeCollected) -> None:
    """A stake goes into the tray."""
    _move(table, event, _collect)


def _collect(table: Table, event: StakeCollected, play: RoundState) -> None:
    _count_move(play, event)
    move_chips(table, event.amount)
    if bet := _moved(table, event, play, "stake_wrongly_collected"):
        bet.collected += event.amount
    else:
        play.stray_collected += event.amount


def payout_made(table: Table, event: PayoutMade) -> None:
    """Winnings leave the tray."""
    _move(table, event, _pay)


def _pay(table: Table, event: PayoutMade, play: RoundState) -> None:
    _count_move(play, event)
    move_chips(table, -event.amount)
    if bet := _moved(table, event, play, "overpaid"):
        bet.paid += event.amount
    else:
        play.stray_paid += event.amount


def _move(table: Table, event: E, move: Move[E]) -> None:
    """Move money in the event's round, which may be over."""
    if finished := finished_round(table, event):
        move_afterwards(table, event, finished, move)
    else:
        move(table, event, round_of(table, event))


def _count_move(play: RoundState, event: BetEvent) -> None:
    """Bound what may add up in a round, however long a broken controller goes on."""
    if play.moves >= MAX_MOVES:
        raise Unusable(
            "too_many", f"in round {event.round} of shoe {event.shoe} chips moved {MAX_MOVES:,} times already"
        )
    play.moves += 1


def _moved(table: Table, event: StakeCollected | PayoutMade, play: RoundState, code: str) -> BetState | None:
    """Return the bet that chips were moved for. Chips moved for a bet that doesn't stand are an alert of their own."""
    play.chips_moved = True
    if play.dealing_errors and play.complete and not play.voided:
        accuse_uncorrected(table, event)
    bet = play.bets.get(event.bet_id)
    if bet is not None:
        bet.event_ids.append(event.event_id)
    elif play.complete and not play.carry_unknown:
        amount = event.amount
        evidence = EvidenceRow(
            bet_id=event.bet_id, bet=UNSEEN, expected="0", actual=table.money(amount), due=0, paid=amount
        )
        table.alert(event, code, event.bet_id, evidence)
    return bet


def commission_charged(table: Table, event: CommissionCharged) -> None:
    """Commission is taken or marked (art. 18)."""
    _move(table, event, _charge)


def _charge(table: Table, event: CommissionCharged, play: RoundState) -> None:
    bet = _bet(play, event)
    _count_move(play, event)
    bet.commission += event.amount
    charge_commission(table, event, bet)


def _alert(
    table: Table,
    event: Event,
    what: str | Finding,
    bet: BetState,
    about: str = "",
    *,
    expected: str = "",
    actual: str = "",
) -> None:
    table.alert(
        event,
        what,
        f"{bet.bet_id}:{about}" if about else bet.bet_id,
        EvidenceRow(
            event_ids=tuple(dict.fromkeys((*bet.event_ids, event.event_id))),
            bet_id=bet.bet_id,
            bet=bet.bet,
            expected=expected,
            actual=actual,
        ),
        who=Who(bet.seat, bet.patron_id),
    )
