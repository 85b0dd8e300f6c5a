"""Readers lower their limits and say what answers look like; they change nothing else."""

import pytest

from processors.sql.permitted import LOWERED, SHAPES, WRITERS, for_reader, for_writer, is_reading_only
from processors.sql.refusals import Refused

LIMITS: dict[str, str | int] = {"max_execution_time": 30, "max_memory_usage": 1000, "result_overflow_mode": "throw"}


@pytest.mark.parametrize(
    ("asked", "granted"), [("10", "10"), ("30", "30"), ("31", "30"), ("0", "30"), ("999999999999999999", "30")]
)
def test_limits_are_lowered_and_never_raised(asked: str, granted: str) -> None:
    assert for_reader({"max_execution_time": asked}, LIMITS)["max_execution_time"] == granted


def test_limit_that_there_is_none_of_is_taken() -> None:
    assert for_reader({"max_result_rows": "7"}, LIMITS)["max_result_rows"] == "7"
    assert for_reader({"max_result_rows": "0"}, LIMITS)["max_result_rows"] == "0"


@pytest.mark.parametrize("value", ["", "-1", "1e9", "١", "1' , readonly = '0", "9" * 30])
def test_limit_that_is_no_number_is_refused(value: str) -> None:
    with pytest.raises(Refused, match="whole number"):
        for_reader({"max_execution_time": value}, LIMITS)


def test_shapes_are_taken_as_they_are() -> None:
    found = for_reader({"output_format_json_quote_64bit_integers": "1"}, LIMITS)
    assert found == {name: str(value) for name, value in LIMITS.items()} | {
        "output_format_json_quote_64bit_integers": "1"
    }


@pytest.mark.parametrize(
    "name",
    [
        "allow_ddl", "allow_introspection_functions", "async_insert", "format_schema", "format_template_resultset",
        "input_format_skip_unknown_fields", "output_format_schema", "output_format_sql_insert_table_name", "role",
        "profile", "query_cache_ttl", "log_queries", "x' , readonly = '0",
    ],
)  # fmt: skip
def test_everything_else_is_refused(name: str) -> None:
    with pytest.raises(Refused, match="readonly mode") as refused:
        for_reader({name: "1"}, LIMITS)
    assert refused.value.fault.code == 164


def test_reader_may_ask_to_be_one() -> None:
    for value in ("1", "2"):
        assert for_reader({"readonly": value}, LIMITS) == for_reader({}, LIMITS)
    with pytest.raises(Refused):
        for_reader({"readonly": "0"}, LIMITS)


def test_writer_sets_what_the_store_needs_and_no_more() -> None:
    wanted = dict.fromkeys([*LOWERED, *SHAPES, *WRITERS], "1")
    assert for_writer(wanted | {"readonly": "1"}) == wanted
    with pytest.raises(Refused):
        for_writer({"format_schema": "x"})


@pytest.mark.parametrize(("wanted", "reading"), [({}, False), ({"readonly": "0"}, False), ({"readonly": "2"}, True)])
def test_writer_may_ask_to_be_held_to_reading(wanted: dict[str, str], reading: bool) -> None:
    assert is_reading_only(wanted) is reading
