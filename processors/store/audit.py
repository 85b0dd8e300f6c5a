"""The store's facts as the pipeline's own types, to compare with what the log gives."""

from collections.abc import Iterator
from typing import Final

from processors.store.port import VIEWS, Store
from schemas.facts import FACT_KEYS, Fact
from schemas.topics import TABLE_EVENTS
from schemas.wire import FACT_STRUCTS

ROWS_PER_QUERY: Final = 20_000


_BELOW: Final = "AND revision < {below:UInt64} AND src_topic = {topic:String}"


def facts_of(store: Store, kind: str, table_id: str, *, below: int | None = None) -> Iterator[Fact]:
    """Yield the facts of one kind about a table that stand in the store, revisions and places included.

    `below`: only those of a lower revision which the fold made; others, of what came to nothing on its way, never have
    another revision.
    """
    key = ", ".join(FACT_KEYS[kind])
    # Every name in the statement comes from the contract; only the table's id comes from outside.
    statement = (
        f"SELECT '{kind}' AS fact, * FROM {VIEWS[kind]}_versions FINAL WHERE table_id = {{table:String}} "  # noqa: S608
        f"{'' if below is None else _BELOW} ORDER BY {key} LIMIT {{rows:UInt64}} OFFSET {{skipped:UInt64}}"
    )
    asked: dict[str, str | int] = {"table": table_id, "rows": ROWS_PER_QUERY}
    if below is not None:
        asked |= {"below": below, "topic": TABLE_EVENTS}
    skipped = 0
    while True:
        found = store.rows(statement, FACT_STRUCTS[kind], asked | {"skipped": skipped})
        yield from found
        if len(found) < ROWS_PER_QUERY:
            return
        skipped += ROWS_PER_QUERY
