"""The Faust app of the distributed runtime: ``faust -A processors.app worker``.

Settings come from the environment and from the TOML file that `PITWATCH_CONFIG` names, if it does; `pitwatch worker
--config FILE` starts the same. What it does is in `processors.streams`.
"""

import os
from pathlib import Path
from typing import Final

from processors.settings_file import load_settings
from processors.streams.floor_app import FloorApp, make_app

CONFIG_VARIABLE: Final = "PITWATCH_CONFIG"


def _config() -> Path | None:
    name = os.environ.get(CONFIG_VARIABLE)
    return Path(name) if name else None


app: Final[FloorApp] = make_app(load_settings(_config()))
