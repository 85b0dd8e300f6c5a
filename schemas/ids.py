"""Identifiers and how they are put together."""

from typing import Final

SYSTEM_EPOCH: Final = 0
"""Epoch of events which Pitwatch itself writes to the log; a table controller's boots count from one."""


def event_id(table_id: str, epoch: int, seq: int) -> str:
    """Return an event's identity: one controller per table numbers its events, so this names one event for ever."""
    return f"{table_id}:{epoch}:{seq}"


def split_event_id(identity: str) -> tuple[str, int, int]:
    """Return the table, epoch and seq that `identity` was made of. Raises `ValueError` for anything else."""
    table_id, epoch, seq = identity.rsplit(":", 2)
    return table_id, int(epoch), int(seq)
