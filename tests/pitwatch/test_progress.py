"""Progress bars are for terminals: where nobody looks, not a byte is written; on one, they are seen to move."""

import os
import pty
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from pitwatch.progress import counting_bar, reading_bar, remaining_bar, waiting_bar, waiting_for
from processors.embedded import Health
from producers.importers.sources import Progress


def show_all() -> None:
    """Show every kind of bar, as far as it goes."""
    with counting_bar("replaying", 10) as advance:
        advance(10)
    with reading_bar() as on_progress:
        for size in (None, 4_000):
            on_progress(Progress(Path(f"{size}.ndjson"), 2_000, size, 7))
    with waiting_for("asking the store"):
        pass
    with waiting_bar("folding") as on_wait:
        for behind in (0, 30, 10, 0):
            on_wait(Health(behind, behind, {}))


def test_nothing_is_written_where_nobody_looks(capfd: pytest.CaptureFixture[str]) -> None:
    show_all()
    assert capfd.readouterr() == ("", "")


def test_who_is_waited_for_is_said_once_where_nobody_looks(capfd: pytest.CaptureFixture[str]) -> None:
    with remaining_bar() as on_wait:
        for name, left in (("reconstruct", 1_200), ("reconstruct", 7), ("sink", 0), ("reconstruct", 0)):
            on_wait(name, left)
    assert capfd.readouterr() == ("", "waiting for reconstruct, which has about 1,200 records left\n")


def test_bars_are_shown_on_a_terminal(repository: Path) -> None:
    script = "from tests.pitwatch.test_progress import show_all; show_all()"
    ours, theirs = pty.openpty()
    environment = {**os.environ, "PYTHONPATH": str(repository), "TERM": "xterm", "COLUMNS": "120"}
    with subprocess.Popen(
        [sys.executable, "-c", script], stderr=theirs, stdout=subprocess.PIPE, env=environment
    ) as shown:
        os.close(theirs)
        pieces = []
        # A terminal whose other end is closed answers with an error.
        while piece := _read(ours):
            pieces.append(piece)
        os.close(ours)
        assert shown.stdout is not None
        assert shown.stdout.read() == b""
    assert shown.returncode == 0
    text = b"".join(pieces).decode()
    for what in ("replaying", "10/10", "events", "4000.ndjson", "2.0/4.0 kB", "asking the store", "folding", "30/30"):
        assert what in text, textwrap.shorten(text, 500)


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65_536)
    except OSError:
        return b""
