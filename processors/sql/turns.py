"""Who may run a query when: at most so many at a time, and nobody takes every turn."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from processors.sql.refusals import TOO_MANY_QUERIES, Refused

WAIT_SECONDS: Final = 10.0
"""How long a query waits for its turn: a screen of twenty panels takes a while, and a person no longer."""

MAX_WAITING: Final = 256


class Turns:
    """Hands out turns to users by name. Used by one event loop."""

    def __init__(self, most: int) -> None:
        self._all = asyncio.Semaphore(most)
        self._each = defaultdict[str, asyncio.Semaphore](lambda: asyncio.Semaphore(max(1, most - 1)))
        self._waiting = 0

    @asynccontextmanager
    async def take(self, name: str) -> AsyncIterator[None]:
        """Wait for a turn of this user's, and have it for the length of the block. Raises `Refused`."""
        if self._waiting >= MAX_WAITING:
            raise Refused(TOO_MANY_QUERIES, f"Too many queries: {MAX_WAITING} wait for their turn already.")
        self._waiting += 1
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                await self._each[name].acquire()
                try:
                    await self._all.acquire()
                except BaseException:
                    self._each[name].release()
                    raise
        except TimeoutError:
            raise Refused(TOO_MANY_QUERIES, f"Too many queries: no turn came within {WAIT_SECONDS:g} s.") from None
        finally:
            self._waiting -= 1
        try:
            yield
        finally:
            self._all.release()
            self._each[name].release()
