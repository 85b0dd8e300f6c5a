"""A full disk, whichever part of a floor it holds: told clearly, nothing lost, and well again once there is room.

Twice, because systems refuse in two ways: a file system that is full, where this process may mount a small one, and a
limit on a file's length, which everybody may set.
"""

import json
import resource
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from processors.data_directory import open_store
from processors.logs.lock import lock_data_directory
from processors.settings_file import load_settings
from producers.simulator import mixed_floor, simulate
from schemas.wire import encode
from tests.pitwatch.command_line import ndjson, start
from tests.pitwatch.running_floor import RunningFloor, rounds, running, write_config
from tests.simulation.crash_floor import START

ROUNDS_PER_REQUEST = 25


def mount(folder: Path, size: str) -> None:
    folder.mkdir(parents=True)
    try:
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("mounting a small file system takes the right to mount")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[[str, str], Path]]:
    """Mount file systems of a given size; they go with the test."""
    mounted: list[Path] = []

    def make(name: str, size: str) -> Path:
        folder = tmp_path / name
        mount(folder, size)
        mounted.append(folder)
        return folder

    yield make
    for folder in reversed(mounted):
        subprocess.run(["umount", "--lazy", folder], check=True)


def enlarge(disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,size=256m", disk], check=True)


class Ballast:
    """Fills a disk to its last byte, and frees it again."""

    def __init__(self, disk: Path) -> None:
        self._file = disk / "ballast"

    def fill(self) -> None:
        with self._file.open("wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(4_096))
            except OSError:
                pass

    def free(self) -> None:
        self._file.unlink()


# -- commands --------------------------------------------------------------------------------------------------------

VIEWS = ("rounds", "bets", "commissions", "roads", "shoes", "table_hours", "alerts", "dead_letters")


def facts_of(data: Path) -> dict[str, bytes]:
    """Return all that the store says of the floor, but for places in the log."""
    with lock_data_directory(data), open_store(data, load_settings()) as store:
        return {view: store.query(f"SELECT * EXCEPT src_offset FROM {view} ORDER BY ALL") for view in VIEWS}


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of 2,400 events of three tables, one of which does everything wrong."""
    floor = mixed_floor(seed=5, start=START, hours=24, tables=3, dirty=1).model_copy(update={"events": 2_400})
    file = tmp_path_factory.mktemp("events") / "events.ndjson"
    file.write_bytes(ndjson([encode(arrival.event) for arrival in simulate(floor)]))
    return file


@pytest.fixture(scope="module")
def expected(lines: Path, repository: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What comes of them where there is room."""
    data = tmp_path_factory.mktemp("roomy") / "data"
    with start(repository, "ingest", lines, "--data", data) as process:
        process.communicate()
    assert process.returncode == 0
    return facts_of(data)


def assert_refused(process: "subprocess.Popen[str]", complaint: str) -> None:
    out, err = process.communicate()
    assert (process.returncode, out) == (2, "")
    assert "Traceback" not in err
    assert err.splitlines()[-1].startswith("pitwatch: ")
    assert complaint in err.splitlines()[-1]


def assert_made_up_for(repository: Path, lines: Path, data: Path, expected: dict[str, bytes]) -> None:
    with start(repository, "ingest", lines, "--data", data, "--json") as process:
        out, err = process.communicate()
    assert (process.returncode, err) == (0, "")
    counts = json.loads(out)
    assert (counts["accepted"] + counts["duplicate"], counts["dead"]) == (2_400, 0)
    assert facts_of(data) == expected


@pytest.mark.parametrize("size", ["300k", "2m"], ids=["at the start", "on the way"])
def test_command_on_a_disk_that_is_full(
    repository: Path,
    small_disk: Callable[[str, str], Path],
    lines: Path,
    expected: dict[str, bytes],
    size: str,
) -> None:
    data = small_disk("data", size)
    with start(repository, "ingest", lines, "--data", data) as process:
        assert_refused(process, "the disk is full")
    enlarge(data)
    assert_made_up_for(repository, lines, data, expected)


def test_command_whose_store_is_full(
    repository: Path, small_disk: Callable[[str, str], Path], lines: Path, expected: dict[str, bytes]
) -> None:
    store = small_disk("data/clickhouse", "1m")
    with start(repository, "ingest", lines, "--data", store.parent) as process:
        assert_refused(process, "the disk is full")
    enlarge(store)
    assert_made_up_for(repository, lines, store.parent, expected)


def test_command_whose_log_is_full(
    repository: Path, small_disk: Callable[[str, str], Path], lines: Path, expected: dict[str, bytes]
) -> None:
    data = small_disk("data", "300k")
    small_disk("data/clickhouse", "256m")
    with start(repository, "ingest", lines, "--data", data) as process:
        assert_refused(process, "the disk is full")
    enlarge(data)
    assert_made_up_for(repository, lines, data, expected)


def test_command_whose_files_may_not_grow(
    repository: Path, tmp_path: Path, lines: Path, expected: dict[str, bytes]
) -> None:
    limited = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, resource.RLIM_INFINITY)); "
    data = tmp_path / "data"
    with start(repository, "ingest", lines, "--data", data, first=limited) as process:
        assert_refused(process, "the disk or its quota refused")
    assert_made_up_for(repository, lines, data, expected)


# -- the floor that runs ---------------------------------------------------------------------------------------------


def post_until_refused(floor: RunningFloor, requests: Iterator[list[bytes]]) -> list[bytes]:
    """Send request after request, until one isn't taken; return that one, whose events the table keeps."""
    while True:
        lines = next(requests)
        answer = floor.post(lines)
        if answer.status_code == 503:
            assert answer.headers["Retry-After"]
            return lines
        assert answer.json()["accepted"] == len(lines)


def requests_of(count: int) -> Iterator[list[bytes]]:
    lines = rounds(count)
    size = 8 * ROUNDS_PER_REQUEST
    return (lines[first : first + size] for first in range(0, len(lines), size))


def assert_all_there(repository: Path, config: Path, data: Path, sent: int) -> None:
    with start(repository, "replay", "--check", "--config", config) as process:
        out, err = process.communicate()
    assert (process.returncode, err) == (0, ""), out
    with lock_data_directory(data), open_store(data, load_settings()) as store:
        counted = store.query("SELECT count(), uniqExact(seq), max(seq) FROM events WHERE epoch > 0", fmt="TSV")
        assert counted == f"{sent}\t{sent}\t{sent}\n".encode()
        played = store.query("SELECT count() FROM rounds WHERE status = 'settled'", fmt="TSV")
        assert int(played) == (sent - len(rounds(0))) // 8


def go_on(floor: RunningFloor, refused: list[bytes], requests: Iterator[list[bytes]]) -> int:
    """Send what was refused and some more, as the table does when the gateway takes events again."""
    sent = 0
    for lines in (refused, next(requests), next(requests)):
        assert floor.post(lines).json()["accepted"] == len(lines)
        sent = json.loads(lines[-1])["seq"]
    assert floor.health() == 200
    return sent


def test_floor_on_a_disk_that_is_full(repository: Path, tmp_path: Path, small_disk: Callable[[str, str], Path]) -> None:
    data = small_disk("data", "64m")
    config, ballast = write_config(tmp_path), Ballast(data)
    requests = requests_of(10_000)
    with running(repository, config) as floor:
        assert floor.post(next(requests)).status_code == 200
        ballast.fill()
        refused = post_until_refused(floor, requests)
        assert floor.health() == 503
        ballast.free()
        sent = go_on(floor, refused, requests)
        assert floor.stop() == 0
    assert "not_taken" in [entry["event"] for entry in floor.logs]
    assert_all_there(repository, config, data, sent)


def test_floor_whose_files_may_not_grow(repository: Path, tmp_path: Path) -> None:
    config = write_config(tmp_path)
    requests = requests_of(10_000)
    with running(repository, config) as floor:
        assert floor.post(next(requests)).status_code == 200
        _, hard = resource.prlimit(floor.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(floor.process.pid, resource.RLIMIT_FSIZE, (400_000, hard))
        refused = post_until_refused(floor, requests)
        assert floor.health() == 503
        resource.prlimit(floor.process.pid, resource.RLIMIT_FSIZE, (hard, hard))
        sent = go_on(floor, refused, requests)
        assert floor.stop() == 0
    assert_all_there(repository, config, tmp_path / "data", sent)


@pytest.mark.parametrize("freed", ["while it runs", "after it has stopped"])
def test_floor_whose_store_is_full_goes_on_taking_events(
    repository: Path, tmp_path: Path, small_disk: Callable[[str, str], Path], freed: str
) -> None:
    store = small_disk("data/clickhouse", "64m")
    config, ballast = write_config(tmp_path), Ballast(store)
    requests = requests_of(10_000)
    with running(repository, config) as floor:
        ballast.fill()
        taken = [next(requests) for _ in range(3)]
        for lines in taken:
            assert floor.post(lines).json()["accepted"] == len(lines)
        assert "the disk is full" in floor.wait_for_log("loop_waits", loop="sink")["error"]
        assert floor.health() == 200, "the gateway needs the log and nothing else"
        if freed == "while it runs":
            ballast.free()
            floor.wait_for_log("loop_recovered", loop="sink")
        assert floor.stop() == 0
    if freed != "while it runs":
        ballast.free()
    assert_all_there(repository, config, store.parent, json.loads(taken[-1][-1])["seq"])
