"""What lies in an embedded floor's data directory, how it is opened, and how it is filled anew from its events."""

import shutil
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from processors.fact_retention import FactRetention
from processors.logs.lock import DataDirectoryUnusable
from processors.logs.sqlite import LOG_FILE, SqliteLog
from processors.logs.sqlite_tables import STARTED_OVER
from processors.notify.notifier import GROUP as ALERTS_READ
from processors.notify.notifier import TOPIC as ALERTS
from processors.reconstructor import GROUP
from processors.settings import Settings
from processors.store.clickhouse import ClickHouseStore
from schemas.errors import PitwatchError
from schemas.log import EventLog, Position
from schemas.topics import FACT_TOPICS
from schemas.wire import decode_fact

STORE_FOLDER: Final = "clickhouse"

DEMO_FOLDER: Final = "demo"
"""Where in the usual data directory a demo leaves its own."""

UNFINISHED: Final = "replay:unfinished"
"""Key of the mark among the reconstruct group's snapshots: a replay was begun, and not ended.

It holds the offset of the last event whose alerts people were told of before.
"""

_ALERTS_PER_READ: Final = 10_000


class StoreOutdated(PitwatchError):
    """Raised for a store on a server which tells of a log that isn't there any more: it must be made anew."""


class UnfinishedReplay(PitwatchError):
    """Raised for a data directory in which a replay was broken off: its facts are not all there."""


def check_there(directory: Path) -> None:
    """Raise `DataDirectoryUnusable` where there is no log: who only looks must not make one."""
    if not (directory / LOG_FILE).is_file():
        demo = directory / DEMO_FOLDER
        hint = f"; a demo's data are in {demo}" if (demo / LOG_FILE).is_file() else ""
        raise DataDirectoryUnusable(
            f"there is no data in {directory}: `pitwatch run`, `ingest` and `demo` put some there. Check --data{hint}"
        )


def open_log(directory: Path, *, read_only: bool = False) -> closing[SqliteLog]:
    """Return the log of a data directory, closed at the end of a ``with`` block. Raises `LogUnavailable`."""
    return closing(SqliteLog(directory / LOG_FILE, read_only=read_only))


def open_store(directory: Path, settings: Settings) -> closing[ClickHouseStore]:
    """Return the embedded store of a data directory, which the caller has locked. Raises `StoreUnavailable`."""
    store = ClickHouseStore.embedded(directory / STORE_FOLDER, settings.store)
    try:
        store.migrate()
    except BaseException:
        store.close()
        raise
    return closing(store)


def check_finished(log: EventLog, directory: Path) -> None:
    """Raise `UnfinishedReplay` unless the facts of a data directory are whole."""
    if log.state(GROUP, UNFINISHED) is not None:
        raise UnfinishedReplay(f"a replay of {directory} was broken off; run `pitwatch replay` again to finish it")


def check_fillable(log: SqliteLog, directory: Path, group: str) -> None:
    """Raise what stands against filling a server's store, as `group`, from the log of a data directory.

    That is `UnfinishedReplay`, `StoreUnavailable` for facts that are no more, and `StoreOutdated`.
    """
    check_finished(log, directory)
    if log.state(group, STARTED_OVER) is not None:
        raise StoreOutdated(
            f"the log of {directory} was replayed after this store had been filled from it, and its facts are counted"
            " anew. Drop the store's database, run `pitwatch migrate`, and start again: everything is filled in"
        )
    FactRetention(log, group, [], None, lambda: datetime.now(UTC)).check()


def begin_replay(directory: Path) -> None:
    """Throw away everything that is derived from a data directory's events, which the caller has locked.

    Raises `LogUnavailable`, `DataDirectoryUnusable`. The log goes first: its mark keeps everybody from the store, of
    which only a part may be left should this be broken off, until a replay has come to its end.
    """
    with open_log(directory) as log:
        told = log.state(GROUP, UNFINISHED) or b"%d" % _last_told(log)
        log.start_over(tuple(FACT_TOPICS.values()), GROUP, (UNFINISHED, told))
    store = directory / STORE_FOLDER
    try:
        # Not the folder itself, which may be where a disk of its own is mounted.
        for entry in store.iterdir() if store.exists() else ():
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            else:
                entry.unlink()
    except OSError as error:
        raise DataDirectoryUnusable(f"the store {store} can't be cleared: {error}. Mend it and replay again") from error


def end_replay(log: SqliteLog) -> None:
    """Let the pipeline run again. What people were told of before is no news; what they were not told of still is."""
    told = int(log.state(GROUP, UNFINISHED) or b"-1")
    log.commit_position(ALERTS_READ, Position(ALERTS, 0, _first_untold(log, told)))
    log.forget_state(GROUP, UNFINISHED)


def _last_told(log: EventLog) -> int:
    """Return the offset of the event that brought about the last alert which the notifier has read, -1 for none."""
    read = log.position(ALERTS_READ, ALERTS, 0)
    newest = log.read(ALERTS, 0, max(0, read - 1), 1)
    return _cause(newest[0].value) if read and newest and newest[0].offset < read else -1


def _first_untold(log: EventLog, told: int) -> int:
    """Return the place of the first alert brought about by event `told` or a later one; the notifier knows repeats.

    Alerts lie in the log in the order of the events that brought them about.
    """
    if told < 0:
        return 0
    offset = 0
    while records := log.read(ALERTS, 0, offset, _ALERTS_PER_READ):
        for record in records:
            if _cause(record.value) >= told:
                return record.offset
        offset = records[-1].offset + 1
    return offset


def _cause(alert: bytes) -> int:
    return decode_fact(alert).src_offset
