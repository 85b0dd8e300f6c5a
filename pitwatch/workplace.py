"""Where a command works: its settings and its data directory."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from processors.logs.sqlite import LOG_FILE

if TYPE_CHECKING:
    from processors.settings import Settings

__all__ = ["LOG_FILE", "ConfigOption", "DataOption", "kafka_settings_for", "server_settings_for", "settings_for"]

DataOption = Annotated[
    Path | None,
    typer.Option("--data", help="Data directory; ./data where nothing else is said.", file_okay=False),
]
"""The option every command that touches data has."""

ConfigOption = Annotated[
    Path | None,
    typer.Option("--config", help="The floor's settings (TOML), where they aren't the defaults.", dir_okay=False),
]
"""For commands whose answer depends on the floor's settings, such as how long it waits for missing events."""


def settings_for(data: Path | None, config: Path | None = None) -> "Settings":
    """Return the settings of `config` and the environment, for the data directory given. Raises `InvalidSettings`."""
    from processors.settings_file import load_settings

    settings = load_settings(config)
    return settings if data is None else settings.model_copy(update={"data_directory": data})


def server_settings_for(data: Path | None, config: Path) -> "Settings":
    """Return the settings of `config`, which must name a ClickHouse server. Raises `InvalidSettings`."""
    from processors.settings_file import InvalidSettings

    settings = settings_for(data, config)
    if settings.store.url is None:
        raise InvalidSettings((f"{config}: store.url: give a ClickHouse server's address; there is none",))
    return settings


def kafka_settings_for(config: Path) -> "Settings":
    """Return the settings of `config`, which must name a Kafka cluster. Raises `InvalidSettings`."""
    from processors.settings_file import InvalidSettings

    settings = settings_for(None, config)
    if not settings.kafka.is_set:
        problem = "name the cluster. A floor on one machine has no workers: `pitwatch run` does their work"
        raise InvalidSettings((f"{config}: kafka.bootstrap: {problem}",))
    return settings
