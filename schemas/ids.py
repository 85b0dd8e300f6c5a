"""Identifiers and how they are put together."""

import re
from typing import Final

SYSTEM_EPOCH: Final = 0
"""Epoch of events which Pitwatch itself writes to the log; a table controller's boots count from one."""

TABLE_ID_PATTERN: Final = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,39}$"
EVENT_ID_PATTERN: Final = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,39}:(0|[1-9][0-9]{0,18}):(0|[1-9][0-9]{0,18})$"

_EVENT_ID: Final = re.compile(EVENT_ID_PATTERN)


def event_id(table_id: str, epoch: int, seq: int) -> str:
    """Return an event's identity: one controller per table numbers its events, so this names one event for ever."""
    return f"{table_id}:{epoch}:{seq}"


def split_event_id(identity: str) -> tuple[str, int, int]:
    """Return the table, epoch and seq that `identity` was made of. Raises `ValueError` for anything else."""
    if not _EVENT_ID.fullmatch(identity):
        raise ValueError(f"{identity[:100]!r} is no event id: it reads table:epoch:seq, such as BAC-01:3:1207")
    table_id, epoch, seq = identity.rsplit(":", 2)
    return table_id, int(epoch), int(seq)
