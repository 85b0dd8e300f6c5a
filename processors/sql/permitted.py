"""Which of ClickHouse's settings a request may bring, and what is in force for it. Pure."""

from collections.abc import Mapping
from typing import Final

from processors.sql.refusals import BAD_ARGUMENTS, READONLY, Refused

LOWERED: Final = frozenset({
    "max_bytes_to_read", "max_execution_time", "max_memory_usage", "max_result_bytes", "max_result_rows",
    "max_rows_to_read", "max_threads",
})  # fmt: skip
"""Limits: readers may lower them, and who asks for more gets what there is. Zero asks for no limit."""

SHAPES: Final = frozenset({
    "bool_false_representation", "bool_true_representation", "cast_string_to_dynamic_use_inference",
    "date_time_input_format", "date_time_output_format", "extremes", "format_csv_delimiter",
    "format_csv_null_representation", "format_tsv_null_representation", "group_by_use_nulls", "join_use_nulls", "limit",
    "max_block_size", "offset", "output_format_arrow_compression_method", "output_format_arrow_string_as_string",
    "output_format_arrow_use_64_bit_indexes_for_dictionary", "output_format_binary_write_json_as_string",
    "output_format_csv_crlf_end_of_line", "output_format_decimal_trailing_zeros", "output_format_json_array_of_rows",
    "output_format_json_named_tuples_as_objects", "output_format_json_quote_64bit_floats",
    "output_format_json_quote_64bit_integers", "output_format_json_quote_decimals",
    "output_format_json_quote_denormals", "output_format_json_validate_utf8",
    "output_format_native_write_json_as_string",
    "output_format_parquet_compression_method", "output_format_parquet_row_group_size",
    "output_format_parquet_string_as_string", "output_format_pretty_color", "output_format_pretty_max_rows",
    "output_format_pretty_max_value_width", "output_format_pretty_row_numbers",
    "output_format_tsv_crlf_end_of_line", "output_format_write_statistics", "result_overflow_mode", "session_timezone",
})  # fmt: skip
"""What an answer looks like. Not by prefix: some settings of formats name files to read or to write."""

WRITERS: Final = frozenset({
    "async_insert", "distributed_foreground_insert", "do_not_merge_across_partitions_select_final",
    "input_format_null_as_default", "input_format_skip_unknown_fields", "insert_deduplicate",
    "max_partitions_per_insert_block", "use_skip_indexes_if_final_exact_mode", "wait_for_async_insert",
})  # fmt: skip
"""What the store's own client sets besides."""

_SWITCH: Final = "readonly"


def for_reader(wanted: Mapping[str, str], limits: Mapping[str, str | int]) -> dict[str, str]:
    """Return the settings in force for a reader who wants these. Raises `Refused`."""
    in_force = {name: str(value) for name, value in limits.items()}
    for name, text in wanted.items():
        if name in LOWERED:
            limit = in_force.get(name, "0")
            in_force[name] = limit if text == "0" else str(min(_whole(name, text), int(limit) or _whole(name, text)))
        elif name in SHAPES:
            in_force[name] = text
        elif name != _SWITCH or text == "0":
            raise Refused(READONLY, f"Cannot modify {name[:80]!r} setting in readonly mode.")
    return in_force


def for_writer(wanted: Mapping[str, str]) -> dict[str, str]:
    """Return the settings in force for a writer who wants these. Raises `Refused`."""
    for name in wanted:
        if name not in LOWERED | SHAPES | WRITERS | {_SWITCH}:
            raise Refused(READONLY, f"Cannot modify {name[:80]!r} setting here.")
    return {name: text for name, text in wanted.items() if name != _SWITCH}


def is_reading_only(wanted: Mapping[str, str]) -> bool:
    """Tell whether a request asks to be held to reading."""
    return wanted.get(_SWITCH, "0") != "0"


def _whole(name: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise Refused(BAD_ARGUMENTS, f"The setting {name} must be a whole number, not {text[:40]!r}.")
    return int(text)
