"""Messages as bytes: the one place where events and facts are encoded and decoded.

`decode_event` tries the fast twins first (`schemas.structs`). What they refuse goes through upcasters and the pydantic
models, which have the last word: either the event after all, or the reason for the dead letter.
"""

from collections.abc import Callable
from datetime import UTC
from operator import attrgetter
from typing import Any, Final, Union, cast

import msgspec
from pydantic import JsonValue, ValidationError
from pydantic_core import from_json, to_json

from schemas.errors import PitwatchError
from schemas.events import EVENT_ADAPTER, EVENT_TYPES, Event
from schemas.facts import FACT_KINDS, Fact
from schemas.fields import EARLIEST, LATEST, NAME_PATTERN
from schemas.ids import TABLE_ID_PATTERN
from schemas.refusals import REFUSALS
from schemas.shapes import Shape
from schemas.structs import has_validators, patterned, struct_of
from schemas.upcasters import upcast

MAX_EVENT_BYTES: Final = 65_536
"""No table event is anywhere near this long; what is longer is not parsed at all."""

QUICK_BYTES: Final = 4_000
"""The longest message for the fast path; the models' parser refuses whole numbers from 4,300 digits on."""

SHALLOW_BYTES: Final = 480
"""An event this short has no room for 200 nested brackets, where the models' parser stops."""


REASONS: Final[dict[str, str]] = {
    "too_long": f"Longer than {MAX_EVENT_BYTES:,} bytes; it was not parsed.",
    "not_json": "No JSON object in UTF-8 (RFC 8259), or one nested or numbered beyond all use.",
    "unknown_type": "Its `type` is none of the contract's.",
    "unknown_version": "Its `schema_version` is none that can be read.",
    "invalid": "A field is missing or is not what the contract says; the detail names the fields.",
}
"""Why bytes are no event: code → what it means."""

SEAL: Final = b"rejected by the gateway, "
"""What the gateway puts before a line that must never be taken for an event: this, a reason, `SEAL_END`, the line."""

SEAL_END: Final = b": "

SEALED: Final[dict[bytes, str]] = {
    **{reason.encode(): reason for reason in (*REASONS, "wrong_table", "system_type")},
    b"conflicting": "conflict",
}
"""Reasons as the gateway writes them into a seal → the same as dead letters name them."""


class InvalidEvent(PitwatchError, ValueError):
    """Raised for bytes that are no event. `reason` is one of `REASONS`, the message says where and what.

    Of a line that the gateway sealed the reason is the gateway's, one of `SEALED`.
    """

    def __init__(self, reason: str, detail: str, event_id: str = "", shoe: int = 0, round: int = 0) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail
        self.event_id = event_id
        self.shoe = shoe
        self.round = round


FACT_STRUCTS: Final[dict[str, type[Fact]]] = {
    kind: struct_of(model, tag=kind, tag_field="fact") for kind, model in FACT_KINDS.items()
}

JUDGED_BY_MODEL: Final = frozenset(
    # `decode_event` itself checks the identity and the moment, which every event has.
    kind
    for kind, model in EVENT_TYPES.items()
    if has_validators(model, besides=frozenset({"_identity", "occurred_at"}))
)
"""Event types whose model says more than a twin can repeat; they are rare, and always decoded the slow way."""

EVENT_STRUCTS: Final[dict[str, type[Event]]] = {
    # `decode_event` holds the texts of the others to their patterns, quicker than the twins could.
    kind: struct_of(model, tag=kind, patterns=kind in JUDGED_BY_MODEL)
    for kind, model in EVENT_TYPES.items()
}
_TABLES: Final = Shape(TABLE_ID_PATTERN)
_NAMES: Final = Shape(NAME_PATTERN)


def _names(model: type[Event]) -> tuple[Callable[[Event], str | None], ...]:
    """Return a getter for each name which an event of the model carries besides its table's."""
    found = patterned(model)
    assert found.pop("table_id") == TABLE_ID_PATTERN
    assert set(found.values()) <= {NAME_PATTERN}
    return tuple(attrgetter(name) for name in found)


_QUICK: Final = {kind: _names(model) for kind, model in EVENT_TYPES.items() if kind not in JUDGED_BY_MODEL}
"""Types that need no model's judgement, each with getters of its names."""

_event_decoder: Final[msgspec.json.Decoder[Any]] = msgspec.json.Decoder(Union[tuple(EVENT_STRUCTS.values())])  # noqa: UP007
_fact_decoder: Final[msgspec.json.Decoder[Any]] = msgspec.json.Decoder(Union[tuple(FACT_STRUCTS.values())])  # noqa: UP007
_encoder: Final = msgspec.json.Encoder()


def encode(message: Event | Fact) -> bytes:
    """Return the message as compact JSON. A twin's `type` or `fact` comes first, which makes it quick to decode."""
    return _encoder.encode(message) if isinstance(message, msgspec.Struct) else message.model_dump_json().encode()


def decode_event(raw: bytes) -> Event:
    """Return the event in `raw`. Raises `InvalidEvent`."""
    size = len(raw)
    # The fast decoder skips unknown fields without looking closely. In what this lets through there is nothing to
    # see: no byte that may be bad UTF-8, no nesting and no number beyond what the models' parser takes.
    if raw.isascii() and (size <= SHALLOW_BYTES or (size <= QUICK_BYTES and _is_shallow(raw))):
        try:
            event = cast(Event, _event_decoder.decode(raw))
        except (msgspec.MsgspecError, RecursionError):
            return _decode_slowly(raw)
        occurred_at = event.occurred_at
        names = _QUICK.get(event.type)
        if (
            names is not None
            and EARLIEST <= occurred_at < LATEST
            and event.event_id == f"{event.table_id}:{event.epoch}:{event.seq}"
            and (event.table_id in _TABLES.known or _TABLES.accepts(event.table_id))
        ):
            for get in names:
                name = get(event)
                if name not in _NAMES.known and not _NAMES.accepts(name):
                    break
            else:
                if occurred_at.tzinfo is not UTC:
                    event.occurred_at = occurred_at.astimezone(UTC)  # type: ignore[misc]  # a twin isn't frozen
                return event
    return _decode_slowly(raw)


def _is_shallow(raw: bytes) -> bool:
    return raw.count(b"{") + raw.count(b"[") <= 100


def _decode_slowly(raw: bytes) -> Event:
    """Give the models the last word on what the fast path refused."""
    if raw.startswith(SEAL):
        raise _unseal(raw)
    if len(raw) > MAX_EVENT_BYTES:
        raise InvalidEvent("too_long", f"{len(raw)} bytes; an event has at most {MAX_EVENT_BYTES}")
    try:
        parsed = from_json(raw, allow_inf_nan=False)
    except ValueError as error:
        raise InvalidEvent("not_json", f"no JSON text in UTF-8: {error}") from None
    if not isinstance(parsed, dict):
        raise InvalidEvent("not_json", "JSON, but no object")
    kind = parsed.get("type")
    if not isinstance(kind, str) or kind not in EVENT_TYPES:
        raise InvalidEvent("unknown_type", f"type {_short(kind)} is none of the contract's", **_place(parsed))
    newest = upcast(parsed)
    version, current = newest.get("schema_version"), EVENT_TYPES[kind].model_fields["schema_version"].default
    if "schema_version" in newest and (type(version) is not int or version != current):
        raise InvalidEvent("unknown_version", f"{kind} has no version {_short(version)}", **_place(parsed))
    return _judge(raw, parsed) if newest is parsed else validate_event(newest)


def _unseal(raw: bytes) -> InvalidEvent:
    """Return the gateway's refusal of a line that it sealed, with the line's place as far as that can be read."""
    said, _, line = raw.removeprefix(SEAL).partition(SEAL_END)
    reason = SEALED.get(said)
    if reason is None:
        return InvalidEvent("not_json", "no JSON text, though it begins as what the gateway refused")
    detail = f"the gateway refused it: {(REASONS | REFUSALS)[reason]}"
    try:
        parsed = from_json(line) if len(line) <= MAX_EVENT_BYTES else None
    except ValueError:
        parsed = None
    return InvalidEvent(reason, detail, **_place(parsed if isinstance(parsed, dict) else {}))


def validate_event(parsed: dict[str, JsonValue]) -> Event:
    """Return the event that a JSON object describes, judged by the models. Raises `InvalidEvent`."""
    try:
        # A number too large for a float stays one, so that the models see it.
        raw = to_json(parsed, inf_nan_mode="constants")
    except ValueError as error:  # a lone surrogate, or nesting without end
        raise InvalidEvent("invalid", f"no JSON object: {error}", **_place(parsed)) from None
    return _judge(raw, parsed)


def _judge(raw: bytes, parsed: dict[str, JsonValue]) -> Event:
    """Return the event in `raw`, whose parsed form is `parsed`, as the models read it."""
    try:
        model = EVENT_ADAPTER.validate_json(raw, strict=True)
    except ValidationError as error:
        raise InvalidEvent("invalid", _explain(error), **_place(parsed)) from None
    return msgspec.convert(model.model_dump(mode="python"), EVENT_STRUCTS[model.type], strict=False)


def _explain(error: ValidationError) -> str:
    """Return pydantic's findings in one line: each field's path and what is wrong with it."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    lines = ["{}: {}".format(".".join(str(part) for part in one["loc"]) or "event", one["msg"]) for one in found[:5]]
    return "; ".join(lines)[:500]


def _short(value: JsonValue) -> str:
    """Return how an unexpected value reads in an error: no list or number is written out at any length."""
    if isinstance(value, str):
        return repr(value[:60])
    return str(value) if type(value) is int and abs(value) < 10**9 else f"of kind {type(value).__name__}"


def _place(parsed: dict[str, JsonValue]) -> dict[str, Any]:
    """Return what can be told of an invalid event's identity, shoe and round, whatever their state."""
    identity = parsed.get("event_id")
    place: dict[str, Any] = {"event_id": identity[:100] if isinstance(identity, str) else ""}
    for name in ("shoe", "round"):
        number = parsed.get(name)
        place[name] = number if type(number) is int and 0 <= number <= 10**9 else 0
    return place


def decode_fact(raw: bytes) -> Fact:
    """Return the fact in `raw`. Raises `msgspec.DecodeError` for bytes that are none."""
    try:
        return cast(Fact, _fact_decoder.decode(raw))
    except RecursionError as error:
        raise msgspec.DecodeError("nested without end") from error
