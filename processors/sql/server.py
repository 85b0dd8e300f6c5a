"""Runs the endpoint beside a store that this process has open."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from processors.serving import serving
from processors.settings import Settings
from processors.sql.answers import Limits
from processors.sql.app import Endpoint
from processors.sql.users import User


@contextmanager
def run_sql(folder: Path, settings: Settings) -> Iterator[str]:
    """Answer the readers of `settings` for the length of a ``with`` block, which gets the URL, empty without any.

    `folder` is the store's, and stays open for as long as the block lasts. Raises `ServingFailed`. At the end, queries
    that still run are stopped.
    """
    if not settings.sql.users:
        yield ""
        return
    users = [User(user.name, user.password_sha256) for user in settings.sql.users]
    limits = Limits(
        database=settings.store.database,
        max_execution_seconds=settings.store.max_execution_seconds,
        max_answer_bytes=settings.sql.max_answer_bytes,
        # The floor itself works on this machine too, and comes first.
        max_threads=max(1, (os.cpu_count() or 1) // 2),
    )
    endpoint = Endpoint(folder, users, limits, settings.sql.max_concurrent_queries)
    try:
        with serving(endpoint.app, settings.sql.host, settings.sql.port, "sql") as url:
            try:
                yield url
            finally:
                endpoint.stop()
    finally:
        endpoint.close()
