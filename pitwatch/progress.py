"""Progress bars, on standard error so that standard output stays clean."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from producers.importers.sources import Progress as Reading

Advance = Callable[[int], None]


@contextmanager
def counting_bar(doing: str, total: int | None, unit: str = "events") -> Iterator[Advance]:
    """Show how many of `total` are done; the block gets the function that says how many are."""
    with Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(unit),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as progress:
        task = progress.add_task(doing, total=total)
        yield lambda done: progress.update(task, completed=done)


@contextmanager
def reading_bar() -> Iterator[Callable[[Reading], None]]:
    """Show how far files are read, in bytes; the block gets the function that takes an importer's progress."""
    with Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as progress:
        tasks: dict[str, TaskID] = {}

        def show(reading: Reading) -> None:
            name = str(reading.path)
            if name not in tasks:
                tasks[name] = progress.add_task(name, total=reading.size_bytes)
            progress.update(tasks[name], completed=reading.bytes_read)

        yield show
