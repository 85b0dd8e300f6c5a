"""Floors that can't be, refused with what is wrong."""

from datetime import UTC, datetime, timedelta, timezone
from itertools import islice

import pytest
from pydantic import ValidationError

from producers.simulator import Deviations, FloorSettings, SimulatedTable, mixed_floor, simulate, start_before
from producers.simulator.settings import OVERSHOOT
from schemas.configuration import BetOffer, RoundingPolicy, TableConfiguration, preset

START = datetime(2025, 3, 1, tzinfo=UTC)


def floor(*tables: SimulatedTable) -> FloorSettings:
    return FloorSettings(start=START, tables=tables)


def macau(**changes: object) -> TableConfiguration:
    return preset("macau").model_copy(update=changes)


def test_a_deviation_nobody_brings_about_is_refused() -> None:
    with pytest.raises(ValidationError, match="nothing brings about telemetry_gap"):
        Deviations(codes=("overpaid", "telemetry_gap"))


def test_exact_rounding_is_refused() -> None:
    rounding = RoundingPolicy(rounding="exact")
    with pytest.raises(ValidationError, match="some stakes couldn't be paid"):
        SimulatedTable(table_id="T1", configuration=macau(payout_rounding=rounding))


@pytest.mark.parametrize(
    ("sides", "refused"), [(("banker",), False), (("player",), True), (("banker", "player"), True)]
)
def test_lucky_six_on_the_player_is_refused(sides: tuple[str, ...], refused: bool) -> None:
    six = BetOffer.model_validate({"bet": "lucky_six", "minimum": 100, "maximum": 1_000, "sides": sides})
    configuration = macau(bets=(*macau().bets, six))
    if refused:
        with pytest.raises(ValidationError, match="the lucky six on the banker only"):
            SimulatedTable(table_id="T1", configuration=configuration)
    else:
        assert SimulatedTable(table_id="T1", configuration=configuration).configuration.bets[-1].sides == sides


def test_a_table_twice_is_refused() -> None:
    table = SimulatedTable(table_id="T1", configuration=macau())
    with pytest.raises(ValidationError, match="the same table_id"):
        floor(table, table)


@pytest.mark.parametrize(
    "configuration",
    [
        macau(bets=tuple(offer for offer in macau().bets if offer.bet != "banker")),
        macau(bets=tuple(offer.model_copy(update={"effective_from": START.date()}) for offer in macau().bets)),
    ],
    ids=["no banker", "not yet"],
)
def test_a_table_without_two_sides_is_refused(configuration: TableConfiguration) -> None:
    with pytest.raises(ValidationError, match="takes chips on the player and on the banker"):
        floor(SimulatedTable(table_id="T1", configuration=configuration))


def test_chips_that_fit_no_stake_are_refused() -> None:
    with pytest.raises(ValidationError, match="takes chips on the player and on the banker"):
        floor(SimulatedTable(table_id="T1", configuration=macau(), chip=10**12))


def test_the_presets_can_be_simulated_as_they_are() -> None:
    names = ("macau", "sjm", "commission_free")
    tables = [SimulatedTable(table_id=name, configuration=preset(name)) for name in names]
    assert len(list(islice(simulate(floor(*tables)), 1000))) == 1000


def test_a_table_with_nothing_but_two_sides_can_be_simulated() -> None:
    sides = macau(bets=macau().bets[:2], differential=None)
    table = SimulatedTable(table_id="T1", configuration=sides, chip=7_000, deviations=Deviations(per_round=0.5))
    bets = {getattr(arrival.event, "bet", None) for arrival in islice(simulate(floor(table)), 3000)}
    assert {"player", "banker"} <= bets


def test_start_is_kept_in_utc() -> None:
    macau_time = datetime(2025, 3, 1, 8, tzinfo=timezone(timedelta(hours=8)))
    settings = FloorSettings(start=macau_time, tables=(SimulatedTable(table_id="T1", configuration=macau()),))
    assert settings.start == START
    assert settings.start.tzinfo is UTC


@pytest.mark.parametrize("hours", [0.01, 1.0, 3.5])
def test_a_floor_started_in_time_is_closed_before_now(hours: float) -> None:
    now = datetime(2025, 3, 2, 12, 34, 56, tzinfo=UTC)
    settings = mixed_floor(seed=3, start=start_before(now, hours), hours=hours, tables=8, dirty=8)
    last = max(arrival.arrives_at for arrival in simulate(settings))
    assert settings.start + timedelta(hours=hours) < last < settings.start + timedelta(hours=hours) + OVERSHOOT < now
