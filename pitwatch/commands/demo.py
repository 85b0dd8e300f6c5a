"""`pitwatch demo`: a simulated floor through the whole embedded pipeline, shown live and then held to account."""

import logging
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.console import Console

from pitwatch.demonstration.directory import LABELS_FILE, begin_demonstration
from pitwatch.exits import FOUND
from pitwatch.logs import configure_logs
from pitwatch.workplace import settings_for

if TYPE_CHECKING:
    from pitwatch.demonstration.plan import Plan
    from pitwatch.demonstration.run import DemoRun
    from pitwatch.demonstration.shows import Show
    from processors.settings import Settings

TICK_SECONDS: Final = 0.05
WIDTH_WITHOUT_A_TERMINAL: Final = 120
ROUNDS_WITHOUT_A_READER: Final = 40
"""Rounds of each table where none are asked for and nobody is there to stop the floor."""


def demo(
    tables: Annotated[int, typer.Option(min=1, max=1000, help="Tables on the floor.")] = 8,
    rounds: Annotated[
        int | None,
        typer.Option(min=1, help="Live rounds at each table; left out, a terminal shows the floor until Ctrl-C."),
    ] = None,
    speed: Annotated[
        float | None,
        typer.Option(min=0, max=1_000_000, help="Simulated seconds a second; 0 is as fast as possible."),
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed deals the same cards and does the same wrong.")] = 1,
    data: Annotated[
        Path | None,
        typer.Option(
            "--data", help="Data directory, cleared first; demo in the usual one if left out.", file_okay=False
        ),
    ] = None,
) -> None:
    """Show a simulated floor live, with deviations and faulty lines; exit code 1 unless exactly those were found."""
    from pitwatch.demonstration.plan import plan_floor

    configure_logs(logging.ERROR)
    console = Console()
    watched = console.is_terminal and not console.is_dumb_terminal
    if not console.is_terminal:
        console.width = max(console.width, WIDTH_WITHOUT_A_TERMINAL)
    if rounds is None and not watched:
        rounds = ROUNDS_WITHOUT_A_READER
    plan = plan_floor(tables=tables, rounds=rounds, seed=seed, now=datetime.now(UTC))
    settings = _settings(data)
    begin_demonstration(settings.data_directory)
    good = _run(console, plan if speed is None else plan._replace(speed=speed), settings, watched=watched)
    if not good:
        raise typer.Exit(FOUND)


def _settings(data: Path | None) -> "Settings":
    from processors.data_directory import DEMO_FOLDER
    from processors.notify.routing import NotificationSettings

    usual = settings_for(None)
    directory = usual.data_directory / DEMO_FOLDER if data is None else data
    # A simulated floor rings nobody's phone.
    return usual.model_copy(update={"data_directory": directory, "notifications": NotificationSettings()})


def _run(console: Console, plan: "Plan", settings: "Settings", *, watched: bool) -> bool:
    from pitwatch.demonstration.run import DemoRun
    from pitwatch.demonstration.shows import LineShow, LiveShow
    from pitwatch.demonstration.summary import print_summary

    with DemoRun(plan, settings) as run:
        with _stopped_by_signals() as stop, LiveShow(console) if watched else LineShow(console) as show:
            _play(run, show, stop)
        summary = run.summary()
    write_labels(run, settings.data_directory / LABELS_FILE)
    print_summary(console, summary, settings.data_directory)
    return summary.good


def _play(run: "DemoRun", show: "Show", stop: Event) -> None:
    """Feed and show the floor until it is over or stopped, and then see everything through to the store."""
    from pitwatch.demonstration.plan import DISORDER

    while not (run.over or stop.wait(TICK_SECONDS)):
        run.step()
        show.update(run.floor, run.status())
    run.finish(DISORDER)
    show.update(run.floor, run.status(), last=True)


@contextmanager
def _stopped_by_signals() -> Iterator[Event]:
    """Give an event that the first Ctrl-C or SIGTERM sets; the second one acts as if nobody had asked."""
    stop = Event()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def set_stop(_number: int, _frame: FrameType | None) -> None:
        stop.set()
        restore()

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    for number in before:
        signal.signal(number, set_stop)
    try:
        yield stop
    finally:
        restore()


def write_labels(run: "DemoRun", path: Path) -> None:
    """Leave what was done wrong on purpose beside the data, one label a line."""
    from producers.simulator.labels import encode_label

    path.write_bytes(b"".join(encode_label(label) + b"\n" for label in run.labels))
