"""The bets of a round: what patrons do after a tie, what they place, and what the dealer sends back."""

from typing import Final, Literal

from producers.simulator.patrons import Patron
from producers.simulator.places import Place
from producers.simulator.plan import RoundPlan, Step, Wager
from producers.simulator.table import Table
from schemas.cards import Hand

OTHER: Final[dict[Hand, Hand]] = {"player": "banker", "banker": "player"}
HANDS: Final[tuple[Hand, ...]] = ("player", "banker")

_SITS_OUT: Final = 0.1
_SIDE_BETS_AT_MOST: Final = 2

Answer = Literal["keep", "raise", "withdraw", "lower", "move"]

# Art. 12, and SJM's narrower rule: how often patrons do what with a stake that a tie left standing.
_AFTER_A_TIE: Final[dict[str, tuple[tuple[Answer, float], ...]]] = {
    "regulation": (("raise", 0.15), ("withdraw", 0.10), ("lower", 0.08), ("move", 0.07), ("keep", 1.0)),
    "add_only": (("raise", 0.25), ("keep", 1.0)),
}


def place_bets(table: Table, plan: RoundPlan) -> None:
    """Decide every bet of the round up to the dealer's call to stop."""
    for wager in table.carried:
        plan.wagers.append(wager)
        plan.mains[wager.patron] = wager
    for wager in table.carried:
        _answer_tie(table, plan, wager)
    table.carried = []
    company = table.company()
    first = int(table.rng.random() * len(company)) if company else 0
    for patron in (*company[first:], *company[:first]):
        _bet(table, plan, patron)
    _balance(table, plan)


def differential_kept(table: Table, plan: RoundPlan) -> bool:
    """Tell whether the two sides are within the table's differential (art. 14)."""
    limit = table.configuration.differential
    player, banker = plan.totals()
    return limit is None or abs(player - banker) <= limit


def _answer_tie(table: Table, plan: RoundPlan, wager: Wager) -> None:
    chance = table.rng.random()
    for answer, share in _AFTER_A_TIE[table.configuration.tie_policy]:
        chance -= share
        if chance < 0:
            change_standing(table, plan, wager, answer)
            return


def change_standing(table: Table, plan: RoundPlan, wager: Wager, answer: Answer) -> Step | None:
    """Do with a standing stake what its patron wants, where limits and differential allow it (art. 12)."""
    place = wager.place
    if answer == "withdraw":
        return plan.withdraw(wager)
    if answer == "move":
        other = table.places.mains[OTHER[place.side or "player"]]
        fits = other.fit(wager.stake) == wager.stake
        return plan.change(wager, wager.stake, other) if fits else None
    if answer == "lower":
        stake = place.fit(wager.stake // 2)
        return plan.change(wager, stake) if stake else None
    if answer == "raise":
        stake = place.fit(wager.stake + wager.patron.unit)
        if stake > wager.stake and _room(table, plan, wager) >= stake - wager.stake:
            return plan.change(wager, stake)
    return None


def _room(table: Table, plan: RoundPlan, wager: Wager) -> int:
    """Return how much may still come on the wager's side before the differential is reached."""
    limit = table.configuration.differential
    player, banker = plan.totals()
    lead = player - banker if wager.side == "player" else banker - player
    return wager.place.maximum if limit is None else limit - lead


def _bet(table: Table, plan: RoundPlan, patron: Patron) -> None:
    rng = table.rng
    if patron not in plan.mains:
        if rng.random() < _SITS_OUT:
            return
        place = table.places.mains[patron.habit.side(rng, table.last_winner)]
        stake = place.fit(max(place.lowest, patron.habit.stake(patron)))
        if not stake:
            return
        plan.place(patron, place, stake, _bet_id(table))
    others = table.places.others
    side_bets: set[str] = set()
    while others and rng.random() < patron.habit.side_bets and len(side_bets) < _SIDE_BETS_AT_MOST:
        place = others[int(rng.random() * len(others))]
        if place.bet not in side_bets and welcome(plan, patron, place):
            side_bets.add(place.bet)
            plan.place(patron, place, place.fit(place.lowest * (1 + int(5 * rng.random() ** 2))), _bet_id(table))


def welcome(plan: RoundPlan, patron: Patron, place: Place) -> bool:
    """Tell whether a patron may bet on `place`: a companion is taken beside a main bet only, and from who is known."""
    if not place.companion:
        return True
    main = plan.mains.get(patron)
    return main is not None and patron.patron_id is not None and main.side == place.beside


def _bet_id(table: Table) -> str:
    assert table.shoe is not None
    return table.shoe.next_bet_id()


def _balance(table: Table, plan: RoundPlan) -> None:
    """Have the highest stakes of the heavier side lowered until the differential is kept (art. 14)."""
    limit = table.configuration.differential
    player, banker = plan.totals()
    if limit is None or abs(player - banker) <= limit:
        return
    excess = abs(player - banker) - limit
    heavier = "player" if player > banker else "banker"
    # Where patrons may only add after a tie (SJM), a standing stake can't be sent back either.
    may_lower = table.configuration.tie_policy == "regulation"
    heavy = [wager for wager in plan.wagers if wager.side == heavier and (may_lower or not wager.carried)]
    for wager in sorted(heavy, key=lambda wager: -wager.stake):
        if excess <= 0:
            return
        stake = wager.place.fit(max(0, wager.stake - excess))
        excess -= wager.stake - stake
        _lower(plan, wager, stake)


def _lower(plan: RoundPlan, wager: Wager, stake: int) -> None:
    if stake:
        plan.change(wager, stake)
        return
    plan.withdraw(wager)
    for companion in [other for other in plan.of(wager.patron) if other.place.companion]:
        plan.withdraw(companion)


def choose_holders(table: Table, plan: RoundPlan) -> list[Step]:
    """Return who opens each hand's cards: the highest seated bettor on it, or the dealer where two share the lead."""
    if not table.configuration.patron_may_hold_cards:
        return []
    steps = []
    for hand in HANDS:
        wagers = seated_on(plan, hand)
        if wagers:
            clear = len(wagers) == 1 or wagers[0].stake > wagers[1].stake
            steps.append(Step("cards_held_by", hand=hand, seat=wagers[0].patron.seat if clear else 0))
    return steps


def seated_on(plan: RoundPlan, hand: Hand) -> list[Wager]:
    """Return the seated patrons' main bets on a hand, the highest first."""
    wagers = [wager for wager in plan.wagers if wager.side == hand and wager.patron.posture == "seated"]
    return sorted(wagers, key=lambda wager: -wager.stake)
