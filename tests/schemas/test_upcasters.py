"""Old versions of events, from a device's bytes to the event of today."""

import json

import pytest

from schemas.events import EVENT_TYPES, BetPlaced
from schemas.upcasters import UPCASTERS, upcast
from schemas.wire import InvalidEvent, decode_event
from tests.schemas.messages import Json, as_bytes, event


def first_version(**changes: object) -> Json:
    """Return a bet as devices of version 1 sent it."""
    return event("bet_placed", schema_version=1, **changes)


@pytest.mark.parametrize(
    ("changes", "posture", "area"),
    [
        ({"standing": True}, "standing", "shared"),
        ({"standing": False}, "seated", "reserved"),
        ({}, "seated", "reserved"),
        # Fields that version 1 didn't have yet say nothing in it.
        ({"standing": True, "posture": "seated", "area": "reserved"}, "standing", "shared"),
    ],
)
def test_bet_of_version_1_is_read_and_accuses_nobody_of_a_reserved_place(
    changes: Json, posture: str, area: str
) -> None:
    decoded = decode_event(as_bytes(first_version(**changes, patron_id="P-77")))
    newest = decode_event(as_bytes(event("bet_placed", posture=posture, area=area, patron_id="P-77")))
    assert decoded == newest


@pytest.mark.parametrize("standing", [None, 0, 1, "true", "seated", [], {}])
def test_bet_of_version_1_that_does_not_say_who_stands_is_refused(standing: object) -> None:
    with pytest.raises(InvalidEvent, match=r"bet_placed\.posture") as caught:
        decode_event(as_bytes(first_version(standing=standing)))
    assert (caught.value.event_id, caught.value.shoe, caught.value.round) == ("BAC-01:3:1207", 1, 2)


def test_every_other_fault_of_an_old_bet_is_found_too() -> None:
    with pytest.raises(InvalidEvent, match=r"bet_placed\.stake"):
        decode_event(as_bytes(first_version(stake=0)))


def test_unknown_fields_of_an_old_bet_do_no_harm_whatever_they_hold() -> None:
    message = as_bytes(first_version(x="é")).removesuffix(b"}")
    for unknown in (b'"y":' + b"9" * 4000, b'"y":1e999', b'"y":' + b"[" * 190 + b"]" * 190):
        assert decode_event(message + b"," + unknown + b"}") == decode_event(as_bytes(event("bet_placed")))


@pytest.mark.parametrize("kind", EVENT_TYPES)
def test_an_event_of_today_is_left_alone(kind: str) -> None:
    message = event(kind)
    assert upcast(message) is message


@pytest.mark.parametrize("kind", [None, 1, [], "bet_placed", "no_such_type"])
@pytest.mark.parametrize("version", [None, True, "1", 1.0, 0, 3])
def test_what_has_no_path_to_the_newest_version_is_left_alone(kind: object, version: object) -> None:
    message: Json = {"type": kind, "schema_version": version}
    assert upcast(message) is message


def test_upcasting_does_not_change_what_it_was_given() -> None:
    message = first_version(standing=True)
    before = json.dumps(message)
    upcast(message)
    assert json.dumps(message) == before


@pytest.mark.parametrize(("kind", "version"), UPCASTERS)
def test_every_step_leads_one_version_up_and_all_steps_to_the_newest(kind: str, version: int) -> None:
    message: Json = event(kind, schema_version=version)
    step = UPCASTERS[kind, version](dict(message))
    assert step["schema_version"] == version + 1
    newest = EVENT_TYPES[kind].model_fields["schema_version"].default
    assert upcast(message)["schema_version"] == newest
    assert {(kind, earlier) for earlier in range(version, newest)} <= UPCASTERS.keys()


def test_the_newest_version_of_a_bet_is_the_second() -> None:
    assert BetPlaced.model_fields["schema_version"].default == 2
