"""Kill −9 at the worst moments: nothing is lost, and what was recorded as sent is not sent again."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from processors.logs.sqlite import SqliteLog
from processors.notify.database import FILE_NAME
from processors.notify.notifier import GROUP, TOPIC, Notifier
from processors.notify.recording import RecordingTransport
from processors.notify.status import read_status
from schemas.wire import encode
from tests.processors.notify.samples import alert, settings

ALERTS = 4

# Dies in the second call of the method it is told: before it does anything, or after it has done it.
SCRIPT = """
import os, signal, sys
from pathlib import Path
from processors.logs.sqlite import SqliteLog
from processors.notify.intake import Intake
from processors.notify.notifier import Notifier
from processors.notify.outbox import Outbox
from processors.notify.recording import RecordingTransport
from tests.processors.notify.samples import settings

folder, where, method, moment = Path(sys.argv[1]), *sys.argv[2:]
sent = (folder / "sent.txt").open("a")
owner = {"intake": Intake, "outbox": Outbox, "log": SqliteLog}[where]
genuine, calls = getattr(owner, method), []

def dying(*arguments):
    calls.append(arguments)
    if len(calls) == 2 and moment == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    result = genuine(*arguments)
    if len(calls) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return result

class Transport(RecordingTransport):
    def send(self, url, message):
        sent.write(message.title + "\\n")
        sent.flush()

setattr(owner, method, dying)
log = SqliteLog(folder / "log.sqlite")
notifier = Notifier(log, folder, Transport(), settings())
while notifier.step():
    pass
"""


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize(
    ("where", "method"),
    [
        ("outbox", "enqueue"),
        ("outbox", "mark_sent"),
        ("outbox", "next_send"),
        ("intake", "accept"),
        ("log", "commit_position"),
    ],
)
def test_nothing_is_lost_and_nothing_recorded_is_repeated(
    tmp_path: Path, repository: Path, where: str, method: str, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # One record a batch, so that there is a second one to die in.
    script = SCRIPT.replace(
        "while notifier.step()", "import processors.notify.notifier as n; n.BATCH = 1\nwhile notifier.step()"
    )
    log = SqliteLog(tmp_path / "log.sqlite")
    log.append(TOPIC, [("B07", encode(alert(number))) for number in range(1, ALERTS + 1)])
    log.close()
    ended = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path), where, method, moment],
        cwd=repository,
        env=os.environ | {"PYTHONPATH": str(repository)},
        check=False,
    )
    assert ended.returncode == -signal.SIGKILL
    before = (tmp_path / "sent.txt").read_text().splitlines()
    recorded = read_status(tmp_path / FILE_NAME).sent

    log, transport = SqliteLog(tmp_path / "log.sqlite"), RecordingTransport()
    notifier = Notifier(log, tmp_path, transport, settings())
    while notifier.step():
        pass
    after = [delivery.title for delivery in transport.deliveries]
    assert set(before) | set(after) == {f"CRITICAL · B07 · shoe 3 round {number}" for number in range(1, ALERTS + 1)}
    assert len(after) == ALERTS - recorded
    assert len(before) - recorded <= 1, "at most the send in progress is repeated"
    assert notifier.status().sent == ALERTS
    assert log.position(GROUP, TOPIC, 0) == ALERTS
    notifier.close()
    log.close()
