"""Asks ClickHouse's engine, in a process with a configuration of its own, what becomes of statements."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.conftest import REPOSITORY


def asked_of(
    module: str, folder: Path, *arguments: str, statements: tuple[str, ...], environment: Mapping[str, str]
) -> list[object]:
    """Return what becomes of `statements` in the program `module`, which works in `folder`."""
    ran = subprocess.run(
        [sys.executable, "-m", module, str(folder), *arguments],
        input="\n".join(statements),
        env={**os.environ, **environment, "PYTHONPATH": str(REPOSITORY)},
        cwd=folder,
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    answers = json.loads(ran.stdout[ran.stdout.index("[") :])
    assert len(answers) == len(statements)
    return list(answers)
