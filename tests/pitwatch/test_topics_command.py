"""`pitwatch topics`: makes and checks a cluster's topics, and lists and grants the roles' rights."""

from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest
from confluent_kafka.admin import AclBindingFilter, AclOperation, AclPermissionType, ResourcePatternType, ResourceType

import processors.replays
import processors.topics
from processors.logs.kafka_opening import open_kafka_log
from processors.settings import KafkaSettings
from schemas.topics import TABLE_EVENTS, TOPICS
from tests.kafka.serve import Address
from tests.pitwatch.command_line import CommandLine
from tests.pitwatch.store_server import Server
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

    @pytest.fixture
    def made(
        self, pitwatch: CommandLine, configure: Configure, names: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> str:
        """The topics are made, with two partitions; return the name of that of the events."""
        assert pitwatch("topics", "create", "--config", configure(2)).exit_code == 0
        (events,) = (name for name in names if name.endswith(TABLE_EVENTS))
        # Other tests' workers may be at work on the same broker.
        monkeypatch.setattr("processors.logs.kafka_groups.members", lambda *_: [])
        monkeypatch.setattr(processors.replays, "TABLE_EVENTS", events)
        return events

    @pytest.mark.parametrize("options", [[], ["--yes"]])
    def test_it_is_refused_where_topics_are_missing(
        self, pitwatch: CommandLine, configure: Configure, kafka: Address, names: list[str], options: list[str]
    ) -> None:
        answer = pitwatch("topics", "replay", *options, "--config", configure(2), stdin=b"y\n")
        assert (answer.exit_code, answer.out) == (2, b"")
        assert f"the topics of {kafka.bootstrap} are not as these settings have them" in answer.err
        assert all(f"{name}: topic is missing, and should be there" in answer.err for name in names)

    def test_it_is_refused_where_the_number_of_partitions_is_another(
        self, pitwatch: CommandLine, configure: Configure, names: list[str], made: str
    ) -> None:
        answer = pitwatch("topics", "replay", "--yes", "--config", configure(3))
        assert (answer.exit_code, answer.out) == (2, b"")
        assert f"{made}: partitions is 2, and should be 3" in answer.err
        assert answer.err.endswith("nothing was changed\n")

    def test_it_asks_and_says_about_how_much(
        self, pitwatch: CommandLine, configure: Configure, kafka: Address, made: str
    ) -> None:
        with open_kafka_log(KafkaSettings(bootstrap=kafka.bootstrap, worker_id=uuid4().hex)) as log:
            log.append(made, [(f"T{number}", b"event") for number in range(1_200)])
        answer = pitwatch("topics", "replay", "--config", configure(2), stdin=b"n\n")
        assert answer.exit_code == 1
        question = f"Fold all events of {kafka.bootstrap}, about 1,200, again, and put the facts in the place of those"
        assert answer.out.decode().startswith(question)

    def test_it_is_refused_where_there_are_no_events(
        self, pitwatch: CommandLine, configure: Configure, made: str
    ) -> None:
        answer = pitwatch("topics", "replay", "--yes", "--config", configure(2))
        assert (answer.exit_code, answer.out) == (2, b"")
        assert f"{made} holds no events" in answer.err

    def test_a_store_that_is_away_is_told_in_one_line(
        self, pitwatch: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("STORE_PASSWORD", "x")
        config = Server("http://127.0.0.1:1", "x").config(tmp_path, '[kafka]\nbootstrap = "127.0.0.1:1"\n')
        answer = pitwatch("topics", "replay", "--finish", "--config", config)
        assert answer == (2, b"", "pitwatch: the store http://127.0.0.1:1 can't be reached: Connection refused\n")

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
