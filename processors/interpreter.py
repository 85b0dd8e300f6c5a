"""How the interpreter is set for folding: Python's defaults are made for programs that keep little and wait a lot."""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

SWITCH_SECONDS: Final = 0.002
"""How long a thread that works in Python may keep those waiting that come back from the disk or a socket.

Each change of threads costs both of them. Measured with the embedded pipeline at full load: at Python's own 5 ms an
append of one event waits some 30 ms for its turns, at 0.5 ms the whole pipeline takes a sixth longer.
"""

COLLECT_AFTER: Final = 100_000
"""Container objects made, and not freed, before the collector looks at the newest."""


@contextmanager
def tuned() -> Iterator[None]:
    """Have the interpreter change threads often, and look for cyclic garbage seldom, for the length of the block.

    The folds keep millions of objects that are no garbage, and make few that are. Measured at the defaults, the
    collector took more time than the rules.
    """
    interval, thresholds = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(SWITCH_SECONDS)
    gc.collect()
    gc.freeze()
    gc.set_threshold(COLLECT_AFTER, 20, 100)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        gc.unfreeze()
        sys.setswitchinterval(interval)
