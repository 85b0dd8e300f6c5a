"""The field types every message is made of: identifiers, counts, amounts and instants, each with its bounds."""

import math
from datetime import UTC, date, datetime
from typing import Annotated, Any, Final

import msgspec
from pydantic import AfterValidator, AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, JsonValue

from schemas.ids import EVENT_ID_PATTERN, TABLE_ID_PATTERN
from schemas.money import MAX_AMOUNT, MAX_PAYOUT, MAX_STAKE

EARLIEST: Final = datetime(2000, 1, 1, tzinfo=UTC)
LATEST: Final = datetime(2100, 1, 1, tzinfo=UTC)
"""A moment lies from `EARLIEST` on and before `LATEST`: a clock that says otherwise was never set."""

MAX_DEPTH: Final = 8
"""How deep objects and lists may lie in each other: twice what a whole configuration needs."""


class Model(BaseModel):
    """Base of every model of the contract: immutable, and unknown fields are kept rather than refused."""

    # What Pitwatch writes has every field: the schema of a written message promises that to its readers.
    model_config = ConfigDict(frozen=True, extra="allow", json_schema_serialization_defaults_required=True)


class StrictModel(BaseModel):
    """Base of what people write by hand: a misspelt field is an error, not a silent default."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def _parse_instant(value: object) -> datetime:
    """Read text as RFC 3339 exactly as the fast decoder does, so that both agree to the microsecond."""
    return value if isinstance(value, datetime) else _parse(value, Annotated[datetime, msgspec.Meta(tz=True)])


def _parse_day(value: object) -> date:
    """Read text as YYYY-MM-DD and nothing else: pydantic alone takes digits for seconds since 1970."""
    return value if type(value) is date else _parse(value, date)


def _parse(value: object, kind: Any) -> Any:  # noqa: ANN401  an annotation, and what it is the type of
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from error


def _to_utc(value: datetime) -> datetime:
    if not EARLIEST <= value < LATEST:
        raise ValueError(f"the moment must lie in {EARLIEST.year} to {LATEST.year - 1} (UTC)")
    moment: datetime = value.astimezone(UTC)
    return moment


def _bounded(changes: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Return `changes` if every value in it can be written again and read back as it is."""
    level: list[JsonValue] = [changes]
    for _ in range(MAX_DEPTH):
        below: list[JsonValue] = []
        for value in level:
            if isinstance(value, dict):
                below.extend(value.values())
            elif isinstance(value, list):
                below.extend(value)
            elif isinstance(value, float) and not math.isfinite(value):
                raise ValueError("a number is too large")
            elif isinstance(value, int) and not -(2**63) <= value < 2**63:
                raise ValueError("a whole number does not fit 64 bits")
        level = below
    if level:
        raise ValueError(f"nested more than {MAX_DEPTH} deep")
    return changes


TableId = Annotated[str, Field(pattern=TABLE_ID_PATTERN)]
"""A table, unique on the floor: letters, digits, ``_ . -``, at most 40."""

NAME_PATTERN: Final = r"^[A-Za-z0-9][A-Za-z0-9_.@/ -]{0,59}$"

Name = Annotated[str, Field(pattern=NAME_PATTERN)]
"""A person, pit, bet position or slip: what a badge or a form says, at most 60 characters."""

EventId = Annotated[str, Field(pattern=EVENT_ID_PATTERN)]
"""``table:epoch:seq``."""

Text = Annotated[str, Field(max_length=500)]
"""Free text written by a person."""

Count = Annotated[int, Field(ge=0, le=10**9)]
"""A number of things."""

Ordinal = Annotated[int, Field(ge=1, le=10**9)]
"""The number of a shoe at its table, or of a round in its shoe, counted from one."""

Sequence = Annotated[int, Field(ge=0, le=2**62)]
"""An epoch, a sequence number or an offset of the log."""

Amount = Annotated[int, Field(ge=0, le=MAX_AMOUNT)]
"""Money in minor units, not negative."""

Chips = Annotated[int, Field(ge=1, le=MAX_AMOUNT)]
"""Money in minor units, at least one."""

Stake = Annotated[int, Field(ge=1, le=MAX_STAKE)]
"""Money on one bet in minor units, at least one."""

Payout = Annotated[int, Field(ge=1, le=MAX_PAYOUT)]
"""What one bet may win in minor units, at least one."""

Seat = Annotated[int, Field(ge=0, le=30)]
"""A seat number; 0 is the dealer's own place."""

Instant = Annotated[AwareDatetime, BeforeValidator(_parse_instant), AfterValidator(_to_utc)]
"""A moment in UTC, to the microsecond."""

Day = Annotated[date, BeforeValidator(_parse_day)]
"""A calendar day: ``2024-04-01``."""

Ratio = Annotated[str, Field(pattern=r"^[0-9]{1,6}(\.[0-9]{1,6}|/[1-9][0-9]{0,5})?$")]
"""An exact number written as a decimal or a fraction: ``8``, ``0.05``, ``1/2``."""

Changes = Annotated[dict[str, JsonValue], Field(max_length=20), AfterValidator(_bounded)]
"""Fields of an event and their new values."""
