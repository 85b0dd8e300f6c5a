"""Reads docker-compose.yml into models that know every key it uses and refuse any other: a misspelt one is found."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

import yaml  # type: ignore[import-untyped]  # the package ships no types
from pydantic import BaseModel, BeforeValidator, ConfigDict

from tests.conftest import REPOSITORY

FILE = REPOSITORY / "docker-compose.yml"


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Build(Strict):
    context: str


class Healthcheck(Strict):
    disable: bool = False
    test: list[str] = []
    interval: str = ""
    timeout: str = ""
    retries: int = 0
    start_period: str = ""


class Dependency(Strict):
    condition: Literal["service_healthy", "service_completed_successfully"]
    required: bool = True


class Attachment(Strict):
    aliases: list[str] = []


class EnvFile(Strict):
    path: str
    required: bool


class Logging(Strict):
    driver: str
    options: dict[str, str]


class Deploy(Strict):
    replicas: int


def _by_name(value: object) -> object:
    """Give networks in their longer form."""
    named = dict.fromkeys(value) if isinstance(value, list) else value
    return {name: attachment or {} for name, attachment in named.items()} if isinstance(named, dict) else named


class Service(Strict):
    image: str
    user: str
    restart: Literal["no", "unless-stopped"]
    read_only: bool
    cap_drop: list[str]
    security_opt: list[str]
    logging: Logging
    mem_limit: str
    cpus: int
    pids_limit: int
    tmpfs: list[str]
    networks: Annotated[dict[str, Attachment], BeforeValidator(_by_name)]
    build: str | None = None
    profiles: list[str] = []
    entrypoint: list[str] = []
    command: list[str] = []
    environment: dict[str, str | None] = {}
    env_file: list[EnvFile] = []
    volumes: list[str] = []
    ports: list[str] = []
    depends_on: dict[str, Dependency] = {}
    healthcheck: Healthcheck | None = None
    deploy: Deploy | None = None
    init: bool = False
    stop_grace_period: str = ""
    ulimits: dict[str, int] = {}

    @property
    def is_job(self) -> bool:
        """Whether it is meant to end."""
        return self.restart == "no"


class Network(Strict):
    internal: bool = False


class Compose(Strict):
    name: str
    services: dict[str, Service]
    networks: dict[str, Network]
    volumes: dict[str, None]

    def of_profiles(self, *profiles: str) -> dict[str, Service]:
        """Return the services that run with these profiles."""
        return {
            name: service
            for name, service in self.services.items()
            if not service.profiles or set(profiles) & set(service.profiles)
        }


def read(path: Path = FILE) -> Compose:
    """Return the file's services, networks and volumes. Raises pydantic's `ValidationError`."""
    found = yaml.safe_load(path.read_text(encoding="utf-8"))
    ours = {key: value for key, value in found.items() if not key.startswith("x-")}
    ours["networks"] = {name: network or {} for name, network in ours["networks"].items()}
    return Compose.model_validate(ours)


def pitwatch_commands(compose: Compose) -> dict[str, list[str]]:
    """Return what each service of ours is told to do, by its name."""
    return {
        name: service.command for name, service in compose.services.items() if service.image.startswith("pitwatch:")
    }


def environment(service: Service, made: Mapping[str, str]) -> dict[str, str]:
    """Return what a container of ours finds in its environment, where .env has the values of `made`."""

    def filled(value: str) -> str:
        return re.sub(r"\$\{([A-Z_0-9]+):[^}]*\}", lambda found: made[found[1]], value)

    passed_on = {name: made.get(name) for name, value in service.environment.items() if value is None}
    given = {name: filled(value) for name, value in service.environment.items() if value is not None}
    return given | {name: value for name, value in passed_on.items() if value is not None}
