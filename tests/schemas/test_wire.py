"""Decoding: the fast path and the models agree on every message, and nothing but an event or a reason comes out."""

import json
from datetime import UTC, datetime
from typing import NoReturn

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError

from schemas import wire
from schemas.events import EVENT_ADAPTER, EVENT_TYPES, Event
from schemas.fields import MAX_DEPTH
from schemas.upcasters import upcast
from schemas.wire import (
    EVENT_STRUCTS,
    JUDGED_BY_MODEL,
    MAX_EVENT_BYTES,
    QUICK_BYTES,
    REASONS,
    SEAL,
    SEALED,
    SHALLOW_BYTES,
    InvalidEvent,
    decode_event,
    encode,
    validate_event,
)
from tests.schemas.messages import Json, as_bytes, damaged_events, event, moments, valid_events, written


def read_by_model(raw: bytes) -> Event | None:
    """Return what the models alone make of `raw` once it is upcast, or None where they refuse it."""
    try:
        # The models' own parser takes NaN and Infinity, which are no JSON.
        parsed = json.loads(raw, parse_constant=refuse)
        newest = upcast(parsed) if isinstance(parsed, dict) else parsed
        return EVENT_ADAPTER.validate_json(raw if newest is parsed else json.dumps(newest), strict=True)
    except (ValidationError, ValueError, RecursionError):
        return None


def refuse(token: str) -> NoReturn:
    raise ValueError(token)


def fields_of(event: Event) -> Json:
    """Return the fields of an event of either kind as JSON writes them, unknown ones left out."""
    known = set(EVENT_TYPES[event.type].model_fields)
    return {name: value for name, value in json.loads(encode(event)).items() if name in known}


def outcome(raw: bytes) -> Event | InvalidEvent:
    try:
        return decode_event(raw)
    except InvalidEvent as refusal:
        return refusal


def assert_agreement(raw: bytes) -> Event | None:
    """Hold `decode_event` to the models, and what it returns to itself; return it, or None where both refuse."""
    expected = read_by_model(raw) if len(raw) <= MAX_EVENT_BYTES else None
    decoded = outcome(raw)
    if isinstance(decoded, InvalidEvent):
        assert expected is None, f"{decoded}, but the models read {expected!r}"
        assert decoded.reason in REASONS
        assert decoded.detail
        return None
    assert expected is not None, f"the models refuse {decoded!r}"
    assert fields_of(decoded) == fields_of(expected)
    assert isinstance(decoded, EVENT_STRUCTS[decoded.type])
    assert decoded.occurred_at == expected.occurred_at
    assert decoded.occurred_at.tzinfo is UTC
    assert decode_event(encode(decoded)) == decoded
    return decoded


@given(valid_events())
def test_valid_event_is_read_as_the_model_reads_it(message: Json) -> None:
    assert assert_agreement(as_bytes(message)) is not None


@given(damaged_events())
def test_damaged_event_is_read_or_refused_as_the_model_does(raw: bytes) -> None:
    assert_agreement(raw)


@given(st.binary(max_size=200) | st.text(max_size=100).map(str.encode))
@example(b"")
@example(b"null")
@example(b"[]")
@example(b"{}")
@example(b'"heartbeat"')
@example(b"\xef\xbb\xbf{}")
def test_any_bytes_are_refused_with_a_reason(raw: bytes) -> None:
    assert assert_agreement(raw) is None


@given(valid_events(), st.data())
def test_bytes_damaged_in_transit_are_read_or_refused_as_the_model_does(message: Json, data: st.DataObject) -> None:
    raw = bytearray(as_bytes(message))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(raw) - 1))
        raw[place : place + data.draw(st.integers(0, 2))] = data.draw(st.binary(max_size=2))
    assert_agreement(bytes(raw))


def refused(raw: bytes) -> InvalidEvent:
    with pytest.raises(InvalidEvent) as caught:
        decode_event(raw)
    return caught.value


@pytest.fixture
def fast_path_only(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(raw: bytes) -> NoReturn:
        raise AssertionError(f"went the slow way: {raw!r}")

    monkeypatch.setattr(wire, "_decode_slowly", slow)


@pytest.mark.usefixtures("fast_path_only")
@pytest.mark.parametrize("kind", sorted(EVENT_TYPES.keys() - JUDGED_BY_MODEL - {"round_voided"}))
def test_ordinary_event_goes_the_fast_way(kind: str) -> None:
    message = event(kind)
    assert fields_of(decode_event(as_bytes(message))).items() >= message.items()
    with_unknown_fields = message | {
        "firmware": "2.1",
        "antenna": {"gain": [1.5, None]},
        "padding": "x" * SHALLOW_BYTES,
    }
    assert fields_of(decode_event(as_bytes(with_unknown_fields))).items() >= message.items()


@pytest.mark.usefixtures("fast_path_only")
def test_local_time_goes_the_fast_way_and_becomes_utc() -> None:
    decoded = decode_event(as_bytes(event("heartbeat", occurred_at="2026-03-01T20:34:56.789012+08:00")))
    assert decoded == decode_event(as_bytes(event("heartbeat", occurred_at="2026-03-01T12:34:56.789012Z")))
    assert decoded.occurred_at.tzinfo is UTC


@pytest.mark.usefixtures("fast_path_only")
@pytest.mark.parametrize(
    "raw",
    [
        as_bytes(event("heartbeat", x="é")),
        as_bytes(event("heartbeat", x="y" * QUICK_BYTES)),
        as_bytes(event("heartbeat", x=[[]] * 100, y="y" * SHALLOW_BYTES)),
        as_bytes(event("heartbeat", occurred_at="2000-01-01T07:59:59+08:00")),
        as_bytes(event("heartbeat", occurred_at="1999-12-31T23:59:59Z")),
        as_bytes(event("heartbeat", occurred_at="2100-01-01T00:00:00Z")),
        as_bytes(event("heartbeat", event_id="BAC-01:3:1208")),
        as_bytes(event("table_opened", opening_float=-1)),
        as_bytes(event("heartbeat", follows=[0, -1])),
        as_bytes(event("buy_in", patron_id="P-77\n")),
        as_bytes(event("correction")),
        as_bytes(event("table_silent")),
        as_bytes(event("configuration_published")),
    ],
)
def test_doubtful_event_is_left_to_the_models(raw: bytes) -> None:
    with pytest.raises(AssertionError, match="the slow way"):
        decode_event(raw)


def test_models_judge_only_what_a_twin_cannot_say() -> None:
    assert {"configuration_published", "correction", "table_silent"} == JUDGED_BY_MODEL


@pytest.mark.parametrize("kind", EVENT_TYPES)
def test_ordinary_event_is_read_with_all_its_fields(kind: str) -> None:
    message = event(kind)
    decoded = assert_agreement(as_bytes(message))
    assert decoded is not None
    assert fields_of(decoded).items() >= message.items()


@pytest.mark.parametrize("kind", EVENT_TYPES)
def test_no_event_lacks_a_required_field(kind: str) -> None:
    model = EVENT_TYPES[kind]
    for name in [name for name, field in model.model_fields.items() if field.is_required()]:
        refusal = refused(as_bytes({field: value for field, value in event(kind).items() if field != name}))
        assert (refusal.reason, refusal.detail) == ("invalid", f"{kind}.{name}: Field required")


@pytest.mark.parametrize(
    ("raw", "reason", "detail"),
    [
        (b"{", "not_json", "EOF"),
        (b'{"type": "heartbeat", "x": NaN}', "not_json", "expected value"),
        (b"[1]", "not_json", "no object"),
        (b'"\xff"', "not_json", "invalid unicode code point"),
        (b"[" * 60_000, "not_json", "recursion limit"),
        (b" " * (MAX_EVENT_BYTES + 1), "too_long", "65537 bytes"),
        (b"{}", "unknown_type", "of kind NoneType"),
        (b'{"type": ["heartbeat"]}', "unknown_type", "of kind list"),
        (as_bytes(event("heartbeat", type="heartbeats")), "unknown_type", "'heartbeats'"),
        (as_bytes(event("heartbeat", type="x" * 5000)), "unknown_type", "'" + "x" * 60 + "'"),
        (as_bytes(event("heartbeat", type=10**4000)), "unknown_type", "of kind int"),
        (as_bytes(event("heartbeat", schema_version=2)), "unknown_version", "heartbeat has no version 2"),
        (as_bytes(event("heartbeat", schema_version=0)), "unknown_version", "no version 0"),
        (as_bytes(event("heartbeat", schema_version=10**30)), "unknown_version", "of kind int"),
        (as_bytes(event("heartbeat", schema_version=True)), "unknown_version", "of kind bool"),
        (as_bytes(event("heartbeat", schema_version=None)), "unknown_version", "of kind NoneType"),
        (as_bytes(event("bet_placed", schema_version=True)), "unknown_version", "of kind bool"),
        (as_bytes(event("heartbeat", seq=5, event_id="BAC-01:3:1207")), "invalid", "is not table:epoch:seq"),
        (as_bytes(event("fill", amount=0)), "invalid", "fill.amount: Input should be greater than or equal to 1"),
    ],
)  # fmt: skip
def test_refusal_says_what_is_wrong(raw: bytes, reason: str, detail: str) -> None:
    refusal = refused(raw)
    assert refusal.reason == reason
    assert detail in refusal.detail
    assert str(refusal) == f"{reason}: {refusal.detail}"


def test_refusal_names_every_wrong_field_up_to_five_and_stays_short() -> None:
    wrong = {"shoe": 0, "round": 0, "hand": "x" * 900, "position": 7, "card": "1H", "epoch": -1}
    refusal = refused(as_bytes(event("card_drawn", **wrong)))
    assert [part.split(":")[0] for part in refusal.detail.split("; ")] == [
        f"card_drawn.{name}" for name in ("epoch", "shoe", "round", "hand", "position")
    ]
    assert len(refusal.detail) <= 500


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"shoe": 7, "round": 9}, ("BAC-01:3:1207", 7, 9)),
        ({"shoe": "7", "round": True}, ("BAC-01:3:1207", 0, 0)),
        ({"shoe": -1, "round": 10**10}, ("BAC-01:3:1207", 0, 0)),
        ({"event_id": 5}, ("", 1, 2)),
        ({"event_id": "x" * 300}, ("x" * 100, 1, 2)),
    ],
)
def test_refusal_says_where_as_far_as_that_can_be_told(changes: Json, place: tuple[str, int, int]) -> None:
    refusal = refused(as_bytes(event("card_drawn", card="1H", **changes)))
    assert (refusal.event_id, refusal.shoe, refusal.round) == place


@pytest.mark.parametrize("depth", [1, 100, 195, 198, 199, 200, 201, 205, 900, 1_100, 30_000])
@pytest.mark.parametrize("brackets", [("[", "]"), ('{"a":', "}")])
def test_nesting_in_an_unknown_field_is_read_as_deep_as_the_models_read_it(
    depth: int, brackets: tuple[str, str]
) -> None:
    opening, closing = brackets
    nested = opening * depth + "1" + closing * depth
    message = written([*((name, json.dumps(value)) for name, value in event("heartbeat").items()), ("x", nested)])
    assert (assert_agreement(message) is not None) == (depth < 200 and len(message) <= MAX_EVENT_BYTES)


def nested_list(depth: int) -> object:
    return [nested_list(depth - 1)] if depth else 1


@pytest.mark.parametrize("depth", [0, 1, MAX_DEPTH - 1, MAX_DEPTH, MAX_DEPTH + 1, 150, 300])
def test_changes_of_a_correction_are_nested_within_bounds(depth: int) -> None:
    decoded = assert_agreement(as_bytes(event("correction", changes={"x": nested_list(depth)})))
    assert (decoded is not None) == (depth < MAX_DEPTH - 1)


@pytest.mark.parametrize(
    ("token", "kept"),
    [
        (str(2**63 - 1), True), (str(2**63), False), (str(-(2**63)), True), (str(-(2**63) - 1), False),
        ("9" * 4000, False), ("9" * 4400, False), ("1e308", True), ("1e309", False), ("-1e999", False),
        ("5e-324", True), ("-0.0", True), ("1e-999", True), ("0.1", True), ('"\\u0000"', True),
        ('"\\ud800"', False), ("NaN", False), ("true", True), ("{}", True), ("[null]", True),
    ],
)  # fmt: skip
def test_changes_of_a_correction_can_be_written_again(token: str, kept: bool) -> None:
    fields = [(name, json.dumps(value)) for name, value in event("correction").items() if name != "changes"]
    decoded = assert_agreement(written([*fields, ("changes", f'{{"x": [{token}]}}')]))
    assert (decoded is not None) == kept


def test_a_correction_changes_at_most_twenty_fields() -> None:
    assert assert_agreement(as_bytes(event("correction", changes={str(n): n for n in range(20)}))) is not None
    assert assert_agreement(as_bytes(event("correction", changes={str(n): n for n in range(21)}))) is None


@pytest.mark.parametrize("kind", EVENT_TYPES)
@pytest.mark.parametrize("name", ["type", "seq", "shoe"])
def test_of_a_repeated_field_the_last_counts(kind: str, name: str) -> None:
    fields = [(key, json.dumps(value)) for key, value in event(kind).items()]
    last = json.dumps(event(kind).get(name, 1))
    assert_agreement(written([(name, '"x"'), *fields]))
    assert_agreement(written([*fields, (name, '"heartbeat"')]))
    assert assert_agreement(written([(name, "0"), *fields, (name, '"x"'), (name, last)])) is not None


@given(moments)
def test_moments_are_read_to_the_microsecond_and_written_back(moment: str) -> None:
    decoded = decode_event(as_bytes(event("heartbeat", occurred_at=moment)))
    assert decoded.occurred_at == datetime.fromisoformat(moment)
    assert decode_event(encode(decoded)) == decoded


@given(valid_events())
def test_models_and_twins_are_written_alike(message: Json) -> None:
    known = {name: value for name, value in message.items() if not name.startswith("x_")}
    model = EVENT_ADAPTER.validate_json(as_bytes(known), strict=True)
    decoded = decode_event(as_bytes(known))
    assert decode_event(encode(model)) == decoded
    assert json.loads(encode(model)) == json.loads(encode(decoded))


def test_a_twin_writes_its_type_first() -> None:
    struct = EVENT_STRUCTS["heartbeat"]
    assert isinstance(decode_event(as_bytes(event("heartbeat"))), struct)
    assert encode(decode_event(as_bytes(event("heartbeat")))).startswith(b'{"type":"heartbeat",')


@pytest.mark.parametrize("kind", EVENT_TYPES)
def test_a_parsed_event_is_judged_like_its_bytes(kind: str) -> None:
    assert validate_event(event(kind)) == decode_event(as_bytes(event(kind)))


def endless() -> Json:
    circle: Json = {}
    circle["x"] = circle
    return circle


@pytest.mark.parametrize(
    ("changes", "detail"),
    [
        ({"x": "\ud800"}, "surrogates not allowed"),
        ({"x": endless()}, "Circular reference"),
        ({"x": nested_list(400)}, "depth"),
        ({"x": object()}, "unknown type"),
        ({"seq": 10**5000}, "number out of range"),
        ({"reason": 5}, "correction.reason"),
        ({"changes": {"x": float("inf")}}, "a number is too large"),
        ({"changes": {"x": float("nan")}}, "a number is too large"),
    ],
)
def test_a_parsed_event_that_is_none_is_refused(changes: Json, detail: str) -> None:
    with pytest.raises(InvalidEvent, match=detail) as caught:
        validate_event(event("correction", **changes) if "seq" not in changes else event("correction") | changes)
    assert caught.value.reason == "invalid"
    assert caught.value.event_id == "BAC-01:3:1207"


def test_unknown_fields_are_not_part_of_the_event() -> None:
    decoded = decode_event(as_bytes(event("heartbeat", firmware="2.1")))
    assert "firmware" not in msgspec.structs.asdict(decoded)  # type: ignore[arg-type]  # a twin, typed as its model
    assert decoded == decode_event(as_bytes(event("heartbeat", firmware="é")))


@pytest.mark.parametrize(("said", "reason"), SEALED.items())
def test_what_the_gateway_refused_keeps_its_reason_and_its_place(said: bytes, reason: str) -> None:
    line = json.dumps({"event_id": "T02:1:7", "shoe": 3, "round": 12, "note": "a: b"}).encode()
    refusal = outcome(SEAL + said + b": " + line)
    assert isinstance(refusal, InvalidEvent)
    assert (refusal.reason, refusal.event_id, refusal.shoe, refusal.round) == (reason, "T02:1:7", 3, 12)
    assert refusal.detail.startswith("the gateway refused it: ")


@given(st.sampled_from(sorted(SEALED)), valid_events().map(as_bytes))
def test_what_is_sealed_is_never_an_event(said: bytes, line: bytes) -> None:
    assert isinstance(outcome(SEAL + said + b": " + line), InvalidEvent)


@pytest.mark.parametrize("line", [b"", b"\xff", b"[1]", b"{", b"[" * 60_000, b" " * MAX_EVENT_BYTES + b"{}"])
def test_sealed_bytes_of_any_kind_have_no_place(line: bytes) -> None:
    refusal = outcome(SEAL + b"too_long: " + line)
    assert isinstance(refusal, InvalidEvent)
    assert (refusal.reason, refusal.event_id, refusal.shoe, refusal.round) == ("too_long", "", 0, 0)


@pytest.mark.parametrize("raw", [SEAL, SEAL + b"bored: {}", b" " + SEAL + b"wrong_table: {}", SEAL.upper()])
def test_what_only_looks_sealed_is_no_json(raw: bytes) -> None:
    refusal = outcome(raw)
    assert isinstance(refusal, InvalidEvent)
    assert refusal.reason == "not_json"
