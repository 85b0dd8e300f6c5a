"""Errors in ClickHouse's words, which its clients take apart."""

from http import HTTPStatus

import pytest

from processors.sql.refusals import READONLY, REQUIRED_PASSWORD, TOO_MANY_QUERIES, Fault, Refused, engines


def test_text_is_as_clients_expect_it() -> None:
    text = Refused(READONLY, "Cannot modify.").text("26.9.2.1")
    assert text == "Code: 164. DB::Exception: Cannot modify. (READONLY) (version 26.9.2.1)\n"


@pytest.mark.parametrize(
    ("text", "fault", "message"),
    [
        ("Code: 62. DB::Exception: Syntax error: x. (SYNTAX_ERROR)", Fault(62, "SYNTAX_ERROR"), "Syntax error: x."),
        (
            "Streaming query failed: Code: 395. DB::Exception: (a) b. (FUNCTION_THROW_IF_VALUE_IS_NON_ZERO)",
            Fault(395, "FUNCTION_THROW_IF_VALUE_IS_NON_ZERO"),
            "(a) b.",
        ),
        (
            "Code: 27. DB::Exception: Code: 27. DB::Exception: No. (X_Y) (version 26.9.2.1 (official build))",
            Fault(27, "X_Y"),
            "No.",
        ),
        ("Code: 7. DB::Exception: no name", Fault(7, "UNKNOWN_EXCEPTION"), "no name"),
        ("something else", Fault(1002, "UNKNOWN_EXCEPTION"), "something else"),
    ],
)
def test_engines_errors_are_taken_apart(text: str, fault: Fault, message: str) -> None:
    refused = engines(RuntimeError(text))
    assert (refused.fault, str(refused)) == (fault, message)


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        (REQUIRED_PASSWORD, HTTPStatus.UNAUTHORIZED),
        (Fault(516, "AUTHENTICATION_FAILED"), HTTPStatus.FORBIDDEN),
        (Fault(62, "SYNTAX_ERROR"), HTTPStatus.BAD_REQUEST),
        (Fault(60, "UNKNOWN_TABLE"), HTTPStatus.NOT_FOUND),
        (Fault(159, "TIMEOUT_EXCEEDED"), HTTPStatus.REQUEST_TIMEOUT),
        (TOO_MANY_QUERIES, HTTPStatus.SERVICE_UNAVAILABLE),
        (Fault(241, "MEMORY_LIMIT_EXCEEDED"), HTTPStatus.INTERNAL_SERVER_ERROR),
    ],
)
def test_status_is_the_one_that_clickhouse_has_for_it(fault: Fault, status: HTTPStatus) -> None:
    assert Refused(fault, "").status is status
