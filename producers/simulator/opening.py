"""A shoe from the shuffle to its last round (arts. 1 to 3)."""

from typing import Final

from producers.simulator.controller import SECOND
from producers.simulator.deviations.schedule import Schedule
from producers.simulator.patrons import Patron
from producers.simulator.payments import pay_commission
from producers.simulator.performing import demonstrate
from producers.simulator.plan import Finding, Opening, Step
from producers.simulator.shoe import ContinuousShuffler, Shoe
from producers.simulator.table import ShoeInPlay, Table
from producers.simulator.wire_forms import configuration_on_the_wire
from schemas.cards import CARDS_PER_DECK, FACE
from schemas.configuration import TableConfiguration

_SHUFFLE_SECONDS: Final = 240
_CUT_BY_PATRON: Final = 0.7
_DEEPER_CUT: Final = 10
_UNCUT_ROUNDS_PER_DECK: Final = 6
"""A shoe without a white card is taken away after so many rounds, long before it could run out."""


def open_shoe(table: Table, schedule: Schedule) -> None:
    """Bring the next shoe into play, its demonstrations included."""
    opening = _plan(table)
    finding = schedule.open(table, opening)
    if opening.configuration:
        publish(table, opening.configuration)
    if opening.refused_decks:
        _bring_refused(table, opening, finding)
        finding = None
    configuration = table.configuration
    continuous = configuration.shuffling == "continuous"
    make = ContinuousShuffler if continuous else Shoe
    table.shoes += 1
    shoe = ShoeInPlay(
        table.shoes,
        make(configuration.decks, table.rng),
        rounds_too_many=opening.rounds_too_many,
        event_ids=opening.event_ids,
        finding=finding,
    )
    table.shoe = shoe
    table.pause(10 if continuous else _SHUFFLE_SECONDS)
    loaded = table.controller.send(
        "shoe_loaded", shoe=shoe.number, decks=configuration.decks, shuffling=configuration.shuffling
    )
    shoe.event_ids["loaded"] = loaded
    if isinstance(shoe.source, Shoe):
        _cut_and_burn(table, shoe, shoe.source, opening)
    table.label_shoe()
    _demonstrate(table, shoe, opening)


def _plan(table: Table) -> Opening:
    configuration, rng = table.configuration, table.rng
    if configuration.shuffling == "continuous":
        return Opening(cards_behind=None, demonstrations=0)
    cards_behind = configuration.cut_card_depth + int(_DEEPER_CUT * rng.random())
    return Opening(cards_behind, demonstrations=int(rng.random() * (configuration.demonstrations + 1)))


def publish(table: Table, configuration: TableConfiguration) -> None:
    """Put a configuration in force, and say so."""
    table.controller.wait(SECOND)
    table.controller.send("configuration_published", configuration=configuration_on_the_wire(configuration))
    table.configure(configuration)


def _bring_refused(table: Table, opening: Opening, finding: Finding | None) -> None:
    """Bring a shoe that may not be played, and take it away before it is cut."""
    table.shoes += 1
    table.shoe = ShoeInPlay(table.shoes, ContinuousShuffler(1, table.rng), event_ids=opening.event_ids, finding=finding)
    opening.event_ids["refused"] = table.controller.send(
        "shoe_loaded",
        shoe=table.shoes,
        decks=opening.refused_decks,
        shuffling=table.configuration.shuffling,
    )
    table.label_shoe()
    table.pause(20)
    table.controller.send("shoe_closed", shoe=table.shoes, reason="house_choice")


def _cut_and_burn(table: Table, shoe: ShoeInPlay, cards: Shoe, opening: Opening) -> None:
    controller = table.controller
    if opening.cards_behind is not None:
        table.pause(10)
        cut_by = "patron" if table.seated and table.rng.random() < _CUT_BY_PATRON else "dealer"
        shoe.cards_behind = opening.cards_behind
        cards.cut(opening.cards_behind)
        shoe.event_ids["cut"] = controller.send(
            "shoe_cut", shoe=shoe.number, cut_by=cut_by, cards_behind=opening.cards_behind
        )
    else:
        shoe.end_after = _UNCUT_ROUNDS_PER_DECK * table.configuration.decks
    seen, count = _burn(table, cards, opening)
    if opening.forge:
        last = table.configuration.decks * CARDS_PER_DECK - shoe.cards_behind
        shoe.forged = cards.forge(count, last, table.rng)
    for index in range(count):
        table.pause(1)
        face = {"card": seen} if seen and index == 0 else {}
        burned = controller.send("card_burned", shoe=shoe.number, reason="opening", **face)
        shoe.event_ids["burned"] = burned
    cards.take(count)


def _burn(table: Table, cards: Shoe, opening: Opening) -> tuple[str | None, int]:
    """Return the card shown, if any, and how many are burned in all, by the table's method (art. 2(1))."""
    if table.configuration.burn == "decks":
        return None, table.configuration.decks + opening.burn_more
    first = cards.ahead(1)[0]
    return first, 1 + FACE[first] + opening.burn_more


def _demonstrate(table: Table, shoe: ShoeInPlay, opening: Opening) -> None:
    """Play the demonstrations before the shoe's first live round (art. 2(2))."""
    for number in range(1, opening.demonstrations + 1):
        intruder, opening.intruder = opening.intruder, None
        intrusion = _intrusion(table, shoe, intruder) if intruder else None
        opened = demonstrate(table, intrusion)
        if intrusion and shoe.finding:
            shoe.event_ids["intrusion"] = intrusion[0].event_id
            shoe.finding = shoe.finding._replace(bet_id=str(intrusion[0].fields["bet_id"]))
        if number > table.configuration.demonstrations:
            shoe.event_ids["demonstration_too_many"] = opened.event_id
        table.label_shoe()


def _intrusion(table: Table, shoe: ShoeInPlay, patron: Patron) -> tuple[Step, Step]:
    """Return a bet placed, and sent back."""
    place = table.places.mains["player"]
    bet_id = shoe.next_bet_id()
    placed = Step(
        "bet_placed",
        bet_id=bet_id,
        bet=place.bet,
        stake=place.lowest,
        seat=patron.seat,
        patron_id=patron.patron_id,
    )
    return placed, Step("bet_withdrawn", bet_id=bet_id)


def close_shoe(table: Table, reason: str) -> None:
    """End the shoe: standing stakes go back, marked commission is paid, the table's own configuration returns."""
    shoe = table.shoe
    assert shoe is not None
    for wager in table.carried:
        wager.patron.chips += wager.stake
    table.carried = []
    for patron in (*table.kept_free.values(), *table.seated.values()):
        if patron.owes:
            pay_commission(table, patron)
    table.kept_free = {}
    table.controller.wait(2 * SECOND)
    if not shoe.closed:
        table.controller.send("shoe_closed", shoe=shoe.number, reason=reason)
    if table.configuration is not table.settings.configuration:
        publish(table, table.settings.configuration)
