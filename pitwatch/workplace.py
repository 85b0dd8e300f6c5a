"""Where a command works: its settings and its data directory."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

if TYPE_CHECKING:
    from processors.settings import Settings

DataOption = Annotated[
    Path | None,
    typer.Option("--data", help="Data directory; ./data where nothing else is said.", file_okay=False),
]
"""The option every command that touches data has."""

LOG_FILE: Final = "log.sqlite"


def settings_for(data: Path | None) -> "Settings":
    """Return the settings that hold without a file, for the data directory given. Raises `InvalidSettings`."""
    from processors.settings_file import load_settings

    settings = load_settings()
    return settings if data is None else settings.model_copy(update={"data_directory": data})
