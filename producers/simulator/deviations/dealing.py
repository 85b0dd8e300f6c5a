"""Cards dealt or called against the rules, and what the house makes of it: paid, put right, or void (arts. 7 to 11)."""

from collections.abc import Callable
from typing import Final, NamedTuple

from producers.simulator.dealing import (
    DEALING_ORDER,
    Draw,
    Hands,
    banker_must_draw,
    deal,
    draw_on,
    player_must_draw,
    points,
)
from producers.simulator.payments import settle, void_round
from producers.simulator.plan import Finding, RoundPlan, Step
from producers.simulator.shoe import ROUND_AT_MOST
from producers.simulator.table import Table
from schemas.cards import Hand
from schemas.catalogue import Outcome

_PAID, _VOIDED, _CORRECTED = "paid", "void", "corrected"
_OUTCOMES: Final[tuple[Outcome, ...]] = ("player", "banker", "tie")

# Banker first; the player's two cards first.
_WRONG_ORDERS: Final[tuple[tuple[tuple[Hand, int], ...], ...]] = (
    (("banker", 1), ("player", 1), ("banker", 2), ("player", 2)),
    (("player", 1), ("player", 2), ("banker", 1), ("banker", 2)),
)


class _Misdeal(NamedTuple):
    """Cards as they were wrongly dealt; `excess` is the one that should not have been, the last of `draws`."""

    draws: list[Draw]
    hands: Hands
    excess: Draw | None = None


def third_card_drawn(table: Table, plan: RoundPlan) -> Finding | None:
    """A hand that must stand is given a third card, though nobody holds a natural (art. 9(2) and (4))."""
    return _with_excess_card(table, plan, "third_card_drawn", natural=False)


def natural_ignored(table: Table, plan: RoundPlan) -> Finding | None:
    """A hand is given a third card although one of the two is a natural (art. 9(2))."""
    return _with_excess_card(table, plan, "natural_ignored", natural=True)


def _with_excess_card(table: Table, plan: RoundPlan, code: str, *, natural: bool) -> Finding | None:
    cards = _next_cards(table)
    hands, draws = deal(cards)
    if hands.natural != natural:
        return None
    receivers: list[Hand] = [hand for hand in ("player", "banker") if _could_take(hands, hand, cards[len(draws)])]
    if not receivers:
        return None
    receiver = receivers[int(table.rng.random() * len(receivers))]
    excess = Draw(receiver, 3, cards[len(draws)])
    misdeal = _Misdeal([*draws, excess], _joined(hands, excess), excess)
    return _carry_out(table, plan, misdeal, code, (_PAID, _CORRECTED, _VOIDED))


def _could_take(hands: Hands, hand: Hand, card: str) -> bool:
    """Tell whether one card more to `hand` is one error and no other: the banker would have stood on it too."""
    if hand == "banker":
        return len(hands.banker) == 2
    if len(hands.player) == 3 or len(hands.banker) == 3:
        return False
    return not banker_must_draw(_joined(hands, Draw("player", 3, card)))


def _joined(hands: Hands, draw: Draw) -> Hands:
    if draw.hand == "player":
        return Hands((*hands.player, draw.card), hands.banker)
    return Hands(hands.player, (*hands.banker, draw.card))


def third_card_missed(table: Table, plan: RoundPlan) -> Finding | None:
    """A hand that must draw is not given its third card (art. 9(1) and (3))."""
    hands, draws = deal(_next_cards(table))
    if len(hands.banker) == 3:
        misdeal = _Misdeal(draws[:-1], Hands(hands.player, hands.banker[:2]))
    elif player_must_draw(hands) and points(hands.banker) in {6, 7}:
        # The banker stands on these whether the player drew or not, so the player's card is all that is missing.
        misdeal = _Misdeal(draws[:4], Hands(hands.player[:2], hands.banker))
    else:
        return None
    return _carry_out(table, plan, misdeal, "third_card_missed", (_PAID, _CORRECTED, _VOIDED))


def deal_order(table: Table, plan: RoundPlan) -> Finding | None:
    """The first four cards don't go to the player first and then alternately (art. 7(1))."""
    cards = _next_cards(table)
    order = _WRONG_ORDERS[table.rng.randrange(len(_WRONG_ORDERS))]
    draws = [Draw(hand, position, card) for (hand, position), card in zip(order, cards, strict=False)]
    lying = {(draw.hand, draw.position): draw.card for draw in draws}
    first, second, third, fourth = (lying[place] for place in DEALING_ORDER)
    hands, draws = draw_on(Hands((first, third), (second, fourth)), draws, cards[4:])
    return _carry_out(table, plan, _Misdeal(draws, hands), "deal_order", (_PAID, _VOIDED))


def result_mismatch(table: Table, plan: RoundPlan) -> Finding | None:
    """The dealer calls another result than the cards show, and pays by the cards (art. 11)."""
    others = [outcome for outcome in _OUTCOMES if outcome != plan.called]
    plan.called = others[int(table.rng.random() * len(others))]
    described = f"called {plan.called}, the cards say {plan.hands.outcome}"
    return Finding(("result_mismatch",), plan.call.shown_by, described)


def burned_in_round(table: Table, plan: RoundPlan) -> Finding | None:
    """A card is burned after the round's cards are out, where art. 8 allows it before a round only."""
    if table.configuration.shuffling == "continuous":
        return None
    burned = Step.of_shoe("card_burned", reason="before_round")
    plan.draws.append(burned)
    plan.used += 1
    return Finding(("burned_in_round",), burned.shown_by, "a card burned after the deal")


def void_without_error(table: Table, plan: RoundPlan) -> Finding | None:
    """A round is cancelled for a card found face up, though that card and the bets stay valid (art. 4)."""
    place = table.rng.randrange(len(plan.draws))
    plan.draws.insert(place, Step("card_exposed", card=plan.draws[place].fields["card"]))
    void_round(plan, "a card lay face up in the shoe")
    # Only when the round is over is it sure that nothing else was wrong with it.
    return Finding(("void_without_error",), plan.closing.shown_by, "void for a card found face up")


def shoe_changed_in_round(table: Table, plan: RoundPlan) -> Finding | None:
    """The shoe is changed while a round is in play, which is cancelled for it (art. 3(2))."""
    assert table.shoe is not None
    if table.shoe.finding:
        return None
    void_round(plan, "the shoe was changed")
    plan.closing = Step.of_shoe("shoe_closed", reason="house_choice")
    plan.ends_shoe = True
    return Finding(("shoe_changed_in_round",), plan.closing.shown_by, "the shoe taken away in the round")


def _next_cards(table: Table) -> list[str]:
    assert table.shoe is not None
    return table.shoe.source.ahead(ROUND_AT_MOST + 1)


def _carry_out(table: Table, plan: RoundPlan, misdeal: _Misdeal, code: str, ways: tuple[str, ...]) -> Finding | None:
    """Deal the error, then pay the round, put the error right or cancel the round, whichever of `ways` falls."""
    way = ways[int(table.rng.random() * len(ways))]
    plan.take(misdeal.draws, misdeal.hands)
    shown_by = _shown_by(plan, misdeal, code)
    if way == _CORRECTED:
        _put_right(table, plan, misdeal)
        return Finding((code,), shown_by, f"{code}, put right", status="corrected")
    settle(table, plan)
    if way == _VOIDED:
        void_round(plan, "misdeal found too late to be put right", called=code == "third_card_missed")
        return Finding((code,), shown_by, f"{code}, round void")
    if not any(payment.paid for payment in plan.payments):
        # Nothing to pay: whether that is a round paid would be a matter of opinion.
        void_round(plan, "misdeal found too late to be put right", called=code == "third_card_missed")
        return Finding((code,), shown_by, f"{code}, round void")
    return Finding((code, "uncorrected_round_paid"), shown_by, f"{code}, round paid")


def _put_right(table: Table, plan: RoundPlan, misdeal: _Misdeal) -> None:
    """Put the error right at once (art. 10): an excess card is taken out, a missing one dealt after the call."""
    hands, draws = deal(_next_cards(table))
    if misdeal.excess:
        excess = misdeal.excess
        plan.draws.append(Step("card_corrected", hand=excess.hand, position=excess.position, reason="misdeal"))
        plan.hands, plan.called = hands, hands.outcome
    else:
        cut_short = plan.draws
        early_call = Step("result_called", outcome=plan.called)
        plan.take(draws, hands)
        plan.draws[: len(cut_short)] = [*cut_short, early_call]
        plan.early_call = early_call
    settle(table, plan)


def _shown_by(plan: RoundPlan, misdeal: _Misdeal, code: str) -> Callable[[], str]:
    if code == "third_card_missed":
        return lambda: (plan.early_call or plan.call).event_id
    if misdeal.excess:
        return plan.draws[-1].shown_by
    # In both wrong orders the first card out of order is the first or the second.
    first, second = plan.draws[:2]
    return (first if first.fields["hand"] == "banker" else second).shown_by


DEALING_DEVIATIONS: Final = {
    "third_card_drawn": third_card_drawn,
    "third_card_missed": third_card_missed,
    "natural_ignored": natural_ignored,
    "deal_order": deal_order,
    "result_mismatch": result_mismatch,
    "burned_in_round": burned_in_round,
    "void_without_error": void_without_error,
    "shoe_changed_in_round": shoe_changed_in_round,
}
