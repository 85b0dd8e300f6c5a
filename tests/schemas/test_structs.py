"""Twins: the same fields, bounds and defaults as the model, and a word about what a twin can't say."""

import gc
import json
import re
from datetime import UTC, date, datetime
from typing import Annotated, Literal, Union

import annotated_types
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    Field,
    JsonValue,
    TypeAdapter,
    ValidationError,
    field_validator,
    model_validator,
)

from schemas.configuration import TableConfiguration
from schemas.events import EVENT_TYPES
from schemas.facts import FACT_MODELS
from schemas.fields import Instant, Model, StrictModel
from schemas.structs import has_validators, patterned, struct_of
from schemas.wire import JUDGED_BY_MODEL
from tests.schemas.messages import ODD_TOKENS, Json, damaged_events

Small = Annotated[int, Field(ge=1, le=9)]
Word = Annotated[str, Field(pattern=r"^[a-z]{1,3}$")]


class Inner(Model):
    """A model inside another."""

    small: Small = 5


class Shift(StrictModel):
    """A model that a default holds in a tuple."""

    begins: date = date(2026, 3, 1)


class Strict(StrictModel):
    """A model that refuses what it doesn't know."""

    word: Word | None = None


class Everything(Model):
    """A field of every shape the contract uses, and of some it may use one day."""

    small: Small
    positive: Annotated[int, Field(gt=0, lt=5)] = 1
    between: Annotated[int, annotated_types.Interval(ge=2, lt=4)] = 2
    short: Annotated[str, annotated_types.Len(1, 3)] = "abc"
    starts: Annotated[str, Field(pattern="^ab")] = "abc"
    word: Word | None = None
    either: Union[Small, Word] = 1  # noqa: UP007
    pair: tuple[Small, Word] | None = None
    many: tuple[Small, ...] = Field((), max_length=2)
    counts: Annotated[dict[str, Small], Field(min_length=1)] | None = None
    moment: AwareDatetime | None = None
    inner: Inner = Inner(small=7)
    shifts: tuple[Shift, ...] = (Shift(), Shift(begins=date(2026, 3, 2)))
    strict: Strict | None = None
    choice: Literal["x", "y"] = "x"
    anything: JsonValue = None
    fresh: dict[str, int] = Field(default_factory=dict)
    flag: bool = False


ADAPTER = TypeAdapter(Everything)
decoder = msgspec.json.Decoder(struct_of(Everything))


def agreed(raw: bytes) -> Json | None:
    """Hold model and twin to one verdict and one value; return it as JSON, or None where both refuse."""
    try:
        model = ADAPTER.validate_json(raw, strict=True)
    except ValidationError:
        with pytest.raises((msgspec.MsgspecError, RecursionError)):
            decoder.decode(raw)
        return None
    twin = json.loads(msgspec.json.encode(decoder.decode(raw)))
    expected = json.loads(model.model_dump_json())
    expected["inner"] = {"small": model.inner.small}  # what a model keeps of unknown fields, a twin drops
    assert twin == expected
    return dict(twin)


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("small", ["1", "9"], ["0", "10", "1.0", "true", "null", '"1"', "9" * 30]),
        ("positive", ["1", "4"], ["0", "5"]),
        ("between", ["2", "3"], ["1", "4"]),
        ("short", ['"a"', '"abc"', '"陳陳陳"'], ['""', '"abcd"', "1", "null"]),
        ("starts", ['"ab"', '"abc\\n"'], ['"b"', '"xab"']),
        ("word", ['"a"', "null"], ['"a\\n"', '"abcd"', '""', "1"]),
        ("either", ["9", '"abc"'], ["10", '"A"', "null", "[1]"]),
        ("pair", ['[1,"a"]', "null"], ['[0,"a"]', '[1,"A"]', "[1]", '[1,"a",1]', '{"0":1}', '["a",1]']),
        ("many", ["[]", "[1,9]"], ["[0]", "[1,1,1]", "1", "{}"]),
        ("counts", ['{"a":1}', "null"], ["{}", '{"a":0}', "[]", '{"a":null}']),
        ("moment", ['"2026-03-01T12:34:56Z"', "null"], ['"2026-03-01T12:34:56"', "1", '"now"']),
        ("inner", ["{}", '{"small":9}'], ["null", '{"small":0}', "[]"]),
        ("strict", ["{}", '{"word":"a"}', "null"], ['{"new":1}', '{"word":"A"}']),
        ("choice", ['"x"', '"y"'], ['"z"', '"x "', "null"]),
        ("anything", ["null", "1", '[{"a":1.5}]', '"x"'], []),
        ("fresh", ["{}", '{"a":-1}'], ['{"a":"1"}', "[]"]),
        ("flag", ["true", "false"], ["1", '"true"', "null"]),
    ],
)
def test_twin_holds_every_kind_of_field_to_the_models_bounds(name: str, good: list[str], bad: list[str]) -> None:
    for tokens, verdict in ((good, True), (bad, False)):
        for token in tokens:
            other = "" if name == "small" else '"small":1,'
            assert (agreed(f'{{{other}"{name}":{token}}}'.encode()) is not None) == verdict, token


def test_twin_has_the_models_defaults_and_required_fields() -> None:
    assert agreed(b'{"small":1}') == json.loads(Everything(small=1).model_dump_json())
    assert agreed(b"{}") is None
    first, second = decoder.decode(b'{"small":1}'), decoder.decode(b'{"small":1}')
    assert first.fresh is not second.fresh


def test_twin_drops_what_its_model_keeps_of_unknown_fields() -> None:
    raw = b'{"small":1,"new":[1],"inner":{"small":2,"newer":{}}}'
    assert ADAPTER.validate_json(raw).inner.model_extra == {"newer": {}}
    assert decoder.decode(raw) == decoder.decode(b'{"small":1,"inner":{"small":2}}')


TOKENS = [token for token in ODD_TOKENS if token not in {"NaN", "Infinity", "1e999", "-1e999"}]


SECONDS = re.compile(r'"[-+]?\d+(\.\d*)?"')


def test_moment_in_seconds_is_left_to_the_model() -> None:
    raw = b'{"small":1,"moment":"1772368496"}'
    assert ADAPTER.validate_json(raw, strict=True).moment == datetime(2026, 3, 1, 12, 34, 56, tzinfo=UTC)
    with pytest.raises(msgspec.ValidationError):
        decoder.decode(raw)


@given(st.dictionaries(st.sampled_from([*Everything.model_fields, "small"]), st.sampled_from(TOKENS), max_size=4))
def test_twin_agrees_with_its_model_on_odd_values(fields: dict[str, str]) -> None:
    # Any JSON at all is what the two decoders read differently: how deep, and how large. And a moment in seconds, as a
    # text, is read by the model alone, which has the last word on whatever its twin refuses.
    known = {"small": "1"} | {
        name: token
        for name, token in fields.items()
        if name != "anything" and not (name == "moment" and SECONDS.fullmatch(token))
    }
    raw = "{" + ",".join(f'"{name}":{token}' for name, token in known.items()) + "}"
    agreed(raw.encode())


@given(damaged_events())
def test_twin_of_a_plain_event_accepts_nothing_its_model_refuses(raw: bytes) -> None:
    for kind, model in EVENT_TYPES.items():
        if kind in JUDGED_BY_MODEL or f'"{kind}"'.encode() not in raw or not raw.isascii():
            continue
        try:
            msgspec.json.decode(raw, type=struct_of(model, tag=kind))
        except (msgspec.MsgspecError, RecursionError):
            continue
        # The identity, the bounds of the moment, and how deep the models' parser goes: `decode_event` sees to them.
        assert faults(model, raw) <= {"value_error", "json_invalid"}


def faults(model: type[BaseModel], raw: bytes) -> set[str]:
    """Return the kinds of error that a model finds."""
    try:
        model.model_validate_json(raw, strict=True)
    except ValidationError as error:
        return {fault["type"] for fault in error.errors(include_url=False)}
    return set()


def test_a_tag_is_read_as_an_attribute_and_written_first() -> None:
    twin = struct_of(Inner, tag="inner", tag_field="kind")
    value = twin(small=3)
    assert msgspec.json.encode(value) == b'{"kind":"inner","small":3}'
    assert vars(twin)["kind"] == "inner"
    with pytest.raises(msgspec.ValidationError, match="Invalid value 'other'"):
        msgspec.json.decode(b'{"kind":"other"}', type=twin)


def test_a_model_has_one_twin_for_each_tag() -> None:
    assert struct_of(Inner) is struct_of(Inner)
    assert struct_of(Inner, tag="a") is struct_of(Inner, tag="a")
    assert len({struct_of(Inner), struct_of(Inner, tag="a"), struct_of(Inner, tag="b")}) == 3


def test_a_twin_has_its_models_name_and_docstring() -> None:
    for twin in (struct_of(Inner), struct_of(Inner, tag="a")):
        assert (twin.__name__, twin.__doc__, twin.__module__) == ("Inner", Inner.__doc__, __name__)


class Texts(Model):
    """Texts of a shape, alone and inside other things."""

    word: Word
    perhaps: Word | None = None
    short: Annotated[str, Field(max_length=3)] = ""
    bounded: Annotated[str, Field(max_length=5, pattern="^b")] = "b"
    many: tuple[Word, ...] = ()
    counts: dict[Word, Small] = Field(default_factory=dict)
    either: Union[Word, int] = 1  # noqa: UP007
    inner: Strict | None = None


def test_a_twin_without_patterns_leaves_those_it_names_to_its_reader() -> None:
    assert patterned(Texts) == {"word": "^[a-z]{1,3}$", "perhaps": "^[a-z]{1,3}$", "bounded": "^b"}
    loose = msgspec.json.Decoder(struct_of(Texts, patterns=False))
    strict = msgspec.json.Decoder(struct_of(Texts))
    left_open = b'{"word":"A","perhaps":"A","bounded":"a"}'
    assert (loose.decode(left_open).word, loose.decode(left_open).perhaps) == ("A", "A")
    with pytest.raises(msgspec.ValidationError, match="matching regex"):
        strict.decode(left_open)
    for field in ('"short":"abcd"', '"bounded":"abcdef"', '"many":["A"]', '"counts":{"A":1}', '"either":"A"',
                  '"inner":{"word":"A"}', '"perhaps":1'):  # fmt: skip
        for decoder in (loose, strict):
            with pytest.raises(msgspec.ValidationError):
                decoder.decode(f'{{"word":"a",{field}}}')


def test_a_twin_costs_the_garbage_collector_nothing() -> None:
    assert not gc.is_tracked(struct_of(Everything)(small=1, many=(1, 2), fresh={"a": 1}))


class Judged(Model):
    """Has a validator of the whole."""

    number: int

    @model_validator(mode="after")
    def _odd(self) -> "Judged":
        return self


class FieldJudged(Model):
    """Has a validator of a field."""

    number: int

    @field_validator("number")
    @classmethod
    def _odd(cls, number: int) -> int:
        return number


def same(value: int) -> int:
    return value


class Holder(Model):
    """Holds a judged model somewhere inside."""

    many: tuple[Judged | None, ...] = ()


class After(Model):
    """Has a function in an annotation."""

    number: Annotated[int, AfterValidator(same)]


class Before(Model):
    """Has a function deep in an annotation."""

    number: dict[str, Annotated[int, BeforeValidator(same)] | None] | None = None


class Named(Model):
    """Has a function in a type used elsewhere, and as an option."""

    moment: Instant | None = None


@pytest.mark.parametrize("model", [Judged, FieldJudged, Holder, After, Before, Named, TableConfiguration, *FACT_MODELS])
def test_validators_are_found_however_deep(model: type[BaseModel]) -> None:
    assert has_validators(model)


@pytest.mark.parametrize("model", [Inner, Strict, Everything])
def test_bounds_are_no_validators(model: type[BaseModel]) -> None:
    assert not has_validators(model)


def test_validators_seen_to_elsewhere_do_not_count() -> None:
    assert not has_validators(Judged, besides=frozenset({"_odd"}))
    assert not has_validators(After, besides=frozenset({"number"}))
    assert has_validators(Holder, besides=frozenset({"_odd"}))


def test_moments_without_a_zone_are_refused() -> None:
    twin = struct_of(Named)
    assert msgspec.json.decode(b'{"moment":"2026-03-01T00:00:00Z"}', type=twin).moment == datetime(
        2026, 3, 1, tzinfo=UTC
    )
    with pytest.raises(msgspec.ValidationError, match="timezone"):
        msgspec.json.decode(b'{"moment":"2026-03-01T00:00:00"}', type=twin)
