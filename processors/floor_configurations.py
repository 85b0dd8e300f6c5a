"""The house's word on the rules at each table: published where another configuration, or none, was published last.

Whoever decides must know everything that the log holds, and nobody may hear a table before it is done. On one machine
that is the reconstruct loop, in a cluster the gateway.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime

from processors.own_events import Message, OwnEvents
from schemas.configuration import TableConfiguration, TableEntry


def to_publish(
    floor: Iterable[TableEntry], published: Mapping[str, TableConfiguration], own: OwnEvents, now: datetime
) -> list[Message]:
    """Return the events that put each table's configuration in force where `published` has another for it, or none."""
    return [
        own.configuration_published(entry, now)
        for entry in floor
        if published.get(entry.table_id) != entry.configuration
    ]
