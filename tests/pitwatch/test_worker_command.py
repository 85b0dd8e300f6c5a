"""`pitwatch worker`: what keeps it from starting is told in a line. At work it is in tests/processors/streams."""

from pathlib import Path

import pytest

from processors.logs.lock import lock_data_directory
from tests.pitwatch.command_line import CommandLine


def configured(folder: Path, properties: str = "") -> Path:
    config = folder / "pitwatch.toml"
    config.write_text(f'data_directory = "{folder / "data"}"\n[kafka]\nbootstrap = "127.0.0.1:1"\n{properties}')
    return config


def test_property_that_faust_cant_be_given_is_refused(pitwatch: CommandLine, tmp_path: Path) -> None:
    config = configured(tmp_path, '[kafka.properties]\n"sasl.kerberos.keytab" = "table.keytab"\n')
    answer = pitwatch("worker", "--config", config)
    assert answer.exit_code == 2
    assert "'sasl.kerberos.keytab' has no counterpart in the worker's Faust consumer" in answer.err


def test_data_directory_has_one_worker(pitwatch: CommandLine, tmp_path: Path) -> None:
    """Two would send from one queue."""
    with lock_data_directory(tmp_path / "data"):
        answer = pitwatch("worker", "--config", configured(tmp_path))
    assert answer.exit_code == 2
    assert str(tmp_path / "data") in answer.err


def test_floor_without_a_cluster_has_no_worker(pitwatch: CommandLine, tmp_path: Path) -> None:
    config = tmp_path / "pitwatch.toml"
    config.write_text("")
    answer = pitwatch("worker", "--config", config)
    assert answer.exit_code == 2
    assert "kafka.bootstrap" in answer.err


@pytest.mark.parametrize("word", ["windows of play", "notifications", "silent tables"])
def test_help_says_what_it_does(pitwatch: CommandLine, word: str) -> None:
    assert word in pitwatch("worker", "--help").out.decode()
