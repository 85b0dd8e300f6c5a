"""Dealing errors of the round in play: found as the cards fall, followed until put right (arts. 7, 9, 10)."""

from processors.reconstruct.state import DealingError, RoundState
from processors.reconstruct.table import EvidenceRow, Standing, Table
from processors.rules.findings import Finding
from processors.rules.tableau import judge, next_card
from schemas.events import CardDrawn, Event


def has_hands(play: RoundState) -> bool:
    """Tell whether both hands hold their first two cards."""
    return len(play.player) > 1 and len(play.banker) > 1


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
    elif event.hand == "player" and len(play.banker) > 2:
        _raise(table, event, "deal_order", "", "9", expected="player", actual="banker")
    elif due is None or (event.hand == "player" and due == "banker"):
        _raise_tableau(table, event, only_drawn=event.hand)


def surplus_card(hand: str, position: int) -> str:
    """Return the name of a card beyond a hand's third: ``player 4``."""
    return f"{hand} {position}"


def judge_surplus(table: Table, event: CardDrawn, name: str) -> None:
    """Raise the error of a card beyond a hand's third, which art. 9 gives to nobody."""
    _raise(table, event, "third_card_drawn", name, "9", expected="9", actual="drew")


def judge_round(table: Table, event: Event) -> None:
    """Judge the finished hands by art. 9, once; a correction makes it due again."""
    play = table.play()
    if play.judged or not play.complete or not has_hands(play):
        return
    play.judged = True
    _raise_tableau(table, event)


def _raise_tableau(table: Table, event: Event, only_drawn: str = "") -> None:
    for error in judge(tuple(table.play().player), tuple(table.play().banker)):
        if not only_drawn or (error.actual == "drew" and error.hand == only_drawn):
            kind = error.finding.kind
            _raise(table, event, kind, error.hand, error.item, expected=error.item, actual=error.actual)


def _raise(table: Table, event: Event, code: str, hand: str, item: str, *, expected: str, actual: str) -> None:
    """Raise a dealing error, unless it stands already: cards that follow from one out of order are no second error."""
    play = table.play()
    if any((known.code, known.hand) == (code, hand) for known in play.dealing_errors):
        return
    ids = [*play.card_event_ids]
    if event.event_id not in ids:
        ids.append(event.event_id)
    play.dealing_errors.append(DealingError(code, hand, item, ids, expected, actual))
    play.erred = True
    evidence = EvidenceRow(expected=expected, actual=actual, event_ids=tuple(ids))
    table.alert(event, Finding(code, item, expected, actual), hand, evidence)


def review(table: Table, event: Event, *, reason: str = "drawn", position: int = 0) -> None:
    """Look again at the errors raised, after the cards changed: which are put right, which never happened.

    `reason` and `position` are those of a correction, or ``drawn`` for one more card. A misreading withdraws the alert
    altogether, for the dealer did nothing wrong.
    """
    play = table.play()
    play.judged = False
    if not play.dealing_errors:
        return
    misread, standing = reason == "misread", _standing_errors(play)
    for error in list(play.dealing_errors):
        if error.code == "deal_order":
            # Cards that went out of order are put right by dealing them anew, never by one more or a better reading.
            stands = reason != "misdeal" or (position > 2) == (error.item == "7(1)")
        else:
            stands = (error.code, error.hand) in standing or error.hand in play.surplus
        if not stands:
            play.dealing_errors.remove(error)
            evidence = EvidenceRow(
                expected=error.expected, actual=error.actual, event_ids=(*error.event_ids, event.event_id)
            )
            status: Standing = "withdrawn" if misread else "corrected"
            found = Finding(error.code, error.item, error.expected, error.actual)
            table.alert(event, found, error.hand, evidence, status=status)
    if misread and play.paid_uncorrected and not play.dealing_errors:
        play.paid_uncorrected = False
        table.alert(event, "uncorrected_round_paid", status="withdrawn")


def _standing_errors(play: RoundState) -> set[tuple[str, str]]:
    if not has_hands(play):
        return set()
    return {(error.finding.kind, error.hand) for error in judge(tuple(play.player), tuple(play.banker))}


def accuse_uncorrected(table: Table, event: Event) -> None:
    """Art. 10: a round with a dealing error is put right or void, but its chips are never moved."""
    play = table.play()
    if play.dealing_errors and play.chips_moved and play.kind == "live" and not play.paid_uncorrected:
        play.paid_uncorrected = True
        ids = (*(event_id for error in play.dealing_errors for event_id in error.event_ids), event.event_id)
        table.alert(event, "uncorrected_round_paid", "", EvidenceRow(event_ids=tuple(dict.fromkeys(ids))))
