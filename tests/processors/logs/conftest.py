"""Processes that tests kill."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

StartVictim = Callable[[str, Path], "subprocess.Popen[str]"]
"""Starts ``victim.py WHAT PATH``; the fixture kills and reaps it."""


@pytest.fixture
def start_victim(repository: Path) -> Iterator[StartVictim]:
    with ExitStack() as started:

        def start(what: str, path: Path) -> "subprocess.Popen[str]":
            process = started.enter_context(
                subprocess.Popen(
                    [sys.executable, str(Path(__file__).with_name("victim.py")), what, str(path)],
                    env={**os.environ, "PYTHONPATH": str(repository)},
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                )
            )
            started.callback(process.kill)
            return process

        yield start
