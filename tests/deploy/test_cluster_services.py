"""The layout cluster of docker-compose.yml without Docker: its three brokers, and what of ours asks for a cluster.

The engine has no keeper, so the store's tables are made by what `migrate --print` says for the cluster, without that
every server runs it and that tables are replicated. The cluster is then one of a single shard, which is the engine
itself.
"""

from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import clickhouse_connect
import httpx
import pytest
from confluent_kafka import TopicCollection
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._config import ConfigResource
from confluent_kafka.admin._resource import ResourceType

from deploy.make_env import write
from pitwatch.exits import GOOD
from processors.logs.kafka_opening import open_kafka_log
from processors.settings import KafkaSettings
from schemas.topics import TABLE_EVENTS, TOPICS
from tests.deploy.broker import SERVICES, running_brokers
from tests.deploy.engine_server import configure
from tests.deploy.stack import COMPOSE, Addresses, Stack, clickhouse, wait_until
from tests.deploy.test_make_env import values_of
from tests.kafka.broker import free_ports
from tests.producers.table import event

BROKERS = sorted(name for name in COMPOSE.of_profiles("cluster") if name.startswith("kafka"))
NAMES = {topic.name for topic in TOPICS}
CHECK = ("topics", "check", "--config", "/etc/pitwatch/pitwatch.toml")


def engine(folder: Path) -> Path:
    """Return the engine's folder, with its configuration."""
    return Path(f"{folder / 'engine' / 'data'}?config-file={folder / 'engine' / 'config.xml'}")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cluster")


@pytest.fixture(scope="module")
def stack(folder: Path) -> Iterator[Stack]:
    """Three brokers, a store without tables, and nothing of ours yet."""
    write(folder / ".env", "cluster")
    made = values_of((folder / ".env").read_text())
    configure(folder / "engine")
    with ExitStack() as opened:
        for name in ("kafka", "services"):
            (folder / name).mkdir()
        brokers = opened.enter_context(running_brokers(folder / "kafka", BROKERS, made["KAFKA_CLUSTER_ID"]))
        store_port, gateway_port = free_ports(2)
        opened.enter_context(clickhouse(engine(folder), made, store_port))
        bootstrap = ",".join(f"127.0.0.1:{broker.port}" for broker in brokers)
        addresses = Addresses(bootstrap, store_port, gateway_port)
        yield Stack(folder / "services", made, {}, addresses, opened)


@pytest.fixture(scope="module")
def topics(stack: Stack) -> AdminClient:
    """The topics are made, as the layout makes them."""
    assert stack.run("topics", *CHECK).program.process.returncode != GOOD
    stack.start_one("topics")
    return AdminClient({"bootstrap.servers": stack.addresses.kafka})


def stored_events(stack: Stack) -> str:
    """Return how many events the store shows an analyst."""
    answer = httpx.post(
        f"http://127.0.0.1:{stack.addresses.clickhouse}/",
        params={"database": "pitwatch", "default_format": "TSV"},
        content=b"SELECT count() FROM events",
        auth=("analyst", stack.made["CLICKHOUSE_ANALYST_PASSWORD"]),
        timeout=60,
    )
    assert answer.status_code == 200, answer.text
    return answer.text.strip()


def test_three_brokers_make_one_cluster(topics: AdminClient) -> None:
    assert len(BROKERS) == 3
    assert sorted(topics.list_topics(timeout=30).brokers) == [1, 2, 3]


def test_topics_are_as_declared(stack: Stack, topics: AdminClient) -> None:
    checked = stack.run("topics", *CHECK)
    assert (checked.program.process.returncode, checked.printed.read_text()) == (GOOD, ""), checked.program.logs
    assert topics.list_topics(timeout=30).topics.keys() >= NAMES


def test_each_topic_has_three_copies_of_which_two_are_written_before_an_answer(topics: AdminClient) -> None:
    described = topics.describe_topics(TopicCollection(sorted(NAMES)))
    copies = {len(part.replicas) for future in described.values() for part in future.result().partitions}
    assert copies == {int(SERVICES[name].environment["KAFKA_COPIES"] or 0) for name in BROKERS} == {3}
    asked = [ConfigResource(ResourceType.TOPIC, name) for name in sorted(NAMES)]
    in_sync = {future.result()["min.insync.replicas"].value for future in topics.describe_configs(asked).values()}
    assert in_sync == {SERVICES[name].environment["KAFKA_COPIES_IN_SYNC"] for name in BROKERS} == {"2"}


def test_migrate_asks_every_server_of_the_cluster(stack: Stack) -> None:
    """Which our endpoint refuses, as it has no keeper."""
    ran = stack.run("migrate", *COMPOSE.services["migrate"].command)
    assert ran.program.process.returncode != GOOD
    (told,) = [entry["event"] for entry in ran.program.logs if "could not be brought up to date" in entry["event"]]
    assert "CLUSTER is not allowed here" in told


def test_sink_fills_the_tables_that_migrate_prints_for_the_cluster(
    stack: Stack, topics: AdminClient, folder: Path
) -> None:
    ran = stack.run("migrate", *COMPOSE.services["migrate"].command, "--print")
    assert ran.program.process.returncode == GOOD, ran.program.logs
    printed = ran.printed.read_text()
    here = printed.replace(" ON CLUSTER `pitwatch`", "").replace("ENGINE = Replicated", "ENGINE = ")
    assert here.count("Distributed('pitwatch', 'pitwatch',") > 1
    assert printed.count("ON CLUSTER") > here.count("ON CLUSTER") == 0
    # By the engine itself: the endpoint in ClickHouse's place has no clusters for its users.
    with closing(clickhouse_connect.get_client(interface="chdb", path=str(engine(folder)))) as client:
        for statement in filter(None, here.split(";\n")):
            client.command(statement)
    stack.start_one("sink")
    wait_until(lambda: stack.is_well("sink"))
    with open_kafka_log(KafkaSettings(bootstrap=stack.addresses.kafka, worker_id="sender")) as log:
        log.append(TABLE_EVENTS, [("B01", event(1, "B01"))])
    wait_until(lambda: stored_events(stack) == "1")
    assert stack.stop() == {"sink": [0]}
