"""Who is told about what: the routes of the configuration file, and which alerts concern each of them."""

from datetime import timedelta
from pathlib import Path
from typing import Annotated, Final, Literal, Self, TypeVar

from pydantic import AfterValidator, Field, SecretStr, model_validator

from schemas.alerts import ALERTS, SEVERITIES, Severity
from schemas.facts import AlertFact
from schemas.fields import Name, StrictModel

T = TypeVar("T")

Languages = Literal["zh", "en", "both"]

MAX_URLS: Final = 64
"""Each URL has a thread of its own, so that none waits for another; this many are enough for a floor."""


def _known_code(code: str) -> str:
    if code not in ALERTS:
        raise ValueError(f"{code!r} is no alert code; docs/alerts.md lists them")
    return code


def _not_empty(wanted: tuple[T, ...]) -> tuple[T, ...]:
    if not wanted:
        raise ValueError("an empty list asks for nothing")
    return wanted


NotEmpty: Final = AfterValidator(_not_empty)
"""Checked after the items are: with `min_length`, one bad item would be reported twice."""


class Route(StrictModel):
    """One group of people: where their messages go and which alerts they want."""

    name: Name = Field(description="What screens and the send queue call this route.")
    urls: Annotated[tuple[SecretStr, ...], NotEmpty] = Field(
        max_length=16,
        description="Apprise URLs, one for each service or person. `${NAME}` stands for a secret: the environment"
        " variable NAME, or that key of `notifications.secrets_file`.",
    )
    pits: Annotated[tuple[Name, ...], NotEmpty] | None = Field(
        default=None,
        description="Only alerts of these pits; left out: of all. An alert of an unknown pit goes to every route.",
    )
    minimum_severity: Severity = Field(
        default="serious", description="The least severity sent: `info`, `warning`, `serious` or `critical`."
    )
    languages: Languages = Field(default="both", description="`zh`, `en`, or `both` in each message.")
    codes: Annotated[tuple[Annotated[str, AfterValidator(_known_code)], ...], NotEmpty] | None = Field(
        default=None, description="Only these alert codes (docs/alerts.md); left out: every code."
    )
    follow_ups: bool = Field(
        default=True, description="Whether to say that an alert already sent was put right or withdrawn."
    )
    alerts_per_ten_minutes: int = Field(
        default=10,
        ge=1,
        le=1000,
        description="Messages about single alerts in any ten minutes. What comes beyond them is a flood (ISA-18.2) and"
        " is collapsed into summaries; nothing is dropped.",
    )
    summary_seconds: int = Field(
        default=60,
        ge=10,
        le=600,
        description="How long a flood's alerts are gathered before their summary is sent, and how long a replay must"
        " have told none before its own is.",
    )


class NotificationSettings(StrictModel):
    """How alerts reach people."""

    utc_offset_hours: int = Field(
        default=8, ge=-12, le=14, description="Local time shown in messages, hours ahead of UTC. Macau: 8 all year."
    )
    secrets_file: Path | None = Field(
        default=None,
        description='TOML file of `NAME = "value"` lines for the routes\' `${NAME}`; the environment comes first.'
        " Refused when anybody but its owner and group may read it.",
    )
    send_timeout_seconds: int = Field(
        default=10, ge=1, le=120, description="How long to wait for a service to connect, and to answer."
    )
    retry_first_seconds: int = Field(
        default=2, ge=1, le=3600, description="Wait before the second attempt; doubled for each one after it."
    )
    retry_longest_seconds: int = Field(default=300, ge=1, le=86_400, description="The longest wait between attempts.")
    retry_attempts: int = Field(
        default=100, ge=1, le=100_000, description="Attempts after which a message stays as failed."
    )
    give_up_after_seconds: int = Field(
        default=21_600, ge=1, le=604_800, description="Age at which a message that cannot be sent stays as failed."
    )
    stale_after_seconds: int = Field(
        default=600,
        ge=10,
        le=86_400,
        description="An alert that waited this long in the log (Pitwatch was down) is told in a summary.",
    )
    keep_days: int = Field(
        default=30, ge=1, le=3650, description="How long sent and failed messages are kept for looking up."
    )
    routes: tuple[Route, ...] = Field(default=(), max_length=100, description="Who is told about what.")

    @model_validator(mode="after")
    def _bounded(self) -> Self:
        names = [route.name for route in self.routes]
        if repeated := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"two routes are called {repeated[0]!r}")
        if (urls := sum(len(route.urls) for route in self.routes)) > MAX_URLS:
            raise ValueError(f"the routes have {urls} URLs in all; {MAX_URLS} are allowed")
        return self

    @property
    def local_offset(self) -> timedelta:
        """What to add to UTC for the time on the floor's walls."""
        return timedelta(hours=self.utc_offset_hours)


def concerns(route: Route, alert: AlertFact) -> bool:
    """Tell whether `route` takes `alert`: its pit, its severity and its code. No pit at all concerns everybody."""
    return (
        (route.pits is None or not alert.pit or alert.pit in route.pits)
        and SEVERITIES.index(alert.severity) >= SEVERITIES.index(route.minimum_severity)
        and (route.codes is None or alert.code in route.codes)
    )
