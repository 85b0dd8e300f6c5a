"""The folder of an embedded store: one process at a time, and what was inserted survives that process."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from processors.settings import StoreSettings
from processors.store.clickhouse import ClickHouseStore
from processors.store.port import StoreUnavailable
from tests.contract.store.stored_facts import fact
from tests.processors.store.victim import batch, opened

VICTIM = Path(__file__).with_name("victim.py")

Start = Callable[[str, Path], "subprocess.Popen[str]"]


@pytest.fixture
def start(repository: Path) -> Iterator[Start]:
    """Starts `victim.py` with what it shall do and the folder it shall do it to."""
    with ExitStack() as started:

        def start_one(what: str, folder: Path) -> "subprocess.Popen[str]":
            process = started.enter_context(
                subprocess.Popen(
                    [sys.executable, str(VICTIM), what, str(folder)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                    env=os.environ | {"PYTHONPATH": str(repository)},
                )
            )
            started.callback(process.kill)
            return process

        yield start_one


def line_of(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def shoes(store: ClickHouseStore) -> dict[int, int]:
    """Return the number of rounds in each shoe."""
    found = store.rows("SELECT shoe, count() AS rounds FROM rounds GROUP BY shoe", dict)
    return {row["shoe"]: row["rounds"] for row in found}


def test_folder_of_another_process_is_refused_and_free_after_it(tmp_path: Path, start: Start) -> None:
    holder = start("hold", tmp_path / "store")
    assert line_of(holder) == "opened"
    with pytest.raises(StoreUnavailable, match=rf"belongs to another running process \(PID: {holder.pid}\)"):
        ClickHouseStore.embedded(tmp_path / "store", StoreSettings())
    assert holder.stdin is not None
    holder.stdin.close()
    assert holder.wait(60) == 0
    with closing(opened(tmp_path / "store")) as store:
        assert shoes(store) == {}


def test_process_has_one_folder_open_at_a_time(tmp_path: Path) -> None:
    with closing(opened(tmp_path / "one")), pytest.raises(StoreUnavailable, match="close that one first"):
        ClickHouseStore.embedded(tmp_path / "two", StoreSettings())
    with closing(opened(tmp_path / "two")) as store:
        assert shoes(store) == {}


def test_path_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("")
    with pytest.raises(StoreUnavailable, match="can't be opened"):
        ClickHouseStore.embedded(tmp_path / "store", StoreSettings())


def test_closed_store_opens_again_with_everything_in_it(tmp_path: Path) -> None:
    with closing(opened(tmp_path / "store")) as store:
        store.insert("round", batch(3))
        identity = store.identity
    with closing(opened(tmp_path / "store")) as store:
        assert store.identity == identity
        assert shoes(store) == {3: 4}


def test_new_folder_is_another_store(tmp_path: Path) -> None:
    with closing(opened(tmp_path / "one")) as store:
        identity = store.identity
    with closing(opened(tmp_path / "two")) as store:
        assert store.identity != identity


@pytest.mark.parametrize("batches", [1, 12])
def test_what_was_inserted_survives_a_kill(tmp_path: Path, start: Start, batches: int) -> None:
    """The batch in work when the process dies may be there or not; if it is inserted again, that changes nothing."""
    victim = start("insert", tmp_path / "store")
    for _ in range(batches):
        line_of(victim)
    victim.kill()
    said = [int(line) for line in victim.stdout] if victim.stdout else []
    last = max(said, default=batches)
    victim.wait(60)
    with closing(opened(tmp_path / "store")) as store:
        found = shoes(store)
        expected = {number: len(batch(number)) for number in range(1, last + 1)}
        assert {number: rounds for number, rounds in found.items() if number <= last} == expected
        assert found.keys() <= expected.keys() | {last + 1}
        store.insert("round", batch(last + 1))
        assert shoes(store) == expected | {last + 1: len(batch(last + 1))}


def test_store_that_cannot_write_says_so_and_goes_on_when_it_can(tmp_path: Path, start: Start) -> None:
    victim = start("outgrow", tmp_path / "store")
    assert "nothing could be inserted into rounds_versions" in line_of(victim)
    assert victim.wait(60) == 0
    with closing(opened(tmp_path / "store")) as store:
        assert shoes(store) == {1: 2, 2: 3}


def test_two_databases_of_a_folder_are_two_stores(tmp_path: Path) -> None:
    with ExitStack() as stack:
        one, two = (
            stack.enter_context(closing(ClickHouseStore.embedded(tmp_path / "store", StoreSettings(database=name))))
            for name in ("one", "two")
        )
        one.migrate()
        two.migrate()
        one.insert("round", batch(1))
        assert one.identity != two.identity
        assert (shoes(one), shoes(two)) == ({1: 2}, {})
        assert fact("round", "BAC-01").fact == "round"
