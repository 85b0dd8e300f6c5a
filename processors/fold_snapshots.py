"""A table's fold as it is kept between runs: what it knows, and the place in the log up to which it knows it."""

from datetime import datetime
from typing import Final, NamedTuple

import msgspec

from processors.reconstruct.fold import FoldSettings, TableFold
from schemas.revisions import AS_THEY_CAME


class UnreadableSnapshot(ValueError):
    """Raised for bytes that are no snapshot of this version's; the table is folded from its records instead."""


class StoredNumbers(NamedTuple):
    """What a snapshot says beside its fold; see `StoredFold`."""

    first_revision: int
    tables: int
    replayed_from: int


class StoredFold(msgspec.Struct, frozen=True):
    """A fold written down. `offset` is the first record of `partition` that it doesn't know.

    `heard_at` is when its table was last heard, by the log's clock. The facts of the table are published under
    revisions from `first_revision` on. `tables` of the partition had a snapshot once this one was written; 0 where
    nobody counted them. A replay told all facts below `replayed_from` anew; a fold that had to begin anew since counts
    on from a higher first revision, and told nothing anew.
    """

    partition: int
    offset: int
    heard_at: datetime | None
    fold: bytes
    first_revision: int = AS_THEY_CAME
    tables: int = 0
    replayed_from: int = AS_THEY_CAME

    def numbers(self) -> StoredNumbers:
        """Return what is known of the table though its fold can't be read."""
        return StoredNumbers(self.first_revision, self.tables, self.replayed_from)

    def restore(self, settings: FoldSettings) -> TableFold:
        """Return the fold. Raises `UnreadableSnapshot`."""
        try:
            return TableFold.restore(self.fold, settings)
        except (msgspec.MsgspecError, ValueError) as error:
            raise UnreadableSnapshot(str(error)) from error


_stored: Final = msgspec.msgpack.Decoder(StoredFold)


def write_down(stored: StoredFold) -> bytes:
    """Return the bytes that `read_back` takes."""
    return msgspec.msgpack.encode(stored)


def blank(table_id: str, partition: int, first_revision: int, tables: int, replayed_from: int) -> bytes:
    """Return the snapshot of a table of which nothing was folded yet."""
    fold = TableFold(table_id, FoldSettings()).snapshot()
    return write_down(StoredFold(partition, 0, None, fold, first_revision, tables, replayed_from))


def read_back(snapshot: bytes) -> StoredFold:
    """Return what was written down. Raises `UnreadableSnapshot`."""
    try:
        return _stored.decode(snapshot)
    except msgspec.MsgspecError as error:
        raise UnreadableSnapshot(str(error)) from error
