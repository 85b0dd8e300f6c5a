"""docker-compose.yml: every service is pinned, bounded, watched, and has no more rights than it needs."""

import re
import subprocess
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]  # the package ships no types
from pydantic import ValidationError

from deploy.make_env import LAYOUTS, SIMULATOR, complete
from tests.deploy.compose import FILE, Compose, Service, pitwatch_commands, read

# name:1.2.3 or longer; a tag that moves is none.
PINNED = re.compile(r"[a-z0-9./-]+:\d+\.\d+\.\d+(\.\d+)*(-[a-z0-9]+)*")

COMPOSE = read()
SERVICES = sorted(COMPOSE.services.items())
RUNNING = [(name, service) for name, service in SERVICES if not service.is_job]
SETS = [(layout, *more) for layout in LAYOUTS for more in ((), (SIMULATOR,))]

every_service = pytest.mark.parametrize(("name", "service"), SERVICES, ids=[name for name, _ in SERVICES])
every_running = pytest.mark.parametrize(("name", "service"), RUNNING, ids=[name for name, _ in RUNNING])
every_set = pytest.mark.parametrize("profiles", SETS, ids="+".join)


@pytest.mark.parametrize("addition", ["restrat: always", "ports: 8600", "pids_limit: many"])
def test_misspelt_key_or_wrong_type_is_found(tmp_path: Path, addition: str) -> None:
    changed = tmp_path / "docker-compose.yml"
    changed.write_text(FILE.read_text().replace("  keeper:\n", f"  keeper:\n    {addition}\n", 1))
    with pytest.raises(ValidationError):
        read(changed)


@every_service
def test_images_are_pinned(name: str, service: Service) -> None:
    assert PINNED.fullmatch(service.image)


@every_service
def test_nobody_has_rights_to_spare(name: str, service: Service) -> None:
    assert service.read_only
    assert service.cap_drop == ["ALL"]
    assert service.security_opt == ["no-new-privileges:true"]
    assert service.user.partition(":")[0] not in {"", "0", "root"}


@every_service
def test_resources_are_bounded(name: str, service: Service) -> None:
    assert re.fullmatch(r"\d+[mg]", service.mem_limit)
    assert 0 < service.cpus <= 2
    assert 0 < service.pids_limit <= 4096
    assert all("size=" in mount for mount in service.tmpfs)
    assert service.logging.options.keys() == {"max-size", "max-file"}


@every_service
def test_only_the_loopback_is_published(name: str, service: Service) -> None:
    assert all(port.startswith("127.0.0.1:") for port in service.ports)


@every_service
def test_mounted_files_are_ours_and_read_only(name: str, service: Service, repository: Path) -> None:
    for volume in service.volumes:
        source, target, *mode = volume.split(":")
        assert target.startswith("/")
        if source.startswith("."):
            assert mode == ["ro"], volume
            # Docker would make a folder of root's where a file is missing.
            assert (repository / source).exists(), volume
        else:
            assert source in COMPOSE.volumes, volume


def test_mounted_folders_come_with_a_clone(repository: Path) -> None:
    """Git keeps no folder without a file in it, and Docker would make it as root."""
    mounted = {volume.split(":")[0] for _, service in SERVICES for volume in service.volumes if volume.startswith(".")}
    for source in mounted:
        tracked = subprocess.run(["git", "ls-files", source], cwd=repository, check=True, capture_output=True)
        assert tracked.stdout, source


@every_service
def test_every_secret_comes_from_the_environment(name: str, service: Service) -> None:
    for variable, value in service.environment.items():
        if re.search(r"PASSWORD|SECRET|TOKEN|SHA256", variable):
            assert value is None or re.fullmatch(r"\$\{[A-Z_0-9]+(:\?run make up|:-)\}", value), variable


@every_running
def test_what_goes_on_is_started_again_and_watched(name: str, service: Service) -> None:
    assert service.restart == "unless-stopped"
    assert service.healthcheck is not None
    # The simulated floor has nobody to answer to; its gateway counts what comes.
    assert service.healthcheck.disable == (name == "simulator")
    if not service.healthcheck.disable:
        assert service.healthcheck.test[0] == "CMD", "no shell in between that another image may not have"
        assert service.healthcheck.retries
        assert service.healthcheck.start_period


@every_set
def test_everything_waits_for_what_is_there(profiles: tuple[str, ...]) -> None:
    services = COMPOSE.of_profiles(*profiles)
    for name, service in services.items():
        for needed, dependency in service.depends_on.items():
            if needed not in services:
                assert not dependency.required, f"{name} waits for {needed}, which isn't there"
            elif dependency.condition == "service_completed_successfully":
                assert services[needed].is_job
            else:
                assert services[needed].healthcheck is not None
        # Waiting for nothing, where others of its kind wait for one or three, would be a mistake in the profiles.
        assert not service.depends_on or service.depends_on.keys() & services.keys(), name


@every_set
def test_jobs_are_waited_for_by_what_goes_on(profiles: tuple[str, ...]) -> None:
    """`docker compose up --wait` takes a job's end for a failure unless something that runs asks for it."""
    services = COMPOSE.of_profiles(*profiles)
    jobs = {name for name, service in services.items() if service.is_job}
    asked_for = {
        needed
        for service in services.values()
        if not service.is_job
        for needed, dependency in service.depends_on.items()
        if dependency.condition == "service_completed_successfully"
    }
    assert jobs
    assert jobs <= asked_for


@every_set
def test_ports_and_names_meet_no_other(profiles: tuple[str, ...]) -> None:
    services = COMPOSE.of_profiles(*profiles)
    published = [port.rsplit(":", 1)[0] for service in services.values() for port in service.ports]
    assert len(published) == len(set(published))
    hosts = set(services) | {
        alias for service in services.values() for net in service.networks.values() for alias in net.aliases
    }
    assert {"kafka", "clickhouse", "gateway"} <= hosts


def test_a_cluster_has_three_brokers_and_two_replicas() -> None:
    servers = COMPOSE.of_profiles("cluster").keys() - COMPOSE.of_profiles("single").keys()
    assert servers == {"kafka-1", "kafka-2", "kafka-3", "clickhouse-1", "clickhouse-2", "keeper"}


@pytest.mark.parametrize(("kind", "own"), [("kafka", "KAFKA_NODE"), ("clickhouse", "CLICKHOUSE_HOST")])
def test_members_of_a_cluster_differ_in_their_names_alone(kind: str, own: str) -> None:
    members = [(name, service) for name, service in SERVICES if re.fullmatch(rf"{kind}-\d", name)]
    assert len({service.environment[own] for _, service in members}) == len(members)
    plain = {
        service.model_copy(
            update={
                "environment": {
                    key: value
                    for key, value in service.environment.items()
                    if key not in {"KAFKA_NODE", f"{kind.upper()}_HOST"}
                },
                "volumes": [volume for volume in service.volumes if not volume.startswith(f"{name}:")],
                "ports": [],
            }
        ).model_dump_json()
        for name, service in members
    }
    assert len(plain) == 1
    assert all(service.environment[f"{kind.upper()}_HOST"] == name for name, service in members)


def test_kafka_and_its_followers_cannot_be_reached_from_outside() -> None:
    inside = {name for name, network in COMPOSE.networks.items() if network.internal}
    assert inside == {"log", "store"}
    for name, service in SERVICES:
        if name.startswith("kafka") or name in {"topics", "migrate", "reconstruct", "sink", "keeper"}:
            assert service.networks.keys() <= inside, name
            assert not service.ports


def test_who_holds_which_password() -> None:
    holders = {
        variable: {name for name, service in SERVICES if f"${{{variable}:" in str(service.environment)}
        for variable in ("CLICKHOUSE_WRITER_PASSWORD", "CLICKHOUSE_GRAFANA_PASSWORD", "CLICKHOUSE_ANALYST_PASSWORD")
    }
    assert holders == {
        "CLICKHOUSE_WRITER_PASSWORD": {"migrate", "sink"},
        "CLICKHOUSE_GRAFANA_PASSWORD": {"grafana"},
        "CLICKHOUSE_ANALYST_PASSWORD": set(),
    }


def test_every_volume_and_network_is_used() -> None:
    mounted = {volume.partition(":")[0] for _, service in SERVICES for volume in service.volumes}
    assert {source for source in mounted if not source.startswith(".")} == COMPOSE.volumes.keys()
    assert {name for _, service in SERVICES for name in service.networks} == COMPOSE.networks.keys()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_variable_is_made(layout: str) -> None:
    made = set(re.findall(r"^([A-Z_0-9]+)=", complete("", layout), re.MULTILINE))
    asked = set(re.findall(r"(?<!\$)\$\{([A-Z_0-9]+)", FILE.read_text()))
    passed_on = {key for _, service in SERVICES for key, value in service.environment.items() if value is None}
    optional = {"PITWATCH_STORE__CLUSTER"} if layout == "single" else set[str]()
    assert asked | passed_on <= made | optional
    # What only people need: the analysts' password, and what the compose command reads itself.
    assert made - asked - passed_on == {"COMPOSE_PROFILES", "CLICKHOUSE_ANALYST_PASSWORD"}


def test_reconstruction_has_two_workers(compose: Compose) -> None:
    deploy = compose.services["reconstruct"].deploy
    assert deploy is not None
    assert deploy.replicas == 2


def test_our_services_read_one_file_of_settings(compose: Compose) -> None:
    for name, command in pitwatch_commands(compose).items():
        assert command[command.index("--config") + 1] == "/etc/pitwatch/pitwatch.toml", name
        assert "./deploy/pitwatch.toml:/etc/pitwatch/pitwatch.toml:ro" in compose.services[name].volumes, name


def test_anchors_are_all_used() -> None:
    text = FILE.read_text()
    for anchor in re.findall(r"&([a-z-]+)", text):
        assert re.search(rf"\*{anchor}\b", text), anchor
    assert yaml.safe_load(text)["name"] == "pitwatch"


def mebibytes(bound: str) -> int:
    return int(bound[:-1]) * {"m": 1, "g": 1024}[bound[-1]]


def test_operations_page_adds_the_bounds_up(repository: Path) -> None:
    sums = [
        sum(
            mebibytes(service.mem_limit) * (service.deploy.replicas if service.deploy else 1)
            for service in COMPOSE.of_profiles(layout, SIMULATOR).values()
            if not service.is_job
        )
        for layout in LAYOUTS
    ]
    page = (repository / "docs" / "operations.md").read_text()
    assert "| memory bounds in all | " + " | ".join(f"{found / 1024:g} GiB" for found in sums) + " |" in page


def test_operations_page_names_every_service_and_port(repository: Path) -> None:
    page = (repository / "docs" / "operations.md").read_text()
    for name, service in SERVICES:
        assert f"`{name.partition('-')[0]}" in page or name == "keeper", name
        for port in service.ports:
            assert port.split(":")[1] in page, port
