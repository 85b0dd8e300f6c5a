"""A broker for a measurement, of its own: with empty topics, and gone afterwards."""

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from rich.console import Console

if TYPE_CHECKING:
    from tests.kafka.broker import Cluster


def can_start(console: Console) -> bool:
    """Tell whether this machine has what a broker takes; say what is missing."""
    if missing := [name for name in ("java", "mvn") if shutil.which(name) is None]:
        console.print(f"nothing measured on Kafka: a broker takes {' and '.join(missing)}, which aren't here")
    return not missing


@contextmanager
def own_broker(settings: Mapping[str, object] = MappingProxyType({})) -> Iterator["Cluster"]:
    """Run one broker, with further `settings`, for the length of the block."""
    from tests.kafka.broker import Cluster

    with (
        tempfile.TemporaryDirectory(prefix="pitwatch-bench-") as folder,
        Cluster(Path(folder), settings=settings) as cluster,
    ):
        yield cluster
