"""`pitwatch replay`: everything worked out again, and with --check every difference between store and log named."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import cast

import msgspec
import pytest

from pitwatch.commands.replay import SHOWN
from processors.data_directory import begin_replay, open_store
from processors.logs.lock import lock_data_directory
from processors.logs.sqlite import LOG_FILE, SqliteLog
from processors.settings_file import load_settings
from processors.store.clickhouse import ClickHouseStore
from schemas.topics import FACT_TOPICS, TABLE_EVENTS
from schemas.wire import decode_fact, encode
from tests.contract.store.stored_facts import fact
from tests.pitwatch.command_line import CommandLine, ndjson
from tests.simulation.crash_floor import messages


@pytest.fixture
def data(pitwatch: CommandLine, tmp_path: Path) -> Path:
    """A directory with 400 messages of three tables."""
    (tmp_path / "events").write_bytes(ndjson([value for _, value in messages()[:400]]))
    pitwatch("ingest", tmp_path / "events", "--data", tmp_path / "data")
    return tmp_path / "data"


@contextmanager
def store_of(directory: Path) -> Iterator[ClickHouseStore]:
    with lock_data_directory(directory), open_store(directory, load_settings()) as store:
        yield store


def facts_in(directory: Path) -> dict[str, list[bytes]]:
    with closing(SqliteLog(directory / LOG_FILE)) as log:
        return {topic: [record.value for record in log.read(topic, 0, 0, 100_000)] for topic in FACT_TOPICS.values()}


def rows(pitwatch: CommandLine, data: Path, view: str) -> bytes:
    return pitwatch("sql", f"SELECT * FROM {view} ORDER BY ALL", "--data", data).out


def test_replay_gives_the_same_facts_in_a_new_store(pitwatch: CommandLine, data: Path) -> None:
    facts, bets = facts_in(data), rows(pitwatch, data, "bets")
    answer = pitwatch("replay", "--data", data)
    published = sum(len(found) for found in facts.values())
    assert answer == (0, f"400 events, {published} facts: everything was worked out again\n".encode(), "")
    assert facts_in(data) == facts
    assert rows(pitwatch, data, "bets") == bets
    assert pitwatch("replay", "--check", "--data", data).exit_code == 0


def test_check_names_every_difference(pitwatch: CommandLine, data: Path) -> None:
    with store_of(data) as store:
        store.insert("bet", [encode(fact("bet", "BAC-101", shoe=9, round=9, bet_id="forged"))])
    answer = pitwatch("replay", "--check", "--data", data)
    assert answer.exit_code == 1
    *found, total = answer.out.decode().splitlines()
    assert found == ["bet BAC-101 9 9 forged: fact: store present, log missing"]
    assert total.endswith(" 1 differences")


def test_check_shows_the_first_differences_and_counts_them_all(pitwatch: CommandLine, data: Path) -> None:
    with closing(SqliteLog(data / LOG_FILE)) as log:
        bet = cast(msgspec.Struct, decode_fact(log.read_key("bets", "BAC-101", 0, 1)[0].value))
    changed = msgspec.json.encode(msgspec.structs.replace(bet, revision=99, stake=1))
    forged = [encode(fact("bet", "BAC-102", shoe=9, round=9, bet_id=f"b-{number:03}")) for number in range(SHOWN + 5)]
    with store_of(data) as store:
        store.insert("bet", [*forged, changed])
    answer = pitwatch("replay", "--check", "--data", data)
    *found, total = answer.out.decode().splitlines()
    assert len(found) == SHOWN
    assert {line.partition(": ")[2] for line in found} >= {
        "revision: store 99, log 0",
        "fact: store present, log missing",
    }
    assert total.endswith(f" {SHOWN + 5 + 2} differences"), "a field of its own for each that differs in a fact"


def test_check_stores_first_what_was_not_stored_yet(pitwatch: CommandLine, data: Path) -> None:
    """After a crash, say: what is only late is no difference."""
    with closing(SqliteLog(data / LOG_FILE)) as log:
        log.append(TABLE_EVENTS, messages()[400:600])
    answer = pitwatch("replay", "--check", "--data", data)
    assert answer.exit_code == 0
    assert answer.out.startswith(b"600 events, ")
    assert pitwatch("sql", "SELECT count() FROM events", "--data", data).err == ""


def test_check_names_tables_that_only_the_store_knows(pitwatch: CommandLine, data: Path) -> None:
    with store_of(data) as store:
        store.insert("bet", [encode(fact("bet", "BAC-999", shoe=9, round=9, bet_id="forged"))])
    answer = pitwatch("replay", "--check", "--data", data)
    assert answer.exit_code == 1
    assert answer.out.startswith(b"bet BAC-999 9 9 forged: fact: store present, log missing\n400 events, ")


def test_check_where_the_log_is_new(pitwatch: CommandLine, data: Path) -> None:
    for file in data.glob(f"{LOG_FILE}*"):
        file.unlink()
    SqliteLog(data / LOG_FILE).close()
    answer = pitwatch("replay", "--check", "--data", data)
    *found, total = answer.out.decode().splitlines()
    assert answer.exit_code == 1, answer.err
    assert all(line.endswith(": fact: store present, log missing") for line in found)
    assert len(found) == SHOWN
    assert total.startswith("0 events, 0 facts, ")


def test_replay_that_was_broken_off_keeps_everybody_out_until_it_is_done(pitwatch: CommandLine, data: Path) -> None:
    facts = facts_in(data)
    with lock_data_directory(data):
        begin_replay(data)
    events = data.parent / "events"
    for command in (["ingest", events], ["sql", "SELECT 1"], ["replay", "--check"]):
        answer = pitwatch(*command, "--data", data)
        assert (answer.exit_code, answer.out) == (2, b"")
        assert answer.err == f"pitwatch: a replay of {data} was broken off; run `pitwatch replay` again to finish it\n"
    assert pitwatch("replay", "--data", data).exit_code == 0
    assert facts_in(data) == facts


def test_replay_is_under_the_floors_own_settings(pitwatch: CommandLine, data: Path) -> None:
    """How long a gap is waited for, and how far back rounds are revised, is part of what the facts say."""
    config = data.parent / "floor.toml"
    config.write_text(f'data_directory = "{data}"\n[pipeline]\nrevision_rounds = 1\ngap_limit_ms = 100\n')
    assert pitwatch("replay", "--config", config).exit_code == 0
    assert pitwatch("replay", "--check", "--config", config).exit_code == 0


@pytest.mark.parametrize("arguments", [[], ["--check"]])
def test_nothing_is_made_where_nothing_is(pitwatch: CommandLine, tmp_path: Path, arguments: list[str]) -> None:
    answer = pitwatch("replay", *arguments, "--data", tmp_path / "nowhere")
    assert answer.exit_code == 2
    assert "there is no data in" in answer.err
    assert not (tmp_path / "nowhere").exists()


def test_facts_in_a_cluster_are_another_commands(pitwatch: CommandLine, tmp_path: Path) -> None:
    config = tmp_path / "pitwatch.toml"
    config.write_text('[kafka]\nbootstrap = "127.0.0.1:1"\n')
    answer = pitwatch("replay", "--config", config)
    assert answer.exit_code == 2
    assert "pitwatch topics replay" in answer.err
