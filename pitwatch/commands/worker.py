"""`pitwatch worker`: the Faust worker of the distributed runtime."""

from pathlib import Path
from typing import Annotated

import typer

from pitwatch.workplace import kafka_settings_for


def worker(
    config: Annotated[
        Path, typer.Option("--config", help="Settings, TOML, with the cluster under \\[kafka].", dir_okay=False)
    ],
) -> None:
    """Follow rounds and alerts in Kafka: windows of play, notifications, silent tables. Until SIGTERM or SIGINT."""
    from processors.streams.floor_app import make_app
    from processors.streams.floor_worker import FloorWorker

    FloorWorker(make_app(kafka_settings_for(config))).execute_from_commandline()
