"""Writes .env, with new random secrets, for docker compose: ``python3 deploy/make_env.py [--layout cluster] FILE``.

A file that is there is kept: no secret in it is ever changed, and what a newer version needs besides is added. It
takes Python's own modules only, for `make up` runs it before anything is installed.
"""

import argparse
import base64
import hashlib
import json
import os
import re
import secrets
import stat
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

LAYOUTS: Final = ("single", "cluster")

SIMULATOR: Final = "simulator"
"""The profile of the simulated floor."""

TABLES: Final = (
    ("SIM-101", "PIT-1", "macau"),
    ("SIM-102", "PIT-1", "sjm"),
    ("SIM-103", "PIT-1", "commission_free"),
    ("SIM-104", "PIT-1", "macau"),
    ("SIM-201", "PIT-2", "macau"),
    ("SIM-202", "PIT-2", "sjm"),
    ("SIM-203", "PIT-2", "commission_free"),
    ("SIM-204", "PIT-2", "macau"),
)
"""The simulated floor: table, pit, and preset of its configuration."""

_ASSIGNMENT: Final = re.compile(r"^\s*([A-Za-z_][A-Za-z0-9_]*)\s*=(.*)$", re.MULTILINE)

Values = Mapping[str, str]


class Unusable(Exception):
    """Raised for a file that can't be completed; the message says what to do."""


def password() -> str:
    """Return a new password of 192 random bits, of letters and digits alone."""
    return secrets.token_hex(24)


def cluster_id() -> str:
    """Return a new id for Kafka: 16 random bytes in base 64, which its tools must not take for an option."""
    while True:
        text = base64.urlsafe_b64encode(secrets.token_bytes(16)).decode().rstrip("=")
        if not text.startswith("-"):
            return text


def clickhouse_user(name: str) -> Values:
    """Return a new password for a user of ClickHouse, and its SHA-256, which is all that the server gets."""
    secret = password()
    digest = hashlib.sha256(secret.encode()).hexdigest()
    return {f"CLICKHOUSE_{name}_PASSWORD": secret, f"CLICKHOUSE_{name}_SHA256": digest}


def simulated_floor() -> Values:
    """Return the simulated floor's tables with the hashes of their tokens, and the tokens for whoever plays them."""
    tokens = {table: secrets.token_urlsafe(32) for table, _, _ in TABLES}
    tables = [
        {
            "table_id": table,
            "pit": pit,
            "configuration": preset,
            "tokens_sha256": [hashlib.sha256(tokens[table].encode()).hexdigest()],
        }
        for table, pit, preset in TABLES
    ]
    return {"PITWATCH_FLOOR__TABLES": f"'{json.dumps(tables)}'", "SIMULATOR_TOKENS": f"'{json.dumps(tokens)}'"}


def layout_of(name: str) -> Values:
    """Return what says how many servers there are."""
    chosen = {"COMPOSE_PROFILES": f"{name},{SIMULATOR}"}
    return chosen | ({"PITWATCH_STORE__CLUSTER": "pitwatch"} if name == "cluster" else {})


Group = tuple[str, Callable[[], Values]]

SECRETS: Final[tuple[Group, ...]] = (
    ("Kafka's cluster: no secret, but never to be changed.", lambda: {"KAFKA_CLUSTER_ID": cluster_id()}),
    ("ClickHouse: Pitwatch itself.", lambda: clickhouse_user("WRITER")),
    ("ClickHouse: Grafana, read only.", lambda: clickhouse_user("GRAFANA")),
    ("ClickHouse: analysts, read only.", lambda: clickhouse_user("ANALYST")),
    ("ClickHouse: between the servers of a cluster.", lambda: {"CLICKHOUSE_CLUSTER_SECRET": password()}),
    ("Grafana: the user admin.", lambda: {"GRAFANA_ADMIN_PASSWORD": password()}),
    ("Grafana: encrypts what it stores.", lambda: {"GRAFANA_SECRET_KEY": password()}),
)

FLOOR: Final[Group] = ("The simulated floor; docs/operations.md says how to replace it with yours.", simulated_floor)


def complete(text: str, layout: str) -> str:
    """Return what is to be added to a file of `text` so that it has everything. Raises `Unusable`."""
    known = dict(_ASSIGNMENT.findall(text))
    profiles = known.get("COMPOSE_PROFILES", "").strip("\"' ").split(",")
    if "COMPOSE_PROFILES" in known and layout not in profiles:
        raise Unusable(
            f"it is of another layout (COMPOSE_PROFILES={','.join(profiles)}), whose data {layout} can't take over."
            " Say LAYOUT=... as before, or begin anew beside it: docs/operations.md, Layouts"
        )
    groups: list[Group] = [("Which services run.", lambda: layout_of(layout)), *SECRETS]
    if SIMULATOR in profiles or not text:
        groups.append(FLOOR)
    return "".join(_missing(known, comment, make()) for comment, make in groups)


def _missing(known: Mapping[str, str], comment: str, values: Values) -> str:
    there = values.keys() & known.keys()
    if there == values.keys():
        return ""
    if there:
        raise Unusable(f"it has {min(there)} but not {min(values.keys() - there)}, which belong together: remove both")
    return f"# {comment}\n" + "".join(f"{name}={value}\n" for name, value in values.items())


def write(path: Path, layout: str) -> bool:
    """Make `path`, or complete it; nobody but its owner may read it. Tell whether anything was written.

    Raises `Unusable` and `OSError`.
    """
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    added = complete(text, layout)
    if text and not text.endswith("\n"):
        added = f"\n{added}" if added else ""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, stat.S_IRUSR | stat.S_IWUSR)
    with os.fdopen(descriptor, "a", encoding="utf-8") as file:
        # A file that was there keeps the mode it had, whatever the call above asked for.
        os.fchmod(file.fileno(), stat.S_IRUSR | stat.S_IWUSR)
        file.write(added)
    return bool(added)


def main(arguments: list[str]) -> int:
    """Write the file named on the command line; return the exit code."""
    parser = argparse.ArgumentParser(description="Write the secrets that docker compose needs.")
    parser.add_argument("--layout", choices=LAYOUTS, default="single", help="servers: one of each, or a cluster")
    parser.add_argument("file", type=Path, help="the file, usually .env")
    asked = parser.parse_args(arguments)
    try:
        written = write(asked.file, asked.layout)
    except (Unusable, OSError) as error:
        sys.stderr.write(f"{asked.file}: {error}\n")
        return 1
    if written:
        sys.stderr.write(f"{asked.file} has new secrets now: keep a copy where only you can read it\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
