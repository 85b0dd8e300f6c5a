"""Kill −9 while everything is worked out again: a replay that was broken off is begun again, and nobody told twice."""

import signal

from tests.simulation.conftest import Doomed

REPLAY_POINTS = (
    "before the log is started over", "in starting over", "log started over, store there", "store half gone",
    "store gone", "replay folded, not committed", "replay stored, position not", "before the replay ends",
    "replay told, not ended", "replay ended",
)  # fmt: skip


def test_replay_killed_at_named_points_comes_out_the_same(doomed: Doomed, undisturbed: Doomed) -> None:
    assert doomed.run("feed") == 0
    for point in REPLAY_POINTS:
        assert doomed.run("replay", point) == -signal.SIGKILL, f"never came to: {point}"
    assert doomed.run("finish") == 0
    doomed.assert_same_as(undisturbed)
    doomed.assert_told_as(undisturbed, crashes=0)
