"""Who may do what on a ClickHouse server: one account that writes, readers with limits, and nobody else. Pure.

Servers keep these accounts themselves; an embedded store has none and needs none (`processors.sql`).
"""

import hashlib
from collections.abc import Sequence
from typing import Final

from processors.settings import StoreSettings
from processors.sql.settings import SqlUser
from processors.store.clickhouse import reader_settings
from processors.store.migrations import Layout

SCREEN_SECONDS: Final = 90
"""Longest time that a reader may ask for. Grafana's data source asks for its own deadline and five seconds more."""

_WRITES: Final = "SELECT, INSERT, ALTER, CREATE DATABASE, CREATE TABLE, CREATE VIEW, DROP VIEW"


def reader_statements(store: StoreSettings, users: Sequence[SqlUser]) -> list[str]:
    """Return the statements that make the readers what they are; run again, they change nothing."""
    layout = Layout(store.cluster or "", store.database)
    profile = f"{store.database}_reader"
    statements = [f"CREATE SETTINGS PROFILE OR REPLACE `{profile}`{layout.on_cluster} SETTINGS {_limits(store)}"]
    for user in users:
        statements += [
            _account(user.name, user.password_sha256, profile, layout),
            f"GRANT{layout.on_cluster} SELECT ON {store.database}.* TO `{user.name}`",
        ]
    return statements


def writer_statements(store: StoreSettings) -> list[str]:
    """Return the statements that make the account which `store` logs in with, for an administrator to run."""
    layout = Layout(store.cluster or "", store.database)
    profile = f"{store.database}_writer"
    sha256 = hashlib.sha256(store.password.get_secret_value().encode()).hexdigest()
    statements = [
        f"CREATE SETTINGS PROFILE OR REPLACE `{profile}`{layout.on_cluster} SETTINGS async_insert = 0",
        _account(store.user, sha256, profile, layout),
        f"GRANT{layout.on_cluster} {_WRITES} ON {store.database}.* TO `{store.user}`",
    ]
    if layout.cluster:
        statements += [
            f"GRANT{layout.on_cluster} CLUSTER ON *.* TO `{store.user}`",
            f"GRANT{layout.on_cluster} TABLE ENGINE ON Distributed TO `{store.user}`",
        ]
    return statements


def _account(name: str, sha256: str, profile: str, layout: Layout) -> str:
    return (
        f"CREATE USER OR REPLACE `{name}`{layout.on_cluster} IDENTIFIED WITH sha256_hash BY '{sha256}'"
        f" DEFAULT DATABASE {layout.database} SETTINGS PROFILE '{profile}'"
    )


def _limits(store: StoreSettings) -> str:
    return ", ".join(_limit(name, value) for name, value in reader_settings(store.max_execution_seconds).items())


def _limit(name: str, value: str | int) -> str:
    text = f"{name} = '{value}'" if isinstance(value, str) else f"{name} = {value}"
    if name != "max_execution_time":
        return text
    longest = max(SCREEN_SECONDS, int(value))
    # Readers change nothing else: not even this to zero, which would mean without end.
    return f"{text} MIN 1 MAX {longest} CHANGEABLE_IN_READONLY"
