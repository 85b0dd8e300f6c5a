"""Runs every measurement and prints rates with their ratios, times and memory, each beside its target."""

import json
import os
import statistics
import time
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from rich.console import Console
from rich.table import Table

from benchmarks import fold, latency, memory, pipeline
from benchmarks.floor import TABLES, floor_records
from pitwatch.progress import counting_bar
from processors.interpreter import tuned
from schemas.log import Record

FLOOR: Final = "consume + validate (pydantic models)"
FOLD: Final = "reconstruct: bytes to facts"
PIPELINE: Final = "embedded: append to queryable row"

TARGETS: Final[Mapping[str, str]] = {
    FOLD: "≥ 100,000/s, ≥ 0.40",
    PIPELINE: "≥ 20,000/s",
}
"""What is wanted of the rates (docs/decisions.md, 15); absolute ones are of the machine that they were set on."""

LATENCY_SECONDS: Final = 15
"""How long the floor plays while latencies are measured."""

EMBEDDED_LIMIT_MS: Final = 250
MIB: Final = 2**20


class Figure(NamedTuple):
    """A rate, and its share of the rate that consuming and validating alone has in the same run."""

    name: str
    events_per_second: float
    share_of_floor: float


class Quantity(NamedTuple):
    """Something else that was measured, in `unit`, and what it may come to at most."""

    name: str
    value: float
    unit: str
    limit: float | None


def run(events: int, rounds: int, *, as_json: bool) -> None:
    """Measure with `events` events, rates `rounds` times in turn, and print the middle of each."""
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
                # In an interpreter set as the workers set theirs; else the collector walks the events again and again.
                with tuned():
                    seconds[name].append(_timed(lambda case=case: case(records)))  # type: ignore[misc]
                advance(done := done + 1)
            sustained.append(pipeline.measure(records))
            advance(done := done + 1)
    console.print(f"measuring memory, then latency over {LATENCY_SECONDS} seconds …", style="dim")
    quantities = [_memory(records)]
    quantities += latencies(latency.measure(macau_records()), EMBEDDED_LIMIT_MS)
    _print(_figures(events, seconds, sustained), quantities, f"{events:,} events, the middle of {rounds} runs", as_json)


def macau_records() -> list[Record]:
    """Return what latencies are measured with: every table errs there, so that there are alerts enough to time."""
    return floor_records(LATENCY_SECONDS * latency.MACAU_EVENTS_PER_SECOND, dirty=TABLES)


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
        "append to the log, meanwhile": events / statistics.median(one.append for one in sustained),
        PIPELINE: events / statistics.median(one.queryable for one in sustained),
    }
    whole = [Figure(name, rate, rate / consume) for name, rate in embedded.items()]
    return [("one core", core), ("embedded pipeline", whole)]


def _memory(records: list[Record]) -> Quantity:
    return Quantity(f"embedded pipeline's memory, {TABLES} tables", memory.measure(records) / MIB, "MiB", 1024)


def latencies(found: latency.Latency, limit_ms: float) -> list[Quantity]:
    """Return what was found as figures, of which the last has the limit."""
    at = f"at {found.events_per_second:,.0f} events/s"
    quantities = []
    for what, number, middle, high in latency.summary(found):
        limit = limit_ms if what == latency.MESSAGE else None
        quantities.append(Quantity(f"{what} {at}, p50 of {number:,}", middle * 1000, "ms", None))
        quantities.append(Quantity(f"{what} {at}, p99", high * 1000, "ms", limit))
    return quantities


def table_of(quantities: list[Quantity]) -> Table:
    """Return the figures as a table."""
    table = Table()
    table.add_column("measured")
    table.add_column("value", justify="right")
    table.add_column("target")
    for one in quantities:
        limit = "" if one.limit is None else f"≤ {one.limit:,.0f} {one.unit}"
        table.add_row(one.name, f"{one.value:,.1f} {one.unit}", limit)
    return table


def print_quantities(quantities: list[Quantity], title: str, *, as_json: bool) -> None:
    """Print the figures under a title, or as JSON."""
    if as_json:
        print(json.dumps([one._asdict() for one in quantities]))
        return
    table = table_of(quantities)
    table.title = title
    Console().print(table)


def _print(figures: list[tuple[str, list[Figure]]], quantities: list[Quantity], what: str, as_json: bool) -> None:
    if as_json:
        rates = {group: [figure._asdict() for figure in found] for group, found in figures}
        print(json.dumps({**rates, "quantities": [one._asdict() for one in quantities]}))
        return
    table = Table(title=f"{what}, {os.cpu_count()} cores", title_justify="left")
    table.add_column("measured")
    table.add_column("events/s", justify="right")
    table.add_column("share of consume + validate", justify="right")
    table.add_column("target")
    for group, found in figures:
        table.add_section()
        table.add_row(f"[bold]{group}[/bold]")
        for figure in found:
            rate, share = f"{figure.events_per_second:,.0f}", f"{figure.share_of_floor:.2f}"
            table.add_row(figure.name, rate, share, TARGETS.get(figure.name, ""))
    console = Console()
    console.print(table)
    console.print(table_of(quantities))
