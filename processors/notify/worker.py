"""A thread that keeps what it died of, so that whoever runs it can raise it."""

import threading
from collections.abc import Callable


class Worker(threading.Thread):
    """Runs `work` once. A daemon: a send that hangs must not keep the process from ending."""

    def __init__(self, name: str, work: Callable[[], None]) -> None:
        super().__init__(name=name, daemon=True)
        self._work = work
        self.error: BaseException | None = None

    def run(self) -> None:
        """Do the work; an error ends the thread and is kept in `error`."""
        try:
            self._work()
        except BaseException as error:  # noqa: BLE001 - not swallowed: whoever runs the worker raises it
            self.error = error
