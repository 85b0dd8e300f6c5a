"""The log port's values and errors; what a log does is held by the contract tests of every log."""

from datetime import UTC, datetime

import pytest

from schemas.errors import PitwatchError
from schemas.log import Fenced, LogError, LogUnavailable, Position, Record


def test_a_record_and_a_position_name_one_place() -> None:
    record = Record("table-events", 3, 41, "BAC-01", b"{}", datetime(2026, 3, 1, tzinfo=UTC))
    assert Position(*record[:3]) == Position(topic="table-events", partition=3, offset=41)
    assert Position("rounds", 0, 1) < Position("rounds", 0, 2) < Position("rounds", 1, 0)


@pytest.mark.parametrize("error", [LogUnavailable, Fenced])
def test_what_a_log_raises_is_caught_as_one(error: type[LogError]) -> None:
    with pytest.raises(LogError):
        raise error("broker away")
    assert issubclass(LogError, PitwatchError)
