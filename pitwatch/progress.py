"""Progress bars, on standard error so that standard output stays clean; no bar where no person looks."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from producers.importers.sources import Progress as Reading

if TYPE_CHECKING:
    from processors.embedded import Health

Advance = Callable[[int], None]


@contextmanager
def counting_bar(doing: str, total: int | None, unit: str = "events") -> Iterator[Advance]:
    """Show how many of `total` are done; the block gets the function that says how many are."""
    with _bar(MofNCompleteColumn(), TextColumn(unit)) as progress:
        task = progress.add_task(doing, total=total)
        yield lambda done: progress.update(task, completed=done)


@contextmanager
def reading_bar() -> Iterator[Callable[[Reading], None]]:
    """Show how far files are read, in bytes; the block gets the function that takes an importer's progress."""
    with _bar(DownloadColumn()) as progress:
        tasks: dict[str, TaskID] = {}

        def show(reading: Reading) -> None:
            name = str(reading.path)
            if name not in tasks:
                tasks[name] = progress.add_task(name, total=reading.size_bytes)
            progress.update(tasks[name], completed=reading.bytes_read)

        yield show


@contextmanager
def waiting_bar(doing: str) -> Iterator[Callable[["Health"], None]]:
    """Show how many of a pipeline's events are folded; the block gets the function that takes its health."""
    with _bar(MofNCompleteColumn(), TextColumn("events")) as progress:
        task = progress.add_task(doing, total=None)
        total = 0

        def show(health: "Health") -> None:
            nonlocal total
            total = max(total, health.events_behind)
            progress.update(task, total=total or None, completed=total - health.events_behind)

        yield show


@contextmanager
def remaining_bar() -> Iterator[Callable[[str, int], None]]:
    """Show how many of its records each of several has worked off; the block gets the function that says what is left.

    The most that was ever left of one counts as all of it. Where no person looks a line says of each, once, that it is
    waited for: that may take for ever.
    """
    with _bar(MofNCompleteColumn(), TextColumn("records")) as progress:
        tasks: dict[str, TaskID] = {}
        totals: dict[str, int] = {}

        def show(name: str, left: int) -> None:
            if name not in tasks:
                tasks[name] = progress.add_task(name, total=None)
                if left and progress.disable:
                    typer.echo(f"waiting for {name}, which has about {left:,} records left", err=True)
            totals[name] = max(left, totals.get(name, 0))
            progress.update(tasks[name], total=totals[name] or None, completed=totals[name] - left)

        yield show


@contextmanager
def waiting_for(what: str) -> Iterator[None]:
    """Show, for the length of the block, what one waits for and how long already; when it ends, nobody knows."""
    with _progress(SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn()) as progress:
        progress.add_task(what, total=None)
        yield


def _bar(*amounts: ProgressColumn) -> Progress:
    return _progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        *amounts,
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )


def _progress(*columns: ProgressColumn) -> Progress:
    console = Console(stderr=True)
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
