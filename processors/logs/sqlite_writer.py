"""The one connection that writes. Threads that write at the same moment share a commit, and so the wait for the disk.

A commit takes the disk a millisecond whether it holds one message or a thousand. So a thread that finds the connection
busy has its work in the queue meanwhile, and whoever gets the connection next does all that is queued in one
transaction.
"""

import sqlite3
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, Generic, TypeVar

from processors.logs.sqlite_errors import told
from processors.logs.sqlite_file import LogFile
from schemas.log import LogClosed

T = TypeVar("T")


class _Job(Generic[T]):
    def __init__(self, doing: str, work: Callable[[sqlite3.Connection], T]) -> None:
        self.doing = doing
        self.work = work
        self.outcome: Future[T] = Future()


class Writer:
    """Runs functions on the writing connection, each wholly or not at all, for any number of threads."""

    def __init__(self, file: LogFile) -> None:
        self._path = file.path
        self._connection = file.open_writer()
        self._queue: deque[_Job[Any]] = deque()
        self._turn = threading.Lock()
        self._closed = False

    def write(self, doing: str, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` in a transaction; return what it returned once that is durable, or raise what stopped it.

        `work` may be run again after a failure, so it changes nothing but the database. Raises `LogUnavailable`,
        `LogClosed`.
        """
        job = _Job(doing, work)
        self._queue.append(job)
        with self._turn:
            if not job.outcome.done():
                if self._closed:
                    raise LogClosed(f"the log {self._path} was closed while it was still written")
                # Not only what is queued: a thread interrupted in its turn leaves taken jobs to their owners.
                self._do([job, *(other for other in self._take_queue() if other is not job)])
        return job.outcome.result()

    def close(self) -> None:
        """Close the connection once the running commit is through. Idempotent."""
        with self._turn:
            if not self._closed:
                # What lies in the write-ahead log goes into the file itself, so that the file alone is the log.
                with suppress(sqlite3.Error):
                    self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._closed = True
            self._connection.close()

    def _take_queue(self) -> list[_Job[Any]]:
        taken = []
        while self._queue:
            taken.append(self._queue.popleft())
        return taken

    def _do(self, jobs: list[_Job[Any]]) -> None:
        try:
            with told(self._path, jobs[0].doing):
                results = self._commit(jobs)
        except Exception as error:  # noqa: BLE001 - not swallowed: it goes to the thread whose work it is
            if len(jobs) == 1:
                jobs[0].outcome.set_exception(error)
                return
            # One job's trouble, such as a key that is no text, is not to be the others'.
            for job in jobs:
                self._do([job])
        else:
            for job, result in zip(jobs, results, strict=True):
                job.outcome.set_result(result)

    def _commit(self, jobs: list[_Job[Any]]) -> list[object]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            results = [job.work(self._connection) for job in jobs]
            self._connection.execute("COMMIT")
        finally:
            # SQLite ends the transaction by itself after some errors, and after others not.
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        return results
