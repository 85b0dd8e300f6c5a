"""Dealing errors of the round in play: found as the cards fall, followed until put right (arts. 7, 9, 10)."""

from typing import Final

from processors.reconstruct.state import DealingError, RoundState
from processors.reconstruct.table import EvidenceRow, Table
from processors.rules.tableau import judge, next_card
from schemas.events import CardDrawn, Event

DEALING_ERRORS: Final = frozenset({"third_card_drawn", "third_card_missed", "natural_ignored", "deal_order"})
FIRST_TWO: Final = 2
"""Cards each hand gets before art. 9 asks for more."""


def has_hands(play: RoundState) -> bool:
    """Tell whether both hands hold their first two cards."""
    return len(play.player) >= FIRST_TWO and len(play.banker) >= FIRST_TWO


def due_hand(play: RoundState) -> str | None:
    """Return the hand that the next card belongs to."""
    return next_card(tuple(play.player), tuple(play.banker))


def judge_draw(table: Table, event: CardDrawn, due: str | None, *, opening: bool) -> None:
    """Judge a card just added to its hand. `due` is the hand it should have gone to, `opening` one of the first four.

    A banker's third card ahead of the player's is judged later: it may be out of order, or the player's be missed.
    """
    play = table.play()
    if opening:
        if due != event.hand:
            _raise(table, event, "deal_order", "", "7(1)", expected=str(due), actual=event.hand)
    elif event.hand == "player" and len(play.banker) > FIRST_TWO:
        _raise(table, event, "deal_order", "", "9", expected="player", actual="banker")
    elif due is None or (event.hand == "player" and due == "banker"):
        _raise_tableau(table, event, only_drawn=event.hand)


def judge_round(table: Table, event: Event) -> None:
    """Judge the finished hands by art. 9, once; a correction makes it due again."""
    play = table.play()
    if play.judged or not play.complete or not has_hands(play):
        return
    play.judged = True
    _raise_tableau(table, event)


def _raise_tableau(table: Table, event: Event, only_drawn: str = "") -> None:
    play = table.play()
    for error in judge(tuple(play.player), tuple(play.banker)):
        finding = error.finding
        if only_drawn and (error.actual != "drew" or error.hand != only_drawn):
            continue
        if not any((known.code, known.hand) == (finding.kind, error.hand) for known in play.dealing_errors):
            _raise(table, event, finding.kind, error.hand, error.item, expected=error.item, actual=error.actual)


def _raise(table: Table, event: Event, code: str, hand: str, item: str, *, expected: str, actual: str) -> None:
    play = table.play()
    ids = [*play.card_event_ids]
    if event.event_id not in ids:
        ids.append(event.event_id)
    play.dealing_errors.append(DealingError(code, hand, item, ids, expected, actual))
    table.alert(event, code, hand, EvidenceRow(expected=expected, actual=actual, event_ids=tuple(ids)))


def review(table: Table, event: Event, *, reason: str = "drawn") -> None:
    """Look again at the errors raised, after the cards changed: which are put right, which never happened.

    `reason` is that of a correction, or ``drawn`` for one more card. A misreading withdraws the alert altogether, for
    the dealer did nothing wrong.
    """
    play = table.play()
    misread = reason == "misread"
    play.judged = False
    if not play.dealing_errors:
        return
    now = _errors_now(play)
    for error in list(play.dealing_errors):
        # Cards that went out of order are put right by dealing them anew, never by one more or a better reading.
        stands = reason != "misdeal" if error.code == "deal_order" else (error.code, error.hand) in now
        if stands:
            continue
        play.dealing_errors.remove(error)
        if misread:
            play.alerts -= 1
        ids = (*error.event_ids, event.event_id)
        evidence = EvidenceRow(expected=error.expected, actual=error.actual, event_ids=ids)
        table.alert(event, error.code, error.hand, evidence, status="corrected", retracted=misread)


def _errors_now(play: RoundState) -> set[tuple[str, str]]:
    if not has_hands(play):
        return set()
    return {(error.finding.kind, error.hand) for error in judge(tuple(play.player), tuple(play.banker))}
