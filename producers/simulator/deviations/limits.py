"""Bets that should not have been taken: limits, sides, places and changes (arts. 12 to 16)."""

from collections.abc import Iterator
from typing import Final

from producers.simulator.betting import HANDS, OTHER, Answer, change_standing, differential_kept, seated_on
from producers.simulator.payments import settle
from producers.simulator.places import Place, foreign_place
from producers.simulator.plan import Finding, RoundPlan, Step, Wager
from producers.simulator.table import Table

_FOREIGN_BETS: Final = ("perfect_pair", "panda_eight", "tiger_pair")


def below_minimum(table: Table, plan: RoundPlan) -> Finding | None:
    """A stake below the bet's minimum."""
    for wager in _fresh(plan):
        # Below the minimum of a bet in multiples is no multiple either.
        if wager.place.multiple is None and _restaked(table, plan, wager, wager.place.minimum // 2):
            return _stake_finding(wager, "below_minimum")
    return None


def above_maximum(table: Table, plan: RoundPlan) -> Finding | None:
    """A stake above the bet's limit."""
    for wager in _fresh(plan):
        if _restaked(table, plan, wager, wager.place.maximum + wager.place.step):
            return _stake_finding(wager, "above_maximum")
    return None


def stake_not_multiple(table: Table, plan: RoundPlan) -> Finding | None:
    """SJM: a banker stake that is no multiple of the minimum."""
    for wager in _fresh(plan):
        stake = wager.stake + table.settings.chip
        multiple = wager.place.multiple
        if multiple and stake % multiple and stake <= wager.place.maximum and _restaked(table, plan, wager, stake):
            return _stake_finding(wager, "stake_not_multiple")
    return None


def differential_exceeded(table: Table, plan: RoundPlan) -> Finding | None:
    """Art. 14: sides further apart than the differential when betting closes."""
    limit = table.configuration.differential
    player, banker = plan.totals()
    for wager in _fresh(plan) if limit is not None else ():
        if not wager.side:
            continue
        lead = player - banker if wager.side == "player" else banker - player
        place = wager.place
        stake = place.fit(wager.stake + (limit or 0) - lead) + place.step
        if wager.stake < stake <= place.maximum:
            plan.restake(wager, stake)
            settle(table, plan)
            return Finding(("differential_exceeded",), plan.bets_closed.shown_by, f"{wager.place.bet} left at {stake}")
    return None


def both_sides(table: Table, plan: RoundPlan) -> Finding | None:
    """One patron bets the player and the banker."""
    for wager in _fresh(plan):
        accompanied = any(bet.place.companion for bet in plan.of(wager.patron))
        if wager.patron.patron_id is None or wager.side is None or accompanied:
            continue
        other = table.places.mains[OTHER[wager.side]]
        added = _placed(table, plan, wager, other, other.lowest)
        if added:
            return _bet_finding(added, "both_sides", f"also bets {wager.place.bet}")
    return None


def side_bet_alone(table: Table, plan: RoundPlan) -> Finding | None:
    """A companion bet (lucky six) of a patron who bets on no side."""
    assert table.shoe is not None
    companion = next((place for place in table.places.others if place.companion), None)
    for patron in table.company() if companion else ():
        if patron.patron_id and companion and not any(plan.of(patron)):
            wager = plan.place(patron, companion, companion.lowest, table.shoe.next_bet_id())
            settle(table, plan)
            return _bet_finding(wager, "side_bet_alone", f"{companion.bet} without a main bet")
    return None


def reserved_place(_table: Table, plan: RoundPlan) -> Finding | None:
    """Art. 15: a standing patron's chips on a seated patron's place."""
    for wager in _fresh(plan):
        if wager.patron.posture == "standing" and wager.placed:
            wager.placed.fields["area"] = "reserved"
            return _bet_finding(wager, "reserved_place", "a standing patron's bet on a reserved place")
    return None


def bet_not_offered(table: Table, plan: RoundPlan) -> Finding | None:
    """A bet that this table's layout doesn't have; it is settled at the catalogue's odds."""
    foreign = next((bet for bet in _FOREIGN_BETS if bet not in table.places.all), None)
    for wager in plan.mains.values() if foreign else ():
        assert foreign is not None
        added = _placed(table, plan, wager, foreign_place(foreign, table.settings.chip), table.settings.chip)
        if added:
            return _bet_finding(added, "bet_not_offered", f"{foreign} is not on this layout")
    return None


def tie_change_forbidden(table: Table, plan: RoundPlan) -> Finding | None:
    """SJM: a stake that a tie left standing is withdrawn, lowered or moved."""
    if table.configuration.tie_policy != "add_only":
        return None
    answers: list[Answer] = ["withdraw", "lower", "move"]
    table.rng.shuffle(answers)
    for wager in [wager for wager in plan.wagers if wager.carried and not wager.touched]:
        for answer in answers:
            step = _forbidden_change(table, plan, wager, answer)
            if step:
                settle(table, plan)
                return _finding_at(step, wager, "tie_change_forbidden", f"{answer} after a tie")
    return None


def _forbidden_change(table: Table, plan: RoundPlan, wager: Wager, answer: Answer) -> Step | None:
    """Change a standing stake, but only where that leaves the differential kept and no companion alone."""
    other = table.places.mains[OTHER[wager.side or "player"]]
    player, banker = plan.totals()
    lead = player - banker if wager.side == "player" else banker - player
    fall = {"withdraw": wager.stake, "lower": wager.stake - wager.place.fit(wager.stake // 2), "move": 2 * wager.stake}
    limit = table.configuration.differential
    kept = limit is None or abs(lead - fall[answer]) <= limit
    alone = answer == "withdraw" and any(bet.place.companion for bet in plan.of(wager.patron))
    if not kept or alone or (answer == "move" and other.fit(wager.stake) != wager.stake):
        return None
    return change_standing(table, plan, wager, answer)


def holder_not_highest(table: Table, plan: RoundPlan) -> Finding | None:
    """Art. 16: the cards go to a seated bettor whose stake isn't the highest."""
    for hand in HANDS if table.configuration.patron_may_hold_cards else ():
        wagers = seated_on(plan, hand)
        if len(wagers) > 1 and wagers[-1].stake < wagers[0].stake:
            seat = wagers[-1].patron.seat
            step = Step("cards_held_by", hand=hand, seat=seat)
            plan.holders = [step]
            return Finding(("holder_not_highest",), step.shown_by, f"seat {seat} holds the {hand}'s cards", seat=seat)
    return None


def _fresh(plan: RoundPlan) -> Iterator[Wager]:
    """Yield the stakes that may be made wrong: none in a tie, which would leave them standing, and wrong again."""
    return (wager for wager in plan.wagers if wager.fresh and plan.hands.outcome != "tie")


def _restaked(table: Table, plan: RoundPlan, wager: Wager, stake: int) -> bool:
    """Let a stake have been placed otherwise, and settle again; leave it where the differential would not be kept."""
    before = wager.stake
    plan.restake(wager, stake)
    if stake > 0 and differential_kept(table, plan):
        settle(table, plan)
        return True
    plan.restake(wager, before)
    return False


def _placed(table: Table, plan: RoundPlan, beside: Wager, place: Place, stake: int) -> Wager | None:
    """Have the patron of a wager place another one; None where the differential would not be kept."""
    assert table.shoe is not None
    wager = plan.place(beside.patron, place, stake, table.shoe.next_bet_id())
    if differential_kept(table, plan):
        settle(table, plan)
        return wager
    plan.withdraw(wager)
    plan.betting = [step for step in plan.betting if step.fields["bet_id"] != wager.bet_id]
    return None


def _stake_finding(wager: Wager, code: str) -> Finding:
    return _bet_finding(wager, code, f"{wager.stake} on {wager.place.bet}")


def _bet_finding(wager: Wager, code: str, description: str) -> Finding:
    assert wager.placed is not None
    return _finding_at(wager.placed, wager, code, description)


def _finding_at(step: Step, wager: Wager, code: str, description: str) -> Finding:
    return Finding((code,), step.shown_by, description, wager.bet_id, wager.patron.seat)


LIMIT_DEVIATIONS: Final = {
    "below_minimum": below_minimum,
    "above_maximum": above_maximum,
    "stake_not_multiple": stake_not_multiple,
    "differential_exceeded": differential_exceeded,
    "both_sides": both_sides,
    "side_bet_alone": side_bet_alone,
    "reserved_place": reserved_place,
    "bet_not_offered": bet_not_offered,
    "tie_change_forbidden": tie_change_forbidden,
    "holder_not_highest": holder_not_highest,
}
