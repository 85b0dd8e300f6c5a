"""The embedded engine as those see it who ask over HTTP: a session for each request, which ends with it.

A session costs 2 ms, and nothing of one request, be it a setting or the rest of a broken answer, gets into the next.
"""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Final
from uuid import uuid4

from processors.sql.embedding import Answer, Connection, connect
from processors.sql.refusals import WAS_CANCELLED, Refused, engines

PIECE_BYTES: Final = 262_144
"""Longest piece of an answer that is handed on at a time."""


@dataclass(slots=True)
class Costs:
    """What an answer took so far, by the names that ``X-ClickHouse-Summary`` has for it."""

    read_rows: int = 0
    read_bytes: int = 0
    written_rows: int = 0
    written_bytes: int = 0
    result_rows: int = 0
    elapsed_ns: int = 0


class Engine:
    """Opens sessions on a folder that this process has open already as its store. Used by several threads.

    Methods block, and raise `Refused`.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = str(folder.resolve())
        self._control = connect(self._folder)
        self._lock = Lock()
        about = self._ask("SELECT version(), timezone()").split("\t")
        self.version, self.timezone = about[0], about[1]

    def session(self) -> "Session":
        """Open a session, of its own and not restricted yet."""
        return Session(self, connect(self._folder))

    def kill(self, mark: str) -> None:
        """Have the engine stop what bears this mark, and don't wait for it."""
        assert mark.isalnum(), "it goes into a statement"
        self._ask(f"KILL QUERY WHERE startsWith(query, '/*{mark}*/') ASYNC")

    def close(self) -> None:
        """Let go of the folder; sessions must have been closed."""
        with self._lock:
            self._control.close()

    def _ask(self, statement: str) -> str:
        with self._lock:
            return self._control.query(statement, "TabSeparated").bytes().decode().rstrip("\n")


class Session:
    """One request's session: one thread at a time, except for `cancel`, which any may call while another works."""

    def __init__(self, engine: Engine, connection: Connection) -> None:
        self._engine = engine
        self._connection = connection
        self._mark = uuid4().hex
        self._cancelled = False
        self._stream = ExitStack()
        self.costs = Costs()

    def use(self, database: str) -> None:
        """Have names without a database mean this one's."""
        self._query(f"USE {quoted_name(database)}", "Null", {})

    def restrict(self, settings: Mapping[str, str], *, reading_only: bool) -> None:
        """Put settings in force; for reading only, none of them can be changed afterwards."""
        if settings:
            changes = ", ".join(f"{name} = {quoted(text)}" for name, text in settings.items())
            self._query(f"SET {changes}", "Null", {})
        if reading_only:
            self._query("SET readonly = 1", "Null", {})

    def normal_form(self, sql: str) -> str:
        """Return the one statement in `sql` as the engine understands it."""
        parameters = {"sql": sql.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")}
        try:
            answer = self._query("SELECT formatQuerySingleLine({sql:String})", "TabSeparatedRaw", parameters)
        except Refused as refused:
            # Where the engine found the fault is our own statement, of which nobody knows.
            message, _, _ = str(refused).partition(": In scope SELECT formatQuerySingleLine(")
            raise Refused(refused.fault, message) from None
        return answer.bytes().decode().removesuffix("\n")

    def whole(self, statement: str, fmt: str, parameters: Mapping[str, str]) -> Iterator[bytes]:
        """Run a statement to its end; yield the answer in pieces."""
        answer = self._query(statement, fmt, parameters)
        self._count(answer)
        self.costs.elapsed_ns = int(answer.elapsed() * 1e9)
        data = answer.get_memview().view()
        for start in range(0, len(data), PIECE_BYTES):
            yield bytes(data[start : start + PIECE_BYTES])

    def streamed(self, statement: str, fmt: str, parameters: Mapping[str, str]) -> Iterator[bytes]:
        """Run a statement as its answer is taken, block by block; right only for formats without a head and a foot."""
        self._check()
        try:
            sent = self._connection.send_query(self._marked(statement), fmt, params=dict(parameters))
            # Ended with the session, if not before: nothing else can be asked while it is open.
            for block in self._stream.enter_context(sent):
                self._count(block)
                self.costs.elapsed_ns = int(block.elapsed() * 1e9)
                yield block.bytes()
                self._check()
        except RuntimeError as error:
            raise engines(error) from None

    def insert(self, statement: str, fmt: str, data: bytes) -> None:
        """Insert rows; `statement` is an INSERT without its format."""
        self._check()
        try:
            with self._connection.send_insert(statement, fmt) as rows:
                rows.append(data)
                done = rows.finish()
        except RuntimeError as error:
            raise engines(error) from None
        self.costs.written_rows, self.costs.written_bytes = done.rows_written, done.bytes_written
        self.costs.elapsed_ns = int(done.elapsed * 1e9)

    def cancel(self) -> None:
        """Have what runs in this session stop, and let nothing begin in it."""
        self._cancelled = True
        self._engine.kill(self._mark)

    def close(self) -> None:
        """End the session."""
        try:
            self._stream.close()
        finally:
            self._connection.close()

    def _query(self, statement: str, fmt: str, parameters: Mapping[str, str]) -> Answer:
        self._check()
        try:
            return self._connection.query(self._marked(statement), fmt, params=dict(parameters))
        except RuntimeError as error:
            raise engines(error) from None

    def _marked(self, statement: str) -> str:
        """Return a statement with the mark by which it can be found among those that run."""
        return f"/*{self._mark}*/ {statement}"

    def _check(self) -> None:
        if self._cancelled:
            raise Refused(WAS_CANCELLED, "Query was cancelled: who asked has gone, or the store is being closed.")

    def _count(self, answer: Answer) -> None:
        self.costs.read_rows += answer.storage_rows_read()
        self.costs.read_bytes += answer.storage_bytes_read()
        self.costs.result_rows += answer.rows_read()


def quoted(text: str) -> str:
    """Return a text as SQL has it."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def quoted_name(name: str) -> str:
    """Return a name as SQL has it."""
    return "`" + name.replace("\\", "\\\\").replace("`", "\\`") + "`"
