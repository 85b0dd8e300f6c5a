"""Keeps one broker for all processes of a test session: ``python -m tests.kafka.serve FOLDER``.

Each test process holds a shared lock on FOLDER/users while it may need the broker, and the operating system takes the
lock back whichever way the process ends. So the broker stops when the last of them is gone, and is never left behind.
"""

import fcntl
import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.kafka.broker import START_SECONDS, BrokerDidNotStart, Cluster

REPOSITORY = Path(__file__).resolve().parents[2]

_LOOK_SECONDS = 0.2


class Address(NamedTuple):
    """Where a broker listens: plainly, and (ours alone) for users with passwords."""

    bootstrap: str
    sasl_bootstrap: str | None = None


@contextmanager
def shared_broker(folder: Path) -> Iterator[Address]:
    """Use the broker of `folder` during the ``with`` block; who comes first starts it. Raises `BrokerDidNotStart`."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "users").open("w") as users, (folder / "start").open("w") as start:
        fcntl.flock(users, fcntl.LOCK_SH)
        # One process starts it; the others wait here and find its address.
        fcntl.flock(start, fcntl.LOCK_EX)
        address = folder / "address.json"
        if not address.exists():
            _start(folder, address)
        fcntl.flock(start, fcntl.LOCK_UN)
        yield Address(*json.loads(address.read_text()))


def _start(folder: Path, address: Path) -> None:
    # Not by `subprocess`: the server outlives this process where another test process still uses it.
    log = os.open(folder / "serve.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    server = os.posix_spawn(
        sys.executable,
        [sys.executable, "-m", "tests.kafka.serve", str(folder)],
        os.environ | {"PYTHONPATH": str(REPOSITORY)},
        file_actions=[(os.POSIX_SPAWN_DUP2, log, 1), (os.POSIX_SPAWN_DUP2, log, 2)],
        setsid=True,
    )
    os.close(log)
    deadline = time.monotonic() + START_SECONDS
    while not address.exists():
        ended, _ = os.waitpid(server, os.WNOHANG)
        if ended or time.monotonic() > deadline:
            raise BrokerDidNotStart((folder / "serve.log").read_text(errors="replace"))
        time.sleep(_LOOK_SECONDS)


def serve(folder: Path) -> None:
    """Run a broker until nobody uses it."""
    with (folder / "users").open("w") as users, Cluster(folder / "cluster") as cluster:
        written = folder / "address.part"
        written.write_text(json.dumps([cluster.bootstrap, cluster.sasl_bootstrap]))
        written.rename(folder / "address.json")
        while _in_use(users.fileno()):
            time.sleep(_LOOK_SECONDS)


def _in_use(users: int) -> bool:
    try:
        fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
