"""Event models: one for each type, immutable, each with its own identity."""

from typing import get_args

import pytest
from pydantic import ValidationError

from schemas.events import (
    EVENT_ADAPTER,
    EVENT_MODELS,
    EVENT_TYPES,
    SYSTEM_EVENT_TYPES,
    BetEvent,
    CardDrawn,
    Event,
    Outcome,
    RoundEvent,
    ShoeEvent,
    is_system,
)
from schemas.wire import decode_event
from tests.schemas.messages import OWN_FIELDS, as_bytes, event

TYPES = """
    table_opened table_closed configuration_published shoe_loaded shoe_cut card_burned cut_card_reached shoe_closed
    round_opened bet_placed bet_changed bet_withdrawn betting_closed card_drawn card_corrected card_exposed
    result_called stake_collected payout_made commission_charged commission_settled round_voided round_closed
    buy_in fill credit
    drop_counted float_counted dealer_in dealer_out patron_seated patron_left cards_held_by heartbeat correction
    table_silent gap_expired
"""


def test_the_types_are_the_contracts() -> None:
    assert list(EVENT_TYPES) == TYPES.split()
    assert len(EVENT_TYPES) == len(EVENT_MODELS)
    assert EVENT_TYPES.keys() == OWN_FIELDS.keys()


@pytest.mark.parametrize(("kind", "model"), EVENT_TYPES.items())
def test_a_type_is_named_like_its_model(kind: str, model: type[Event]) -> None:
    assert "".join(word.capitalize() for word in kind.split("_")) == model.__name__


@pytest.mark.parametrize(("kind", "model"), EVENT_TYPES.items())
def test_the_union_tells_the_types_apart(kind: str, model: type[Event]) -> None:
    read = EVENT_ADAPTER.validate_json(as_bytes(event(kind)), strict=True)
    assert type(read) is model
    assert read.type == kind


@pytest.mark.parametrize(("kind", "model"), EVENT_TYPES.items())
def test_an_event_of_a_bet_names_its_round_and_one_of_a_round_its_shoe(kind: str, model: type[Event]) -> None:
    fields = model.model_fields
    assert issubclass(model, BetEvent) == ("bet_id" in fields)
    assert issubclass(model, RoundEvent) == ("round" in fields and kind != "cut_card_reached")
    assert issubclass(model, ShoeEvent) == ("shoe" in fields)


@pytest.mark.parametrize("kind", EVENT_TYPES)
@pytest.mark.parametrize("part", [{"table_id": "BAC-02"}, {"epoch": 4}, {"seq": 1208}])
def test_an_event_is_named_after_its_own_fields(kind: str, part: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match="is not table:epoch:seq of its own fields"):
        EVENT_ADAPTER.validate_json(as_bytes(event(kind, event_id="BAC-01:3:1207", **part)))


def test_events_do_not_change() -> None:
    drawn = CardDrawn.model_validate(event("card_drawn"))
    with pytest.raises(ValidationError, match="frozen"):
        drawn.card = "AS"  # type: ignore[misc]  # what the test is about


def test_unknown_fields_are_kept_by_the_models() -> None:
    assert CardDrawn.model_validate(event("card_drawn", antenna=3)).model_extra == {"antenna": 3}


def test_amounts_are_whole_minor_units_within_bounds() -> None:
    for amount in (1, 10**15):
        EVENT_ADAPTER.validate_python(event("fill", amount=amount))
    for wrong in (0, -1, 10**15 + 1, 1.5, "1"):
        with pytest.raises(ValidationError, match="amount"):
            EVENT_ADAPTER.validate_python(event("fill", amount=wrong), strict=True)


def test_pitwatch_itself_writes_in_epoch_0() -> None:
    assert is_system(decode_event(as_bytes(event("table_silent", epoch=0))))
    assert not is_system(decode_event(as_bytes(event("heartbeat", epoch=1))))
    assert EVENT_TYPES.keys() >= SYSTEM_EVENT_TYPES


def test_outcomes_are_the_two_hands_and_the_tie() -> None:
    assert get_args(Outcome) == ("player", "banker", "tie")
