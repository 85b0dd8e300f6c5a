"""A process for tests to kill or to starve: ``victim.py WHAT FOLDER`` does WHAT and tells on its output.

Each line says what is done and durable, so the test knows what must be there after the process was killed.
"""

import os
import resource
import sys
from itertools import count
from pathlib import Path

from processors.settings import StoreSettings
from processors.store.clickhouse import ClickHouseStore
from processors.store.port import StoreUnavailable
from schemas.wire import encode
from tests.contract.store.stored_facts import fact


def say(text: str) -> None:
    """Tell the test, at once."""
    os.write(sys.stdout.fileno(), f"{text}\n".encode())


def opened(folder: Path) -> ClickHouseStore:
    store = ClickHouseStore.embedded(folder, StoreSettings())
    store.migrate()
    return store


def batch(number: int) -> list[bytes]:
    """Return batch `number`: one to seven rounds of the shoe of that number."""
    return [encode(fact("round", "BAC-01", shoe=number, round=one)) for one in range(1, number % 7 + 2)]


def insert(folder: Path) -> None:
    """Insert batch after batch, saying each one's number."""
    store = opened(folder)
    for number in count(1):
        store.insert("round", batch(number))
        say(str(number))


def outgrow(folder: Path) -> None:
    """Insert while no file may grow, say the error, lift that, insert again and say so."""
    store = opened(folder)
    store.insert("round", batch(1))
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (16, hard))
    try:
        store.insert("round", batch(2))
    except StoreUnavailable as error:
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        store.insert("round", batch(2))
        store.close()
        say(str(error).replace("\n", " "))


def hold(folder: Path) -> None:
    """Open the store, say so, and stay."""
    store = opened(folder)
    say("opened")
    sys.stdin.read()
    store.close()


if __name__ == "__main__":
    {"insert": insert, "outgrow": outgrow, "hold": hold}[sys.argv[1]](Path(sys.argv[2]))
