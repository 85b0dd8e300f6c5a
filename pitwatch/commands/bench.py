"""`pitwatch bench`: how fast the fold and the embedded pipeline are on this machine."""

from typing import Annotated

import typer


def bench(
    events: Annotated[int, typer.Option(min=1_000, max=10_000_000, help="Events to measure with.")] = 100_000,
    rounds: Annotated[int, typer.Option(min=1, max=100, help="Times each thing is measured; the middle counts.")] = 3,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Measure the fold on one core and the embedded pipeline, beside consuming and validating alone, in one run."""
    from benchmarks.report import run

    run(events, rounds, as_json=as_json)
