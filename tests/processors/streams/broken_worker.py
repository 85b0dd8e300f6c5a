"""A worker with a defect: ``python -m tests.processors.streams.broken_worker HOW CONFIG``."""

import asyncio
import sys
from pathlib import Path

from faust.transport.drivers.aiokafka import AIOKafkaConsumerThread

from pitwatch.commands.worker import worker
from processors.notify.notifier import Notifier
from processors.streams import floor_worker
from processors.streams.fact_taking import FactTaking
from processors.streams.floor_app import FloorApp
from schemas.log import Record


def raises() -> None:
    """Fail over one message, as a defect would."""
    genuine = FactTaking.take

    def take(self: FactTaking, record: Record) -> None:
        if b"POISON" in record.value:
            raise ValueError("a defect")
        genuine(self, record)

    FactTaking.take = take  # type: ignore[method-assign]  # that is the defect


def deaf() -> None:
    """Stay a member of the group, and fetch nothing."""

    async def fetch_nothing(*_: object, **__: object) -> dict[object, object]:
        await asyncio.sleep(0.1)
        return {}

    AIOKafkaConsumerThread._fetch_records = fetch_nothing  # type: ignore[assignment]  # that is the defect


def dies() -> None:
    """Have a thread beside Faust die of a defect, once there is something to do."""

    def run(self: Notifier, *_: object, **__: object) -> None:
        raise RuntimeError("a defect")

    Notifier.run = run  # type: ignore[method-assign]  # that is the defect


def lingers() -> None:
    """Never come to an end when asked to, as while no broker answers."""

    async def stop(self: FloorApp) -> None:
        await asyncio.sleep(600)

    FloorApp.stop = stop  # type: ignore[method-assign, assignment]  # that is the defect
    floor_worker.STOP_SECONDS = 0.5  # type: ignore[misc]


if __name__ == "__main__":
    {"raises": raises, "deaf": deaf, "dies": dies, "lingers": lingers}[sys.argv[1]]()
    worker(Path(sys.argv[2]))
