"""What tests of the deployment share."""

import pytest

from tests.deploy.compose import Compose, read


@pytest.fixture(scope="session")
def compose() -> Compose:
    """docker-compose.yml, read strictly."""
    return read()
