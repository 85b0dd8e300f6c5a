"""Work in a process that does nothing else, so that the memory it holds is its own."""

import multiprocessing
import re
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


def alone(work: Callable[..., T], *arguments: object) -> T:
    """Return what `work`, a function of a module, returns in a fresh process. Raises what it raises there."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(work, *arguments).result()


def held(process: int | str = "self") -> int:
    """Return how much memory a process holds, in bytes. Raises AssertionError where the kernel doesn't tell."""
    return _told("VmRSS", process)


def peak(process: int | str = "self") -> int:
    """Return the most that a process ever held, in bytes. Raises AssertionError where the kernel doesn't tell."""
    return _told("VmHWM", process)


def _told(what: str, process: int | str) -> int:
    found = re.search(rf"{what}:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text(encoding="ascii"))
    assert found, "the kernel doesn't tell"
    return int(found[1]) * 1024
