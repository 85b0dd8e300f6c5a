"""Messages for tests: valid events of every type drawn from the contract's own JSON Schemas, and damaged ones."""

import json
import string
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from hypothesis import strategies as st

from schemas.configuration import PRESETS
from schemas.events import EVENT_TYPES
from schemas.export import event_schema
from schemas.ids import event_id

Json = dict[str, Any]

MOMENT = "2026-03-01T12:34:56.789012Z"
IDENTITY: Json = {"event_id": "BAC-01:3:1207", "table_id": "BAC-01", "epoch": 3, "seq": 1207, "occurred_at": MOMENT}

OWN_FIELDS: dict[str, Json] = {
    "table_opened": {"opening_float": 1_000_000},
    "table_closed": {"closing_float": 900_000},
    "configuration_published": {"configuration": PRESETS["macau"].model_dump(mode="json")},
    "shoe_loaded": {"shoe": 1, "decks": 8},
    "shoe_cut": {"shoe": 1, "cut_by": "patron", "cards_behind": 14},
    "card_burned": {"shoe": 1, "reason": "opening", "card": "7H"},
    "cut_card_reached": {"shoe": 1, "round": 70},
    "shoe_closed": {"shoe": 1, "reason": "cut_card"},
    "round_opened": {"shoe": 1, "round": 2},
    "bet_placed": {"shoe": 1, "round": 2, "bet_id": "b-1", "bet": "banker", "stake": 30_000, "seat": 5},
    "bet_changed": {"shoe": 1, "round": 2, "bet_id": "b-1", "stake": 60_000},
    "bet_withdrawn": {"shoe": 1, "round": 2, "bet_id": "b-1"},
    "betting_closed": {"shoe": 1, "round": 2},
    "card_drawn": {"shoe": 1, "round": 2, "hand": "banker", "position": 3, "card": "10H"},
    "card_corrected": {"shoe": 1, "round": 2, "hand": "player", "position": 1, "reason": "misread", "card": "AS"},
    "card_exposed": {"shoe": 1, "round": 2, "card": "KC"},
    "result_called": {"shoe": 1, "round": 2, "outcome": "tie"},
    "stake_collected": {"shoe": 1, "round": 2, "bet_id": "b-1", "amount": 30_000},
    "payout_made": {"shoe": 1, "round": 2, "bet_id": "b-1", "amount": 28_500},
    "commission_charged": {"shoe": 1, "round": 2, "bet_id": "b-1", "amount": 1_500},
    "commission_settled": {"seat": 5, "amount": 1_500, "patron_id": "P-77"},
    "round_voided": {"shoe": 1, "round": 2, "reason": "派錯牌", "authorised_by": "S-1"},
    "round_closed": {"shoe": 1, "round": 2},
    "buy_in": {"seat": 5, "amount": 100_000, "means": "marker"},
    "fill": {"amount": 500_000, "slip": "F-12"},
    "credit": {"amount": 500_000, "slip": "C-3"},
    "drop_counted": {"amount": 0},
    "float_counted": {"amount": 1_234_500},
    "dealer_in": {"dealer_id": "D-9"},
    "dealer_out": {"dealer_id": "D-9"},
    "patron_seated": {"seat": 5, "patron_id": "P-77"},
    "patron_left": {"seat": 5, "patron_id": "P-77"},
    "cards_held_by": {"shoe": 1, "round": 2, "hand": "player", "seat": 5},
    "heartbeat": {},
    "correction": {
        "target_event_id": "BAC-01:3:1200", "action": "replace", "changes": {"card": "9S"},
        "authorised_by": "S-1", "reason": "card read wrongly",
    },
    "table_silent": {"silent_since": MOMENT, "last_event_id": "BAC-01:3:1206"},
    "gap_expired": {"through_epoch": 3, "through_seq": 1206},
}  # fmt: skip
"""One ordinary event of every type, without what every event has."""


def event(kind: str, **changes: object) -> Json:
    """Return the ordinary event of `kind`, with `changes`; its identity follows the fields it is made of."""
    version = EVENT_TYPES[kind].model_fields["schema_version"].default
    message = {"type": kind, "schema_version": version, **IDENTITY, **OWN_FIELDS[kind], **changes}
    if "event_id" not in changes:
        message["event_id"] = event_id(message["table_id"], message["epoch"], message["seq"])
    return message


def as_bytes(message: Json) -> bytes:
    """Return the message as JSON, in as few bytes as a device would send."""
    return json.dumps(message, separators=(",", ":"), ensure_ascii=False).encode()


zones = st.sampled_from(["Z", "Z", "+08:00", "-03:30"])
moments = st.builds(
    lambda moment, zone: moment.isoformat() + zone,
    st.datetimes(datetime(2000, 1, 2), datetime(2099, 12, 30)),  # noqa: DTZ001
    zones,
)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)

changes = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


def values(schema: Json) -> st.SearchStrategy[Any]:
    """Return a strategy of what a field's JSON Schema allows."""
    if "enum" in schema or "const" in schema:
        return st.sampled_from(schema.get("enum") or [schema["const"]])
    if "anyOf" in schema:
        return st.one_of(*map(values, schema["anyOf"]))
    if schema["type"] == "string":
        return texts(schema)
    if schema["type"] == "integer":
        return st.integers(schema["minimum"], schema["maximum"])
    if schema["type"] == "array":
        return st.lists(values(schema["items"]), min_size=schema["minItems"], max_size=schema["maxItems"])
    if schema["type"] == "object":
        return st.dictionaries(st.text(max_size=8), changes, max_size=schema["maxProperties"])
    assert schema["type"] == "null", f"no strategy for {schema}"
    return st.none()


def texts(schema: Json) -> st.SearchStrategy[str]:
    """Return a strategy of the texts that a JSON Schema allows."""
    if "pattern" in schema:
        return st.from_regex(schema["pattern"].strip("^$"), fullmatch=True)
    return moments if schema.get("format") == "date-time" else st.text(max_size=schema["maxLength"])


@st.composite
def valid_events(draw: st.DrawFn) -> Json:
    """Return a valid event of any type: fields that may be left out sometimes are, unknown ones come in between."""
    kind = draw(st.sampled_from(list(EVENT_TYPES)))
    schema = event_schema(kind)
    message: Json = {}
    for name, field in schema["properties"].items():
        if name in schema["required"] or draw(st.booleans()):
            if name == "configuration":
                message[name] = draw(st.sampled_from([p.model_dump(mode="json") for p in PRESETS.values()]))
            else:
                message[name] = draw(values(field))
    message |= {"event_id": event_id(message["table_id"], message["epoch"], message["seq"])}
    unknown = draw(st.dictionaries(st.text(max_size=6).map("x_{}".format), json_values, max_size=2))
    names = draw(st.permutations([*message, *unknown]))
    return {name: (message | unknown)[name] for name in names}


# Tokens that a field never or hardly ever may hold; some are no JSON at all.
ODD_TOKENS = (
    "null", "true", "false", "0", "-0", "1", "2", "-1", "1.0", "1e0", "0.5", "1e999", "-1e999", "NaN", "Infinity",
    "01", "+1", ".5", "9" * 25, "-" + "9" * 25, "9" * 4299, "9" * 4301, str(2**62), str(2**62 + 1), str(2**63),
    str(10**14 + 1), str(10**11), str(10**11 + 1),
    str(2**64), str(10**15), str(10**15 + 1), '""', '"1"', '"x"', '"player"', '"\\ud800"', '"\\udc00\\ud800"',
    '"\\ud83d\\ude00"', '"\\u0000"', '"a\\nb"', '"a\nb"', '"\x7f"', '"\\x"', "{}", "[]", "[1]", "[1,2]", "[1,2,3]",
    "[0,-1]", '{"a":1}', "[" * 100 + "]" * 100, "[" * 199 + "]" * 199, "[" * 210 + "]" * 210, "[" * 900 + "]" * 900,
    '{"a":' * 12 + "1" + "}" * 12, '"１"', '"AS\\n"', '"10H "', "tru", "", "[1,]", "{,}", '"' + "x" * 600 + '"',
)  # fmt: skip


@st.composite
def odd_moments(draw: st.DrawFn) -> str:
    """Return an instant written in one of many ways, right or wrong."""
    offset = timezone(timedelta(minutes=draw(st.integers(-24 * 60 + 1, 24 * 60 - 1))))
    zone = draw(st.sampled_from([UTC, offset]))
    moment = draw(st.datetimes(timezones=st.just(zone)))
    text = moment.strftime("%Y").zfill(4) + moment.strftime("-%m-%dT%H:%M:%S")
    digits = draw(st.text(string.digits, max_size=12))
    end = draw(st.sampled_from(["Z", "z", "", "+00:00", "-00:00", "+0800", "+08", moment.strftime("%z"), "Z\\n", " Z"]))
    change = draw(st.sampled_from([("", ""), ("T", " "), ("T", "t"), ("T", "_"), ("2", "２"), (":", "")]))
    return '"' + (text + (f".{digits}" if digits else "") + end).replace(*change) + '"'


tokens = (
    st.sampled_from(ODD_TOKENS)
    | odd_moments()
    | json_values.map(lambda value: json.dumps(value, ensure_ascii=False))
    | st.text(max_size=5).map(json.dumps)
)


def written(fields: Iterable[tuple[str, str]]) -> bytes:
    """Return an object of the given names and raw tokens, in their order, repetitions included."""
    inside = ",".join(f"{json.dumps(name)}:{token}" for name, token in fields)
    return ("{" + inside + "}").encode("utf-8", "surrogatepass")


@st.composite
def damaged_events(draw: st.DrawFn) -> bytes:
    """Return a valid event with fields lost, replaced, repeated, moved or added, most often an event no longer."""
    valid = draw(valid_events())
    fields = [(name, json.dumps(value, ensure_ascii=draw(st.booleans()))) for name, value in valid.items()]
    for _ in range(draw(st.integers(1, 3))):
        names = [name for name, _ in fields] or [""]
        place = draw(st.integers(0, len(fields)))
        name = draw(st.sampled_from([*names, "standing", "x"]))
        match draw(st.sampled_from(["lose", "replace", "replace", "twist", "add"])):
            case "lose":
                fields = [field for field in fields if field[0] != name]
            case "replace":
                token = draw(tokens)
                fields = [(known, token if known == name else old) for known, old in fields]
            case "twist":  # leaves a text's shape almost as it was
                end = draw(st.sampled_from(["\\n", " ", "１", "\\u0031", "é", "\x00", "-"]))
                fields = [(n, f'{t[:-1]}{end}"' if n == name and t.endswith('"') else t) for n, t in fields]
            case _:
                fields.insert(place, (name, draw(tokens)))
    return written(fields)
