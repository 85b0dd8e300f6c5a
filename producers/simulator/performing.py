"""Performing a round that was planned: its events in order, the white card where it comes out, the chips moved."""

from collections.abc import Sequence
from typing import Final

from producers.simulator.betting import choose_holders
from producers.simulator.controller import SECOND
from producers.simulator.dealing import deal
from producers.simulator.payments import clear_layout, correct_record, pay
from producers.simulator.plan import RoundPlan, Step
from producers.simulator.shoe import ROUND_AT_MOST
from producers.simulator.table import ShoeInPlay, Table

# How a round's time is spent; what is missing passes between rounds.
_BETTING: Final = 0.45
_DEALING: Final = 0.28
_SETTLING: Final = 0.17
_CLOSING: Final = 0.02
_RESTING: Final = 0.06

_TAKES_A_CARD: Final = frozenset({"card_drawn", "card_burned"})
_MORE_ROUNDS_SHARE: Final = 0.7
_CARDS_FOR_ONE_MORE: Final = 2 * ROUND_AT_MOST


def perform(table: Table, plan: RoundPlan) -> None:
    """Send a live round's events and move its chips."""
    shoe = table.shoe
    assert shoe is not None
    number = plan.number
    pace = table.settings.seconds_per_round * SECOND * (0.75 + 0.5 * table.rng.random())
    if shoe.cut_round is None and shoe.source.until_cut == 0:
        table.send([Step("cut_card_reached")], number, _CLOSING * pace)
        _end_after_cut(table, shoe, number)
    plan.opening.fields["configuration_id"] = table.configuration.configuration_id
    table.send([plan.opening, *plan.betting, plan.bets_closed], number, _BETTING * pace)
    holders = choose_holders(table, plan) if plan.holders is None else plan.holders
    cards = _with_cut_card(table, shoe, plan)
    table.send([*holders, *cards, *plan.late, *_ending(plan)], number, _DEALING * pace)
    draw_out(table, shoe, plan.draws, plan.used)
    pay(table, plan, _SETTLING * pace)
    table.send([plan.closing], number, _CLOSING * pace)
    correct_record(table, plan)
    shoe.rounds = number
    shoe.live_rounds += 1
    shoe.event_ids.setdefault("first_round", plan.opening.event_id)
    if shoe.rounds_too_many and shoe.over:
        shoe.event_ids["round_too_many"] = plan.opening.event_id
    if plan.ends_shoe:
        shoe.closed, shoe.end_after = True, number
    clear_layout(table, plan)
    table.controller.wait(int(_RESTING * pace))


def demonstrate(table: Table, intrusion: tuple[Step, Step] | None = None) -> Step:
    """Play a demonstration round (art. 2(2)) and return its opening; `intrusion` is a bet placed and sent back."""
    shoe = table.shoe
    assert shoe is not None
    number = shoe.rounds + 1
    hands, draws = deal(shoe.source.ahead(ROUND_AT_MOST))
    cards = [Step("card_drawn", hand=hand, position=position, card=card) for hand, position, card in draws]
    opening = Step("round_opened", kind="demonstration", configuration_id=table.configuration.configuration_id)
    steps = [opening, *(intrusion or ()), *cards, Step("result_called", outcome=hands.outcome), Step("round_closed")]
    table.send(steps, number, 0.5 * table.settings.seconds_per_round * SECOND)
    draw_out(table, shoe, cards, len(cards))
    shoe.rounds = number
    shoe.demonstrations += 1
    shoe.event_ids.setdefault("first_round", opening.event_id)
    shoe.event_ids["demonstration"] = opening.event_id
    return opening


def draw_out(table: Table, shoe: ShoeInPlay, steps: Sequence[Step], used: int) -> None:
    """Take a round's cards out of the shoe; note the event that shows one copy more of a card than its decks have."""
    shoe.source.take(used)
    for step in steps if shoe.forged else ():
        if step.kind == "card_drawn" and step.fields["card"] == shoe.forged:
            shoe.forged_seen += 1
            if shoe.forged_seen > table.configuration.decks:
                shoe.event_ids.setdefault("forged", step.event_id)


def _ending(plan: RoundPlan) -> list[Step]:
    steps = []
    if plan.called:
        plan.call.fields["outcome"] = plan.called
        steps.append(plan.call)
    if plan.void:
        reason, authority = plan.void
        steps.append(Step("round_voided", reason=reason, authorised_by=authority))
    return steps


def _with_cut_card(table: Table, shoe: ShoeInPlay, plan: RoundPlan) -> list[Step]:
    """Return the round's draws with the white card where it comes out, if it does."""
    until_cut = shoe.source.until_cut
    if shoe.cut_round is not None or until_cut is None or until_cut >= plan.used:
        return plan.draws
    steps = list(plan.draws)
    drawn = [index for index, step in enumerate(steps) if step.kind in _TAKES_A_CARD]
    steps.insert(drawn[until_cut], Step("cut_card_reached"))
    _end_after_cut(table, shoe, plan.number)
    return steps


def _end_after_cut(table: Table, shoe: ShoeInPlay, number: int) -> None:
    """Art. 3(1): the round in play is the last, or one more where the house has that option."""
    shoe.cut_round = number
    allowed = number + table.configuration.rounds_after_cut_card
    if shoe.rounds_too_many:
        shoe.end_after = allowed + shoe.rounds_too_many
    elif shoe.cards_behind >= _CARDS_FOR_ONE_MORE and table.rng.random() < _MORE_ROUNDS_SHARE:
        shoe.end_after = allowed
    else:
        shoe.end_after = number
