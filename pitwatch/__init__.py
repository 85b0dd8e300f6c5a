"""Pitwatch: baccarat table telemetry, from a card event to the surveillance room's screen."""

from typing import Final

__version__: Final = "0.1.0"
