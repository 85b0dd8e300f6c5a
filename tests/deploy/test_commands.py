"""What docker-compose.yml has Pitwatch do exists, with those options."""

import pytest
from typer.testing import CliRunner

from pitwatch.cli import app
from pitwatch.exits import GOOD, UNUSABLE
from tests.deploy.compose import pitwatch_commands, read

COMMANDS = [pytest.param(command, id=name) for name, command in sorted(pitwatch_commands(read()).items())]


def asked_for_help(command: list[str]) -> int:
    """Return the exit code of a command that has all its options read, and then explains itself instead of running."""
    return CliRunner().invoke(app, [*command, "--help"]).exit_code


@pytest.mark.parametrize("command", COMMANDS)
def test_command_takes_its_arguments(command: list[str]) -> None:
    assert asked_for_help(command) == GOOD


@pytest.mark.parametrize("command", [["nosuch"], ["run", "--nosuch"], ["schema", "nosuch"]])
def test_what_is_not_there_is_found(command: list[str]) -> None:
    assert asked_for_help(command) == UNUSABLE


@pytest.mark.parametrize("command", [["run", "--config", "x.toml"], ["schema", "export", "--out", "x"]])
def test_what_is_there_is_taken(command: list[str]) -> None:
    assert asked_for_help(command) == GOOD
