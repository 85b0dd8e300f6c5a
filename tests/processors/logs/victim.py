"""A process for tests to kill or to starve: ``victim.py WHAT PATH`` does WHAT for ever and acknowledges on its output.

Each line says what is done and durable, so the test knows what must be there after the process was killed.
"""

import os
import resource
import sys
from itertools import count
from pathlib import Path

from processors.logs.lock import lock_data_directory
from processors.logs.sqlite import SqliteLog
from schemas.log import LogUnavailable, Position


def say(text: str) -> None:
    """Tell the test, at once."""
    os.write(sys.stdout.fileno(), f"{text}\n".encode())


def batch(number: int) -> list[tuple[str, bytes]]:
    """Return batch `number`: one to seven messages whose values name the batch and their place in it."""
    return [("B01", b"%d.%d" % (number, place)) for place in range(number % 7 + 1)]


def append(path: Path) -> None:
    """Append batch after batch, saying each one's number."""
    log = SqliteLog(path)
    for number in count():
        log.append("events", batch(number))
        say(str(number))


def transact(path: Path) -> None:
    """Commit transaction after transaction: a message, a state and a position that all say the same number."""
    log = SqliteLog(path)
    for number in count(1):
        with log.transaction("group") as transaction:
            transaction.publish("facts", [("B01", b"%d" % number)])
            transaction.save_state("B01", b"%d" % number)
            transaction.commit(Position("events", 0, number))
        say(str(number))


def outgrow(path: Path) -> None:
    """Append until a limit on the file's length stops it, lift that, append once more, say the number and error."""
    log = SqliteLog(path)
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, hard))
    for number in count():
        try:
            log.append("events", [("B01", b"%06d" % number + b"x" * 5_000)])
        except LogUnavailable as error:
            resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
            log.append("events", [("B01", b"%06d" % number)])
            log.close()
            say(f"{number} {error}")
            return


def lock(path: Path) -> None:
    """Lock the data directory, say so, and stay."""
    with lock_data_directory(path):
        say("locked")
        sys.stdin.read()


if __name__ == "__main__":
    {"append": append, "transact": transact, "outgrow": outgrow, "lock": lock}[sys.argv[1]](Path(sys.argv[2]))
