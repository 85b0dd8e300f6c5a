"""A live round, from the first bet to the last chip."""

from typing import Final

from producers.simulator.betting import place_bets
from producers.simulator.dealing import deal
from producers.simulator.deviations.schedule import Schedule
from producers.simulator.payments import settle, void_round
from producers.simulator.performing import perform
from producers.simulator.plan import RoundPlan, Step
from producers.simulator.shoe import ROUND_AT_MOST
from producers.simulator.table import Table

# What happens on any floor and is nobody's fault, as shares of rounds.
_EXPOSED: Final = 0.004
_MISREAD: Final = 0.004
_VOID: Final = 0.003

_VOID_REASONS: Final = ("a patron touched the cards", "a card fell off the table", "the shoe jammed")


def play_round(table: Table, schedule: Schedule) -> None:
    """Play the next live round of the shoe, with a deviation where one falls due."""
    assert table.shoe is not None
    disturbed = schedule.before_round(table)
    plan = RoundPlan(table.shoe.rounds + 1)
    place_bets(table, plan)
    hands, draws = deal(table.shoe.source.ahead(ROUND_AT_MOST))
    plan.take(draws, hands)
    settle(table, plan)
    finding = schedule.disturb(table, plan) if disturbed else None
    if not disturbed and table.rng.random() < _EXPOSED + _MISREAD + _VOID:
        _something_odd(table, plan)
    perform(table, plan)
    if finding:
        table.label(finding, plan.number)
    table.label_shoe()


def _something_odd(table: Table, plan: RoundPlan) -> None:
    rng = table.rng
    chance, place = rng.random() * (_EXPOSED + _MISREAD + _VOID), rng.randrange(len(plan.draws))
    if chance < _EXPOSED:
        # Art. 4: the card stays valid.
        plan.draws.insert(place, Step("card_exposed", card=plan.draws[place].fields["card"]))
    elif chance < _EXPOSED + _VOID:
        plan.draws = plan.draws[:place]
        plan.used = place
        void_round(plan, _VOID_REASONS[rng.randrange(len(_VOID_REASONS))])
    elif table.shoe is not None and table.shoe.forged is None:
        # A card still in the shoe, so that what was read can't be one copy too many.
        _misread(plan, place, table.shoe.source.ahead(ROUND_AT_MOST + 1)[-1])


def _misread(plan: RoundPlan, place: int, read: str) -> None:
    """Let a card be read wrongly and put right before the next one is out, so that nobody acts on it (art. 10)."""
    draw = plan.draws[place]
    hand, position, true_card = draw.fields["hand"], draw.fields["position"], draw.fields["card"]
    draw.fields["card"] = read
    correction = Step("card_corrected", hand=hand, position=position, reason="misread", card=true_card)
    plan.draws.insert(place + 1, correction)
