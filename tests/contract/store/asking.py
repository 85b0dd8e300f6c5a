"""Puts facts into a store and asks for them again, as readers and as the pipeline do."""

from datetime import datetime
from typing import Any

from processors.store.port import VIEWS, Store
from schemas.facts import Fact
from schemas.wire import FACT_STRUCTS, encode


def put(store: Store, *facts: Fact) -> None:
    """Insert facts of one kind, all at once."""
    store.insert(facts[0].fact, [encode(one) for one in facts])


def seen(store: Store, kind: str, table_id: str, columns: str = "*") -> list[dict[str, Any]]:
    """Return the rows about a table that readers see."""
    return store.rows(
        f"SELECT {columns} FROM {VIEWS[kind]} WHERE table_id = {{t:String}} ORDER BY ALL", dict, {"t": table_id}
    )


def kept(store: Store, kind: str, table_id: str) -> list[Fact]:
    """Return the facts about a table that hold, as the pipeline's own type."""
    return store.rows(
        f"SELECT '{kind}' AS fact, * FROM {VIEWS[kind]}_versions FINAL WHERE table_id = {{t:String}}",
        FACT_STRUCTS[kind],
        {"t": table_id},
    )


def in_window(store: Store, table_id: str, since: datetime, until: datetime) -> list[int]:
    """Return the numbers of the table's rounds in a window."""
    statement = (
        "SELECT round FROM rounds_between(since = {a:DateTime64(6, 'UTC')}, until = {b:DateTime64(6, 'UTC')})"
        " WHERE table_id = {t:String} ORDER BY round"
    )
    return [row["round"] for row in store.rows(statement, dict, {"t": table_id, "a": since, "b": until})]
