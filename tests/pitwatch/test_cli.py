"""The command line as a whole: it answers for itself, and what Pitwatch refuses is one line and exit code 2."""

import re
import tomllib
from pathlib import Path

import pytest
import typer

from pitwatch.cli import app
from schemas.errors import PitwatchError
from tests.pitwatch.command_line import CommandLine

COMMANDS = sorted(typer.main.get_command(app).list_commands(None))  # type: ignore[attr-defined]  # a group's


def test_called_without_anything_it_says_what_there_is(pitwatch: CommandLine) -> None:
    answer = pitwatch()
    assert answer.exit_code == 2
    said = (answer.out.decode() + answer.err).split()
    assert {"run", "ingest", "import-hands", "replay", "sql", "token", "show"} <= set(said)


def test_its_version_is_the_distributions(pitwatch: CommandLine, repository: Path) -> None:
    project = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert pitwatch("--version") == (0, f"pitwatch {project['version']}\n".encode(), "")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(pitwatch: CommandLine, command: str) -> None:
    answer = pitwatch(command, "--help")
    assert (answer.exit_code, answer.err) == (0, "")
    assert re.search(rf"Usage: .* {command} ", answer.out.decode())


@pytest.mark.parametrize("command", ["gateway", "reconstruct", "worker", "sink", "migrate"])
def test_help_keeps_what_stands_in_brackets(pitwatch: CommandLine, command: str) -> None:
    """Settings' tables are written so, and Rich takes brackets for its own."""
    assert re.search(r"\[(kafka|store)\]", pitwatch(command, "--help").out.decode())


@pytest.mark.parametrize("arguments", [["nonsense"], ["sql"], ["sql", "SELECT 1", "--nonsense"], ["run"]], ids=" ".join)
def test_wrong_call_is_refused(pitwatch: CommandLine, arguments: list[str]) -> None:
    answer = pitwatch(*arguments)
    assert (answer.exit_code, answer.out) == (2, b"")
    assert "Traceback" not in answer.err


def test_what_pitwatch_refuses_is_told_in_a_line(pitwatch: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise PitwatchError("the moon is in the wrong house")

    monkeypatch.setattr("pitwatch.cli.app", refuse)
    assert pitwatch() == (2, b"", "pitwatch: the moon is in the wrong house\n")


def test_defect_is_not_disguised(pitwatch: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise KeyError("a defect")

    monkeypatch.setattr("pitwatch.cli.app", fail)
    with pytest.raises(KeyError, match="a defect"):
        pitwatch()
