"""Who may query the embedded store, where, and how much at a time."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from schemas.fields import StrictModel


class SqlUser(StrictModel):
    """Somebody who may read the store: an analyst, a screen, Grafana."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,62}$")] = Field(
        description="The name to log in with."
    )
    password_sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] = Field(
        description="SHA-256, in hex, of the password. `pitwatch password NAME` makes both: of a password that people"
        " can remember, the hash gives it away."
    )


class SqlSettings(StrictModel):
    """SQL over HTTP, for readers only; off while there are no users."""

    host: str = Field(
        default="127.0.0.1",
        min_length=1,
        max_length=253,
        description="Address to listen on. Passwords and answers travel in the clear: beyond this machine, put TLS in"
        " front of it.",
    )
    port: int = Field(
        default=8123, ge=0, le=65_535, description="Port to listen on, ClickHouse's own by default; 0 picks a free one."
    )
    max_concurrent_queries: int = Field(
        default=4,
        ge=1,
        le=64,
        description="Queries answered at the same time; of one user, one fewer. More wait for their turn a while.",
    )
    max_answer_bytes: int = Field(
        default=67_108_864,
        ge=1_048_576,
        le=4_294_967_296,
        description="Most data in an answer whose format can't be sent piece by piece, such as JSON, Arrow and"
        " Parquet. CSV, TabSeparated, JSONEachRow and Native are bounded by time alone.",
    )
    users: tuple[SqlUser, ...] = Field(default=(), max_length=1000, description="Who may read.")

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        names = [user.name for user in self.users]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"user {name!r} is listed twice")
        return self
