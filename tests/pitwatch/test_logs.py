"""Logs go to standard error: one JSON object a line, or text for a person; ours and the libraries' alike."""

import json
import logging
import sys

import pytest
import structlog

from pitwatch.logs import configure_logs

pytestmark = pytest.mark.usefixtures("configured_logs")


def test_each_line_is_an_object_with_its_level_and_time(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logs()
    structlog.get_logger("ours").info("loop_waits", loop="sink", place=("rounds", 0, 7))
    logging.getLogger("theirs").warning("%s went wrong", "something")
    out, err = capsys.readouterr()
    assert out == ""
    ours, theirs = (json.loads(line) for line in err.splitlines())
    assert (ours.pop("timestamp").endswith("Z"), theirs.pop("timestamp").endswith("Z")) == (True, True)
    assert ours == {"event": "loop_waits", "level": "info", "loop": "sink", "place": ["rounds", 0, 7]}
    assert theirs == {"event": "something went wrong", "level": "warning"}


def test_error_comes_with_its_trace_in_the_same_line(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logs()
    try:
        raise KeyError("T01")
    except KeyError as error:
        structlog.get_logger().error("loop_failed", exc_info=error)
    (line,) = capsys.readouterr().err.splitlines()
    assert "KeyError: 'T01'" in json.loads(line)["exception"]


def test_level_is_a_floor_for_all(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logs(logging.WARNING)
    structlog.get_logger().info("running")
    logging.getLogger("theirs").info("connected")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("library", ["urllib3.connectionpool", "clickhouse_connect.driver.httpclient"])
def test_what_comes_as_an_error_of_ours_is_not_told_by_a_library_too(
    capsys: pytest.CaptureFixture[str], library: str
) -> None:
    configure_logs()
    logging.getLogger(library).warning("Retrying after connection broken")
    assert capsys.readouterr().err == ""
    logging.getLogger(library).error("no retry helps")
    assert json.loads(capsys.readouterr().err)["event"] == "no retry helps"


@pytest.mark.parametrize(("level", "told"), [(logging.INFO, 1), (logging.WARNING, 0)])
def test_kafkas_connections_are_told_by_services_alone(
    capsys: pytest.CaptureFixture[str], level: int, told: int
) -> None:
    configure_logs(level)
    logging.getLogger("processors.logs.kafka").error("FAIL: Connection refused")
    assert len(capsys.readouterr().err.splitlines()) == told


def test_person_at_a_terminal_gets_text(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    configure_logs()
    structlog.get_logger().info("running", tables=4)
    err = capsys.readouterr().err
    assert "running" in err
    assert not err.startswith("{")
