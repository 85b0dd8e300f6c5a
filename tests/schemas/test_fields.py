"""The field types: what each accepts, in JSON and in Python, and the moments in between."""

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from schemas.fields import (
    EARLIEST,
    LATEST,
    MAX_DEPTH,
    Changes,
    Day,
    EventId,
    Instant,
    Model,
    Name,
    Ratio,
    StrictModel,
    TableId,
)

instant: TypeAdapter[datetime] = TypeAdapter(Instant)
day: TypeAdapter[date] = TypeAdapter(Day)
changes: TypeAdapter[object] = TypeAdapter(Changes)

MICROSECOND = timedelta(microseconds=1)
offsets = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@given(st.datetimes(EARLIEST.replace(tzinfo=None), LATEST.replace(tzinfo=None) - MICROSECOND), offsets)
def test_a_moment_of_any_zone_becomes_the_same_moment_in_utc(naive: datetime, zone: timezone) -> None:
    local = naive.replace(tzinfo=UTC).astimezone(zone)
    for read in (instant.validate_python(local), instant.validate_python(local.isoformat())):
        assert read == local
        assert read.tzinfo is UTC


@pytest.mark.parametrize("bound", [EARLIEST, LATEST - MICROSECOND])
def test_the_first_and_the_last_moment_are_accepted(bound: datetime) -> None:
    assert instant.validate_python(bound) == bound


@pytest.mark.parametrize("zone", [UTC, timezone(timedelta(hours=14)), timezone(-timedelta(hours=12))])
@pytest.mark.parametrize("moment", [EARLIEST - MICROSECOND, LATEST])
def test_a_moment_outside_the_bounds_is_refused_in_every_zone(moment: datetime, zone: timezone) -> None:
    with pytest.raises(ValidationError, match="must lie in 2000 to 2099"):
        instant.validate_python(moment.astimezone(zone))


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
def test_the_ends_of_the_calendar_are_refused_and_do_not_overflow(text: str) -> None:
    with pytest.raises(ValidationError, match="must lie in"):
        instant.validate_python(text)


@pytest.mark.parametrize(
    ("text", "microsecond"),
    [("00.1234564Z", 123456), ("00.1234567Z", 123457), ("00.9999999Z", 0), ("00.000000999999Z", 1), ("00Z", 0)],
)
def test_fractions_finer_than_a_microsecond_are_rounded(text: str, microsecond: int) -> None:
    assert instant.validate_python(f"2026-03-01T12:34:{text}").microsecond == microsecond


@pytest.mark.parametrize(
    "value",
    [
        "2026-03-01T12:34:56", "2026-03-01", "12:34:56Z", "2026-02-29T00:00:00Z", "2026-03-01T24:00:00Z",
        "2026-03-01T12:34:60Z", "２026-03-01T12:34:56Z", "2026-03-01T12:34:56Z\n", "1772368496", "now", "",
        1_772_368_497, 1772368496.5, True, None, date(2026, 3, 1), datetime(2026, 3, 1, 12),  # noqa: DTZ001
    ],
)  # fmt: skip
def test_what_is_no_moment_is_refused(value: object) -> None:
    with pytest.raises(ValidationError):
        instant.validate_python(value)


def test_days_are_written_as_year_month_and_day() -> None:
    assert day.validate_python("2024-02-29") == day.validate_python(date(2024, 2, 29)) == date(2024, 2, 29)


@pytest.mark.parametrize(
    "value", ["2023-02-29", "20240229", "1709164800", "2024-2-9", "2024-02-29T00:00:00Z", "", 1709164801, True, None]
)
def test_what_is_no_day_is_refused(value: object) -> None:
    with pytest.raises(ValidationError):
        day.validate_python(value)


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        (TableId, ["B", "BAC-01", "b.a_c-9", "B" * 40], ["", "-B", ".", "B" * 41, "B\n", "B:1", "B 1", "桌", "Ｂ"]),
        (Name, ["D", "D 9", "a@b.c/d-e_f", "D" * 60], ["", " D", "D" * 61, "D\n", "陳", "D\x00", "D:9", "１"]),
        (EventId, ["B:0:0", "BAC-01:3:1207"], ["B:1", "B:01:1", "B:1:1\n", "B:-1:1", "B:1:１", ":1:1"]),
        (Ratio, ["8", "0.05", "1/2", "27/50", "0"], ["", ".5", "1/0", "1/", "-1", "1e3", "1.0000001", "1/02", "８"]),
    ],
)
def test_texts_with_a_shape_accept_it_and_nothing_else(kind: Any, good: list[str], bad: list[str]) -> None:  # noqa: ANN401
    adapter: TypeAdapter[str] = TypeAdapter(kind)
    assert [adapter.validate_python(text) for text in good] == good
    for text in bad:
        with pytest.raises(ValidationError):
            adapter.validate_python(text)


def nested(depth: int) -> object:
    return {"x": nested(depth - 1)} if depth else None


def test_changes_keep_what_they_hold_down_to_the_last_level() -> None:
    deepest = nested(MAX_DEPTH - 1)
    assert changes.validate_python(deepest) == deepest
    with pytest.raises(ValidationError, match=f"nested more than {MAX_DEPTH} deep"):
        changes.validate_python(nested(MAX_DEPTH))


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1, 1e309, float("nan")])
def test_changes_refuse_numbers_that_cannot_be_written_again(value: object) -> None:
    for inside in (value, [[value]], {"a": value}):
        with pytest.raises(ValidationError, match=r"too large|64 bits"):
            changes.validate_python({"x": inside})


def test_messages_keep_unknown_fields_and_what_people_write_may_not_have_any() -> None:
    class Message(Model):
        known: int

    class Written(StrictModel):
        known: int

    assert Message.model_validate({"known": 1, "new": 2}).model_extra == {"new": 2}
    with pytest.raises(ValidationError, match="new\n  Extra inputs are not permitted"):
        Written.model_validate({"known": 1, "new": 2})


@pytest.mark.parametrize("base", [Model, StrictModel])
def test_models_do_not_change(base: type[Model | StrictModel]) -> None:
    class Value(base):  # type: ignore[misc, valid-type]  # a base chosen by the test
        known: int

    value = Value(known=1)
    with pytest.raises(ValidationError, match="frozen"):
        value.known = 2
