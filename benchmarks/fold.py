"""One core, from bytes to facts as bytes, beside what reading and validating alone cost."""

from collections.abc import Callable, Iterator

from processors.reconstruct.fold import FoldSettings, TableFold
from schemas.events import EVENT_ADAPTER
from schemas.log import Record
from schemas.wire import decode_event, encode


def validate(records: list[Record]) -> int:
    """Validate every message with the contract's pydantic models, the plain way to consume events."""
    for record in records:
        EVENT_ADAPTER.validate_json(record.value, strict=True)
    return len(records)


def decode(records: list[Record]) -> int:
    """Validate every message with the models' struct twins, as the hot path does."""
    for record in records:
        decode_event(record.value)
    return len(records)


def fold(records: list[Record]) -> int:
    """Decode every message, fold it, and encode the facts."""
    settings = FoldSettings()
    folds: dict[str, TableFold] = {}
    for record in records:
        table = folds.get(record.key)
        if table is None:
            table = folds[record.key] = TableFold(record.key, settings)
        for fact in table.apply(record):
            encode(fact)
    return len(records)


def cases() -> Iterator[tuple[str, Callable[[list[Record]], int]]]:
    """Yield what is measured on one core, by name."""
    yield "consume + validate (pydantic models)", validate
    yield "consume + validate (struct twins)", decode
    yield "reconstruct: bytes to facts", fold
