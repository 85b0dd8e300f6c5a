"""Events of the shoe, and a round's beginning and end: opening procedure, cut card, voids (arts. 1–3, 8, 10)."""

from processors.reconstruct.card_steps import see_card
from processors.reconstruct.rounds import begin_round, begin_shoe, round_of, shoe_of
from processors.reconstruct.settle import emit_shoe, finish
from processors.reconstruct.state import ShoeState
from processors.reconstruct.table import EvidenceRow, Table, Unusable
from processors.reconstruct.table_steps import demand_commission
from processors.rules.findings import Finding
from processors.rules.procedure import (
    burn_before_round,
    burn_count,
    cut_depth,
    demonstration_time,
    demonstrations,
    round_after_cut_card,
    shoe_change,
    shoe_decks,
)
from schemas.events import (
    CardBurned,
    CutCardReached,
    Event,
    RoundClosed,
    RoundOpened,
    RoundVoided,
    ShoeClosed,
    ShoeCut,
    ShoeLoaded,
)


def shoe_loaded(table: Table, event: ShoeLoaded) -> None:
    """A new shoe (art. 1): commission marked during the last one is due by now."""
    state = table.state
    if state.shoe is not None and event.shoe <= state.shoe.number:
        raise Unusable("shoe_over", f"shoe {event.shoe} was loaded already; shoe {state.shoe.number} is the newest")
    demand_commission(table, event, tuple(state.ledger))
    begin_shoe(table, event, event.decks, event.shuffling, complete=True)
    configured = table.rules.configuration.decks if table.rules.judged else None
    _raise(table, event, shoe_decks(event.decks, configured))
    if event.shuffling == "continuous":
        table.unapproved(event, "continuous_shuffler")


def shoe_cut(table: Table, event: ShoeCut) -> None:
    """The white card goes in, far enough from the end (art. 2(1))."""
    shoe = shoe_of(table, event)
    shoe.cut_by = event.cut_by
    shoe.cards_behind_cut = event.cards_behind
    depth = table.rules.configuration.cut_card_depth
    if table.rules.judged:
        _raise(table, event, cut_depth(event.cards_behind, depth))


def card_burned(table: Table, event: CardBurned) -> None:
    """A card leaves unplayed: part of the opening, or before a round (art. 8)."""
    shoe = shoe_of(table, event)
    if event.reason == "opening":
        if not shoe.burned:
            shoe.first_burned = event.card or ""
        shoe.burned += 1
    elif play := table.state.round:
        play.burned += 1
        if play.complete:
            _raise(table, event, burn_before_round(len(play.player) + len(play.banker)), event.event_id)
    if event.card is not None:
        see_card(table, event, event.card)
    else:
        shoe.cards_out += 1


def cut_card_reached(table: Table, event: CutCardReached) -> None:
    """The white card appears (art. 3(1))."""
    shoe_of(table, event).cut_card_round = event.round


def shoe_closed(table: Table, event: ShoeClosed) -> None:
    """The shoe is taken out of play (art. 3)."""
    state = table.state
    shoe = shoe_of(table, event)
    if play := state.round:
        if play.complete:
            _raise(table, event, shoe_change(bool(play.player)))
        finish(table, event, closed=False)
    emit_shoe(table, event, "closed", closed_at=event.occurred_at, reason=event.reason)
    shoe.closed = True
    state.standing = {}


def round_opened(table: Table, event: RoundOpened) -> None:
    """A round begins: the shoe must have been opened by the book, and not be at its end."""
    state = table.state
    shoe = shoe_of(table, event)
    number = state.round.number if state.round else 0
    if event.round <= max(state.last_round, number):
        raise Unusable("round_over", f"shoe {event.shoe} round {event.round} was opened already")
    if state.round:
        finish(table, event, closed=False)
    if table.rules.judged and not shoe.opened:
        # Before the round begins: how a shoe was opened is nothing that its first round did.
        _judge_opening(table, event, shoe)
    shoe.opened = True
    begin_round(table, event, shoe, event.kind, complete=True)
    if not table.rules.judged:
        return
    if event.kind == "demonstration":
        _judge_demonstration(table, event, shoe)
    _judge_end(table, event, shoe)


def _judge_opening(table: Table, event: Event, shoe: ShoeState) -> None:
    """Art. 2(1): cut, then burned by the table's method; a continuous shuffler skips both (art. 2(3))."""
    if shoe.shuffling != "shoe" or not shoe.complete:
        return
    configuration = table.rules.configuration
    if not shoe.cut_by:
        table.alert(event, "shoe_not_cut")
    if configuration.burn == "first_card":
        table.unapproved(event, "burn_by_first_card")
    _raise(table, event, burn_count(shoe.burned, configuration.burn, shoe.decks, shoe.first_burned or None))


def _judge_demonstration(table: Table, event: Event, shoe: ShoeState) -> None:
    """Art. 2(2): at the shoe's start only, and no more than allowed."""
    table.unapproved(event, "demonstration_rounds")
    late = demonstration_time(shoe.rounds)
    _raise(table, event, late or demonstrations(shoe.demonstrations + 1, table.rules.configuration.demonstrations))


def _judge_end(table: Table, event: RoundOpened, shoe: ShoeState) -> None:
    """Art. 3(1): the round of the white card is the last, or one more."""
    if shoe.cut_card_round is None:
        return
    finding = round_after_cut_card(event.round, shoe.cut_card_round, table.rules.configuration.rounds_after_cut_card)
    _raise(table, event, finding)
    if finding is None and event.round > shoe.cut_card_round:
        table.unapproved(event, "one_more_round")


def _raise(table: Table, event: Event, finding: Finding | None, about: str = "") -> None:
    if finding is not None:
        evidence = EvidenceRow(expected=str(finding.expected), actual=str(finding.actual))
        table.alert(event, finding.kind, about, evidence)


def round_voided(table: Table, event: RoundVoided) -> None:
    """The round is cancelled (art. 10)."""
    play = round_of(table, event)
    play.voided = True
    play.void_reason = event.reason


def round_closed(table: Table, event: RoundClosed) -> None:
    """Every bet is settled."""
    round_of(table, event)
    finish(table, event)
