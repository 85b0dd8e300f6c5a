"""`pitwatch schema`: what it prints, what it writes, and what it says where it can't."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pitwatch.commands.schema import app, as_text
from schemas.export import asyncapi, documents
from schemas.reference import pages

runner = CliRunner()


def written(folder: Path) -> dict[str, str]:
    return {p.relative_to(folder).as_posix(): p.read_text(encoding="utf-8") for p in folder.rglob("*") if p.is_file()}


def test_export_prints_the_asyncapi_document() -> None:
    result = runner.invoke(app, ["export"])
    assert result.exit_code == 0
    assert json.loads(result.stdout) == asyncapi()


def test_export_writes_every_document(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    result = runner.invoke(app, ["export", "--out", str(folder)])
    assert result.exit_code == 0
    assert result.stdout == ""
    assert f"{len(documents())} files written into {folder}" in result.stderr
    assert written(folder) == {path: as_text(document) for path, document in documents().items()}


def test_reference_prints_both_pages() -> None:
    result = runner.invoke(app, ["reference"])
    assert result.exit_code == 0
    assert all(page in result.stdout for page in pages().values())


def test_reference_writes_its_pages_over_older_ones(tmp_path: Path) -> None:
    (tmp_path / "events.md").write_text("old")
    assert runner.invoke(app, ["reference", "--out", str(tmp_path)]).exit_code == 0
    assert written(tmp_path) == pages()


@pytest.mark.parametrize("command", ["export", "reference"])
def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path, command: str) -> None:
    file = tmp_path / "file"
    file.touch()
    result = runner.invoke(app, [command, "--out", str(file / "x")], env={"COLUMNS": "500"})
    assert result.exit_code == 2
    assert "can't write there" in result.stderr
    assert str(file) in result.stderr


def test_files_end_with_a_newline_and_keep_chinese_readable() -> None:
    assert as_text({"zh": "牌靴"}) == '{\n  "zh": "牌靴"\n}\n'
