"""`pitwatch worker`: the Faust worker of the distributed runtime."""

from pathlib import Path
from typing import Annotated

import typer


def worker(
    config: Annotated[Path, typer.Option("--config", help="Settings, TOML, with the cluster under [kafka].")],
) -> None:
    """Follow rounds and alerts in Kafka: windows of play, notifications, silent tables. Until SIGTERM or SIGINT."""
    from processors.settings_file import load_settings
    from processors.streams.floor_app import make_app
    from processors.streams.floor_worker import FloorWorker

    FloorWorker(make_app(load_settings(config))).execute_from_commandline()
