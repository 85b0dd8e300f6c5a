"""`pitwatch sink` on a real broker: whoever is killed, stalls or hangs, each row gets to the server and counts once."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import httpx
import pytest

from processors.logs.kafka import KafkaLog
from processors.sink_worker import MOVING
from processors.store.clickhouse import ClickHouseStore
from processors.store.sink import TOPICS
from processors.streams.watchdog import EXIT_STALLED, SHARING
from schemas.wire import encode
from tests.contract.store.stored_facts import fact
from tests.kafka.broker import free_ports
from tests.kafka.programs import SESSION, Program, is_behind, running, wait_for
from tests.pitwatch.store_server import Server, store_server

PARTITIONS = 3
TABLES = tuple(f"BAC-{number:02}" for number in range(1, 13))
EVERYTHING = PARTITIONS * len(TOPICS)

HANGS = (
    "import threading; from processors.store.clickhouse import ClickHouseStore as s;"
    " s.insert = lambda *_: threading.Event().wait()\n"
)
"""Never comes back from an insert, as if a client waited for an answer for ever."""

BLIND = "import processors.store.sink as s; s.Sink.step = lambda self: 0\n"
"""Takes part in its group and moves nothing, as if its client fetched nothing more."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with store_server(tmp_path_factory.mktemp("server")) as server:
        with server.store() as store:
            store.migrate()
        yield server


@pytest.fixture(scope="module")
def store(server: Server) -> Iterator[ClickHouseStore]:
    with server.store() as store:
        store.attach()
        yield store


@pytest.fixture(autouse=True)
def _password(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STORE_PASSWORD", server.password)


@pytest.fixture
def config(bootstrap: str, server: Server, tmp_path: Path) -> Path:
    return write_config(tmp_path, bootstrap, server)


def write_config(folder: Path, bootstrap: str, server: Server) -> Path:
    properties = ", ".join(f'"{name}" = "{value}"' for name, value in SESSION.items())
    kafka = f'[kafka]\nbootstrap = "{bootstrap}"\ntimeout_seconds = 3\nproperties = {{{properties}}}\n'
    return server.config(folder, f"{kafka}[monitoring]\nport = 0\n")


def sink(config: Path, name: str, first: str = "") -> AbstractContextManager[Program]:
    """Run a sink of this name."""
    return running("sink", "--config", config, first=first, PITWATCH_KAFKA__WORKER_ID=name)


def append(log: KafkaLog, name: str, count: int) -> None:
    """Append so many bets of each table, whose identities begin with `name`."""
    for first in range(0, count, 100):
        numbers = range(first, min(first + 100, count))
        bets = [
            (table, encode(fact("bet", table, bet_id=f"{name}-{number}"))) for table in TABLES for number in numbers
        ]
        log.append("bets", bets)


def stored(log: KafkaLog, store: ClickHouseStore) -> bool:
    return not is_behind(log, f"sink-{store.identity}", [topic for _, topic in TOPICS])


def rows(store: ClickHouseStore, name: str) -> tuple[int, int]:
    """Return how many rows bets of a name have, and how many of these bets there are."""
    asked = f"SELECT count() AS n, uniqExact(table_id, bet_id) AS bets FROM bets WHERE startsWith(bet_id, '{name}-')"
    (row,) = store.rows(asked, dict)
    return int(row["n"]), int(row["bets"])


def share(program: Program) -> int:
    """Return how many partitions a sink minds, as its metrics tell."""
    url = program.told("running")["monitoring"]
    lines = httpx.get(f"{url}/metrics").text.splitlines()
    return sum(line.startswith("pitwatch_sink_behind_records{") for line in lines)


def test_sinks_are_killed_and_others_go_on(log: KafkaLog, store: ClickHouseStore, config: Path) -> None:
    append(log, "killed", 200)
    with sink(config, "one") as one, sink(config, "two") as two:
        wait_for(lambda: share(one) > 0 and share(two) > 0 and share(one) + share(two) == EVERYTHING)
        append(log, "later", 800)
        one.kill()
        wait_for(lambda: share(two) == EVERYTHING)
        wait_for(lambda: stored(log, store))
        assert two.stop() == 0
    assert rows(store, "killed") == (200 * len(TABLES),) * 2
    assert rows(store, "later") == (800 * len(TABLES),) * 2


def test_sink_that_stalled_loses_its_share_and_works_on(log: KafkaLog, store: ClickHouseStore, config: Path) -> None:
    with sink(config, "stalls") as stalls, sink(config, "other") as other:
        wait_for(lambda: share(stalls) > 0 and share(other) > 0 and share(stalls) + share(other) == EVERYTHING)
        append(log, "stalled", 100)
        stalls.freeze()
        append(log, "meanwhile", 300)
        wait_for(lambda: share(other) == EVERYTHING)
        wait_for(lambda: stored(log, store))
        stalls.thaw()
        wait_for(lambda: 0 < share(stalls) < EVERYTHING and share(stalls) + share(other) == EVERYTHING)
        append(log, "after", 100)
        wait_for(lambda: stored(log, store))
        assert (stalls.stop(), other.stop()) == (0, 0)
    for name, count in (("stalled", 100), ("meanwhile", 300), ("after", 100)):
        assert rows(store, name) == (count * len(TABLES),) * 2


@pytest.mark.parametrize(
    ("name", "defect", "stands"), [("hangs", HANGS, MOVING), ("blind", BLIND, "bets/")], ids=["hangs", "blind"]
)
def test_sink_that_stands_still_ends_for_its_supervisor(
    log: KafkaLog, store: ClickHouseStore, config: Path, name: str, defect: str, stands: str
) -> None:
    hasty = config.with_name("hasty.toml")
    hasty.write_text(f"{config.read_text()}stalled_after_seconds = 1\n")
    append(log, name, 1)
    with sink(hasty, "defect", first=defect) as program:
        assert program.wait() == EXIT_STALLED
        told = program.told("worker_stalled")
        assert told["limit_seconds"] == 1
        assert any(one.startswith(stands) for one in told["standing_seconds"])
    assert rows(store, name) == (0, 0)
    with sink(config, "sound") as sound:
        wait_for(lambda: stored(log, store))
        assert sound.stop() == 0
    assert rows(store, name) == (len(TABLES), len(TABLES))


def test_sink_is_well_once_it_has_its_share(config: Path) -> None:
    with sink(config, "well") as well:
        url = well.told("running")["monitoring"]
        wait_for(lambda: httpx.get(f"{url}/healthz").status_code == 200)
        assert "filling" in [entry["event"] for entry in well.logs]
        assert well.stop() == 0
        assert well.complaints() == []


def test_cluster_that_is_away_is_waited_for(server: Server, tmp_path: Path) -> None:
    (port,) = free_ports(1)
    with sink(write_config(tmp_path, f"127.0.0.1:{port}", server), "lonely") as lonely:
        url = lonely.told("running")["monitoring"]
        # Before its first attempt has failed it can't tell that the cluster is there either.
        answer = httpx.get(f"{url}/healthz")
        assert (answer.status_code, answer.json()["troubles"][SHARING]) == (503, "starting: has no share yet")
        assert "Check kafka.bootstrap" in lonely.told("loop_waits", loop="sink")["error"]
        answer = httpx.get(f"{url}/healthz")
        assert answer.status_code == 503
        assert answer.json()["troubles"].keys() == {"sink", SHARING}
        assert lonely.stop() == 0


def test_server_that_is_away_is_waited_for(bootstrap: str, tmp_path: Path) -> None:
    (port,) = free_ports(1)
    away = Server(f"http://127.0.0.1:{port}", "none")
    with sink(write_config(tmp_path, bootstrap, away), "storeless") as storeless:
        url = storeless.told("running")["monitoring"]
        assert SHARING in httpx.get(f"{url}/healthz").json()["troubles"]
        assert "can't be reached" in storeless.told("loop_waits", loop="sink")["error"]
        assert storeless.stop() == 0
