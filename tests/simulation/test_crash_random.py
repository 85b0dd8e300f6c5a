"""Kill −9 again and again at random: the floor comes out as if nothing had happened."""

import signal
from random import Random

import pytest

from tests.simulation.conftest import Doomed


@pytest.mark.parametrize("seed", [1, 2])
def test_floor_killed_at_random_comes_out_the_same(seed: int, doomed: Doomed, undisturbed: Doomed) -> None:
    """What the process has told of says when, never a clock; in the middle of what that finds it, nobody can say."""
    rng = Random(seed)
    crashes, exit_code = 0, None
    while exit_code != 0:
        with doomed.running("feed") as running:
            running.wait_for_steps(rng.randrange(5, 50))
            running.process.kill()
            running.process.join()
            exit_code = running.process.exitcode
        assert exit_code in {0, -signal.SIGKILL}
        crashes += exit_code != 0
    assert crashes >= 2
    assert doomed.run("finish") == 0
    doomed.assert_same_as(undisturbed)
    doomed.assert_told_as(undisturbed, crashes)
