"""Publishers of tables as the settings describe them, for a program that has no gateway before the log.

Which log that is, is the settings' affair: a Kafka cluster's where one is named, else the data directory's.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from processors.logs.lock import DataDirectoryUnusable
from processors.notify.port import Clock, system_clock
from processors.settings import Settings
from producers.outbox import Outbox
from producers.publisher import Publisher
from producers.sender import Sender
from producers.transports import LogTransport
from schemas.errors import PitwatchError
from schemas.log import EventLog

OUTBOXES: Final = "outboxes"
"""Folder of the data directory with an outbox of each table, whichever log they go to."""


class UnknownTable(PitwatchError):
    """Raised for a table that the settings don't list; the message says which."""


class Desk(NamedTuple):
    """What a table's program works with: `publisher` takes events, `outbox` and `sender` tell what became of them."""

    publisher: Publisher
    outbox: Outbox
    sender: Sender


@contextmanager
def publishing(
    settings: Settings, tables: Sequence[str] | None = None, clock: Clock = system_clock
) -> Iterator[Mapping[str, Desk]]:
    """Deliver what `tables`, or all of the settings', publish during the ``with`` block, which gets a desk for each,
    however often it is named.

    What is not delivered at the end stays in its outbox, for the next block. An outbox belongs to one process at a
    time, and so does a data directory with the log in it. Raises `UnknownTable`, `DataDirectoryUnusable`,
    `OutboxUnusable`, `LogUnavailable`.
    """
    from processors.event_log import event_log

    known = [table.table_id for table in settings.floor.tables]
    if unknown := [table for table in tables or () if table not in known]:
        raise UnknownTable(f"table {unknown[0]!r} is not in the settings: add it under [[floor.tables]]")
    with ExitStack() as opened:
        log = opened.enter_context(event_log(settings))
        folder = _outboxes(settings.data_directory)
        # One outbox bears one sender.
        wanted = dict.fromkeys(known if tables is None else tables)
        yield {table: _desk(opened, log, folder, table, clock) for table in wanted}


def _outboxes(directory: Path) -> Path:
    folder = directory / OUTBOXES
    try:
        # Bets and patrons are nobody else's business on this machine.
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise DataDirectoryUnusable(f"the outboxes' folder {folder} can't be made: {error.strerror}") from error
    return folder


def _desk(opened: ExitStack, log: EventLog, folder: Path, table: str, clock: Clock) -> Desk:
    outbox = opened.enter_context(closing(Outbox(folder / f"{table}.sqlite", table)))
    publisher = Publisher(outbox, clock)
    sender = Sender(outbox, LogTransport(log, table))
    opened.enter_context(sender.running())
    return Desk(publisher, outbox, sender)
