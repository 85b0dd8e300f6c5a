"""The store as a port: what a database of facts and events must do, whichever product keeps it.

What it holds is named by kind: the kinds of facts (`schemas.facts`), and ``event`` for the tables' own messages. Each
kind is read through a view, `VIEWS`; docs/data-dictionary.md describes them.
"""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Final, Protocol, TypeVar

from schemas.errors import PitwatchError

T = TypeVar("T")

Parameter = str | int | bool | Decimal | datetime | date | Sequence[str] | Sequence[int] | None
"""A value for a query's placeholder; moments must know their zone."""

Parameters = Mapping[str, Parameter]

VIEWS: Final[dict[str, str]] = {
    "event": "events",
    "round": "rounds",
    "bet": "bets",
    "commission": "commissions",
    "road": "roads",
    "shoe": "shoes",
    "table_hour": "table_hours",
    "alert": "alerts",
    "dead_letter": "dead_letters",
}
"""Kind of row → the view that readers use."""


class StoreError(PitwatchError):
    """Root of what a store raises."""


class StoreUnavailable(StoreError):
    """The store can't be opened or can't work now (locked, disk full, too new a schema). Mend it, then try again."""


class RowsRefused(StoreError):
    """Some of the rows are none that the store could hold exactly; others of the same call may have been kept.

    `indexes` names the refused rows of the call where that is known, and is empty otherwise.
    """

    def __init__(self, message: str, indexes: Sequence[int] = ()) -> None:
        super().__init__(message)
        self.indexes = indexes


class QueryRefused(StoreError):
    """The query is wrong, does more than read, takes too long or returns too much; the message says which."""


class Store(Protocol):
    """A database of facts and events. Methods may block, and may be called by several threads at once.

    Every method may raise `StoreUnavailable`.
    """

    @property
    def identity(self) -> str:
        """The database's own id: another one means that everything must be inserted anew. Known after `migrate`."""
        ...

    def migrate(self) -> list[str]:
        """Bring the schema to this program's version; return the names of the steps taken. Idempotent.

        Raises `StoreUnavailable` for a schema that is newer, or that was made by other steps than this program's.
        """
        ...

    def insert(self, kind: str, rows: Sequence[bytes]) -> None:
        """Insert rows of one kind, each one JSON object; on return they are durable and can be queried.

        Idempotent: of all rows with one key the newest holds, so inserting again changes nothing. Fields that the
        store doesn't know are skipped. Raises `RowsRefused`, after which some rows may have been kept.
        """
        ...

    def query(self, sql: str, parameters: Parameters | None = None, fmt: str = "JSONEachRow") -> bytes:
        """Return the answer to one reading statement, written in a ClickHouse format (the statement's own comes first).

        Placeholders are written ``{name:Type}``. Never changes anything, whatever the statement. Raises
        `QueryRefused`.
        """
        ...

    def rows(self, sql: str, shape: type[T], parameters: Parameters | None = None) -> list[T]:
        """Return the answer's rows as `shape`: a `msgspec.Struct`, a dataclass or a dict type with the columns' names.

        Decimals come as `Decimal`, moments as UTC `datetime`. Raises `QueryRefused`.
        """
        ...

    def close(self) -> None:
        """Release everything. Idempotent."""
        ...
