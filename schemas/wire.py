"""Messages as bytes: the one place where events and facts are encoded and decoded.

`decode_event` tries the fast twins first (`schemas.structs`). What they refuse goes through upcasters and the pydantic
models, which have the last word: either the event after all, or the reason for the dead letter.
"""

from datetime import UTC
from typing import Any, Final, Union, cast

import msgspec
from pydantic import JsonValue, TypeAdapter, ValidationError

from schemas.errors import PitwatchError
from schemas.events import EVENT_ADAPTER, EVENT_TYPES, Event
from schemas.facts import FACT_KINDS, Fact
from schemas.fields import EARLIEST, LATEST
from schemas.structs import struct_of
from schemas.upcasters import upcast

MAX_EVENT_BYTES: Final = 65_536
"""No table event is anywhere near this long; what is longer is not parsed at all."""


class InvalidEvent(PitwatchError, ValueError):
    """Raised for bytes that are no event. `reason` is a stable code, the message says where and what."""

    def __init__(self, reason: str, detail: str, event_id: str = "", shoe: int = 0, round: int = 0) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail
        self.event_id = event_id
        self.shoe = shoe
        self.round = round


EVENT_STRUCTS: Final[dict[str, type[Event]]] = {kind: struct_of(model, tag=kind) for kind, model in EVENT_TYPES.items()}
FACT_STRUCTS: Final[dict[str, type[Fact]]] = {
    kind: struct_of(model, tag=kind, tag_field="fact") for kind, model in FACT_KINDS.items()
}

_event_decoder: Final[msgspec.json.Decoder[Any]] = msgspec.json.Decoder(Union[tuple(EVENT_STRUCTS.values())])  # noqa: UP007
_fact_decoder: Final[msgspec.json.Decoder[Any]] = msgspec.json.Decoder(Union[tuple(FACT_STRUCTS.values())])  # noqa: UP007
_encoder: Final = msgspec.json.Encoder()
_json: Final[TypeAdapter[JsonValue]] = TypeAdapter(JsonValue)


def encode(message: Event | Fact) -> bytes:
    """Return the message as compact JSON, its `type` or `fact` first."""
    return _encoder.encode(message) if isinstance(message, msgspec.Struct) else message.model_dump_json().encode()


def decode_event(raw: bytes) -> Event:
    """Return the event in `raw`. Raises `InvalidEvent`."""
    if len(raw) > MAX_EVENT_BYTES:
        raise InvalidEvent("too_long", f"{len(raw)} bytes; an event has at most {MAX_EVENT_BYTES}")
    try:
        event = cast(Event, _event_decoder.decode(raw))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return _decode_slowly(raw)
    occurred_at = event.occurred_at
    if (
        event.type != "configuration_published"  # whose fields must also fit each other: the model judges that
        and occurred_at.tzinfo is UTC
        and EARLIEST <= occurred_at < LATEST
        and event.event_id == f"{event.table_id}:{event.epoch}:{event.seq}"
    ):
        return event
    return _decode_slowly(raw)


def _decode_slowly(raw: bytes) -> Event:
    """Give the models the last word on what the fast path refused."""
    try:
        parsed = _json.validate_json(raw)
    except (ValidationError, RecursionError):
        raise InvalidEvent("not_json", "the message is no JSON text in UTF-8") from None
    if not isinstance(parsed, dict):
        raise InvalidEvent("not_json", "the message is JSON, but no object")
    where = _place(parsed)
    kind = parsed.get("type")
    if not isinstance(kind, str) or kind not in EVENT_TYPES:
        raise InvalidEvent("unknown_type", f"type {str(kind)[:60]!r} is none of the contract's", **where)
    parsed = upcast(parsed)
    version, newest = parsed.get("schema_version", 1), EVENT_TYPES[kind].model_fields["schema_version"].default
    if "schema_version" in parsed and (type(version) is not int or version != newest):
        raise InvalidEvent("unknown_version", f"{kind} has no version {str(version)[:20]!r}", **where)
    return validate_event(parsed)


def validate_event(parsed: dict[str, JsonValue]) -> Event:
    """Return the event that a JSON object describes, judged by the models. Raises `InvalidEvent`."""
    try:
        model = EVENT_ADAPTER.validate_json(_encoder.encode(parsed), strict=True)
    except ValidationError as error:
        raise InvalidEvent("invalid", _explain(error), **_place(parsed)) from None
    struct = EVENT_STRUCTS[model.type]
    return msgspec.convert(model.model_dump(mode="python"), struct, strict=False)


def _explain(error: ValidationError) -> str:
    """Return pydantic's findings in one line: each field's path and what is wrong with it."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    lines = ["{}: {}".format(".".join(str(part) for part in one["loc"]) or "event", one["msg"]) for one in found[:5]]
    return "; ".join(lines)[:500]


def _place(parsed: dict[str, JsonValue]) -> dict[str, Any]:
    """Return what can be told of an invalid event's identity, shoe and round, whatever their state."""
    identity = parsed.get("event_id")
    place: dict[str, Any] = {"event_id": identity[:100] if isinstance(identity, str) else ""}
    for name in ("shoe", "round"):
        number = parsed.get(name)
        place[name] = number if type(number) is int and 0 <= number <= 10**9 else 0
    return place


def decode_fact(raw: bytes) -> Fact:
    """Return the fact in `raw`. Raises `msgspec.ValidationError` for bytes that are none."""
    return cast(Fact, _fact_decoder.decode(raw))
