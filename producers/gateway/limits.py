"""The gateway's limits: everything a device sends is bounded."""

from pathlib import Path
from typing import Annotated

from pydantic import Field

from schemas.fields import StrictModel


class GatewayLimits(StrictModel):
    """Limits of the device gateway, and where it remembers which events it has seen."""

    seen_path: Path | None = None
    """File of the events seen, so that a start need not read the whole log again; None: it does."""
    max_body_bytes: Annotated[int, Field(ge=1, le=2**30)] = 2 * 2**20
    max_events: Annotated[int, Field(ge=1, le=1_000_000)] = 2_000
    """Events, or lines, in one request."""
    body_timeout_seconds: Annotated[float, Field(gt=0, le=3600)] = 30.0
    """How long a device may take to send a request's body."""
    max_bodies: Annotated[int, Field(ge=1, le=10_000)] = 256
    """Requests whose bodies are held in memory at the same time; further ones wait unread."""
    max_commit_events: Annotated[int, Field(ge=1, le=1_000_000)] = 10_000
    """Events appended to the log in one go, of however many requests."""
    max_waiting_events: Annotated[int, Field(ge=1, le=10_000_000)] = 50_000
    """Events that wait for the log; beyond them devices are told to come back."""
    retry_after_seconds: Annotated[int, Field(ge=1, le=3600)] = 5
    """How long a device is asked to wait while the log is away."""
    checkpoint_events: Annotated[int, Field(ge=1, le=10**9)] = 50_000
    """Events after which what was seen is written to `seen_path`."""
