"""The images: pinned bases, another user than root, the pinned packages, and nothing secret inside."""

import re
import tomllib
from pathlib import Path

import pytest

from deploy.requirements import requirements
from tests.conftest import REPOSITORY
from tests.deploy.compose import read
from tests.deploy.test_compose import PINNED

IMAGES = {"pitwatch": REPOSITORY / "Dockerfile", "grafana": REPOSITORY / "deploy" / "grafana" / "Dockerfile"}

every_image = pytest.mark.parametrize("path", IMAGES.values(), ids=IMAGES)


def instructions(path: Path) -> list[tuple[str, str]]:
    """Return a Dockerfile's instructions and their arguments, lines joined and comments left out."""
    lines = [line for line in path.read_text().splitlines() if not line.lstrip().startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ")
    return [(word, rest.strip()) for word, _, rest in (line.partition(" ") for line in joined.splitlines()) if word]


@every_image
def test_bases_are_pinned(path: Path) -> None:
    bases = [rest.split()[0] for word, rest in instructions(path) if word == "FROM"]
    assert bases
    assert all(PINNED.fullmatch(base) for base in bases)


@every_image
def test_its_last_user_is_not_root(path: Path) -> None:
    users = [rest for word, rest in instructions(path) if word == "USER"]
    assert re.fullmatch(r"[1-9]\d+:\d+", users[-1])


@every_image
def test_nothing_secret_is_baked_in(path: Path) -> None:
    assert not re.search(r"password|secret|token", path.read_text(), re.IGNORECASE)
    assert not [rest for word, rest in instructions(path) if word in {"ARG", "ADD"}]


def test_users_are_those_the_services_run_as() -> None:
    for service in read().services.values():
        if service.build is not None:
            path = REPOSITORY / service.build / "Dockerfile"
            assert [rest for word, rest in instructions(path) if word == "USER"][-1] == service.user


def test_screens_tag_is_the_version_it_is_built_on() -> None:
    base = next(rest for word, rest in instructions(IMAGES["grafana"]) if word == "FROM")
    assert read().services["grafana"].image.rpartition(":")[2] == base.rpartition(":")[2]


def test_tag_is_the_version_of_the_distribution() -> None:
    version = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["version"]
    images = {service.image for service in read().services.values() if service.build == "."}
    assert images == {f"pitwatch:{version}"}


def test_builder_stays_behind() -> None:
    stages = [rest for word, rest in instructions(IMAGES["pitwatch"]) if word == "FROM"]
    assert [stage.partition(" AS ")[2] for stage in stages] == ["build", ""]
    told = instructions(IMAGES["pitwatch"])
    final = told[max(place for place, (word, _) in enumerate(told) if word == "FROM") :]
    assert not [rest for word, rest in final if word == "RUN" and "pip" in rest]


def test_packages_are_the_pinned_ones() -> None:
    install = next(rest for word, rest in instructions(IMAGES["pitwatch"]) if "--requirement" in rest)
    assert "--constraint constraints.txt" in install
    assert "--only-binary :all:" in install, "the image has no compiler"


def test_requirements_are_the_projects_and_those_of_its_servers() -> None:
    text = (REPOSITORY / "pyproject.toml").read_text()
    found = requirements(text)
    assert found[0].startswith("apprise")
    assert "faust-streaming==0.15.3" in found
    assert not [asked for asked in found if asked.startswith(("chdb", "pytest"))]


def test_everything_copied_is_let_into_the_build() -> None:
    let_in = {line[1:] for line in (REPOSITORY / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    sources = [
        source
        for word, rest in instructions(IMAGES["pitwatch"])
        if word == "COPY" and not rest.startswith("--from")
        for source in rest.split()[:-1]
    ]
    assert set(sources) == let_in
    assert all((REPOSITORY / source).exists() for source in sources)


def test_every_package_of_the_distribution_is_copied() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
    for package in project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]:
        assert ("COPY", f"{package} {package}") in instructions(IMAGES["pitwatch"])
