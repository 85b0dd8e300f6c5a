"""Floors that several tests look at: one where nothing goes wrong, one where everything does."""

from datetime import UTC, datetime

import pytest

from producers.simulator import Arrival, Deviations, FloorSettings, mixed_floor, simulate

START = datetime(2025, 3, 1, 4, 0, tzinfo=UTC)


@pytest.fixture(scope="session")
def clean_settings() -> FloorSettings:
    return mixed_floor(seed=11, start=START, hours=3, tables=8)


@pytest.fixture(scope="session")
def clean(clean_settings: FloorSettings) -> list[Arrival]:
    return list(simulate(clean_settings))


@pytest.fixture(scope="session")
def dirty_settings() -> FloorSettings:
    wrong = Deviations(per_round=0.3, per_shoe=0.8)
    return mixed_floor(seed=12, start=START, hours=8, tables=8, dirty=8, deviations=wrong)


@pytest.fixture(scope="session")
def dirty(dirty_settings: FloorSettings) -> list[Arrival]:
    return list(simulate(dirty_settings))
