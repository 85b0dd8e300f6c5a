# ruff: noqa: ANN401  annotations are values here, and values of every kind
"""Fast twins of the contract's models.

The contract is written once, as pydantic models. Decoding with pydantic costs many times what the hot path can spend on
an event, so `struct_of` derives from a model the msgspec struct with the same fields, the same bounds and the same
defaults. A twin can't say what a validator function says; `has_validators` tells of which models that is true. For all
others a test holds that the twin accepts nothing which its model refuses.
"""

import types
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial
from typing import Annotated, Any, Final, TypeVar, Union, cast, get_args, get_origin

import annotated_types
import msgspec
from pydantic import AfterValidator, AwareDatetime, BaseModel, BeforeValidator, JsonValue
from pydantic.fields import FieldInfo
from pydantic_core import to_jsonable_python

M = TypeVar("M", bound=BaseModel)

_twins: dict[tuple[type[BaseModel], str | None, str, bool], type[Any]] = {}

# Constraint of annotated-types → the keyword of msgspec.Meta that says the same.
_BOUNDS: Final[dict[type, str]] = {
    annotated_types.Ge: "ge",
    annotated_types.Gt: "gt",
    annotated_types.Le: "le",
    annotated_types.Lt: "lt",
    annotated_types.MinLen: "min_length",
    annotated_types.MaxLen: "max_length",
}


_TEXT: Final = (str, type(None))


def struct_of(model: type[M], *, tag: str | None = None, tag_field: str = "type", patterns: bool = True) -> type[M]:
    """Return the struct twin of `model`, typed as the model itself so that callers stay checked.

    With `tag`, the twin is one arm of a tagged union: `tag_field` comes first on the wire and is read as an attribute.
    Without `patterns`, whoever decodes holds the fields that `patterned` names to theirs.
    """
    key = (model, tag, tag_field, patterns)
    if key not in _twins:
        _twins[key] = msgspec.defstruct(
            model.__name__,
            [
                _struct_field(name, field, patterns=patterns)
                for name, field in model.model_fields.items()
                if tag is None or name != tag_field
            ],
            kw_only=True,
            tag=tag,
            tag_field=tag_field if tag else None,
            namespace={tag_field: tag, "__doc__": model.__doc__} if tag else {"__doc__": model.__doc__},
            module=model.__module__,
            forbid_unknown_fields=model.model_config.get("extra") == "forbid",
            # Messages are trees of plain values: they form no cycle, and the collector need not walk millions of them.
            gc=False,
        )
    return cast(type[M], _twins[key])


def altered(row: M, **changes: object) -> M:
    """Return a copy of a twin, typed as its model, with other values in some fields. Nothing is validated."""
    return cast(M, msgspec.structs.replace(cast(msgspec.Struct, row), **changes))


def has_validators(model: type[BaseModel], *, besides: frozenset[str] = frozenset()) -> bool:
    """Tell whether `model`, or a model inside it, judges by functions, which a twin can't repeat.

    Fields and model validators named in `besides` don't count: whoever decodes checks what they say.
    """
    decorators = model.__pydantic_decorators__
    named = {*decorators.model_validators, *decorators.field_validators} - besides
    if named:
        return True
    found = (
        item
        for name, field in model.model_fields.items()
        if name not in besides
        for item in (*field.metadata, *_parts(field.annotation))
    )
    return any(
        isinstance(item, AfterValidator | BeforeValidator)
        or (isinstance(item, type) and issubclass(item, BaseModel) and has_validators(item))
        for item in found
    )


def patterned(model: type[BaseModel]) -> dict[str, str]:
    """Return the text fields of `model` that have to match a pattern, each with its pattern."""
    return {name: pattern for name, field in model.model_fields.items() if (pattern := _text_pattern(field))}


def _text_pattern(field: FieldInfo) -> str:
    """Return the pattern of a field that holds a text or None, and an empty text for any other field."""
    parts = [*field.metadata, *_parts(field.annotation)]
    if any(get_origin(part) in (tuple, dict) or (isinstance(part, type) and part not in _TEXT) for part in parts):
        return ""
    return next((pattern for part in parts if (pattern := _pattern(part))), "")


def _parts(annotation: Any) -> Iterator[Any]:
    """Yield an annotation, what it is made of, and the metadata on every level of it."""
    yield annotation
    for part in (*get_args(annotation), *(annotation.metadata if isinstance(annotation, FieldInfo) else ())):
        yield from _parts(part)


def _struct_field(name: str, field: FieldInfo, *, patterns: bool) -> tuple[str, Any] | tuple[str, Any, Any]:
    annotation = _translate(field.annotation, field.metadata, patterns=patterns or not _text_pattern(field))
    if field.is_required():
        return name, annotation
    if field.default_factory is not None:
        return name, annotation, msgspec.field(default_factory=cast(Callable[[], Any], field.default_factory))
    if isinstance(field.default, BaseModel) or (isinstance(field.default, tuple) and field.default):
        # A default that is a model, or holds one, becomes its twin, each time a new one.
        plain = to_jsonable_python(field.default)
        return name, annotation, msgspec.field(default_factory=lambda: msgspec.convert(plain, annotation))
    return name, annotation, field.default


def _translate(annotation: Any, metadata: list[Any], *, patterns: bool) -> Any:
    """Return the msgspec annotation that accepts what the pydantic one accepts."""
    if annotation is JsonValue:
        return Any
    inside = partial(_translate, patterns=patterns)
    origin = get_origin(annotation)
    if origin is Annotated:
        inner, *more = get_args(annotation)
        return inside(inner, [*more, *metadata])
    if origin in (Union, types.UnionType):
        arms = get_args(annotation)
        return Union[tuple(inside(arm, metadata if arm is not type(None) else []) for arm in arms)]  # noqa: UP007
    if origin in (tuple, dict):
        arms = tuple(arm if arm is Ellipsis else inside(arm, []) for arm in get_args(annotation))
        return _bounded(types.GenericAlias(cast(type, origin), arms), metadata)
    if annotation in (AwareDatetime, datetime):
        return Annotated[datetime, msgspec.Meta(tz=True)]
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return struct_of(annotation)
    return _bounded(annotation, [item for item in _flat(metadata) if patterns or not _pattern(item)])


def _bounded(annotation: Any, metadata: list[Any]) -> Any:
    bounds: dict[str, Any] = {}
    for constraint in _flat(metadata):
        for kind, keyword in _BOUNDS.items():
            if isinstance(constraint, kind):
                bounds[keyword] = getattr(constraint, keyword)
        if pattern := _pattern(constraint):
            # Python's `$` also matches before a final newline; pydantic's does not.
            bounds["pattern"] = pattern.removesuffix("$") + "\\Z" if pattern.endswith("$") else pattern
    return Annotated[annotation, msgspec.Meta(**bounds)] if bounds else annotation


def _pattern(constraint: Any) -> str:
    return getattr(constraint, "pattern", None) or ""


def _flat(metadata: list[Any]) -> Iterator[Any]:
    """Yield single constraints: inside unions and containers pydantic leaves them wrapped in a `Field`."""
    for constraint in metadata:
        if isinstance(constraint, FieldInfo):
            yield from constraint.metadata
        elif isinstance(constraint, annotated_types.GroupedMetadata):
            yield from constraint
        else:
            yield constraint
