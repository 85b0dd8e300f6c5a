# ruff: noqa: ANN401  annotations are values here, and values of every kind
"""Fast twins of the contract's models.

The contract is written once, as pydantic models. Decoding with pydantic costs several microseconds an event, more than
a table's whole share of the hot path, so `struct_of` derives from a model the msgspec struct with the same fields, the
same bounds and the same defaults. A test holds that a twin accepts nothing which its model refuses.
"""

import types
from datetime import datetime
from typing import Annotated, Any, Final, TypeVar, Union, cast, get_args, get_origin

import annotated_types
import msgspec
from pydantic import AwareDatetime, BaseModel, JsonValue
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

M = TypeVar("M", bound=BaseModel)

_twins: dict[type[BaseModel], type[Any]] = {}

# Constraint of annotated-types → the keyword of msgspec.Meta that says the same.
_BOUNDS: Final[dict[type, str]] = {
    annotated_types.Ge: "ge",
    annotated_types.Gt: "gt",
    annotated_types.Le: "le",
    annotated_types.Lt: "lt",
    annotated_types.MinLen: "min_length",
    annotated_types.MaxLen: "max_length",
}


def struct_of(model: type[M], *, tag: str | None = None, tag_field: str = "type") -> type[M]:
    """Return the struct twin of `model`, typed as the model itself so that callers stay checked.

    With `tag`, the twin is one arm of a tagged union: `tag_field` comes first on the wire and is read as an attribute.
    """
    if model not in _twins:
        fields = [
            (name, _translate(field.annotation, field.metadata), _default(field))
            if not field.is_required()
            else (name, _translate(field.annotation, field.metadata))
            for name, field in model.model_fields.items()
            if tag is None or name != tag_field
        ]
        _twins[model] = msgspec.defstruct(
            model.__name__,
            fields,
            kw_only=True,
            tag=tag,
            tag_field=tag_field if tag else None,
            namespace={tag_field: tag, "__doc__": model.__doc__} if tag else {"__doc__": model.__doc__},
            module=model.__module__,
            gc=True,
        )
    return cast(type[M], _twins[model])


def _default(field: FieldInfo) -> Any:
    if field.default_factory is not None:
        return msgspec.field(default_factory=cast(Any, field.default_factory))
    assert field.default is not PydanticUndefined
    return field.default


def _translate(annotation: Any, metadata: list[Any]) -> Any:
    """Return the msgspec annotation that accepts what the pydantic one accepts."""
    if annotation is JsonValue:
        return Any
    origin = get_origin(annotation)
    if origin is Annotated:
        inner, *more = get_args(annotation)
        return _translate(inner, [*more, *metadata])
    if origin in (Union, types.UnionType):
        arms = get_args(annotation)
        return Union[tuple(_translate(arm, metadata if arm is not type(None) else []) for arm in arms)]  # noqa: UP007
    if origin is tuple:
        arms = tuple(arm if arm is Ellipsis else _translate(arm, []) for arm in get_args(annotation))
        return _bounded(types.GenericAlias(tuple, arms), metadata)
    if origin is dict:
        arms = tuple(_translate(arm, []) for arm in get_args(annotation))
        return _bounded(types.GenericAlias(dict, arms), metadata)
    if annotation in (AwareDatetime, datetime):
        return Annotated[datetime, msgspec.Meta(tz=True)]
    is_model = isinstance(annotation, type) and issubclass(annotation, BaseModel)
    return struct_of(annotation) if is_model else _bounded(annotation, metadata)


def _bounded(annotation: Any, metadata: list[Any]) -> Any:
    bounds: dict[str, Any] = {}
    for constraint in metadata:
        for kind, keyword in _BOUNDS.items():
            if isinstance(constraint, kind):
                bounds[keyword] = getattr(constraint, keyword)
        if isinstance(constraint, annotated_types.Interval | annotated_types.Len):
            bounds |= {b: v for b in _BOUNDS.values() if (v := getattr(constraint, b, None)) is not None}
        if pattern := getattr(constraint, "pattern", None):
            # Python's `$` also matches before a final newline; pydantic's does not.
            bounds["pattern"] = pattern.removesuffix("$") + "\\Z" if pattern.endswith("$") else pattern
    return Annotated[annotation, msgspec.Meta(**bounds)] if bounds else annotation
