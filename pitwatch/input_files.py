"""Files that a command reads."""

from pathlib import Path

import typer

from producers.importers.sources import STDIN


def check_file(path: Path) -> Path:
    """Return the path of a file, or of standard input. Raises `typer.BadParameter` for what is neither."""
    if path != STDIN and not path.exists():
        raise typer.BadParameter(f"{path} does not exist")
    if path.is_dir():
        raise typer.BadParameter(f"{path} is a directory")
    return path
