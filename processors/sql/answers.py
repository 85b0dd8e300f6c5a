"""From what is asked to its answer: judged, run in a session of its own, and handed over piece by piece."""

from collections.abc import Iterator
from tempfile import SpooledTemporaryFile
from threading import Lock
from typing import Final, NamedTuple
from uuid import uuid4

import msgspec

from processors.sql.asked import Asked
from processors.sql.codings import CODINGS
from processors.sql.engine import PIECE_BYTES, Engine
from processors.sql.native import FROM_REVISION, reframed
from processors.sql.permitted import for_reader, for_writer, is_reading_only
from processors.sql.refusals import BAD_ARGUMENTS, READONLY, TOO_MUCH_RESULT, Refused
from processors.sql.users import User
from processors.store.admission import admit, admit_write, format_of, has_totals
from processors.store.clickhouse import reader_settings
from processors.store.port import QueryRefused

# Formats of which a sequence of whole answers is one answer: nothing stands at their beginning or at their end.
STREAMED: Final = frozenset({
    "CSV", "JSONCompactEachRow", "JSONCompactStringsEachRow", "JSONEachRow", "JSONLines", "JSONStringsEachRow",
    "NDJSON", "Native", "Raw", "RowBinary", "TSV", "TSVRaw", "TabSeparated", "TabSeparatedRaw",
})  # fmt: skip

BEGINNING_BYTES: Final = 1_048_576
"""So much of an answer is gathered before any of it is sent: what fails within it fails with a proper status."""

MAX_GATHERED_BYTES: Final = 2**30
"""Longest answer that is gathered whole, in a temporary file, for a client that wants all of it or an error."""

_SILENT: Final = ("ALTER ", "CREATE ", "DROP ", "OPTIMIZE ")

# Limits that the store has for answers kept in memory, and its own switch.
_NOT_FOR_STREAMS: Final = frozenset({"max_result_rows", "max_result_bytes", "readonly"})


class Limits(NamedTuple):
    """How much one reader's answer may take, and the database meant where none is named."""

    database: str
    max_execution_seconds: int
    max_answer_bytes: int
    max_threads: int = 1


class Answer:
    """One answer in the making. Methods block, and raise `Refused`; `cancel` may be called by any thread."""

    def __init__(self, engine: Engine, limits: Limits, user: User, asked: Asked, coding: str) -> None:
        self._session = engine.session()
        self._busy = Lock()
        self._limits = limits
        self._user = user
        self._asked = asked
        self._coder = CODINGS[coding].compressor() if coding else None
        self._gathered = SpooledTemporaryFile[bytes](max_size=BEGINNING_BYTES)
        self._more: Iterator[bytes] = iter(())
        self.query_id = asked.query_id or str(uuid4())
        self.coding = coding
        self.format = ""
        """Name of the answer's format, empty for a statement without an answer."""
        self.length: int | None = None
        """Bytes of the answer once all of it is gathered."""

    def begin(self) -> None:
        """Run the statement until its answer is whole, or is long and may be sent as it comes."""
        with self._busy:
            self._gather()

    def next_piece(self) -> bytes:
        """Return the next piece of the answer, empty at its end."""
        with self._busy:
            return self._gathered.read(PIECE_BYTES) or next(self._more, b"")

    def ending(self, message: bytes) -> bytes:
        """Return the end of an answer that is broken off with a message in it."""
        return self._coder.compress(message) + self._coder.flush() if self._coder else message

    def summary(self) -> bytes:
        """Return what the answer took so far, as ClickHouse's summary has it: numbers are texts."""
        costs = self._session.costs
        return msgspec.json.encode({name: str(getattr(costs, name)) for name in costs.__slots__})

    def cancel(self) -> None:
        """Have what runs for this answer stop."""
        self._session.cancel()

    def close(self) -> None:
        """Release everything, once what runs has ended."""
        with self._busy:
            self._gathered.close()
            self._session.close()

    def _gather(self) -> None:
        self._more = self._coded(self._run())
        limit = MAX_GATHERED_BYTES if self._asked.whole else BEGINNING_BYTES
        for piece in self._more:
            self._gathered.write(piece)
            if self._gathered.tell() > limit:
                if not self._asked.whole:
                    break
                raise Refused(TOO_MUCH_RESULT, f"The answer is longer than {limit:,} bytes: stream it, or narrow it.")
        else:
            self.length = self._gathered.tell()
        self._gathered.seek(0)

    def _coded(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        coder, empty = self._coder, True
        for piece in pieces:
            packed = coder.compress(piece) if coder else piece
            empty = False
            if packed:
                yield packed
        # Nothing stays nothing: that is how clients know an answer without a block.
        if coder and not empty:
            yield coder.flush()

    def _run(self) -> Iterator[bytes]:
        asked, session = self._asked, self._session
        if not asked.statement.strip():
            raise Refused(BAD_ARGUMENTS, "There is no query: send one in the body, or as ?query=.")
        session.use(asked.database or self._limits.database)
        statement = session.normal_form(asked.statement)
        reading_only = not self._user.writes or asked.reading_only or is_reading_only(asked.settings)
        self._judge(statement, reading_only=reading_only)
        if statement.startswith("INSERT "):
            return self._insert(statement)
        return self._query(statement, reading_only=reading_only)

    def _judge(self, statement: str, *, reading_only: bool) -> None:
        try:
            (admit if reading_only else admit_write)(statement)
        except QueryRefused as refused:
            raise Refused(READONLY, str(refused)) from None

    def _insert(self, statement: str) -> Iterator[bytes]:
        self._session.restrict(for_writer(self._asked.settings), reading_only=False)
        fmt = format_of(statement)
        self._session.insert(statement.removesuffix(f" FORMAT {fmt}"), fmt, self._asked.data)
        return iter(())

    def _query(self, statement: str, *, reading_only: bool) -> Iterator[bytes]:
        asked, session = self._asked, self._session
        fmt = format_of(statement) or asked.default_format
        streamed = (
            fmt in STREAMED
            and statement.startswith(("SELECT ", "WITH "))
            and not has_totals(statement)
            and "extremes" not in asked.settings
        )
        session.restrict(self._in_force(streamed=streamed), reading_only=reading_only)
        pieces = (session.streamed if streamed else session.whole)(statement, fmt, asked.parameters)
        # Only what reads has an answer, and clients go by the header that names its format.
        self.format = "" if statement.startswith(_SILENT) else fmt
        if fmt != "Native" or asked.revision < FROM_REVISION:
            return pieces
        # What is streamed comes in whole blocks; the rest is put together for it.
        return map(reframed, pieces if streamed else [b"".join(pieces)])

    def _in_force(self, *, streamed: bool) -> dict[str, str]:
        if self._user.writes:
            return for_writer(self._asked.settings)
        limits = dict(reader_settings(self._limits.max_execution_seconds))
        for name in _NOT_FOR_STREAMS:
            del limits[name]
        limits["max_threads"] = self._limits.max_threads
        if not streamed:
            limits["max_result_bytes"] = self._limits.max_answer_bytes
        return for_reader(self._asked.settings, limits)
