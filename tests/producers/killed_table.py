"""A table's process for `test_outbox_kill`: it tells its parent, line by line, what it has done, until it is killed.

``publish FILE``: publishes without end and writes each event's identity once `publish` returned.
``deliver FILE``: sends one batch after the other; writes each event as it arrives, then waits for a line before it
lets the outbox know.
"""

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from producers.outbox import Outbox
from producers.publisher import Publisher
from producers.sender import Sender
from producers.transports import ACCEPTED, Receipt
from schemas.events import Heartbeat

NOON = datetime(2026, 1, 15, 12, tzinfo=UTC)


def tell(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


class Parent:
    """A transport to the parent process."""

    def send(self, events: Sequence[bytes]) -> list[Receipt]:
        for event in events:
            tell(event.decode())
        tell("arrived")
        sys.stdin.readline()
        return [ACCEPTED] * len(events)

    def close(self) -> None:
        pass


def main(what: str, path: Path) -> None:
    outbox = Outbox(path, "T01")
    if what == "publish":
        publisher = Publisher(outbox, lambda: NOON)
        while True:
            tell(publisher.publish(lambda at: Heartbeat(**at)).event_id)
    sender = Sender(outbox, Parent(), batch_events=4)
    while sender.deliver():
        pass


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
