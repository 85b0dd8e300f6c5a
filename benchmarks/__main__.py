"""``python -m benchmarks``: every measurement, as `pitwatch bench` gives it."""

import argparse

from benchmarks.report import run

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--events", type=int, default=100_000, help="events to measure with")
    parser.add_argument("--rounds", type=int, default=3, help="times each thing is measured; the middle counts")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    arguments = parser.parse_args()
    run(arguments.events, arguments.rounds, as_json=arguments.json)
