"""Events of bets: placed, changed, withdrawn, closed, and the chips that settle them."""

from collections.abc import Iterable
from typing import Final, get_args

from processors.reconstruct.dealing import judge_round
from processors.reconstruct.rounds import round_of
from processors.reconstruct.settle import commission_entry
from processors.reconstruct.state import BetState, RoundState
from processors.reconstruct.table import EvidenceRow, Table, Unusable, Who
from processors.reconstruct.table_steps import move_chips
from processors.rules.limits import Stake, change_after_tie, companion, differential, one_side, stake_limits
from processors.rules.procedure import reserved_place
from schemas.cards import Hand
from schemas.catalogue import CATALOGUE, MAIN_BETS
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

HANDS: Final[tuple[Hand, ...]] = get_args(Hand)
MAIN_BETS_ON: Final = {side: frozenset(name for name in MAIN_BETS if CATALOGUE[name].side == side) for side in HANDS}
"""The main bets on each hand."""


def bet_placed(table: Table, event: BetPlaced) -> None:
    """A stake is put down: at once against the clock of the round, the places, and the bets on offer."""
    play = round_of(table, event)
    if event.bet_id in play.bets:
        raise Unusable("bet_exists", f"bet {event.bet_id} stands already; bet_changed alters it")
    bet = BetState(
        event.bet_id,
        event.bet,
        event.stake,
        event.seat,
        event.area,
        event.posture,
        event.patron_id or "",
        event.occurred_at,
        [event.event_id],
        late=play.betting_closed,
    )
    play.bets[event.bet_id] = bet
    if play.kind == "demonstration":
        _alert(table, event, "bet_in_demonstration", bet, actual=table.money(bet.stake))
    elif play.betting_closed:
        _alert(table, event, "late_bet", bet, actual=table.money(bet.stake))
    if table.rules.judged and bet.bet not in table.rules.offers:
        _alert(table, event, "bet_not_offered", bet)
    if finding := reserved_place(event.seat, event.area, event.posture):
        _alert(table, event, finding.kind, bet, actual=str(finding.actual))


def bet_changed(table: Table, event: BetChanged) -> None:
    """A stake is raised, lowered or moved."""
    play = round_of(table, event)
    bet = _bet(play, event)
    moved_to = event.bet or bet.bet
    if play.betting_closed:
        _late_change(table, event, bet, event.stake, moved_to)
    elif bet.carried:
        _change_after_tie(table, event, bet, event.stake, moved_to)
    bet.stake = event.stake
    bet.bet = moved_to


def bet_withdrawn(table: Table, event: BetWithdrawn) -> None:
    """A stake is taken back."""
    play = round_of(table, event)
    bet = _bet(play, event)
    if play.betting_closed:
        _late_change(table, event, bet, 0, bet.bet)
    elif bet.carried:
        _change_after_tie(table, event, bet, 0, bet.bet)
    del play.bets[event.bet_id]


def _bet(play: RoundState, event: BetEvent) -> BetState:
    bet = play.bets.get(event.bet_id)
    if bet is None:
        raise Unusable("no_such_bet", f"no bet {event.bet_id} stands in shoe {event.shoe} round {event.round}")
    bet.event_ids.append(event.event_id)
    return bet


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
    if not table.rules.judged:
        return
    policy = table.rules.configuration.tie_policy
    done = change_after_tie(Stake(bet.bet, bet.stake), Stake(moved_to, stake), policy)
    if finding := done.finding:
        words = {"expected": str(finding.expected), "actual": str(finding.actual)}
        _alert(table, event, finding.kind, bet, event.event_id, **words)
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
    totals = {"player": 0, "banker": 0}
    owners: dict[str, list[BetState]] = {}
    offers = table.rules.offers
    for bet in play.bets.values():
        if owner := bet.owner:
            owners.setdefault(owner, []).append(bet)
        if bet.bet in MAIN_BETS:
            totals[str(CATALOGUE[bet.bet].side)] += bet.stake
        limits = offers.get(bet.bet)
        if limits is not None and (finding := stake_limits(bet.stake, *limits)):
            words = {"expected": table.money(int(finding.expected)), "actual": table.money(bet.stake)}
            _alert(table, event, finding.kind, bet, **words)
    _judge_owners(table, event, owners.values())
    limit = table.rules.configuration.differential
    if finding := differential(totals["player"], totals["banker"], limit):
        evidence = EvidenceRow(
            event_ids=_bet_events(play),
            expected=table.money(int(finding.expected)),
            actual=table.money(int(finding.actual)),
        )
        table.alert(event, finding.kind, "", evidence)


def _judge_owners(table: Table, event: Event, owners: Iterable[list[BetState]]) -> None:
    """The wiki's rules on one patron's bets together: one side only, and the lucky six with a side."""
    only_one = table.rules.configuration.one_side_per_patron
    for bets in owners:
        stakes = {side: sum(bet.stake for bet in bets if bet.bet in names) for side, names in MAIN_BETS_ON.items()}
        sides = [side for side, stake in stakes.items() if stake]
        if only_one and (finding := one_side(stakes["player"], stakes["banker"])):
            ids = tuple(event_id for bet in bets for event_id in bet.event_ids)
            who = bets[0]
            evidence = EvidenceRow(event_ids=ids, expected=str(finding.expected), actual=str(finding.actual))
            table.alert(event, finding.kind, who.owner, evidence, who=Who(who.seat, who.patron_id))
        for bet in bets:
            if finding := companion(bet.bet, sides):
                _alert(table, event, finding.kind, bet, expected=str(finding.expected), actual=str(finding.actual))


def _bet_events(play: RoundState) -> tuple[str, ...]:
    return tuple(event_id for bet in play.bets.values() for event_id in bet.event_ids if bet.bet in MAIN_BETS)


def stake_collected(table: Table, event: StakeCollected) -> None:
    """A stake goes into the tray."""
    move_chips(table, event.amount)
    if bet := _moved(table, event, "stake_wrongly_collected", event.amount):
        bet.collected += event.amount


def payout_made(table: Table, event: PayoutMade) -> None:
    """Winnings leave the tray."""
    move_chips(table, -event.amount)
    if bet := _moved(table, event, "overpaid", event.amount):
        bet.paid += event.amount


def _moved(table: Table, event: StakeCollected | PayoutMade, code: str, amount: int) -> BetState | None:
    """Return the bet that chips were moved for. Chips moved for a bet that doesn't stand are an alert of their own."""
    play = round_of(table, event)
    _judge_uncorrected(table, event, play)
    bet = play.bets.get(event.bet_id)
    if bet is not None:
        bet.event_ids.append(event.event_id)
    elif play.complete and not play.carry_unknown:
        evidence = EvidenceRow(
            bet_id=event.bet_id, bet="?", expected="0", actual=table.money(amount), due=0, paid=amount
        )
        table.alert(event, code, event.bet_id, evidence)
    return bet


def _judge_uncorrected(table: Table, event: Event, play: RoundState) -> None:
    """Art. 10: a round with a dealing error is put right or void, but never paid."""
    if play.paid_uncorrected or play.voided or not play.complete or play.kind != "live":
        return
    judge_round(table, event)
    if play.dealing_errors:
        play.paid_uncorrected = True
        ids = (*(event_id for error in play.dealing_errors for event_id in error.event_ids), event.event_id)
        table.alert(event, "uncorrected_round_paid", "", EvidenceRow(event_ids=tuple(dict.fromkeys(ids))))


def commission_charged(table: Table, event: CommissionCharged) -> None:
    """Commission is taken or marked (art. 18)."""
    play = round_of(table, event)
    bet = play.bets.get(event.bet_id)
    if bet is None:
        if play.complete and not play.carry_unknown:
            raise Unusable("no_such_bet", f"no bet {event.bet_id} stands in shoe {event.shoe} round {event.round}")
        return
    bet.event_ids.append(event.event_id)
    bet.commission += event.amount
    entry = "marked" if table.rules.marked else "deducted"
    commission_entry(table, event, bet.seat, bet.patron_id, entry, event.amount, bet.bet_id)


def _alert(
    table: Table, event: Event, code: str, bet: BetState, about: str = "", *, expected: str = "", actual: str = ""
) -> None:
    table.alert(
        event,
        code,
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
