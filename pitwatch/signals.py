"""How a command that runs until it is told to stop hears of it."""

import signal
import threading
from types import FrameType
from typing import Final

LOOK_SECONDS: Final = 0.25
"""How often a signal, or another event, is looked for."""


class Stop:
    """Whether somebody asked this process to stop, with SIGTERM or SIGINT."""

    def __init__(self) -> None:
        self.signal = ""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._ask)

    def _ask(self, number: int, _: FrameType | None) -> None:
        # No more than this: a handler runs between any two steps of the main thread, which may be holding a lock.
        self.signal = signal.Signals(number).name

    def wait(self, event: threading.Event, *others: threading.Event) -> None:
        """Block until one of the events is set, or a signal came."""
        while not (self.signal or any(other.is_set() for other in others) or event.wait(LOOK_SECONDS)):
            pass
