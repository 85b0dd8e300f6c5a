"""The rules by which Faust is used, as far as they can be held without a broker; test_worker.py holds the rest."""

import ast
import importlib.util
import inspect
import tomllib
from pathlib import Path
from typing import Any

import pytest
from faust.types import ProcessingGuarantee
from mode.supervisors import CrashingSupervisor

from processors import app as module
from processors.settings import KafkaSettings, Settings, WorkerSettings
from processors.streams import broker_access, consuming, floor_app, floor_worker
from processors.streams.broker_access import NotForFaust
from processors.streams.fact_taking import STREAMS
from processors.streams.floor_app import FloorApp, make_app
from processors.streams.hosted import GROUP

SETTINGS = Settings(data_directory=Path("data"), kafka=KafkaSettings(bootstrap="one:9092,two:9093"))


@pytest.fixture(scope="module")
def app() -> FloorApp:
    return make_app(SETTINGS)


def test_every_stream_has_one_agent_which_works_alone(app: FloorApp) -> None:
    """With more at once Faust commits past a message that is still at work."""
    app.finalize()
    agents = list(app.agents.values())
    assert sorted(name for agent in agents for name in agent.channel.topics) == sorted(STREAMS)
    assert [agent.concurrency for agent in agents] == [1] * len(STREAMS)


def test_messages_are_bytes_to_faust(app: FloorApp) -> None:
    """Its own decoders end an agent without a word over what they can't read; a pydantic class fails outright."""
    for agent in app.agents.values():
        topic: Any = agent.channel
        assert (topic.key_type, topic.value_type) == (bytes, bytes)
        assert (topic.key_serializer, topic.value_serializer) == ("raw", "raw")


def test_exactly_once_is_off(app: FloorApp) -> None:
    conf: Any = app.conf
    assert conf.processing_guarantee == ProcessingGuarantee.AT_LEAST_ONCE


def test_topics_are_made_by_nobody_but_us(app: FloorApp) -> None:
    assert not app.conf.topic_allow_declare
    assert app.conf.topic_disable_leader
    # A table would need a topic of changes, which Faust would want to make.
    assert not app.tables


def test_agent_that_fails_ends_the_worker(app: FloorApp) -> None:
    """Faust's default starts it again behind the message it failed on."""
    conf: Any = app.conf
    assert conf.agent_supervisor is CrashingSupervisor


def test_nothing_is_acknowledged_before_it_is_done() -> None:
    """`take` acknowledges a batch whose work failed, and so does a plain loop: only `noack` streams are read."""
    sources = [inspect.getsource(one) for one in (floor_app, floor_worker, consuming, broker_access, module)]
    calls = [
        node.func.attr
        for source in sources
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    ]
    assert "noack" in calls
    # Our own `FactTaking.take` is handed over to be called, and so is no call here.
    assert not {"take", "noack_take", "take_with_timestamp"} & set(calls)


def test_group_begins_with_the_oldest_facts_and_keeps_its_places_in_kafka(app: FloorApp) -> None:
    assert app.conf.id == GROUP
    assert app.conf.consumer_auto_offset_reset == "earliest"


def test_every_broker_is_asked(app: FloorApp) -> None:
    assert [str(url) for url in app.conf.broker_consumer] == ["kafka://one:9092", "kafka://two:9093"]


def test_fausts_own_web_server_stays_out(app: FloorApp) -> None:
    app.conf.web_enabled = True
    floor_worker.FloorWorker(app)
    assert not app.conf.web_enabled


def test_exact_version_is_pinned(repository: Path) -> None:
    """Some releases fail every rebalance, and what is changed in it (consuming.py) holds for this one."""
    extras = tomllib.loads((repository / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert "faust-streaming==0.15.3" in extras["distributed"]


def test_compressed_topics_can_be_read(repository: Path) -> None:
    """aiokafka reads lz4, zstd and snappy through cramjam, which it doesn't ask for itself."""
    extras = tomllib.loads((repository / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert any(asked.startswith("cramjam") for asked in extras["distributed"])
    assert importlib.util.find_spec("cramjam") is not None


def test_property_that_faust_cant_be_given_is_refused_at_once() -> None:
    kafka = KafkaSettings.model_validate({"properties": {"ssl.keystore.location": "store.p12"}})
    with pytest.raises(NotForFaust, match=r"ssl\.keystore\.location"):
        make_app(Settings(kafka=kafka))


@pytest.mark.parametrize("minutes", [(), (0,), (1441,), (1,) * 7])
def test_windows_have_bounds(minutes: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="windows_minutes"):
        WorkerSettings(windows_minutes=minutes)


def test_app_that_faust_is_told_of_is_there() -> None:
    assert isinstance(module.app, FloorApp)
