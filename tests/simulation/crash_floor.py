"""The floor that crash tests play: small, with everything wrong at it and on the way from it, the same in every run."""

from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Final

from pydantic import SecretStr

from processors.notify.routing import NotificationSettings, Route
from processors.settings import FloorSettings, FloorTable, PipelineSettings, Settings
from processors.settings_file import load_settings
from producers.simulator import Telemetry, mixed_floor, simulate
from schemas.wire import encode

START: Final = datetime(2026, 1, 5, 4, tzinfo=UTC)
EVENTS: Final = 2_400
EVENTS_PER_APPEND: Final = 40
TABLES: Final = 3
TICK: Final = timedelta(milliseconds=10)
"""From one record to the next by the log's clock."""

_FLOOR: Final = mixed_floor(
    seed=11,
    start=START,
    hours=24,
    tables=TABLES,
    dirty=2,
    telemetry=Telemetry(duplicated=0.02, disordered=0.05, restarted=0.03, lost=0.03, skewed=0.02),
)

_GARBAGE: Final = b'{"table_id":"BAC-101","type":"round_opened","shoe":"\xff"'


@cache
def messages() -> list[tuple[str, bytes]]:
    """Return everything that the tables send, keyed by table; one message in a hundred is broken on its way."""
    found = []
    for place, arrival in enumerate(islice(simulate(_FLOOR), EVENTS), start=1):
        found.append((arrival.event.table_id, encode(arrival.event)))
        if place % 100 == 0:
            found.append(("BAC-101", _GARBAGE + b"%d" % place))
    return found


def settings(directory: Path) -> Settings:
    """Return settings with small batches and frequent snapshots, so that much can be interrupted."""
    floor = tuple(FloorTable(table_id=one.table_id, configuration=one.configuration) for one in _FLOOR.tables)
    route = Route(name="all", urls=(SecretStr("test://all"),), minimum_severity="info", alerts_per_ten_minutes=1000)
    return load_settings().model_copy(
        update={
            "data_directory": directory,
            "floor": FloorSettings(tables=floor),
            "pipeline": PipelineSettings(batch_events=60, snapshot_interval_events=150),
            "notifications": NotificationSettings(routes=(route,)),
        }
    )


class FloorClock:
    """The time that the log and the pipeline are told: it moves with what was appended, and never by itself."""

    def __init__(self) -> None:
        self.moment = START

    def set_to(self, records: int) -> None:
        """Make it the time at which so many records have come."""
        self.moment = START + records * TICK

    def __call__(self) -> datetime:
        return self.moment
