"""Kill −9 at named points: nothing is lost, nothing counted twice, and people are told of every alert."""

import signal
from ast import literal_eval

import pytest

from processors.reconstruct.fold import FoldSettings, TableFold
from schemas.log import Record
from schemas.topics import FACT_TOPICS, TABLE_EVENTS
from schemas.wire import encode
from tests.simulation.conftest import Doomed
from tests.simulation.crash_floor import EVENTS_PER_APPEND, START, TABLES, TICK, messages
from tests.simulation.doomed import POINTS
from tests.simulation.test_crash_replay import REPLAY_POINTS

# One floor dies at each of these in turn and is then finished: that a crash comes after a crash is part of it.
CHAINS = {
    "start": (
        "opening, before the database", "in a migration", "migration taken, not noted", "opened", "claimed",
        "configurations decided", "configurations in the log",
    ),
    "log": (
        "before an append", "in an append", "after an append", "folded, not committed", "snapshot half written",
        "in the commit", "committed", "before a snapshot",
    ),
    "store": ("before rows are stored", "rows stored, position not", "position of rows"),
    "notifier": (
        "before alerts are queued", "alerts queued, position not", "before a message", "message sent, not noted",
        "message noted",
    ),
    "stop": (
        "gaps given up", "before the folds are saved", "one fold saved", "folds saved", "before the store is closed",
        "before the log is closed",
    ),
}  # fmt: skip


def test_every_point_is_tried() -> None:
    assert sorted([*REPLAY_POINTS, *(point for chain in CHAINS.values() for point in chain)]) == sorted(POINTS)


def test_undisturbed_floor_gives_what_the_fold_alone_gives(undisturbed: Doomed) -> None:
    """The reference: the messages through the pure fold, with neither files nor threads."""
    undisturbed.assert_same_as(undisturbed)
    in_log = undisturbed.outcome()["log"]
    written = [(key, literal_eval(value)) for key, value in (line.split(" ", 1) for line in in_log[TABLE_EVENTS])]
    sent = messages()
    own = written[:TABLES] + written[TABLES + len(sent) :]
    assert written[TABLES : TABLES + len(sent)] == sent
    assert {b"configuration_published" in value or b"gap_expired" in value for _, value in own} == {True}
    folds = {key: TableFold(key, FoldSettings()) for key, _ in written}
    facts: dict[str, list[str]] = {topic: [] for topic in FACT_TOPICS.values()}
    for offset, (key, value) in enumerate(written):
        batch = max(0, offset - TABLES) // EVENTS_PER_APPEND
        appended_at = START + (TABLES + batch * EVENTS_PER_APPEND) * TICK if offset >= TABLES else START
        for fact in folds[key].apply(Record(TABLE_EVENTS, 0, offset, key, value, appended_at)):
            facts[FACT_TOPICS[fact.fact]].append(f"{key} {encode(fact)!r}")
    for topic, lines in facts.items():
        assert in_log[topic] == lines, topic
        assert lines, f"the floor gives no {topic}, so nothing is proved of them"


@pytest.mark.parametrize("chain", CHAINS)
def test_floor_killed_at_named_points_comes_out_the_same(chain: str, doomed: Doomed, undisturbed: Doomed) -> None:
    for point in CHAINS[chain]:
        assert doomed.run("feed", point) == -signal.SIGKILL, f"never came to: {point}"
    assert doomed.run("finish") == 0
    doomed.assert_same_as(undisturbed)
    doomed.assert_told_as(undisturbed, crashes=len(CHAINS[chain]))
