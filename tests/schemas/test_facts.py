"""Facts: keys, defaults, and the way through the log and back."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, get_args, get_origin

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AwareDatetime, BaseModel

from schemas.cards import CARDS
from schemas.facts import FACT_ADAPTER, FACT_KEYS, FACT_KINDS, FACT_MODELS, Fact
from schemas.fields import EARLIEST
from schemas.wire import FACT_STRUCTS, decode_fact, encode

moments = st.datetimes(EARLIEST.replace(tzinfo=None), datetime(2099, 12, 31), timezones=st.just(UTC))  # noqa: DTZ001


def values(annotation: Any) -> st.SearchStrategy[Any]:  # noqa: ANN401  annotations of every kind
    """Return a strategy for a fact's field."""
    if annotation is AwareDatetime:
        return moments
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return values(arguments[0])
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin is tuple:
        return st.lists(values(arguments[0]), max_size=3).map(tuple)
    if origin is dict:
        return st.dictionaries(st.sampled_from(CARDS), st.integers(0, 96), max_size=3)
    if arguments:
        return st.one_of(*map(values, arguments))
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return models(annotation)
    simple: Mapping[Any, st.SearchStrategy[Any]] = {
        str: st.text(max_size=8),
        int: st.integers(-(2**63), 2**63 - 1),
        bool: st.booleans(),
        type(None): st.none(),
    }
    return simple[annotation]


def models(model: type[BaseModel]) -> st.SearchStrategy[dict[str, Any]]:
    """Return a strategy for the fields of a model, those with a default sometimes left out."""
    needed = {name: values(field.annotation) for name, field in model.model_fields.items() if field.is_required()}
    others = {name: values(field.annotation) for name, field in model.model_fields.items() if not field.is_required()}
    return st.fixed_dictionaries(needed, optional=others)


def fact_fields(kind: str) -> st.SearchStrategy[dict[str, Any]]:
    return models(FACT_KINDS[kind]).map(lambda fields: fields | {"fact": kind})


def twin_of(fields: dict[str, Any]) -> Fact:
    """Return the fact that the fields describe, as the pipeline makes it."""
    fact: Fact = msgspec.convert(fields, FACT_STRUCTS[fields["fact"]])
    return fact


any_fact = st.sampled_from(list(FACT_KINDS)).flatmap(fact_fields)


@given(any_fact)
def test_a_fact_comes_back_from_the_log_as_it_was(fields: dict[str, Any]) -> None:
    fact = twin_of(fields)
    assert decode_fact(encode(fact)) == fact
    assert encode(decode_fact(encode(fact))) == encode(fact)


@given(any_fact)
def test_models_and_twins_of_facts_are_written_alike(fields: dict[str, Any]) -> None:
    model = FACT_ADAPTER.validate_python(fields)
    fact = twin_of(fields)
    assert decode_fact(encode(model)) == fact
    assert json.loads(encode(model)) == json.loads(encode(fact))
    assert FACT_ADAPTER.validate_json(encode(fact)) == model


def test_kinds_are_told_apart_by_their_first_field() -> None:
    assert len(FACT_KINDS) == len(FACT_MODELS)
    for kind, struct in FACT_STRUCTS.items():
        assert FACT_KINDS[kind].model_fields["fact"].default == kind
        assert vars(struct)["fact"] == kind


@pytest.mark.parametrize(("kind", "key"), FACT_KEYS.items())
def test_a_key_names_fields_of_its_fact(kind: str, key: tuple[str, ...]) -> None:
    assert key
    assert len(set(key)) == len(key)
    for name in key:
        annotation = FACT_KINDS[kind].model_fields[name].annotation
        assert annotation in (str, int, AwareDatetime) or get_origin(annotation) is Literal, name


def test_every_kind_has_a_key() -> None:
    assert FACT_KEYS.keys() == FACT_KINDS.keys()


@pytest.mark.parametrize(("kind", "model"), FACT_KINDS.items())
def test_amounts_come_with_their_currency(kind: str, model: type[Fact]) -> None:
    described = [
        name for name, field in model.model_fields.items() if "minor units" in (field.description or "").lower()
    ]
    # An alert's amounts stand in its evidence.
    described += ["evidence"] * ("evidence" in model.model_fields)
    assert bool(described) == ("currency" in model.model_fields)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b"[]",
        b"{}",
        b'{"fact":"rounds"}',
        b'{"fact":"round"}',
        b'{"type":"heartbeat"}',
        b'{"fact":1}',
        b"\xff",
    ],
)
def test_what_is_no_fact_is_refused(raw: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        decode_fact(raw)


def test_endless_nesting_is_refused_like_anything_else() -> None:
    with pytest.raises(msgspec.DecodeError, match="nested without end"):
        decode_fact(b'{"fact":"dead_letter","x":' + b"[" * 100_000)


@given(st.binary(max_size=100))
def test_bytes_that_are_no_fact_are_refused(raw: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        decode_fact(raw)


def test_facts_of_a_later_version_are_read_without_what_is_new() -> None:
    fields = {"table_id": "B", "occurred_at": "2026-03-01T00:00:00Z", "reason": "r", "detail": "d", "raw": ""}
    raw = json.dumps({"fact": "dead_letter", **fields}).encode()
    assert decode_fact(raw[:-1] + b',"new":{"er":1}}') == decode_fact(raw)
