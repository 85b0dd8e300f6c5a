"""``python -m tests.simulation.identity --events 1000000``: the proof at any size, in a folder of its own."""

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.simulation.identity.event_file import EventFile, write_event_file
from tests.simulation.identity.outcome import Outcome, all_alike
from tests.simulation.identity.ways import WAYS


def main() -> int:
    """Run every way; return 0 where all came to the same."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation.identity", description=__doc__)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--tables", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="where to work, instead of the system's folder of temporary files")
    arguments = parser.parse_args()
    begun = time.monotonic()

    def say(text: str) -> None:
        sys.stdout.write(f"{time.monotonic() - begun:7.0f} s  {text}\n")
        sys.stdout.flush()

    with tempfile.TemporaryDirectory(prefix="pitwatch-identity-", dir=arguments.folder) as folder:
        path = Path(folder) / "events.ndjson.gz"
        lines = write_event_file(path, arguments.events, arguments.tables, arguments.seed)
        file = EventFile(path)
        say(f"{lines:,} lines of {arguments.tables} tables, {file.messages:,} different ones")
        outcomes: dict[str, Outcome] = {}
        for number, (name, way) in enumerate(WAYS.items(), start=1):
            outcomes[name] = way(file, Path(folder) / f"way-{number}", lambda text, name=name: say(f"{name}: {text}"))  # type: ignore[misc]
            rows = outcomes[name].rows()
            say(f"{name}: " + ", ".join(f"{count:,} {look}" for look, count in rows.items()))
    differences = all_alike(outcomes)
    for line in differences[:50]:
        say(line)
    say(f"{len(differences)} differences" if differences else f"all {len(outcomes)} ways give the same, row for row")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
