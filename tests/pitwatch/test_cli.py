"""The command line as a whole: it answers for itself, and what Pitwatch refuses is one line and exit code 2."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from pitwatch.cli import app
from pitwatch.extras import how_to_install
from schemas.errors import PitwatchError
from tests.pitwatch.command_line import CommandLine, start

COMMANDS = sorted(typer.main.get_command(app).list_commands(None))  # type: ignore[attr-defined]  # a group's

CODE = re.compile(r"```\w*\n(?P<block>.*?)```|`(?P<phrase>[^`]+)`", re.DOTALL)
CALL = re.compile(r"(?<!\S)pitwatch +(?P<arguments>[a-z][^#|\n]*)")


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


def calls_in(page: Path) -> Iterator[list[str]]:
    """Yield the arguments of each call of `pitwatch` that a page shows."""
    for found in CODE.finditer(page.read_text(encoding="utf-8")):
        # A phrase may be broken over two lines.
        code = found["block"] or found["phrase"].replace("\n", " ")
        yield from (call["arguments"].split() for call in CALL.finditer(code))


def what_is_wrong_with(arguments: list[str]) -> str | None:
    command: Any = typer.main.get_command(app)
    rest = list(arguments)
    while hasattr(command, "commands"):
        if not rest or rest[0] not in command.commands:
            return "no such command"
        command = command.commands[rest.pop(0)]
    known = {"--help"}.union(*(option.opts for option in command.params))
    unknown = [word for word in rest if word.startswith("--") and word not in known]
    return f"no such option: {unknown}" if unknown else None


def test_pages_call_commands_with_options_that_are_there(repository: Path) -> None:
    pages = [repository / "README.md", repository / "CONTRIBUTING.md", *(repository / "docs").glob("*.md")]
    calls = [(page.name, arguments) for page in pages for arguments in calls_in(page)]
    assert ("operations.md", ["topics", "create", "--config", "pitwatch.toml"]) in calls
    assert [(*call, wrong) for call in calls if (wrong := what_is_wrong_with(call[1]))] == []


@pytest.mark.parametrize("arguments", [["nonsense"], ["topics", "nonsense"], ["sql", "--nonsense"]], ids=" ".join)
def test_call_of_a_page_that_is_wrong_is_found(arguments: list[str]) -> None:
    assert what_is_wrong_with(arguments)


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


WITHOUT_KAFKA = """
import sys


class NotInstalled:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name in {"aiokafka", "confluent_kafka", "faust", "mode"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, NotInstalled)
"""
"""What a process does first in which these are not to be found."""


@pytest.fixture
def floor(tmp_path: Path) -> Path:
    """Settings of a floor with a cluster and a store's server, which nobody answers for."""
    path = tmp_path / "pitwatch.toml"
    path.write_text('[kafka]\nbootstrap = "127.0.0.1:9"\n\n[store]\nurl = "http://127.0.0.1:9"\n')
    return path


@pytest.mark.parametrize(
    "command",
    [
        ["gateway"],
        ["reconstruct"],
        ["sink"],
        ["topics", "create"],
        ["topics", "check"],
        ["topics", "acls"],
        ["topics", "replay", "--yes"],
        ["topics", "replay", "--finish"],
        ["worker"],
    ],
    ids=" ".join,
)
def test_command_whose_packages_are_missing_says_how_to_install_them(
    repository: Path, floor: Path, command: list[str]
) -> None:
    with start(repository, *command, "--config", floor, first=WITHOUT_KAFKA) as process:
        out, said = process.communicate(timeout=60)
    assert (process.returncode, out) == (2, "")
    assert re.search(
        r"^pitwatch: this needs the package (confluent_kafka|faust), which is not installed\. .*"
        r" -m pip install -c constraints\.txt -e '\.\[distributed\]' \(for Kafka and servers\)\n\Z",
        said,
        re.MULTILINE,
    )
    assert "Traceback" not in said


def test_package_of_two_extras_is_offered_by_both(pitwatch: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise ModuleNotFoundError("No module named 'clickhouse_connect'", name="clickhouse_connect")

    monkeypatch.setattr("pitwatch.cli.app", fail)
    assert "-e '.[embedded]' (for one machine) or '.[distributed]' (for Kafka" in pitwatch().err


@pytest.mark.parametrize("name", ["backports", "backports.zstd"])
def test_package_within_a_namespace_is_known_with_it_and_without(name: str) -> None:
    assert "[embedded]" in (how_to_install(ModuleNotFoundError(name=name)) or "")


def test_what_another_package_says_of_a_missing_one_is_understood() -> None:
    failure = ImportError("The chdb backend requires the chdb package")
    failure.__cause__ = ModuleNotFoundError("No module named 'chdb'", name="chdb")
    assert "package chdb, which is not installed" in (how_to_install(failure) or "")


@pytest.mark.parametrize(
    "error",
    [
        ModuleNotFoundError("a defect", name="nonsense"),
        ModuleNotFoundError("a defect", name="confluent_kafka.nonsense"),
        ModuleNotFoundError("a defect"),
        ImportError("a defect", name="confluent_kafka"),
    ],
    ids=["unknown", "within", "nameless", "not missing"],
)
def test_import_that_fails_otherwise_is_a_defect(
    pitwatch: CommandLine, monkeypatch: pytest.MonkeyPatch, error: ImportError
) -> None:
    def fail() -> None:
        raise error

    monkeypatch.setattr("pitwatch.cli.app", fail)
    with pytest.raises(ImportError, match="a defect"):
        pitwatch()
