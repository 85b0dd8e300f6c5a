"""What is decided about a replay's alerts where a worker restarts on the way, or another takes a partition over."""

from collections.abc import Iterator
from contextlib import ExitStack, closing
from datetime import timedelta
from pathlib import Path

import pytest

from processors.notify.database import Database
from processors.notify.intake import Intake
from schemas.log import Record
from schemas.revisions import first_revision
from schemas.topics import FACT_TOPICS
from schemas.wire import encode
from tests.processors.notify.samples import NOON, alert, settings

BEGUN = NOON + timedelta(hours=1)
NOW = BEGUN + timedelta(minutes=1)
LATER = NOW + timedelta(minutes=5)


class Worker:
    """A worker's intake, and the queue that it keeps."""

    def __init__(self, folder: Path) -> None:
        self.database = Database(folder / "notify.sqlite")
        self.intake = Intake(self.database, settings())

    def restart(self) -> None:
        """Forget all that is not in the queue's file."""
        self.intake = Intake(self.database, settings())

    def told(self) -> list[str]:
        """Return what people are to be told."""
        return [title for (title,) in self.database.rows("SELECT title FROM sends ORDER BY send_id")]


@pytest.fixture
def workers(tmp_path: Path) -> Iterator[list[Worker]]:
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        folder.mkdir()
    with ExitStack() as opened:
        made = [Worker(folder) for folder in folders]
        for worker in made:
            opened.enter_context(closing(worker.database))
        yield made


def again(offset: int, **changes: object) -> Record:
    """Return what a replay tells at an offset of one and the same alert."""
    fact = alert(1, **{"revision": first_revision(BEGUN) + offset} | changes)
    return Record(FACT_TOPICS["alert"], 0, offset, "B07", encode(fact), BEGUN)


def test_restart_midway_is_no_end(workers: list[Worker]) -> None:
    one, _ = workers
    one.intake.accept([again(0)], NOW)
    one.restart()
    assert one.intake.summarise(LATER) == 0, "nobody has read on yet"
    one.intake.accept([again(1, retracted=True)], LATER)
    assert one.intake.summarise(LATER + timedelta(minutes=5)) == 0


def test_what_another_has_decided_meanwhile_is_not_held_back(workers: list[Worker]) -> None:
    one, two = workers
    one.intake.accept([again(0)], NOW)
    two.intake.recall([again(0)])
    two.intake.accept([again(1, retracted=True)], NOW)
    one.intake.recall([again(1, retracted=True)])
    for worker in (one, two):
        worker.intake.summarise(NOW)
        worker.intake.summarise(LATER)
    assert one.told() == []
