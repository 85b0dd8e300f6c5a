"""The application's settings: what stands in the configuration file (TOML) and the environment (``PITWATCH_…``).

The environment comes before the file, and the file before the defaults. docs/settings.md is made from this module.
"""

from datetime import timedelta
from pathlib import Path
from typing import Annotated, Final, Self

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, TomlConfigSettingsSource

from processors.logs.kafka_properties import check_properties
from processors.notify.routing import NotificationSettings
from processors.sql.settings import SqlSettings
from schemas.configuration import TableConfiguration, TableEntry, preset
from schemas.fields import Name, StrictModel, TableId

ENV_PREFIX: Final = "PITWATCH_"
ENV_DELIMITER: Final = "__"

MAX_TABLES: Final = 10_000

_LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})


def _configuration_of(value: object) -> object:
    """Turn a preset's name, or a preset with changes, into the configuration it means."""
    if isinstance(value, str):
        return preset(value)
    if isinstance(value, dict) and "preset" in value:
        changes = {key: change for key, change in value.items() if key != "preset"}
        if changes.keys() - {"pit"} and "configuration_id" not in changes:
            raise ValueError("a preset with changes is another configuration: give it a configuration_id of its own")
        return preset(str(value["preset"])).model_dump() | changes
    return value


class FloorTable(StrictModel):
    """One table of the floor."""

    table_id: TableId = Field(description="The table, unique on the floor.")
    pit: Name | None = Field(default=None, description="The pit it stands in; left out: the configuration's own.")
    configuration: Annotated[TableConfiguration, BeforeValidator(_configuration_of)] = Field(
        description="The rules and limits it deals under: a preset's name (`macau`, `sjm`, `commission_free`), a table"
        " `{preset = …, configuration_id = …}` with what differs, or a whole configuration (its"
        " fields are those of `TableConfiguration` in `schemas/configuration.py`).",
    )
    tokens_sha256: tuple[Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")], ...] = Field(
        default=(),
        max_length=4,
        description="SHA-256, in hex, of the token its controller shows the gateway; two while one replaces the other;"
        " none: the table can't send. `pitwatch token TABLE` makes both. A hash needs no secrecy.",
    )

    def entry(self) -> TableEntry:
        """Return the table with the configuration it deals under, in its pit."""
        changes = {} if self.pit is None else {"pit": self.pit}
        return TableEntry(table_id=self.table_id, configuration=self.configuration.model_copy(update=changes))


class FloorSettings(StrictModel):
    """The tables of the floor."""

    tables: tuple[FloorTable, ...] = Field(default=(), max_length=MAX_TABLES, description="The floor's tables.")

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        seen, hashes = set[str](), set[str]()
        rules: dict[str, TableConfiguration] = {}
        for table in self.tables:
            if table.table_id in seen:
                raise ValueError(f"table {table.table_id!r} is listed twice")
            seen.add(table.table_id)
            if shared := hashes.intersection(table.tokens_sha256):
                raise ValueError(f"table {table.table_id!r} has another table's token: {min(shared)[:12]}…")
            hashes.update(table.tokens_sha256)
            # A table's pit is not part of its rules; everything else under one identity must be the same.
            configuration = table.configuration.model_copy(update={"pit": "PIT-1"})
            if rules.setdefault(configuration.configuration_id, configuration) != configuration:
                raise ValueError(f"two different configurations are called {configuration.configuration_id!r}")
        return self

    def entries(self) -> tuple[TableEntry, ...]:
        """Return every table with its configuration."""
        return tuple(table.entry() for table in self.tables)

    def token_hashes(self) -> dict[str, str]:
        """Return the table of each token, by the token's SHA-256 in hex."""
        return {digest: table.table_id for table in self.tables for digest in table.tokens_sha256}


class GatewaySettings(StrictModel):
    """The HTTP endpoint that table controllers send their events to."""

    host: str = Field(
        default="127.0.0.1",
        min_length=1,
        max_length=253,
        description="Address to listen on. Beyond this machine, every table needs a token.",
    )
    port: int = Field(default=8600, ge=0, le=65_535, description="Port to listen on; 0 picks a free one.")
    max_body_bytes: int = Field(
        default=2_097_152, ge=1, le=1_073_741_824, description="Longest request that is read; longer ones are refused."
    )
    max_events: int = Field(default=2000, ge=1, le=1_000_000, description="Most events in one request.")
    max_waiting_events: int = Field(
        default=50_000,
        ge=1,
        le=10_000_000,
        description="Events that may wait for the log; beyond them controllers are told to come back.",
    )
    body_timeout_seconds: int = Field(
        default=30, ge=1, le=3600, description="How long a controller may take to send a request."
    )


class PipelineSettings(StrictModel):
    """How events become facts."""

    batch_events: int = Field(
        default=20_000, ge=1, le=100_000, description="Most events folded, and committed together, at a time."
    )
    gap_limit_ms: int = Field(
        default=5000,
        ge=100,
        le=3_600_000,
        description="How long a missing event is waited for, in the log's own time, before the gap is reported.",
    )
    revision_rounds: int = Field(
        default=80,
        ge=1,
        le=1000,
        description="How many rounds back a late event or a correction still revises a table's rounds.",
    )
    snapshot_interval_events: int = Field(
        default=2048,
        ge=1,
        le=1_000_000,
        description="Events of a table between two snapshots of its state; after a crash at most so many are folded"
        " once more.",
    )
    keep_facts_days: int | None = Field(
        default=None,
        ge=1,
        le=36_500,
        description="Days after which the log drops facts that are stored and told; left out: never. Events stay for"
        " good, since everything can be worked out from them again.",
    )


class StoreSettings(StrictModel):
    """The ClickHouse database that screens and analysts query."""

    database: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,62}$")] = Field(
        default="pitwatch", description="Name of the database."
    )
    ttl_days: int | None = Field(
        default=None, ge=1, le=36_500, description="Days after which rows are deleted; left out: never."
    )
    max_execution_seconds: int = Field(
        default=30, ge=1, le=3600, description="Longest a reader's query may run before it is stopped."
    )
    url: Annotated[str, Field(pattern=r"^https?://[^\s/?#@]+$")] | None = Field(
        default=None,
        description="A ClickHouse server, such as `https://clickhouse:8443`, which `pitwatch migrate` prepares and"
        " `pitwatch sink` fills. `pitwatch run` keeps its store in the data directory whatever stands here.",
    )
    user: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,62}$")] = Field(
        default="pitwatch", description="Whom to log in to the server as."
    )
    password: SecretStr = Field(
        default=SecretStr(""), description="Its password: `${NAME}` stands for a secret, as in the routes' URLs."
    )
    cluster: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_-]{0,62}$")] | None = Field(
        default=None,
        description="Name of the servers' cluster: tables are replicated, and shared out over its shards by table."
        " Left out: one server.",
    )

    @model_validator(mode="after")
    def _server(self) -> Self:
        if self.url is None and (self.cluster is not None or self.password.get_secret_value()):
            raise ValueError("a cluster or a password is a server's: give its url")
        return self


def _no_reserved_property(properties: dict[str, SecretStr]) -> dict[str, SecretStr]:
    check_properties(properties)
    return properties


class KafkaSettings(StrictModel):
    """The Kafka cluster that the workers share; `pitwatch run` keeps its log in the data directory instead."""

    bootstrap: Annotated[str, Field(pattern=r"^[^\s,/]+:\d{1,5}(,[^\s,/]+:\d{1,5})*$", max_length=2000)] = Field(
        default="localhost:9092", description="Brokers to ask first, `host:port`, with commas between them."
    )
    properties: Annotated[dict[str, SecretStr], AfterValidator(_no_reserved_property)] = Field(
        default={},
        description='Properties of librdkafka, as text: `{"security.protocol" = "SASL_SSL", …}`. For TLS, SASL and'
        " tuning; those that the log's guarantees rest on are refused. `${NAME}` stands for a secret.",
    )
    worker_id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$")] | None = Field(
        default=None,
        description="What this worker is called, unique among those that run, and best the same after a restart. Left"
        " out: the host's name.",
    )
    timeout_seconds: int = Field(
        default=10, ge=1, le=300, description="How long is waited for brokers before work is told to try again later."
    )
    partitions: int = Field(
        default=6,
        ge=1,
        le=1000,
        description="Partitions of each topic: so many workers can share the tables. For good from the first event on.",
    )
    replication_factor: int | None = Field(
        default=None, ge=1, le=10, description="Copies of each topic; left out: what the brokers have for a default."
    )

    @property
    def is_set(self) -> bool:
        """Whether a cluster was named, so that the event log is there and not in the data directory."""
        return "bootstrap" in self.model_fields_set

    def plain_properties(self) -> dict[str, str]:
        """Return the properties with their secrets, for librdkafka alone."""
        return {name: text.get_secret_value() for name, text in self.properties.items()}


class MonitoringSettings(StrictModel):
    """What a process shows of itself over HTTP: `/healthz` and Prometheus' `/metrics`."""

    host: str = Field(
        default="127.0.0.1",
        min_length=1,
        max_length=253,
        description="Address to listen on. It shows names of tables and topics, and asks for no password.",
    )
    port: int | None = Field(default=None, ge=0, le=65_535, description="Port to listen on; left out: none.")
    stalled_after_seconds: int = Field(
        default=300,
        ge=1,
        le=86_400,
        description="How long a worker may have something to read, and read nothing though the log answers, before it"
        " ends with an error for its supervisor to start it again; after half of it `/healthz` says so.",
    )


class WorkerSettings(StrictModel):
    """The Faust worker of the distributed runtime: windows of play, notifications, silent tables."""

    windows_minutes: Annotated[tuple[Annotated[int, Field(ge=1, le=1440)], ...], Field(min_length=1, max_length=6)] = (
        Field(
            default=(15, 60),
            description="Lengths of the windows in which play is summed up, minutes back from now, 1 to 1440 each. The"
            " longest one decides how much of the log a start reads again.",
        )
    )


class TimerSettings(StrictModel):
    """How often the clock is looked at."""

    silence_check_ms: int = Field(
        default=1000,
        ge=100,
        le=60_000,
        description="How often open tables are checked for silence; the limit itself is the table's configuration.",
    )

    @property
    def interval(self) -> timedelta:
        """The time between two looks at the clock."""
        return timedelta(milliseconds=self.silence_check_ms)


class Settings(BaseSettings):
    """Everything that can be set. `processors.settings_file.load_settings` reads it, and explains what is wrong."""

    model_config = SettingsConfigDict(
        env_prefix=ENV_PREFIX, env_nested_delimiter=ENV_DELIMITER, extra="forbid", frozen=True
    )

    data_directory: Path = Field(
        default=Path("data"), description="Where the log, the store and the send queue are kept."
    )
    floor: FloorSettings = Field(default=FloorSettings(), description="The floor.")
    gateway: GatewaySettings = Field(default=GatewaySettings(), description="The gateway for table controllers.")
    pipeline: PipelineSettings = Field(default=PipelineSettings(), description="From events to facts.")
    kafka: KafkaSettings = Field(default=KafkaSettings(), description="The Kafka cluster.")
    store: StoreSettings = Field(default=StoreSettings(), description="The database.")
    sql: SqlSettings = Field(default=SqlSettings(), description="SQL over HTTP.")
    notifications: NotificationSettings = Field(
        default=NotificationSettings(), description="Alerts to people's phones and desks."
    )
    worker: WorkerSettings = Field(default=WorkerSettings(), description="The Faust worker.")
    timers: TimerSettings = Field(default=TimerSettings(), description="Clocks.")
    monitoring: MonitoringSettings = Field(default=MonitoringSettings(), description="Health and metrics.")

    @model_validator(mode="after")
    def _tokens_beyond_this_machine(self) -> Self:
        open_tables = sorted(table.table_id for table in self.floor.tables if not table.tokens_sha256)
        if self.gateway.host not in _LOOPBACK and open_tables:
            raise ValueError(
                f"gateway.host {self.gateway.host!r} can be reached from other machines, and table {open_tables[0]!r}"
                " has no tokens_sha256: anybody there could send its events"
            )
        return self

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - the signature is pydantic-settings'
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Put the environment before the file; neither a ``.env`` file nor a folder of secrets is read."""
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)
