"""Events of cards and of the dealer's call."""

from typing import Final

from processors.reconstruct.bet_steps import close_betting
from processors.reconstruct.dealing import (
    due_hand,
    has_hands,
    judge_draw,
    judge_round,
    judge_surplus,
    review,
    surplus_card,
)
from processors.reconstruct.owners import MAIN_BETS_ON
from processors.reconstruct.refusals import Unusable
from processors.reconstruct.rounds import round_of
from processors.reconstruct.state import RoundState, ShoeState
from processors.reconstruct.table import EvidenceRow, Table, Who
from processors.rules.findings import Finding
from processors.rules.hands import view
from processors.rules.procedure import article_of_call, called_result, holder
from schemas.events import CardCorrected, CardDrawn, CardExposed, CardsHeldBy, Event, ResultCalled

MOST_CARDS: Final = 3
"""Art. 9: two cards and one third card a hand."""


def card_drawn(table: Table, event: CardDrawn) -> None:
    """A card goes to a hand: judged at once where it could not have been right (arts. 7 and 9)."""
    play = round_of(table, event)
    if not play.betting_closed:
        close_betting(table, event, play)
    cards = play.player if event.hand == "player" else play.banker
    if event.position > MOST_CARDS and len(cards) == MOST_CARDS:
        _deal_too_many(table, event, play)
        return
    if event.position != len(cards) + 1:
        _out_of_place(play, event, len(cards))
    is_judged = play.complete and not play.voided
    due = due_hand(play) if is_judged else None
    opening = not has_hands(play)
    cards.append(event.card)
    play.card_event_ids.append(event.event_id)
    see_card(table, event, event.card)
    if is_judged:
        if play.dealing_errors:
            review(table, event)
        judge_draw(table, event, due, opening=opening)


def _deal_too_many(table: Table, event: CardDrawn, play: RoundState) -> None:
    """A fourth card for a hand (art. 9 gives one third card): it counts for nothing, and must be taken out again."""
    name = surplus_card(event.hand, event.position)
    if name in play.surplus:
        raise Unusable("card_position", f"{name} was dealt already; an error is put right by card_corrected")
    play.surplus[name] = event.card
    play.card_event_ids.append(event.event_id)
    see_card(table, event, event.card)
    if play.complete and not play.voided:
        judge_surplus(table, event, name)


def _correct_surplus(table: Table, event: CardCorrected, play: RoundState) -> None:
    name = surplus_card(event.hand, event.position)
    if name not in play.surplus:
        raise Unusable("card_position", f"{name} was not dealt, so it can't be corrected")
    play.card_event_ids.append(event.event_id)
    _recount(table, event, play.surplus.pop(name))
    if event.card is not None:
        play.surplus[name] = event.card
    elif play.complete:
        review(table, event, reason=event.reason, position=event.position)


def _out_of_place(play: RoundState, event: CardDrawn, held: int) -> None:
    """A card for a place that is taken can't be used; one that leaves a place empty shows that a card is missing."""
    where = f"{event.hand} card {event.position}"
    if event.position <= held:
        raise Unusable("card_position", f"{where} was dealt already; an error is put right by card_corrected")
    play.complete = False


def see_card(table: Table, event: Event, card: str) -> None:
    """Count a card that left the shoe face up; more copies than decks can't be (art. 1)."""
    shoe, play = table.state.shoe, table.state.round
    if shoe is None or shoe.shuffling != "shoe":
        return
    shoe.cards_out += 1
    copies = shoe.seen[card] = shoe.seen.get(card, 0) + 1
    # Where something is missing, so may be the word that a card was only read wrongly.
    is_certain = shoe.loading_seen and (play is None or play.complete)
    if copies > shoe.decks and is_certain and copies - shoe.doubtful.get(card, 0) > shoe.decks:
        evidence = EvidenceRow(expected=str(shoe.decks), actual=str(copies), card=card)
        table.alert(event, "excess_copies", f"{card}:{copies}", evidence)


def card_corrected(table: Table, event: CardCorrected) -> None:
    """A card is read anew, taken out or replaced (art. 10)."""
    play = round_of(table, event)
    if event.position > MOST_CARDS:
        _correct_surplus(table, event, play)
        return
    cards = play.player if event.hand == "player" else play.banker
    place = event.position - 1
    if place > len(cards) or (place == len(cards) and event.card is None):
        raise Unusable("card_position", f"{event.hand} card {event.position} was not dealt, so it can't be corrected")
    old = cards[place] if place < len(cards) else None
    cards[place : place + 1] = [event.card] if event.card else []
    _recount(table, event, old)
    play.card_event_ids.append(event.event_id)
    if play.complete:
        review(table, event, reason=event.reason, position=event.position)
        _check_call(table, event, misread=event.reason == "misread")


def _recount(table: Table, event: CardCorrected, old: str | None) -> None:
    """Count the card that lies there now, and the one that did no more if it was only read wrongly."""
    if event.reason == "misread" and old is not None and table.state.shoe is not None:
        _unsee_card(table, event, old, table.state.shoe)
    if event.card is not None:
        see_card(table, event, event.card)


def _unsee_card(table: Table, event: CardCorrected, card: str, shoe: ShoeState) -> None:
    """A misread card was never out; one dealt by mistake was, and stays out."""
    copies = shoe.seen.get(card, 0)
    if not copies:
        return
    shoe.cards_out -= 1
    if copies > 1:
        shoe.seen[card] = copies - 1
    else:
        del shoe.seen[card]
    about = f"{card}:{copies}"
    if table.alert_id("excess_copies", about) in table.play().raised:
        evidence = EvidenceRow(expected=str(shoe.decks), actual=str(copies), card=card)
        table.alert(event, "excess_copies", about, evidence, status="withdrawn")


def card_exposed(table: Table, event: CardExposed) -> None:
    """A card lay face up in the shoe: it and the bets stay valid (art. 4)."""
    round_of(table, event).exposed += 1


def result_called(table: Table, event: ResultCalled) -> None:
    """The dealer calls the result (art. 11)."""
    play = round_of(table, event)
    play.called = event.outcome
    if not play.voided:
        judge_round(table, event)
        _check_call(table, event)


def _check_call(table: Table, event: Event, *, misread: bool = False) -> None:
    """Compare the call with the cards, and again when either changes; cards read wrongly made no call wrong."""
    play = table.play()
    if not play.called or play.voided or not play.complete or not has_hands(play):
        return
    seen = view(tuple(play.player), tuple(play.banker))
    finding = called_result(play.called, seen)  # type: ignore[arg-type]  # read from an event
    if finding or play.mismatch:
        ids = (*play.card_event_ids, event.event_id)
        evidence = EvidenceRow(expected=seen.outcome, actual=play.called, event_ids=tuple(dict.fromkeys(ids)))
        table.alert(
            event,
            Finding("result_mismatch", article_of_call(seen.outcome), seen.outcome, play.called),
            "",
            evidence,
            status="raised" if finding else "withdrawn" if misread else "corrected",
        )
    play.mismatch = finding is not None


def cards_held_by(table: Table, event: CardsHeldBy) -> None:
    """Art. 16: a patron who opens the cards is the seated one who bet most on that hand."""
    play = round_of(table, event)
    if not play.complete or play.carry_unknown or play.kind != "live" or not table.rules.judged:
        return
    stakes: dict[int, int] = {}
    for bet in play.bets.values():
        if bet.posture == "seated" and not bet.late and bet.bet in MAIN_BETS_ON[event.hand]:
            stakes[bet.seat] = stakes.get(bet.seat, 0) + bet.stake
    allowed = table.rules.configuration.patron_may_hold_cards
    if finding := holder(event.seat, stakes, allowed):
        evidence = EvidenceRow(expected=str(finding.expected), actual=str(finding.actual))
        table.alert(event, finding, event.hand, evidence, who=Who(event.seat))
