"""A broker for a measurement, of its own: with empty topics, and gone afterwards."""

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from rich.console import Console

from benchmarks.floor import floor_records
from schemas.log import Record

if TYPE_CHECKING:
    from tests.kafka.broker import Cluster


def can_start(console: Console) -> bool:
    """Tell whether this machine has what a broker takes; say what is missing."""
    if missing := [name for name in ("java", "mvn") if shutil.which(name) is None]:
        console.print(f"nothing measured on Kafka: a broker takes {' and '.join(missing)}, which aren't here")
    return not missing


def simulated(events: int) -> list[Record] | None:
    """Return so many events of a floor to measure with; None, once it is said why, where no broker can start."""
    console = Console(stderr=True)
    if not can_start(console):
        return None
    console.print(f"simulating {events:,} events of a floor …", style="dim")
    return floor_records(events)


@contextmanager
def own_broker(settings: Mapping[str, object] = MappingProxyType({})) -> Iterator["Cluster"]:
    """Run one broker, with further `settings`, for the length of the block."""
    from tests.kafka.broker import Cluster

    with (
        tempfile.TemporaryDirectory(prefix="pitwatch-bench-") as folder,
        Cluster(Path(folder), settings=settings) as cluster,
    ):
        yield cluster
