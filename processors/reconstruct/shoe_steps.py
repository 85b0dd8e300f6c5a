"""Events of the shoe, and a round's beginning and end: opening procedure, cut card, voids (arts. 1–3, 8, 10)."""

from processors.reconstruct.card_steps import see_card
from processors.reconstruct.closing import finish
from processors.reconstruct.doubts import name_configuration
from processors.reconstruct.rounds import begin_round, begin_shoe, check_next_shoe, make_way, round_of, shoe_of
from processors.reconstruct.shoe_rows import emit_shoe
from processors.reconstruct.state import ShoeState
from processors.reconstruct.table import Table
from processors.reconstruct.tray import demand_commission
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
    check_next_shoe(table, event)
    _leave_round(table, event)
    demand_commission(table, event, tuple(table.state.ledger))
    table.follow_day(table.day_of(event.occurred_at)[0])
    begin_shoe(table, event, event.decks, event.shuffling, loading_seen=True)
    is_known = table.rules.judged and not table.state.is_doubtful
    table.report(event, shoe_decks(event.decks, table.rules.configuration.decks if is_known else None))
    if event.shuffling == "continuous":
        table.unapproved(event, "continuous_shuffler")


def _leave_round(table: Table, event: Event) -> None:
    """Art. 3(2): the shoe is changed after a round, so not between its first card and its result."""
    play = table.state.round
    if play is None:
        return
    if play.complete and not play.called:
        table.report(event, shoe_change(bool(play.player or play.banker)))
    finish(table, event, closed=False)


def shoe_cut(table: Table, event: ShoeCut) -> None:
    """The white card goes in, far enough from the end (art. 2(1))."""
    shoe = shoe_of(table, event)
    shoe.cut_by = event.cut_by
    shoe.cards_behind_cut = event.cards_behind
    if table.rules.judged:
        table.report(event, cut_depth(event.cards_behind, table.rules.configuration.cut_card_depth), event.event_id)


def card_burned(table: Table, event: CardBurned) -> None:
    """A card leaves unplayed: part of the opening, or before a round (art. 8)."""
    shoe = shoe_of(table, event)
    if event.reason == "opening":
        if not shoe.burned:
            shoe.first_burned = event.card or ""
        shoe.burned += 1
    else:
        _burn_before_round(table, event, shoe)
    if event.card is not None:
        see_card(table, event, event.card)
    elif shoe.shuffling == "shoe":
        shoe.cards_out += 1


def _burn_before_round(table: Table, event: CardBurned, shoe: ShoeState) -> None:
    """Art. 8: a round whose result is called, or that is void, is as good as over, and the next one to come."""
    play = table.state.round
    if play is None or play.called or play.voided:
        shoe.burned_next += 1
        return
    play.burned += 1
    if play.complete:
        table.report(event, burn_before_round(len(play.player) + len(play.banker)), event.event_id)


def cut_card_reached(table: Table, event: CutCardReached) -> None:
    """The white card appears (art. 3(1))."""
    shoe_of(table, event).cut_card_round = event.round


def shoe_closed(table: Table, event: ShoeClosed) -> None:
    """The shoe is taken out of play (art. 3)."""
    shoe_of(table, event)
    _leave_round(table, event)
    emit_shoe(table, event, "closed", closed_at=event.occurred_at, reason=event.reason)
    table.state.standing, table.state.carry_unknown = {}, False


def round_opened(table: Table, event: RoundOpened) -> None:
    """A round begins: the shoe must have been opened by the book, and not be at its end."""
    shoe = make_way(table, event)
    name_configuration(table, event)
    if table.rules.judged and not shoe.opened:
        # Before the round begins: how a shoe was opened is nothing that its first round did.
        table.follow_day(table.day_of(event.occurred_at)[0])
        _judge_opening(table, event, shoe)
    shoe.opened = True
    begin_round(table, event, shoe, event.kind, opening_seen=True)
    if table.rules.judged:
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
    table.report(event, burn_count(shoe.burned, configuration.burn, shoe.decks, shoe.first_burned or None))


def _judge_demonstration(table: Table, event: Event, shoe: ShoeState) -> None:
    """Art. 2(2): at the shoe's start only, and no more than allowed."""
    table.unapproved(event, "demonstration_rounds")
    late = demonstration_time(shoe.rounds - shoe.rounds_of_unknown_kind)
    table.report(event, late or demonstrations(shoe.demonstrations + 1, table.rules.configuration.demonstrations))


def _judge_end(table: Table, event: RoundOpened, shoe: ShoeState) -> None:
    """Art. 3(1): the round of the white card is the last, or one more."""
    if shoe.cut_card_round is None:
        return
    finding = round_after_cut_card(event.round, shoe.cut_card_round, table.rules.configuration.rounds_after_cut_card)
    table.report(event, finding)
    if finding is None and event.round > shoe.cut_card_round:
        table.unapproved(event, "one_more_round")


def round_voided(table: Table, event: RoundVoided) -> None:
    """The round is cancelled (art. 10)."""
    play = round_of(table, event)
    play.voided = True
    play.void_reason = event.reason


def round_closed(table: Table, event: RoundClosed) -> None:
    """Every bet is settled."""
    round_of(table, event)
    finish(table, event)
