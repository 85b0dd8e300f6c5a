"""`pitwatch gateway` on a real broker: what it acknowledged is in the log, and the floor is configured before it."""

import signal
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import httpx

from processors.logs.kafka import KafkaLog
from processors.logs.sqlite import LOG_FILE, SqliteLog
from producers.gateway.auth import MintedToken, mint_token
from producers.outbox import Outbox
from producers.publisher import Publisher
from producers.sender import Backoff, Sender
from producers.transports import HttpTransport
from schemas.events import RoundOpened
from schemas.log import EventLog
from schemas.topics import TABLE_EVENTS
from schemas.wire import decode_event
from tests.kafka.broker import free_ports
from tests.kafka.programs import PATIENCE_SECONDS, Program, records, running, wait_for
from tests.pitwatch.command_line import ndjson
from tests.producers.table import event

PARTITIONS = 3


class Floor:
    """Settings of some tables, and their tokens."""

    def __init__(self, folder: Path, *tables: str) -> None:
        self.folder = folder
        self.tokens: dict[str, MintedToken] = {table: mint_token(table) for table in tables}

    def write(self, bootstrap: str, preset: str = "macau", port: int = 0) -> Path:
        file = self.folder / "gateway.toml"
        tables = "".join(
            f'[[floor.tables]]\ntable_id = "{table}"\nconfiguration = "{preset}"\n'
            f'tokens_sha256 = ["{token.entry.sha256}"]\n'
            for table, token in self.tokens.items()
        )
        kafka = f'[kafka]\nbootstrap = "{bootstrap}"\ntimeout_seconds = 3\n' if bootstrap else ""
        file.write_text(
            f'data_directory = "{self.folder / "data"}"\n[gateway]\nport = {port}\n[monitoring]\nport = 0\n'
            f"{kafka}{tables}"
        )
        return file

    def post(self, program: Program, table: str, lines: list[bytes]) -> httpx.Response:
        url = program.told("running")["gateway"]
        headers = {"Authorization": f"Bearer {self.tokens[table].secret}", "Content-Type": "application/x-ndjson"}
        return httpx.post(f"{url}/v1/events", content=ndjson(lines), headers=headers, timeout=PATIENCE_SECONDS)


def opening(table: str) -> bytes:
    return event(1, table, type="table_opened", follows=(0, 0))


def types(log: EventLog, table: str) -> list[str]:
    return [decode_event(record.value).type for record in records(log, TABLE_EVENTS) if record.key == table]


def test_what_is_acknowledged_is_in_the_log_behind_the_configuration(
    log: KafkaLog, bootstrap: str, tmp_path: Path
) -> None:
    floor = Floor(tmp_path, "G1", "G2")
    config = floor.write(bootstrap)
    with running("gateway", "--config", config) as gateway:
        answer = floor.post(gateway, "G1", [opening("G1"), event(2, "G1"), b"nonsense"]).json()
        assert (answer["accepted"], answer["duplicate"], answer["rejected"]) == (2, 0, 1)
        assert [one.value for one in records(log, TABLE_EVENTS) if one.key == "G1"][1:3] == [
            opening("G1"),
            event(2, "G1"),
        ]
        assert floor.post(gateway, "G1", [event(2, "G1")]).json()["duplicate"] == 1
        running_at = gateway.told("running")
        assert httpx.get(f"{running_at['gateway']}/healthz").status_code == 200
        metrics = httpx.get(f"{running_at['monitoring']}/metrics").text
        assert 'pitwatch_gateway_events_total{status="accepted"} 2.0' in metrics
        gateway.kill()
    # It remembers after a start what it acknowledged, by the log, and publishes nothing twice.
    with running("gateway", "--config", config) as gateway:
        assert floor.post(gateway, "G1", [event(2, "G1"), event(3, "G1")]).json()["duplicate"] == 1
        assert gateway.stop() == 0
        assert gateway.logs[-1]["event"] == "stopped"
    # Another configuration is put in force; after a clean stop its file says what was there.
    with running("gateway", "--config", floor.write(bootstrap, "commission_free")) as gateway:
        assert floor.post(gateway, "G1", [event(4, "G1")]).json()["accepted"] == 1
        assert gateway.stop(signal.SIGINT) == 0
    configured, opened = "configuration_published", "table_opened"
    sent = [one for one in records(log, TABLE_EVENTS) if one.key == "G1" and one.value != b"nonsense"]
    assert [decode_event(one.value).type for one in sent] == [
        configured, opened, "heartbeat", "heartbeat", configured, "heartbeat",
    ]  # fmt: skip
    assert types(log, "G2") == [configured, configured]


def test_floor_configured_by_another_gateway_is_left_as_it_is(log: KafkaLog, bootstrap: str, tmp_path: Path) -> None:
    floor = Floor(tmp_path, "G3")
    config = floor.write(bootstrap)
    for data in ("first", "second"):
        config.write_text(config.read_text().replace("/data", f"/{data}"))
        with running("gateway", "--config", config) as gateway:
            floor.post(gateway, "G3", [opening("G3")])
            assert gateway.stop() == 0
    assert types(log, "G3") == ["configuration_published", "table_opened"]


def test_broker_that_is_away_is_told_and_nothing_is_acknowledged(tmp_path: Path) -> None:
    (port,) = free_ports(1)
    floor = Floor(tmp_path, "G4")
    with running("gateway", "--config", floor.write(f"127.0.0.1:{port}")) as gateway:
        refused = floor.post(gateway, "G4", [opening("G4")])
        assert refused.status_code == 503
        assert refused.headers["Retry-After"] == "5"
        told = gateway.told("running")
        assert httpx.get(f"{told['gateway']}/healthz", timeout=PATIENCE_SECONDS).status_code == 503
        assert httpx.get(f"{told['monitoring']}/healthz").json()["troubles"].keys() == {"gateway"}
        assert gateway.stop() == 0


def round_opened(publisher: Publisher, number: int) -> None:
    publisher.publish(lambda at: RoundOpened(**at, shoe=1, round=number))


def publish(publisher: Publisher, numbers: range) -> None:
    for number in numbers:
        round_opened(publisher, number)


def rounds_in(log: EventLog, table: str) -> list[int]:
    sent = [decode_event(one.value) for one in records(log, TABLE_EVENTS) if one.key == table]
    return [one.seq for one in sent if one.type == "round_opened"]


def test_outbox_is_delivered_once_though_the_gateway_is_killed(log: KafkaLog, bootstrap: str, tmp_path: Path) -> None:
    floor = Floor(tmp_path, "P1")
    (port,) = free_ports(1)
    config = floor.write(bootstrap, port=port)
    way = HttpTransport(f"http://127.0.0.1:{port}", floor.tokens["P1"].secret)
    with closing(Outbox(tmp_path / "outbox.sqlite", "P1")) as outbox, closing(way) as transport:
        publisher = Publisher(outbox, clock=lambda: datetime.now(UTC))
        with Sender(outbox, transport, backoff=Backoff(0.05, 0.2), batch_events=7).running():
            with running("gateway", "--config", config) as gateway:
                publish(publisher, range(1, 100))
                wait_for(lambda: outbox.waiting_count < 60)
                gateway.kill()
            publish(publisher, range(100, 200))
            with running("gateway", "--config", config) as gateway:
                assert outbox.wait_until_delivered(PATIENCE_SECONDS)
                assert gateway.stop() == 0
        assert outbox.refused_count == 0
    assert rounds_in(log, "P1") == list(range(1, 200))


def test_floor_of_one_machine_is_taken_in_while_its_pipeline_is_down(tmp_path: Path) -> None:
    floor = Floor(tmp_path, "G5")
    config = floor.write("")
    with running("gateway", "--config", config) as gateway:
        assert floor.post(gateway, "G5", [opening("G5")]).json()["accepted"] == 1
        with running("run", "--config", config) as pipeline:
            assert pipeline.wait() == 2
            assert "in use by process" in pipeline.logs[-1]["event"]
        assert gateway.stop() == 0
    with closing(SqliteLog(tmp_path / "data" / LOG_FILE)) as log:
        assert types(log, "G5") == ["configuration_published", "table_opened"]
