"""What every test shares: how hypothesis runs, and the folders tests read."""

import logging
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog
from hypothesis import settings

REPOSITORY = Path(__file__).resolve().parent.parent
VECTORS = REPOSITORY.parent / "shared" / "vectors"

pytest_plugins = ["tests.kafka.fixtures"]

# No deadline: a loaded machine is no defect. In CI the examples are the same in every run, so that a
# red build is the submitted change's doing; on a developer's machine they wander and find new ones.
settings.register_profile("wander", deadline=None, print_blob=True)
settings.register_profile("fixed", deadline=None, print_blob=True, derandomize=True, database=None)
settings.load_profile("fixed" if os.environ.get("CI") else "wander")


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root folder of the repository."""
    return REPOSITORY


@pytest.fixture(scope="session")
def vectors() -> Path:
    """The folder of test vectors, which is kept beside the repository and not in it."""
    if not VECTORS.is_dir():
        pytest.skip("the folder of test vectors beside the repository is missing")
    return VECTORS


@pytest.fixture(autouse=True)
def logs_as_they_were() -> Iterator[None]:
    """Put logging back after a command configured it: the next test may listen to it."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers, root.level = handlers, level
    structlog.reset_defaults()
