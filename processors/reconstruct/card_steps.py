"""Events of cards and of the dealer's call."""

from processors.reconstruct.bet_steps import MAIN_BETS_ON, close_betting
from processors.reconstruct.dealing import due_hand, has_hands, judge_draw, judge_round, review
from processors.reconstruct.rounds import round_of
from processors.reconstruct.state import RoundState
from processors.reconstruct.table import EvidenceRow, Table, Unusable, Who
from processors.rules.hands import view
from processors.rules.procedure import called_result, holder
from schemas.events import CardCorrected, CardDrawn, CardExposed, CardsHeldBy, Event, ResultCalled


def card_drawn(table: Table, event: CardDrawn) -> None:
    """A card goes to a hand: judged at once where it could not have been right (arts. 7 and 9)."""
    play = round_of(table, event)
    if not play.betting_closed:
        close_betting(table, event, play)
    cards = play.player if event.hand == "player" else play.banker
    if event.position != len(cards) + 1:
        _out_of_place(play, event, len(cards))
    due = due_hand(play) if play.complete else None
    opening = not has_hands(play)
    cards.append(event.card)
    play.card_event_ids.append(event.event_id)
    see_card(table, event, event.card)
    if play.complete:
        if play.dealing_errors:
            review(table, event)
        judge_draw(table, event, due, opening=opening)


def _out_of_place(play: RoundState, event: CardDrawn, held: int) -> None:
    """A card for a place that is taken can't be used; one that leaves a place empty shows that a card is missing."""
    where = f"{event.hand} card {event.position}"
    if event.position <= held:
        raise Unusable("card_position", f"{where} was dealt already; an error is put right by card_corrected")
    play.complete = False


def see_card(table: Table, event: Event, card: str, *, out: int = 1) -> None:
    """Count a card that left the shoe face up; more copies than decks can't be (art. 1)."""
    shoe = table.state.shoe
    if shoe is None or shoe.shuffling != "shoe":
        return
    shoe.cards_out += out
    copies = shoe.seen[card] = shoe.seen.get(card, 0) + 1
    if copies > shoe.decks:
        evidence = EvidenceRow(expected=str(shoe.decks), actual=str(copies), card=card)
        table.alert(event, "excess_copies", card, evidence)


def card_corrected(table: Table, event: CardCorrected) -> None:
    """A card is read anew, taken out or replaced (art. 10)."""
    play = round_of(table, event)
    cards = play.player if event.hand == "player" else play.banker
    place = event.position - 1
    if place > len(cards) or (place == len(cards) and event.card is None):
        raise Unusable("card_position", f"{event.hand} card {event.position} was not dealt, so it can't be corrected")
    old = cards[place] if place < len(cards) else None
    if event.card is None:
        del cards[place]
    else:
        cards[place : place + 1] = [event.card]
    _recount(table, event, old)
    play.card_event_ids.append(event.event_id)
    if play.complete:
        review(table, event, reason=event.reason)
        _check_call(table, event)


def _recount(table: Table, event: CardCorrected, old: str | None) -> None:
    """A misread card was never out; one dealt by mistake was, and stays out."""
    shoe = table.state.shoe
    if event.reason == "misread" and shoe is not None and old in shoe.seen:
        shoe.cards_out -= 1
        shoe.seen[old] -= 1
        if not shoe.seen[old]:
            del shoe.seen[old]
    if event.card is not None:
        see_card(table, event, event.card)


def card_exposed(table: Table, event: CardExposed) -> None:
    """A card lay face up in the shoe: it and the bets stay valid (art. 4)."""
    round_of(table, event).exposed += 1


def result_called(table: Table, event: ResultCalled) -> None:
    """The dealer calls the result (art. 11)."""
    play = round_of(table, event)
    play.called = event.outcome
    judge_round(table, event)
    _check_call(table, event)


def _check_call(table: Table, event: Event) -> None:
    """Compare the call with the cards, and again when either changes."""
    play = table.play()
    if not play.called or not play.complete or not has_hands(play):
        return
    seen = view(tuple(play.player), tuple(play.banker))
    finding = called_result(play.called, seen)  # type: ignore[arg-type]  # read from an event
    if finding or play.mismatch:
        status = "raised" if finding else "corrected"
        ids = (*play.card_event_ids, event.event_id)
        evidence = EvidenceRow(expected=seen.outcome, actual=play.called, event_ids=ids)
        table.alert(event, "result_mismatch", "", evidence, status=status)
    play.mismatch = finding is not None


def cards_held_by(table: Table, event: CardsHeldBy) -> None:
    """Art. 16: a patron who opens the cards is the seated one who bet most on that hand."""
    play = round_of(table, event)
    if not play.complete or not table.rules.judged:
        return
    stakes: dict[int, int] = {}
    for bet in play.bets.values():
        if bet.posture == "seated" and not bet.late and bet.bet in MAIN_BETS_ON[event.hand]:
            stakes[bet.seat] = stakes.get(bet.seat, 0) + bet.stake
    allowed = table.rules.configuration.patron_may_hold_cards
    if finding := holder(event.seat, stakes, allowed):
        evidence = EvidenceRow(expected=str(finding.expected), actual=str(finding.actual))
        table.alert(event, finding.kind, event.hand, evidence, who=Who(event.seat))
