"""The tables of the log's file and what is done to them inside a transaction.

Each topic has a table of its own, so that appending always fills the last page of a tree, and dropping old records
frees whole pages which any topic can use again.
"""

from collections.abc import Iterable
from itertools import chain
from sqlite3 import Connection
from typing import Final

from processors.logs.transaction import Messages
from schemas.log import Fenced, Position

TABLES: Final = (
    """
    CREATE TABLE topics (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)
    """,
    """
    CREATE TABLE groups (name TEXT PRIMARY KEY, epoch INTEGER NOT NULL) WITHOUT ROWID
    """,
    """
    CREATE TABLE positions (
        group_name TEXT NOT NULL, topic TEXT NOT NULL, partition INTEGER NOT NULL, offset INTEGER NOT NULL,
        PRIMARY KEY (group_name, topic, partition)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE states (group_name TEXT NOT NULL, key TEXT NOT NULL, state BLOB NOT NULL, UNIQUE (group_name, key))
    """,
)

# Of one topic; `appended_at` is in microseconds since 1970. The index ends with the offset, as every index does.
_TOPIC_TABLES: Final = (
    """
    CREATE TABLE messages_N (
        offset INTEGER PRIMARY KEY, key TEXT NOT NULL, value BLOB NOT NULL, appended_at INTEGER NOT NULL
    )
    """,
    """
    CREATE INDEX messages_N_by_key ON messages_N (key)
    """,
)

FIND_TOPIC: Final = "SELECT id FROM topics WHERE name = ?"
READ: Final = "SELECT offset, key, value, appended_at FROM messages_N WHERE offset >= ? ORDER BY offset LIMIT ?"
READ_KEY: Final = (
    "SELECT offset, key, value, appended_at FROM messages_N WHERE key = ? AND offset >= ? ORDER BY offset LIMIT ?"
)
# Two subqueries, for each of which SQLite goes straight to an end of the tree.
BOUNDS: Final = "SELECT (SELECT min(offset) FROM messages_N), (SELECT max(offset) FROM messages_N)"
APPENDED_AT: Final = "SELECT appended_at FROM messages_N WHERE offset = ?"
POSITION: Final = "SELECT offset FROM positions WHERE group_name = ? AND topic = ? AND partition = ?"
STATE: Final = "SELECT state FROM states WHERE group_name = ? AND key = ?"
STATE_KEYS: Final = "SELECT key FROM states WHERE group_name = ? ORDER BY key"

STARTED_OVER: Final = "log:started-over"
"""Key of a snapshot that tells a group: what you have read of this log is no more, and what comes is told anew."""

_MARK_READERS: Final = (
    "INSERT OR REPLACE INTO states SELECT DISTINCT group_name, ?, x'' FROM positions WHERE group_name != ?"
)
_LAST: Final = "SELECT offset, appended_at FROM messages_N ORDER BY offset DESC LIMIT 1"
_APPEND: Final = "INSERT INTO messages_N VALUES (?, ?, ?, ?)"
# Many rows in one statement: Python's lock is let go once for all of them, while a busy thread beside this one would
# otherwise take it after any row and keep it for milliseconds. SQLite takes 32,766 parameters.
_ROWS_AT_ONCE: Final = (5_000, 500, 50, 5)
_APPEND_MANY: Final = {rows: _APPEND + ", (?, ?, ?, ?)" * (rows - 1) for rows in _ROWS_AT_ONCE}
_DROP: Final = "DELETE FROM messages_N WHERE offset < ?"
_EPOCH: Final = "SELECT epoch FROM groups WHERE name = ?"
_NEXT_EPOCH: Final = "INSERT INTO groups VALUES (?, 1) ON CONFLICT DO UPDATE SET epoch = epoch + 1"
_SAVE_POSITION: Final = (
    "INSERT INTO positions VALUES (?, ?, ?, ?) "
    "ON CONFLICT (group_name, topic, partition) DO UPDATE SET offset = excluded.offset"
)
_SAVE_STATE: Final = (
    "INSERT INTO states VALUES (?, ?, ?) ON CONFLICT (group_name, key) DO UPDATE SET state = excluded.state"
)


def for_topic(statement: str, topic_id: int) -> str:
    """Return `statement`, which says ``messages_N``, for the table of one topic."""
    return statement.replace("messages_N", f"messages_{topic_id}")


def append(connection: Connection, topic: str, messages: Messages, now: int) -> int:
    """Append to `topic`, making it if need be; return the first message's offset. `now` is in microseconds.

    A clock that was set back doesn't take the log's time back with it.
    """
    topic_id = _topic_id(connection, topic)
    last, last_at = connection.execute(for_topic(_LAST, topic_id)).fetchone() or (-1, now)
    appended_at = max(now, last_at)
    rows = [(offset, key, value, appended_at) for offset, (key, value) in enumerate(messages, last + 1)]
    done = 0
    for size in _ROWS_AT_ONCE:
        statement = for_topic(_APPEND_MANY[size], topic_id)
        while len(rows) - done >= size:
            connection.execute(statement, list(chain.from_iterable(rows[done : done + size])))
            done += size
    connection.executemany(for_topic(_APPEND, topic_id), rows[done:])
    return int(last) + 1


def drop_before(connection: Connection, topic: str, offset: int, limit: int) -> int:
    """Drop at most `limit` of the topic's records below `offset`; return how many those were.

    The newest record stays whatever `offset` is, because the next one is numbered after it.
    """
    topic_id = _find_topic(connection, topic)
    if topic_id is None:
        return 0
    first, last = connection.execute(for_topic(BOUNDS, topic_id)).fetchone()
    return connection.execute(for_topic(_DROP, topic_id), (min(offset, last, first + limit),)).rowcount


def claim(connection: Connection, group: str) -> int:
    """Begin a new epoch of `group` and return it."""
    connection.execute(_NEXT_EPOCH, (group,))
    (epoch,) = connection.execute(_EPOCH, (group,)).fetchone()
    return int(epoch)


def check_claim(connection: Connection, group: str, epoch: int) -> None:
    """Raise `Fenced` where `epoch` is no more the newest of `group`."""
    (newest,) = connection.execute(_EPOCH, (group,)).fetchone()
    if newest != epoch:
        raise Fenced(
            f"group {group} was taken over (epoch {newest}; this log held {epoch}), and nothing was written. "
            "Drop what was computed and claim the group again, or leave it to its new owner"
        )


def save_positions(connection: Connection, group: str, positions: Iterable[Position]) -> None:
    """Put the group's place in each partition."""
    connection.executemany(_SAVE_POSITION, [(group, *position) for position in positions])


def save_states(connection: Connection, group: str, states: Iterable[tuple[str, bytes]]) -> None:
    """Replace the group's snapshots (key, state)."""
    connection.executemany(_SAVE_STATE, [(group, key, state) for key, state in states])


def _find_topic(connection: Connection, topic: str) -> int | None:
    row = connection.execute(FIND_TOPIC, (topic,)).fetchone()
    return None if row is None else int(row[0])


def _topic_id(connection: Connection, topic: str) -> int:
    known = _find_topic(connection, topic)
    if known is not None:
        return known
    made = connection.execute("INSERT INTO topics (name) VALUES (?)", (topic,)).lastrowid
    assert made is not None
    for statement in _TOPIC_TABLES:
        connection.execute(for_topic(statement, made))
    return made


def start_over(connection: Connection, topics: Iterable[str], group: str, marker: tuple[str, bytes]) -> None:
    """Empty topics, so that their offsets begin at 0 again, and forget who had read them; forget all of `group`.

    Every other group that had read anything gets a snapshot of the key `STARTED_OVER`.
    """
    connection.execute(_MARK_READERS, (STARTED_OVER, group))
    connection.execute("DELETE FROM positions WHERE group_name = ?", (group,))
    connection.execute("DELETE FROM states WHERE group_name = ?", (group,))
    for topic in topics:
        connection.execute("DELETE FROM positions WHERE topic = ?", (topic,))
        topic_id = _find_topic(connection, topic)
        if topic_id is not None:
            connection.execute(for_topic("DELETE FROM messages_N", topic_id))
    save_states(connection, group, [marker])


def forget_state(connection: Connection, group: str, key: str) -> None:
    """Drop a group's snapshot of one key."""
    connection.execute("DELETE FROM states WHERE group_name = ? AND key = ?", (group, key))
