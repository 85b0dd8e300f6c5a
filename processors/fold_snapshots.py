"""A table's fold as it is kept between runs: what it knows, and the place in the log up to which it knows it."""

from datetime import datetime
from typing import Final

import msgspec

from processors.reconstruct.fold import FoldSettings, TableFold


class UnreadableSnapshot(ValueError):
    """Raised for bytes that are no snapshot of this version's; the table is folded from its records instead."""


class StoredFold(msgspec.Struct, frozen=True):
    """A fold written down. `offset` is the first record of `partition` that it doesn't know.

    `heard_at` is when its table was last heard, by the log's clock.
    """

    partition: int
    offset: int
    heard_at: datetime | None
    fold: bytes

    def restore(self, settings: FoldSettings) -> TableFold:
        """Return the fold. Raises `UnreadableSnapshot`."""
        try:
            return TableFold.restore(self.fold, settings)
        except (msgspec.MsgspecError, ValueError) as error:
            raise UnreadableSnapshot(str(error)) from error


_stored: Final = msgspec.msgpack.Decoder(StoredFold)


def write_down(fold: TableFold, partition: int, offset: int, heard_at: datetime | None) -> bytes:
    """Return the bytes that `read_back` takes."""
    return msgspec.msgpack.encode(StoredFold(partition, offset, heard_at, fold.snapshot()))


def read_back(snapshot: bytes) -> StoredFold:
    """Return what was written down. Raises `UnreadableSnapshot`."""
    try:
        return _stored.decode(snapshot)
    except msgspec.MsgspecError as error:
        raise UnreadableSnapshot(str(error)) from error
