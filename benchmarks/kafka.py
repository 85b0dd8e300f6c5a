"""``python -m benchmarks.kafka``: the same events from the same topic of a real broker, by Pitwatch and by others.

Each round has a broker of its own with the events in one partition; everybody reads it once, one after the other, in a
process of his own. `KAFKA_BOOTSTRAP` is not used: a round begins with empty topics.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final, NamedTuple

from rich.console import Console
from rich.table import Table

from benchmarks import kafka_latency
from benchmarks.broker import can_start, own_broker
from benchmarks.floor import floor_records
from benchmarks.report import LATENCY_SECONDS, Quantity, latencies, macau_records, table_of
from benchmarks.rivals.job import OUTPUT
from benchmarks.topics import make_topics
from pitwatch.progress import counting_bar
from processors.logs.kafka import KafkaLog
from processors.topics import Layout
from schemas.log import Record
from schemas.topics import TABLE_EVENTS

REPOSITORY: Final = Path(__file__).resolve().parents[1]
QUIX_PYTHON: Final = REPOSITORY / ".venv" / "quix" / "bin" / "python"
"""Quix Streams wants older clients than Pitwatch, and so an environment of its own, which `make bench` sets up."""

VALIDATE: Final = "consume + validate"
PITWATCH: Final = "Pitwatch: transactions, snapshots"
RIVALS: Final[Mapping[str, str]] = {
    "bare consume": "consume",
    VALIDATE: "validate",
    PITWATCH: "pitwatch_worker",
    "plain Faust agent": "faust_agent",
    "plain Quix Streams": "quix",
    "plain arroyo": "arroyo_steps",
}
TARGETS: Final[Mapping[str, str]] = {PITWATCH: "≥ 100,000/s, ≥ 0.40"}
LIMIT_MS: Final = 500
EVENTS_PER_APPEND: Final = 5_000
PATIENCE_SECONDS: Final = 900


class Run(NamedTuple):
    """What one program did."""

    events: int
    facts: int
    seconds: float


def measure(records: Sequence[Record], rounds: int, names: Sequence[str]) -> dict[str, list[Run]]:
    """Have everybody in `names` do the work, `rounds` times in turn. Raises RuntimeError where one fails."""
    runs: dict[str, list[Run]] = {name: [] for name in names}
    with counting_bar("measuring", rounds * len(names), "runs") as advance:
        done = 0
        for _ in range(rounds):
            with own_broker() as cluster:
                _fill(cluster.bootstrap, records)
                for name in names:
                    runs[name].append(_run(RIVALS[name], cluster.bootstrap, len(records)))
                    advance(done := done + 1)
    return runs


def _fill(bootstrap: str, records: Sequence[Record]) -> None:
    make_topics(bootstrap, 1, {OUTPUT: Layout(1, 1, {})})
    messages = [(record.key, record.value) for record in records]
    with closing(KafkaLog(bootstrap, worker_id="bench-fill")) as log:
        for start in range(0, len(messages), EVENTS_PER_APPEND):
            log.append(TABLE_EVENTS, messages[start : start + EVENTS_PER_APPEND])


def _run(rival: str, bootstrap: str, events: int) -> Run:
    python = str(QUIX_PYTHON) if rival == "quix" else sys.executable
    ran = subprocess.run(  # noqa: S603  our own modules
        [python, "-m", f"benchmarks.rivals.{rival}", bootstrap, TABLE_EVENTS, str(events)],
        cwd=REPOSITORY,
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    answer = ran.stdout.strip().rpartition("\n")[2]
    if ran.returncode or not answer.startswith("{"):
        raise RuntimeError(f"{rival} ended with {ran.returncode}:\n{ran.stdout[-2000:]}\n{ran.stderr[-2000:]}")
    return Run(**json.loads(answer))


def measure_latency() -> list[Quantity]:
    """Measure how long facts and alerts take at a steady rate, on a broker of its own."""
    with own_broker() as cluster:
        return latencies(kafka_latency.measure(cluster.bootstrap, macau_records()), LIMIT_MS)


def _print(runs: Mapping[str, Sequence[Run]], quantities: list[Quantity], *, as_json: bool) -> None:
    rates = {name: statistics.median(run.events / run.seconds for run in found) for name, found in runs.items()}
    if as_json:
        figures = {name: {"events_per_second": rate} for name, rate in rates.items()}
        print(json.dumps({"workers": figures, "quantities": [one._asdict() for one in quantities]}))
        return
    some = next(iter(runs.values()))
    table = Table(
        title=f"{some[0].events:,} events, one partition, the middle of {len(some)} rounds, {os.cpu_count()} cores",
        title_justify="left",
    )
    for heading in ("worker", "events/s", "× consume + validate", "× Pitwatch", "facts", "target"):
        table.add_column(heading, justify="left" if heading in {"worker", "target"} else "right")
    for name, rate in rates.items():
        floor, own = (f"{rate / rates[one]:.2f}" if one in rates else "" for one in (VALIDATE, PITWATCH))
        table.add_row(name, f"{rate:,.0f}", floor, own, f"{runs[name][0].facts:,}", TARGETS.get(name, ""))
    output = Console()
    output.print(table)
    output.print(table_of(quantities))


def main() -> None:
    """Measure what the command line says."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kafka", description=__doc__)
    parser.add_argument("--events", type=int, default=100_000, help="events to measure with")
    parser.add_argument("--rounds", type=int, default=3, help="times everybody has his turn; the middle counts")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    arguments = parser.parse_args()
    console = Console(stderr=True)
    if not can_start(console):
        return
    names = [name for name, rival in RIVALS.items() if rival != "quix" or QUIX_PYTHON.exists()]
    if len(names) < len(RIVALS):
        console.print(f"without Quix Streams: there is no {QUIX_PYTHON.relative_to(REPOSITORY)}", style="yellow")
    console.print(f"simulating {arguments.events:,} events of a floor …", style="dim")
    runs = measure(floor_records(arguments.events), arguments.rounds, names)
    console.print(f"measuring latency over {LATENCY_SECONDS} seconds …", style="dim")
    _print(runs, measure_latency(), as_json=arguments.json)


if __name__ == "__main__":
    main()
