"""What is simulated: the floor, its tables, how often something goes wrong at a table and on the way from it."""

from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Final, Self

from pydantic import AwareDatetime, Field, field_validator, model_validator

from producers.simulator.labels import INJECTABLE
from producers.simulator.places import Places
from schemas.configuration import TableConfiguration
from schemas.fields import StrictModel, TableId

Share = Annotated[float, Field(ge=0, le=1)]

OVERSHOOT: Final = timedelta(hours=1)
"""No table's last event lies further behind the end of the hours asked for."""


class Deviations(StrictModel):
    """What goes wrong at a table on purpose: the share of rounds and of shoes, and the alert codes to bring about."""

    per_round: Share = 0.1
    per_shoe: Share = 0.5
    codes: Annotated[tuple[str, ...], Field(min_length=1)] = INJECTABLE

    @field_validator("codes")
    @classmethod
    def _injectable(cls, codes: tuple[str, ...]) -> tuple[str, ...]:
        if unknown := set(codes) - set(INJECTABLE):
            raise ValueError(f"nothing brings about {', '.join(sorted(unknown))}; known: {', '.join(INJECTABLE)}")
        return codes


class Telemetry(StrictModel):
    """What goes wrong between a table and the log.

    Harmless: `duplicated` and `disordered` are shares of events, the latter late by at most `disorder_ms`; `restarted`
    is the share of rounds in which the controller restarts. Not harmless: the shares of rounds in which events are
    `lost` or the clock is `skewed`.
    """

    duplicated: Share = 0.0
    disordered: Share = 0.0
    disorder_ms: Annotated[int, Field(ge=1, le=60_000)] = 1500
    restarted: Share = 0.0
    lost: Share = 0.0
    skewed: Share = 0.0

    @property
    def faulty(self) -> bool:
        """Whether anything at all goes wrong."""
        return any((self.duplicated, self.disordered, self.restarted, self.lost, self.skewed))


class SimulatedTable(StrictModel):
    """One table: its configuration, pace and company; without `deviations` nothing at it is worth an alert."""

    table_id: TableId
    configuration: TableConfiguration
    seconds_per_round: Annotated[int, Field(ge=10, le=300)] = 64
    patrons: Annotated[int, Field(ge=1, le=14)] = 6
    """Seats taken on average."""
    standing: Annotated[int, Field(ge=0, le=14)] = 3
    chip: Annotated[int, Field(ge=1)] = 5_000
    """The smallest chip a main bet is made with, minor units."""
    deviations: Deviations | None = None
    telemetry: Telemetry = Telemetry()

    @model_validator(mode="after")
    def _pays_every_stake(self) -> Self:
        if "exact" in {self.configuration.payout_rounding.rounding, self.configuration.commission.rounding}:
            raise ValueError(f"{self.table_id}: a table to simulate rounds; under 'exact' some stakes couldn't be paid")
        return self

    @model_validator(mode="after")
    def _lucky_six_on_the_banker(self) -> Self:
        if any(offer.sides not in (None, ("banker",)) for offer in self.configuration.bets):
            raise ValueError(f"{self.table_id}: a table to simulate takes the lucky six on the banker only")
        return self


class FloorSettings(StrictModel):
    """A floor from `start` on for `hours`. The same settings always give the same events, byte for byte.

    `rounds`: each table closes after so many live rounds, where its hours aren't over before. `events`: the stream
    breaks off after so many arrivals, wherever the tables then are.
    """

    seed: int = 1
    start: AwareDatetime
    hours: Annotated[float, Field(gt=0, le=24 * 366)] = 1.0
    rounds: Annotated[int, Field(ge=1)] | None = None
    events: Annotated[int, Field(ge=1)] | None = None
    tables: Annotated[tuple[SimulatedTable, ...], Field(min_length=1, max_length=10_000)]

    @field_validator("start")
    @classmethod
    def _in_utc(cls, start: datetime) -> datetime:
        return start.astimezone(UTC)

    @property
    def day(self) -> date:
        """The day whose offers are played: the one before the first, which no gaming day of the floor precedes."""
        return self.start.date() - timedelta(days=1)

    @model_validator(mode="after")
    def _both_sides_are_offered(self) -> Self:
        for table in self.tables:
            if len(Places(table.configuration, self.day, table.chip).mains) < 2:
                raise ValueError(f"{table.table_id}: a table to simulate takes chips on the player and on the banker")
        return self

    @model_validator(mode="after")
    def _each_table_once(self) -> Self:
        if len({table.table_id for table in self.tables}) < len(self.tables):
            raise ValueError("two tables of the floor have the same table_id")
        return self


def start_before(now: datetime, hours: float) -> datetime:
    """Return the latest full minute from which a floor can run for `hours` and be closed before `now`."""
    latest = now.astimezone(UTC) - timedelta(hours=hours) - OVERSHOOT
    return latest.replace(second=0, microsecond=0)
