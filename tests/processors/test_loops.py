"""A pipeline's threads: outages are waited out and told of once, anything else ends them all, aloud."""

import threading
from collections.abc import Callable, Iterator

import pytest
from structlog.testing import capture_logs

import processors.loops
from processors.loops import Loop, Standing
from processors.metrics import LOOP_RETRIES
from schemas.log import LogUnavailable


@pytest.fixture
def standing(monkeypatch: pytest.MonkeyPatch) -> Iterator[Standing]:
    """Loops that try again at once."""
    monkeypatch.setattr(processors.loops, "FIRST_RETRY_SECONDS", 0)
    standing = Standing()
    yield standing
    standing.stopping.set()


def run(standing: Standing, *steps: Callable[[], bool]) -> Loop:
    """Let a loop take these steps and then stop; return it when it has ended."""
    left = iter(steps)

    def step() -> bool:
        following = next(left, None)
        if following is None:
            standing.stopping.set()
            return False
        return following()

    loop = Loop("work", step, standing, (LogUnavailable,))
    loop.start()
    loop.join()
    return loop


def fail(error: BaseException) -> Callable[[], bool]:
    def step() -> bool:
        raise error

    return step


def test_outage_is_told_once_and_so_is_its_end(standing: Standing) -> None:
    seen: list[dict[str, str]] = []

    def look() -> bool:
        seen.append(standing.troubles())
        raise LogUnavailable("the disk is full")

    before = LOOP_RETRIES.labels("work")._value.get()
    with capture_logs() as logs:
        run(standing, look, look, look, fail(LogUnavailable("the disk is broken")), lambda: True, lambda: True)
    assert seen == [{}, {"work": "the disk is full"}, {"work": "the disk is full"}]
    assert standing.troubles() == {}
    assert LOOP_RETRIES.labels("work")._value.get() == before + 4
    standing.raise_failure()
    assert [(entry["event"], entry.get("error")) for entry in logs] == [
        ("loop_waits", "the disk is full"),
        ("loop_waits", "the disk is broken"),
        ("loop_recovered", None),
    ]


def test_anything_else_ends_the_pipeline_and_is_raised(standing: Standing) -> None:
    defect = KeyError("T01")
    with capture_logs() as logs:
        run(standing, fail(defect), lambda: True)
    assert standing.stopping.is_set()
    with pytest.raises(KeyError) as raised:
        standing.raise_failure()
    assert raised.value is defect
    assert [(entry["event"], entry["loop"]) for entry in logs] == [("loop_failed", "work")]


def test_the_first_failure_is_the_one_told(standing: Standing) -> None:
    with capture_logs():
        standing.fail("one", KeyError("first"))
        standing.fail("other", KeyError("second"))
    with pytest.raises(KeyError, match="first"):
        standing.raise_failure()


def test_pauses_grow_and_end_with_a_stop(standing: Standing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processors.loops, "FIRST_RETRY_SECONDS", 1.0)
    pauses: list[float] = []

    def wait(seconds: float) -> bool:
        pauses.append(seconds)
        return False

    monkeypatch.setattr(standing.stopping, "wait", wait)
    with capture_logs():
        run(standing, *[fail(LogUnavailable("full"))] * 6, lambda: True, fail(LogUnavailable("full")))
    assert pauses == [1.0, 2.0, 4.0, 8.0, 10.0, 10.0, 1.0]


def test_progress_wakes_who_waits_for_it(standing: Standing) -> None:
    done = threading.Event()
    waited: list[bool] = []
    waiter = threading.Thread(target=lambda: waited.append(standing.wait_for(done.is_set, 600)))
    waiter.start()

    def finish() -> bool:
        done.set()
        return True

    run(standing, finish)
    waiter.join()
    assert waited == [True]
    assert not standing.wait_for(lambda: False, 0)
