"""Which broker a test run uses, when it goes without, when it must not, and that it leaves none behind."""

import json
import os
import select
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.conftest import REPOSITORY
from tests.kafka import fixtures
from tests.kafka.broker import is_heard
from tests.kafka.fixtures import GIVEN, MANDATORY, answering, need_broker
from tests.kafka.jars import KafkaNotToBeHad
from tests.kafka.programs import PATIENCE_SECONDS, wait_for
from tests.kafka.serve import Address

NONE = "a Kafka broker takes java and mvn, which this machine doesn't have"
OWN = f"this test needs a broker of its own, beside that of {GIVEN}: {NONE}"
OWN_ONES = ("kafka_alone", "kafka_secured", "kafka_cluster")

USES = """
import json
import os
import threading
from pathlib import Path
from uuid import uuid4

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from tests.kafka.programs import running


def test_shared(kafka):
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap})
    for future in admin.create_topics([NewTopic(f"used-{uuid4().hex}")]).values():
        future.result()


@pytest.mark.parametrize("fixture", ["kafka_alone", "kafka_secured", "kafka_cluster"])
def test_own(fixture, request):
    assert request.getfixturevalue(fixture).bootstrap


@pytest.mark.skipif("KEPT_IN" not in os.environ, reason="until it is killed")
def test_kept(kafka, kafka_alone):
    written = Path(os.environ["KEPT_IN"])
    with running("gateway", first="import threading; threading.Event().wait(); ") as program:
        told = [[kafka.bootstrap, kafka_alone.bootstrap], program.process.pid]
        written.with_suffix(".part").write_text(json.dumps(told))
        written.with_suffix(".part").rename(written)
        threading.Event().wait()
"""


@pytest.fixture
def nothing(tmp_path: Path) -> str:
    """A folder of commands with none that a broker takes."""
    (tmp_path / "commands").mkdir()
    return str(tmp_path / "commands")


@pytest.fixture
def uses(tmp_path: Path) -> Path:
    """A file of tests that use every fixture."""
    file = tmp_path / "test_uses.py"
    file.write_text(USES)
    return file


def command(folder: Path, *tests: str | Path) -> list[str]:
    """Return the command of a test run of its own, in one process."""
    options = ("-n0", "-p", "tests.kafka.fixtures", "-p", "no:cacheprovider", f"--basetemp={folder / 'base'}")
    return [sys.executable, "-m", "pytest", *options, f"--junitxml={folder / 'report.xml'}", *map(str, tests)]


def environment(**changes: str) -> dict[str, str]:
    """Return this run's environment without what decides about brokers, with `changes`."""
    deciding = {GIVEN, "PYTEST_ADDOPTS", *MANDATORY}
    inherited = {name: value for name, value in os.environ.items() if name not in deciding}
    return {**inherited, "PYTHONPATH": str(REPOSITORY), **changes}


def outcomes(folder: Path, *tests: str | Path, **changes: str) -> dict[str, str]:
    """Run tests; return what became of each, every time: ``passed``, or why it was skipped or failed."""
    ran = subprocess.run(
        command(folder, *tests), cwd=REPOSITORY, env=environment(**changes), check=False, capture_output=True
    )
    assert ran.returncode in {0, 1}, ran.stdout
    found: dict[str, list[str]] = {}
    for case in ElementTree.parse(folder / "report.xml").iter("testcase"):
        told = [f"{one.tag}: {one.get('message')}" for one in case if one.tag in {"skipped", "failure", "error"}]
        found.setdefault(case.get("name", ""), []).extend(told or ["passed"])
    return {name: " ".join(times) for name, times in found.items()}


class TestBrokerThatIsGiven:
    def test_it_is_used_and_whoever_needs_another_says_so(
        self, kafka: Address, tmp_path: Path, uses: Path, nothing: str
    ) -> None:
        """None can be started there, so that what passes used the one that was given."""
        told = outcomes(tmp_path, uses, PATH=nothing, **{GIVEN: kafka.bootstrap})
        assert told["test_shared"] == "passed"
        assert {told[f"test_own[{one}]"] for one in OWN_ONES} == {f"skipped: {OWN}"}

    def test_tests_meet_no_topics_of_another_run(self, kafka: Address, tmp_path: Path, nothing: str) -> None:
        tests = ["tests/processors/test_topics.py"] * 2
        told = outcomes(tmp_path, "--keep-duplicates", *tests, PATH=nothing, **{GIVEN: kafka.bootstrap})
        assert len(told) > 5
        assert set(told.values()) == {"passed passed"}

    def test_one_that_does_not_answer_is_a_failure(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(fixtures, "_ANSWER_SECONDS", 0.2)
        with pytest.raises(pytest.fail.Exception, match=r"KAFKA_BOOTSTRAP names 127\.0\.0\.1:1, and no broker answers"):
            answering("127.0.0.1:1")


class TestNoBrokerToBeHad:
    def test_tests_are_skipped_with_the_reason(self, tmp_path: Path, uses: Path, nothing: str) -> None:
        told = outcomes(tmp_path, uses, PATH=nothing)
        assert {told["test_shared"], *(told[f"test_own[{one}]"] for one in OWN_ONES)} == {f"skipped: {NONE}"}

    def test_tests_fail_where_it_is_mandatory(self, tmp_path: Path, uses: Path, nothing: str) -> None:
        told = outcomes(tmp_path, uses, PATH=nothing, CI="true")
        for outcome in (told["test_shared"], *(told[f"test_own[{one}]"] for one in OWN_ONES)):
            assert outcome.startswith(("error: ", "failure: "))
            assert NONE in outcome

    @pytest.mark.parametrize("given", ["", "127.0.0.1:1"])
    @pytest.mark.parametrize("name", MANDATORY)
    def test_each_switch_makes_it_mandatory(
        self, monkeypatch: pytest.MonkeyPatch, nothing: str, name: str, given: str
    ) -> None:
        monkeypatch.setenv("PATH", nothing)
        monkeypatch.setenv(GIVEN, given)
        for switch in MANDATORY:
            monkeypatch.delenv(switch, raising=False)
        with pytest.raises(pytest.skip.Exception):
            need_broker()
        monkeypatch.setenv(name, "1")
        with pytest.raises(KafkaNotToBeHad, match="java and mvn"):
            need_broker()

    def test_it_is_mandatory_in_ci(self) -> None:
        assert "export CI=true\n" in (REPOSITORY / ".ci" / "run").read_text()


def test_run_that_is_killed_leaves_nothing_behind(tmp_path: Path, uses: Path) -> None:
    need_broker()
    kept = tmp_path / "kept"
    run = subprocess.Popen(
        command(tmp_path, f"{uses}::test_kept"),
        cwd=REPOSITORY,
        env=environment(KEPT_IN=str(kept)),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(lambda: kept.exists() or run.poll() is not None)
        assert run.poll() is None
        brokers, program = json.loads(kept.read_text())
        assert all(is_heard(one) for one in brokers)
        # Readable as soon as the process has ended, whoever is to bury it.
        ended = os.pidfd_open(program)
    finally:
        run.kill()
        run.wait()
    try:
        assert select.select([ended], [], [], PATIENCE_SECONDS)[0]
    finally:
        os.close(ended)
    wait_for(lambda: not any(is_heard(one) for one in brokers))
