"""`pitwatch topics`: makes and checks a cluster's topics, and lists and grants the roles' rights."""

from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest
from confluent_kafka.admin import AclBindingFilter, AclOperation, AclPermissionType, ResourcePatternType, ResourceType

import processors.topics
from schemas.topics import TOPICS
from tests.kafka.serve import Address
from tests.pitwatch.command_line import CommandLine
from tests.processors.logs.kafka_logs import admin, make_topic

Configure = Callable[[int], Path]


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Have every topic called as no other test calls it."""
    prefix = uuid4().hex
    topics = [topic._replace(name=f"{prefix}-{topic.name}") for topic in TOPICS]
    monkeypatch.setattr(processors.topics, "TOPICS", topics)
    return [topic.name for topic in topics]


@pytest.fixture
def configure(kafka: Address, tmp_path: Path) -> Configure:
    """Write settings for the broker, with so many partitions."""

    def write(partitions: int) -> Path:
        path = tmp_path / "pitwatch.toml"
        path.write_text(f"[kafka]\nbootstrap = '{kafka.bootstrap}'\npartitions = {partitions}\ntimeout_seconds = 30")
        return path

    return write


class TestCreateAndCheck:
    def test_missing_topics_are_told_made_and_then_nothing_is_amiss(
        self, pitwatch: CommandLine, configure: Configure, names: list[str]
    ) -> None:
        config = configure(2)
        answer = pitwatch("topics", "check", "--config", config)
        assert answer.exit_code == 1
        assert answer.out.decode().splitlines() == [f"{name}: topic is missing, and should be there" for name in names]
        answer = pitwatch("topics", "create", "--config", config)
        assert answer.exit_code == 0
        assert sorted(answer.out.decode().splitlines()) == sorted(f"{name}: made" for name in names)
        assert pitwatch("topics", "check", "--config", config)[:2] == (0, b"")
        assert pitwatch("topics", "create", "--config", config)[:2] == (0, b"")

    def test_what_differs_is_told_and_left_alone(
        self, pitwatch: CommandLine, configure: Configure, kafka: Address, names: list[str]
    ) -> None:
        make_topic(kafka.bootstrap, names[0], 3)
        answer = pitwatch("topics", "create", "--config", configure(2))
        assert answer.exit_code == 1
        assert f"{names[0]}: partitions is 3, and should be 2" in answer.out.decode().splitlines()

    def test_a_cluster_that_does_not_answer_is_told(self, pitwatch: CommandLine, tmp_path: Path) -> None:
        config = tmp_path / "pitwatch.toml"
        config.write_text("[kafka]\nbootstrap = '127.0.0.1:1'\ntimeout_seconds = 1")
        answer = pitwatch("topics", "check", "--config", config)
        assert answer.exit_code == 2
        assert "could not describe the topics: no broker answers" in answer.err


class TestAcls:
    def test_rights_are_listed_for_every_role(self, pitwatch: CommandLine, configure: Configure) -> None:
        answer = pitwatch("topics", "acls", "--config", configure(2))
        lines = answer.out.decode().splitlines()
        assert answer.exit_code == 0
        assert "User:pitwatch-gateway may write topic named table-events" in lines
        assert "User:pitwatch-reconstruct may write transactional_id names beginning with reconstruct" in lines

    def test_the_roles_that_are_named_are_granted_theirs(
        self, pitwatch: CommandLine, configure: Configure, kafka: Address
    ) -> None:
        if kafka.sasl_bootstrap is None:
            pytest.skip("the broker that was given may have no authorizer")
        principal = f"User:{uuid4().hex}"
        granted = pitwatch(
            "topics", "acls", "--config", configure(2), "--principal", f"notifier={principal}", "--create"
        )
        assert granted.exit_code == 0
        assert granted.out.decode().splitlines() == [
            f"{principal} may read topic named alerts",
            f"{principal} may read topic named table-events",
            f"{principal} may read group named notifier",
            f"{principal} may read group named pitwatch-readers",
        ]
        client = admin(kafka.bootstrap)
        any_right = (AclOperation.ANY, AclPermissionType.ANY)
        # None stands for any name and any host, which the package's types don't know.
        every = AclBindingFilter(ResourceType.ANY, None, ResourcePatternType.ANY, principal, None, *any_right)  # type: ignore[arg-type]
        assert {binding.name for binding in client.describe_acls(every).result()} == {
            *("alerts", "table-events", "notifier", "pitwatch-readers")
        }

    @pytest.mark.parametrize("principal", ["dealer=User:x", "gateway", "gateway="])
    def test_a_role_that_is_none_is_refused(self, pitwatch: CommandLine, configure: Configure, principal: str) -> None:
        answer = pitwatch("topics", "acls", "--config", configure(2), "--principal", principal)
        assert answer.exit_code == 2
        assert "write ROLE=PRINCIPAL" in answer.err


class TestReplay:
    """The rest takes workers: `tests/kafka/test_replay.py`."""

    @pytest.mark.parametrize(
        ("kafka", "options", "problem"),
        [("", [], "kafka.bootstrap"), ('[kafka]\nbootstrap = "127.0.0.1:1"', ["--finish"], "store.url")],
    )
    def test_what_it_works_on_must_be_named(
        self, pitwatch: CommandLine, tmp_path: Path, kafka: str, options: list[str], problem: str
    ) -> None:
        config = tmp_path / "pitwatch.toml"
        config.write_text(kafka)
        answer = pitwatch("topics", "replay", "--yes", *options, "--config", config)
        assert answer.exit_code == 2
        assert problem in answer.err
