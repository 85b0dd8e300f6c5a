"""Runs every measurement and prints one table of rates and ratios."""

import json
import os
import statistics
import time
from collections.abc import Callable
from typing import Final, NamedTuple

from rich.console import Console
from rich.table import Table

from benchmarks import fold, pipeline
from benchmarks.floor import floor_records
from pitwatch.progress import counting_bar

FLOOR: Final = "consume + validate (pydantic models)"
PIPELINE: Final = "embedded: append to queryable row"


class Figure(NamedTuple):
    """A rate, and its share of the rate that consuming and validating alone has in the same run."""

    name: str
    events_per_second: float
    share_of_floor: float


def run(events: int, rounds: int, *, as_json: bool) -> None:
    """Measure with `events` events, everything `rounds` times in turn, and print the middle of each."""
    console = Console(stderr=True)
    console.print(f"simulating {events:,} events of a floor …", style="dim")
    records = floor_records(events)
    cases = dict(fold.cases())
    seconds: dict[str, list[float]] = {name: [] for name in cases}
    sustained: list[pipeline.Sustained] = []
    with counting_bar("measuring", rounds * (len(cases) + 1), "runs") as advance:
        done = 0
        for _ in range(rounds):
            # In turn, so that whatever else the machine does meets all of them alike.
            for name, case in cases.items():
                seconds[name].append(_timed(lambda case=case: case(records)))  # type: ignore[misc]
                advance(done := done + 1)
            sustained.append(pipeline.measure(records))
            advance(done := done + 1)
    _print(_figures(events, seconds, sustained), events, rounds, as_json=as_json)


def _timed(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def _figures(
    events: int, seconds: dict[str, list[float]], sustained: list[pipeline.Sustained]
) -> list[tuple[str, list[Figure]]]:
    rates = {name: events / statistics.median(taken) for name, taken in seconds.items()}
    core = [Figure(name, rate, rate / rates[FLOOR]) for name, rate in rates.items()]
    consume = events / statistics.median(one.consume for one in sustained)
    embedded = {
        "consume from the SQLite log + validate": consume,
        "append to the log alone": events / statistics.median(one.append for one in sustained),
        PIPELINE: events / statistics.median(one.queryable for one in sustained),
    }
    whole = [Figure(name, rate, rate / consume) for name, rate in embedded.items()]
    return [("one core", core), ("embedded pipeline", whole)]


def _print(figures: list[tuple[str, list[Figure]]], events: int, rounds: int, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps({group: [figure._asdict() for figure in found] for group, found in figures}))
        return
    table = Table(title=f"{events:,} events, the middle of {rounds} runs, {os.cpu_count()} cores", title_justify="left")
    table.add_column("measured")
    table.add_column("events/s", justify="right")
    table.add_column("share of consume + validate", justify="right")
    for group, found in figures:
        table.add_section()
        table.add_row(f"[bold]{group}[/bold]")
        for figure in found:
            table.add_row(figure.name, f"{figure.events_per_second:,.0f}", f"{figure.share_of_floor:.2f}")
    Console().print(table)
