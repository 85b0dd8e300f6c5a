"""docker-compose.yml at work without Docker: its commands run as written, and rows of the simulated floor come."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from deploy.make_env import TABLES, write
from tests.deploy.stack import COMPOSE, DATA, IMAGES_OWN, OURS, PITWATCH, Stack, checked, running_stack, wait_until
from tests.deploy.test_images import instructions
from tests.deploy.test_make_env import values_of
from tests.kafka.programs import PATIENCE_SECONDS
from tests.processors.notify.http_service import HttpService

CHECKED = sorted(name for name in OURS if not COMPOSE.services[name].is_job and name != "simulator")


@pytest.fixture(scope="module")
def surveillance() -> Iterator[HttpService]:
    """Where alerts go to."""
    with HttpService().serving() as service:
        yield service


@pytest.fixture(scope="module")
def stack(repository: Path, surveillance: HttpService, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    folder = tmp_path_factory.mktemp("stack")
    write(folder / ".env", "single")
    notify = documented_routes(repository) | {"SURVEILLANCE_URL": f"json://127.0.0.1:{surveillance.port}/"}
    with running_stack(folder, values_of((folder / ".env").read_text()), {".env.notify": notify}) as stack:
        yield stack


def documented_routes(repository: Path) -> dict[str, str]:
    """Return what docs/operations.md has people write into .env.notify."""
    page = (repository / "docs" / "operations.md").read_text()
    (block,) = [one for one in re.findall(r"```sh\n(.*?)```", page, re.DOTALL) if "SURVEILLANCE_URL=" in one]
    return values_of(block)


def asked(stack: Stack, query: str) -> list[list[str]]:
    """Return what the store answers an analyst, who has the password of .env."""
    answer = httpx.post(
        f"http://127.0.0.1:{stack.addresses.clickhouse}/",
        params={"database": "pitwatch", "default_format": "TSV"},
        content=query.encode(),
        auth=("analyst", stack.made["CLICKHOUSE_ANALYST_PASSWORD"]),
        timeout=60,
    )
    assert answer.status_code == 200, answer.text
    return [line.split("\t") for line in answer.text.splitlines()]


def test_image_runs_what_is_run_here(repository: Path) -> None:
    told = instructions(repository / "Dockerfile")
    assert ("ENTRYPOINT", '["pitwatch"]') in told
    script = tomllib.loads((repository / "pyproject.toml").read_text())["project"]["scripts"]["pitwatch"]
    assert PITWATCH[-1] == "from {} import {}; {}()".format(*script.split(":"), script.split(":")[1])
    (environment,) = [rest for word, rest in told if word == "ENV" and "PYTHONUNBUFFERED" in rest]
    assert dict(one.split("=") for one in environment.split() if not one.startswith("PATH=")) == IMAGES_OWN


def test_jobs_end_well_and_everything_else_goes_on(stack: Stack) -> None:
    assert stack.ended == {"topics": 0, "migrate": 0}
    assert stack.ended.keys() | stack.running.keys() == OURS.keys()
    assert {name for name, some in stack.running.items() if len(some) == 2} == {"reconstruct"}


@pytest.mark.parametrize("name", CHECKED)
def test_health_check_finds_a_service_well(stack: Stack, name: str) -> None:
    wait_until(lambda: stack.is_well(name))


def test_clickhouses_health_check_is_answered(stack: Stack) -> None:
    assert checked(COMPOSE.services["clickhouse"], {8123: stack.addresses.clickhouse}) == 0


def test_what_the_simulated_floor_sends_arrives_as_rows(stack: Stack) -> None:
    query = "SELECT table_id, countIf(status = 'settled') AS n FROM rounds GROUP BY table_id HAVING n ORDER BY table_id"
    expected = sorted(table for table, _, _ in TABLES)
    wait_until(lambda: [table for table, _ in asked(stack, query)] == expected)
    wait_until(lambda: asked(stack, "SELECT count() > 0 FROM bets WHERE result = 'win'") == [["1"]])
    assert asked(stack, "SELECT count() FROM dead_letters WHERE reason = 'not_storable'") == [["0"]]
    pits = "SELECT DISTINCT table_id, pit FROM rounds ORDER BY table_id"
    assert asked(stack, pits) == sorted([table, pit] for table, pit, _ in TABLES)


def test_alerts_of_the_simulated_floor_are_told(surveillance: HttpService, stack: Stack) -> None:
    """Half of its tables make mistakes."""
    assert surveillance.wait_for(1, PATIENCE_SECONDS)


def test_stopped_service_ends_well_and_its_health_check_says_so(stack: Stack) -> None:
    codes = stack.stop()
    assert codes == {name: [0] * len(some) for name, some in stack.running.items()}
    for name in CHECKED:
        assert [one.health(stack.addresses) for one in stack.running[name]] == [1] * len(stack.running[name]), name
    everything = [one for some in stack.running.values() for one in some]
    logged = [entry for one in everything for entry in one.program.logs]
    # A client tells as an error that its partitions moved while it wrote; the worker then begins the batch anew.
    assert [entry for entry in logged if entry["level"] == "critical" or "exception" in entry] == []


def test_nothing_is_written_where_a_container_could_not(stack: Stack) -> None:
    """The root file system of each is read only, and its working directory is no volume unless it is mounted as one."""
    for name, some in stack.running.items():
        mounted = any(volume.split(":")[1] == DATA for volume in COMPOSE.services[name].volumes)
        written = {str(path) for one in some for path in one.data.iterdir()}
        assert bool(written) == mounted, f"{name}: {written}"
