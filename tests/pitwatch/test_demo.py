"""`pitwatch demo` as a whole: the simulated floor, the real pipeline and store, and the account at the end."""

import io
import signal
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from pitwatch.cli import app
from pitwatch.commands.demo import _stopped_by_signals
from pitwatch.counting import counted
from pitwatch.demonstration import run as run_module
from pitwatch.demonstration.directory import LABELS_FILE, NotADemonstration
from pitwatch.demonstration.plan import DISORDER, plan_floor
from pitwatch.demonstration.run import DemoRun
from pitwatch.exits import FOUND, GOOD
from processors.settings import Settings
from producers.simulator import Arrival, FloorSettings, read_labels, simulate
from tests.pitwatch.floor_facts import label

runner = CliRunner()
NOW = datetime(2026, 3, 4, 5, 6, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _own_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_floor_is_played_stored_and_held_to_account(tmp_path: Path) -> None:
    arguments = ["demo", "--tables", "2", "--rounds", "12", "--speed", "0", "--seed", "5", "--data", "floor"]
    result = runner.invoke(app, arguments)
    assert result.exit_code == GOOD, result.output
    assert "2 檯 tables · 24 局 rounds" in result.output
    assert "0 unexpected alerts, 0 at the 1 clean table" in result.output
    assert "the store's money is the facts' to the cent" in result.output
    assert "✗" not in result.output
    labels = list(read_labels(tmp_path / "floor" / LABELS_FILE))
    assert labels
    assert f"{counted(len(labels), 'deviation')} done on purpose; 0 alerts missed" in result.output

    rounds = runner.invoke(app, ["sql", "SELECT count() FROM rounds WHERE kind = 'live'", "--data", "floor"])
    assert rounds.output.split() == ["count()", "24"]
    assert runner.invoke(app, ["replay", "--check", "--data", "floor"]).exit_code == GOOD
    for command in ("pitwatch sql", "pitwatch show BAC-102 --data floor", "pitwatch replay --check --data floor"):
        assert command in result.output

    again = runner.invoke(app, arguments)
    assert again.exit_code == GOOD
    assert "24 局 rounds" in again.output


def test_without_a_terminal_it_ends_by_itself_and_writes_to_the_usual_place(tmp_path: Path) -> None:
    result = runner.invoke(app, ["demo", "--tables", "1", "--speed", "0"])
    assert result.exit_code == GOOD, result.output
    assert "1 檯 tables · 40 局 rounds" in result.output
    assert (tmp_path / "data" / "demo" / "log.sqlite").is_file()


def test_somebody_else_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "log.sqlite").write_text("precious")
    result = runner.invoke(app, ["demo", "--rounds", "1", "--data", str(tmp_path)])
    assert isinstance(result.exception, NotADemonstration)
    assert (tmp_path / "log.sqlite").read_text() == "precious"


def test_a_deviation_that_nobody_found_fails_the_demonstration(monkeypatch: pytest.MonkeyPatch) -> None:
    def with_one_more(settings: FloorSettings) -> Iterator[Arrival]:
        claimed = False
        for arrival in simulate(settings):
            if arrival.event.type == "round_closed" and not claimed:
                claimed = True
                yield arrival._replace(labels=(label("overpaid", round=1),))
            else:
                yield arrival

    monkeypatch.setattr(run_module, "simulate", with_one_more)
    result = runner.invoke(app, ["demo", "--tables", "2", "--rounds", "2", "--speed", "0", "--data", "floor"])
    assert result.exit_code == FOUND
    assert "漏 missed overpaid: BAC-101 靴 shoe 1 局 round 1 (BAC-101:1:1): done on purpose: overpaid" in result.output


def test_an_alert_that_nobody_caused_fails_the_demonstration(monkeypatch: pytest.MonkeyPatch) -> None:
    def without_labels(settings: FloorSettings) -> Iterator[Arrival]:
        return (arrival._replace(labels=()) for arrival in simulate(settings))

    monkeypatch.setattr(run_module, "simulate", without_labels)
    result = runner.invoke(
        app, ["demo", "--tables", "2", "--rounds", "12", "--speed", "0", "--seed", "5", "--data", "floor"]
    )
    assert result.exit_code == FOUND
    assert "意外 unexpected" in result.output


def test_on_a_terminal_the_floor_is_a_picture_that_gives_way_to_the_summary(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Console(file=io.StringIO(), force_terminal=True, width=120, height=40, color_system="truecolor")
    monkeypatch.setattr("pitwatch.commands.demo.Console", lambda: terminal)
    result = runner.invoke(app, ["demo", "--tables", "2", "--rounds", "3", "--speed", "0", "--data", "floor"])
    assert result.exit_code == GOOD, result.output
    assert isinstance(terminal.file, io.StringIO)
    shown, _, after = terminal.file.getvalue().rpartition("\x1b[?1049l")
    assert shown.startswith("\x1b[?1049h")
    assert "PITWATCH" in shown
    assert "6/6" in shown
    assert "模擬場總結" in after


@pytest.mark.parametrize("seconds", [400.0, 900.0, 1500.0])
def test_a_floor_that_is_broken_off_agrees_as_far_as_it_got(tmp_path: Path, seconds: float) -> None:
    times = iter([0.0, seconds])
    plan = plan_floor(tables=4, rounds=40, seed=3, now=NOW)._replace(speed=1.0)
    settings = Settings(data_directory=tmp_path)
    with DemoRun(plan, settings, monotonic=lambda: next(times, seconds), clock=lambda: NOW) as run:
        run.step()
        assert not run.over
        run.finish(DISORDER)
        summary = run.summary()
    assert summary.good, (summary.score.missed, summary.score.unexpected)
    assert 0 < summary.events < 8000


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Have Ctrl-C interrupt, though whoever started the tests in the background may have it ignored."""
    found = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, found)


@pytest.mark.usefixtures("interruptible")
def test_the_first_signal_stops_and_the_second_interrupts() -> None:
    before = signal.getsignal(signal.SIGINT)
    with _stopped_by_signals() as stop:
        signal.raise_signal(signal.SIGINT)
        assert stop.is_set()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    with _stopped_by_signals() as stop:
        signal.raise_signal(signal.SIGTERM)
        assert stop.is_set()
    assert signal.getsignal(signal.SIGINT) is before
