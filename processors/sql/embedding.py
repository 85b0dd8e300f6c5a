"""What is used of the embedded engine's package, which has no types of its own."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Protocol, cast

import chdb


class View(Protocol):
    """Memory that the engine keeps while this is kept."""

    def view(self) -> memoryview:
        """Return it without copying it."""
        ...


class Answer(Protocol):
    """An answer, or a block of one."""

    def bytes(self) -> bytes:
        """Return a copy of it."""
        ...

    def get_memview(self) -> View:
        """Return it where it lies."""
        ...

    def rows_read(self) -> int:
        """Return how many rows it has, whatever the method's name says."""
        ...

    def storage_rows_read(self) -> int:
        """Return how many rows were read for it."""
        ...

    def storage_bytes_read(self) -> int:
        """Return how many bytes were read for it."""
        ...

    def elapsed(self) -> float:
        """Return how many seconds it took."""
        ...


class Inserted(Protocol):
    """What an insert did."""

    rows_written: int
    bytes_written: int
    elapsed: float


class Inserter(Protocol):
    """An insert under way; without its `finish` nothing is kept."""

    def append(self, data: bytes) -> None:
        """Take some of the data."""
        ...

    def finish(self) -> Inserted:
        """Keep the rows."""
        ...


class Connection(Protocol):
    """One of the engine's connections; errors are `RuntimeError`."""

    def query(self, query: str, format: str, params: dict[str, str] | None = None) -> Answer:  # noqa: A002
        """Run a statement to its end."""
        ...

    def send_query(
        self,
        query: str,
        format: str,  # noqa: A002
        params: dict[str, str] | None = None,
    ) -> AbstractContextManager[Iterator[Answer]]:
        """Run a statement as its blocks are taken."""
        ...

    def send_insert(self, query: str, format: str) -> AbstractContextManager[Inserter]:  # noqa: A002
        """Begin to insert."""
        ...

    def close(self) -> None:
        """Close it; the engine ends with its last connection."""
        ...


def connect(folder: str) -> Connection:
    """Open one more connection to the engine that has `folder` open, or open it."""
    return cast(Connection, chdb.connect(folder))  # type: ignore[no-untyped-call]  # it has no types
