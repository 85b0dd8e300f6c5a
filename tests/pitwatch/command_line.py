"""The command line as a person calls it: in this process, or in one of its own."""

import io
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from pitwatch.cli import main

PROGRAM = "from pitwatch.cli import main; main()"


class Answer(NamedTuple):
    """What a call came to."""

    exit_code: int
    out: bytes
    err: str


class CommandLine:
    """Calls `pitwatch` in this process; everything but the process is as it is on a terminal."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, captured: pytest.CaptureFixture[bytes]) -> None:
        self._monkeypatch = monkeypatch
        self._captured = captured
        monkeypatch.setenv("COLUMNS", "300")

    def __call__(self, *arguments: str | Path, stdin: bytes = b"") -> Answer:
        self._monkeypatch.setattr(sys, "argv", ["pitwatch", *map(str, arguments)])
        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(stdin))))
        with pytest.raises(SystemExit) as left:
            main()
        out, err = self._captured.readouterr()
        return Answer(int(left.value.code or 0), out, err.decode())


def start(repository: Path, *arguments: str | Path, first: str = "") -> "subprocess.Popen[str]":
    """Start `pitwatch` in a process of its own, which may do something `first`."""
    return subprocess.Popen(
        [sys.executable, "-c", first + PROGRAM, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(repository)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ndjson(lines: Sequence[bytes]) -> bytes:
    """Return lines as a file has them."""
    return b"".join(line + b"\n" for line in lines)
