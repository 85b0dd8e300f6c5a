"""What goes wrong on purpose: every code of the catalogue, one a round, each labelled by the event that shows it."""

from collections import Counter
from itertools import islice

import pytest

from producers.simulator import INJECTABLE, Arrival, Deviations, FloorSettings, Label, mixed_floor, simulate
from producers.simulator.deviations.between import BETWEEN_DEVIATIONS
from producers.simulator.deviations.opening import OPENING_DEVIATIONS
from producers.simulator.deviations.schedule import ROUND_DEVIATIONS
from producers.simulator.labels import CONSEQUENCES, TELEMETRY_CODES, UNSIMULATED
from schemas.alerts import ALERTS
from schemas.events import Event

# The types of event that may show a deviation; what shows by its absence is shown by the round's closing.
SHOWN_BY: dict[str, set[str]] = {
    "third_card_drawn": {"card_drawn"},
    "third_card_missed": {"result_called"},
    "natural_ignored": {"card_drawn"},
    "deal_order": {"card_drawn"},
    "result_mismatch": {"result_called"},
    "excess_copies": {"card_drawn"},
    "overpaid": {"payout_made"},
    "underpaid": {"payout_made"},
    "losing_bet_paid": {"payout_made"},
    "push_paid": {"payout_made"},
    "winning_bet_unpaid": {"round_closed"},
    "losing_stake_not_collected": {"round_closed"},
    "stake_wrongly_collected": {"stake_collected"},
    "commission_missing": {"payout_made"},
    "commission_wrong": {"commission_charged"},
    "commission_unsettled": {"patron_left"},
    "void_round_paid": {"payout_made", "stake_collected"},
    "float_unexplained": {"float_counted"},
    "late_bet": {"bet_placed"},
    "late_increase": {"bet_changed"},
    "late_decrease": {"bet_changed"},
    "late_move": {"bet_changed"},
    "below_minimum": {"bet_placed"},
    "above_maximum": {"bet_placed"},
    "stake_not_multiple": {"bet_placed"},
    "differential_exceeded": {"betting_closed"},
    "both_sides": {"bet_placed"},
    "side_bet_alone": {"bet_placed"},
    "bet_not_offered": {"bet_placed"},
    "reserved_place": {"bet_placed"},
    "tie_change_forbidden": {"bet_changed", "bet_withdrawn"},
    "holder_not_highest": {"cards_held_by"},
    "shoe_refused": {"shoe_loaded"},
    "cut_depth": {"shoe_cut"},
    "burn_count": {"card_burned", "round_opened"},
    "shoe_not_cut": {"round_opened"},
    "demonstrations_exceeded": {"round_opened"},
    "demonstration_after_play": {"round_opened"},
    "bet_in_demonstration": {"bet_placed"},
    "round_after_cut_card": {"round_opened"},
    "option_without_approval": {"shoe_loaded", "round_opened"},
    "shoe_changed_in_round": {"shoe_closed"},
    "burned_in_round": {"card_burned"},
    "void_without_error": {"round_closed"},
    "table_silent": {"heartbeat"},
    "correction_recorded": {"correction"},
}

Labelled = list[tuple[Label, Event]]


@pytest.fixture(scope="module")
def labelled(dirty: list[Arrival]) -> Labelled:
    return [(label, arrival.event) for arrival in dirty for label in arrival.labels]


def showing(labelled: Labelled, code: str) -> list[Event]:
    found = [event for label, event in labelled if label.codes[0] == code]
    assert found, code
    return found


def test_every_code_of_the_alert_catalogue_has_its_way_in() -> None:
    brought_about = {**ROUND_DEVIATIONS, **BETWEEN_DEVIATIONS, **OPENING_DEVIATIONS}
    assert set(brought_about) == set(INJECTABLE)
    assert set(INJECTABLE) | TELEMETRY_CODES | CONSEQUENCES | UNSIMULATED == set(ALERTS)


def test_every_code_happens_and_is_labelled(labelled: Labelled) -> None:
    count = Counter(code for label, _ in labelled for code in label.codes)
    assert set(count) == set(INJECTABLE) | {"uncorrected_round_paid"}


def test_every_label_names_the_event_it_came_with(labelled: Labelled) -> None:
    for label, event in labelled:
        assert label.event_id == event.event_id
        assert label.table_id == event.table_id
        assert label.occurred_at == event.occurred_at
        assert event.type in SHOWN_BY[label.codes[0]], label
        assert label.shoe == getattr(event, "shoe", label.shoe)
        if label.round:
            assert label.round == getattr(event, "round", label.round)
        if label.bet_id and event.type not in {"round_closed", "correction"}:
            assert label.bet_id == getattr(event, "bet_id", None)


def test_a_round_has_one_deviation_at_most(labelled: Labelled) -> None:
    rounds = Counter((label.table_id, label.shoe, label.round) for label, _ in labelled if label.round)
    assert rounds.most_common(1)[0][1] == 1


def test_only_what_is_asked_for_happens(dirty_settings: FloorSettings) -> None:
    asked = Deviations(per_round=0.2, per_shoe=1, codes=("overpaid", "late_bet", "cut_depth"))
    floor = mixed_floor(seed=4, start=dirty_settings.start, hours=2, tables=3, dirty=2, deviations=asked)
    labels = [label for arrival in simulate(floor) for label in arrival.labels]
    assert {code for label in labels for code in label.codes} == {"overpaid", "late_bet", "cut_depth"}
    assert {label.table_id for label in labels} == {"BAC-101", "BAC-102"}


def test_dealing_errors_are_paid_put_right_or_void(dirty: list[Arrival], labelled: Labelled) -> None:
    """Art. 10: an error is corrected at once; if it can't be, the round is void."""
    closed: dict[tuple[str, int, int], set[str]] = {}
    for arrival in dirty:
        event = arrival.event
        place = (event.table_id, getattr(event, "shoe", 0), getattr(event, "round", 0))
        closed.setdefault(place, set()).add(event.type)
    ways = Counter[tuple[str, str]]()
    for label, _ in labelled:
        if label.codes[0] in {"third_card_drawn", "natural_ignored", "third_card_missed", "deal_order"}:
            types = closed[label.table_id, label.shoe, label.round]
            paid = "uncorrected_round_paid" in label.codes
            way = "paid" if paid else "void" if "round_voided" in types else label.status
            ways[label.codes[0], way] += 1
            assert ("payout_made" in types) == (paid or label.status == "corrected") or way == "corrected"
    assert {code for code, way in ways if way == "paid"} == {
        "third_card_drawn", "natural_ignored", "third_card_missed", "deal_order",
    }  # fmt: skip
    assert {way for _, way in ways} == {"paid", "void", "corrected"}


def test_late_chips_move_after_betting_closed(dirty: list[Arrival]) -> None:
    """Art. 13: past posting, capping, pinching, moving."""
    betting_closed: dict[str, bool] = {}
    for arrival in dirty:
        event = arrival.event
        if event.type in {"round_opened", "betting_closed"}:
            betting_closed[event.table_id] = event.type == "betting_closed"
        if event.type in {"bet_placed", "bet_changed", "bet_withdrawn"}:
            late = any(label.codes[0].startswith("late_") for label in arrival.labels)
            assert betting_closed[event.table_id] == late, event.event_id


def test_stakes_are_wrong_where_a_label_says_so(dirty_settings: FloorSettings, labelled: Labelled) -> None:
    offers = {
        table.table_id: {str(offer.bet): offer for offer in table.configuration.bets} for table in dirty_settings.tables
    }
    for code in ("below_minimum", "above_maximum", "stake_not_multiple"):
        for event in showing(labelled, code):
            offer, stake = offers[event.table_id][str(getattr(event, "bet", ""))], getattr(event, "stake", 0)
            assert (stake < offer.minimum) == (code == "below_minimum")
            assert (stake > offer.maximum) == (code == "above_maximum")
            assert bool(stake % (offer.multiple or 1)) == (code == "stake_not_multiple")
    assert all(
        getattr(event, "bet", "") not in offers[event.table_id] for event in showing(labelled, "bet_not_offered")
    )
    for event in showing(labelled, "reserved_place"):
        assert (getattr(event, "posture", ""), getattr(event, "area", "")) == ("standing", "reserved")


def test_shoes_are_opened_wrongly_where_a_label_says_so(dirty_settings: FloorSettings, labelled: Labelled) -> None:
    """Arts. 1 and 2."""
    configurations = {table.table_id: table.configuration for table in dirty_settings.tables}
    for event in showing(labelled, "shoe_refused"):
        assert getattr(event, "decks", 0) != configurations[event.table_id].decks
    for event in showing(labelled, "cut_depth"):
        assert getattr(event, "cards_behind", 99) < configurations[event.table_id].cut_card_depth
    for event in showing(labelled, "demonstrations_exceeded"):
        assert getattr(event, "kind", "") == "demonstration"


def test_nothing_but_bets_is_brought_into_a_demonstration(dirty: list[Arrival]) -> None:
    """Art. 2(2): no money; the bet that a label names is sent back before the cards."""
    kind: dict[str, str] = {}
    for arrival in dirty:
        event = arrival.event
        if event.type == "round_opened":
            kind[event.table_id] = str(getattr(event, "kind", ""))
        if event.type in {"stake_collected", "payout_made", "commission_charged"}:
            assert kind[event.table_id] == "live"


def test_deviations_are_the_same_every_time(dirty_settings: FloorSettings, dirty: list[Arrival]) -> None:
    assert list(islice(simulate(dirty_settings), 20_000)) == dirty[:20_000]
