"""Every metric that Pitwatch's processors keep, each with its meaning; Prometheus reads them where `[monitoring]` says.

Names end in their unit; what ends in ``total`` only rises. Labels are few and bounded: kinds of rows, topics, users.
"""

from typing import Final

from prometheus_client import (
    GC_COLLECTOR,
    PLATFORM_COLLECTOR,
    PROCESS_COLLECTOR,
    CollectorRegistry,
    disable_created_metrics,
)
from prometheus_client import Counter as _Counter
from prometheus_client import Gauge as _Gauge
from prometheus_client import Histogram as _Histogram

# A gauge beside each counter, of when it was made, which nobody reads.
disable_created_metrics()  # type: ignore[no-untyped-call]  # it has no types

REGISTRY: Final = CollectorRegistry()
"""Where they are kept, and what the interpreter and the system tell about this process."""

for _collector in (PROCESS_COLLECTOR, PLATFORM_COLLECTOR, GC_COLLECTOR):
    REGISTRY.register(_collector)

_INSERT_SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_QUERY_SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

_BATCH_SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)

# -- reconstruct: from events to facts -------------------------------------------------------------------------------

RECONSTRUCT_EVENTS: Final = _Counter(
    "pitwatch_reconstruct_events_total",
    "Messages of tables that were folded and committed.",
    registry=REGISTRY,
)

RECONSTRUCT_REPEATS: Final = _Counter(
    "pitwatch_reconstruct_repeats_total",
    "Messages among them that said nothing new.",
    registry=REGISTRY,
)

RECONSTRUCT_FACTS: Final = _Counter(
    "pitwatch_reconstruct_facts_total",
    "Facts published, by kind.",
    ["kind"],
    registry=REGISTRY,
)

RECONSTRUCT_DEAD_LETTERS: Final = _Counter(
    "pitwatch_reconstruct_dead_letters_total",
    "Messages that could not be used, by reason.",
    ["reason"],
    registry=REGISTRY,
)

RECONSTRUCT_BATCH_SECONDS: Final = _Histogram(
    "pitwatch_reconstruct_batch_seconds",
    "Time from reading a batch to its commit.",
    buckets=_BATCH_SECONDS,
    registry=REGISTRY,
)

RECONSTRUCT_NEWEST: Final = _Gauge(
    "pitwatch_reconstruct_newest_fact_timestamp_seconds",
    "When the log got the newest message whose facts are published; `time()` less this is the newest fact's age. NaN"
    " where this worker published none.",
    registry=REGISTRY,
)
# Else who waits for his first share would show an age of half a century.
RECONSTRUCT_NEWEST.set(float("nan"))

RECONSTRUCT_PARTITIONS: Final = _Gauge(
    "pitwatch_reconstruct_partitions",
    "Partitions whose tables this worker folds now.",
    registry=REGISTRY,
)

RECONSTRUCT_TABLES: Final = _Gauge(
    "pitwatch_reconstruct_tables",
    "Tables that this worker keeps a fold of.",
    registry=REGISTRY,
)

RECONSTRUCT_SNAPSHOTS: Final = _Counter(
    "pitwatch_reconstruct_snapshots_total",
    "Snapshots of folds that were written.",
    registry=REGISTRY,
)

RECONSTRUCT_FOLDED_AGAIN: Final = _Counter(
    "pitwatch_reconstruct_folded_again_total",
    "Messages read once more to take up folds, after a start or a move.",
    registry=REGISTRY,
)

RECONSTRUCT_GIVEN_UP: Final = _Counter(
    "pitwatch_reconstruct_gaps_given_up_total",
    "Gaps that were waited for long enough, and given up in the log.",
    registry=REGISTRY,
)

RECONSTRUCT_FENCED: Final = _Counter(
    "pitwatch_reconstruct_fenced_total",
    "Times this worker found its partitions given to another, and dropped what it had computed.",
    registry=REGISTRY,
)

RECONSTRUCT_TROUBLED: Final = _Gauge(
    "pitwatch_reconstruct_troubled",
    "1 while the worker waits for the log to work again, else 0.",
    registry=REGISTRY,
)

# -- the gateway: from tables to the log ------------------------------------------------------------------------------

GATEWAY_EVENTS: Final = _Counter(
    "pitwatch_gateway_events_total",
    "Events that tables sent and that were answered, by status: `accepted`, `duplicate` or `rejected`.",
    ["status"],
    registry=REGISTRY,
)

GATEWAY_APPEND_SECONDS: Final = _Histogram(
    "pitwatch_gateway_append_seconds",
    "Time to make the events of all requests that waited durable in the log.",
    buckets=_BATCH_SECONDS,
    registry=REGISTRY,
)

# -- the sink: from the log into the store ---------------------------------------------------------------------------

SINK_ROWS: Final = _Counter(
    "pitwatch_sink_rows_total",
    "Rows inserted into the store, by kind; rows that were inserted again after a crash count twice.",
    ["kind"],
    registry=REGISTRY,
)

SINK_REFUSED: Final = _Counter(
    "pitwatch_sink_refused_rows_total",
    "Rows that the store refused and that became dead letters, by kind. Each is a defect.",
    ["kind"],
    registry=REGISTRY,
)

SINK_INSERT_SECONDS: Final = _Histogram(
    "pitwatch_sink_insert_seconds",
    "Time an insert of one batch took.",
    ["kind"],
    buckets=_INSERT_SECONDS,
    registry=REGISTRY,
)

SINK_BEHIND: Final = _Gauge(
    "pitwatch_sink_behind_records",
    "Records of the log that are not in the store yet, by topic and partition.",
    ["topic", "partition"],
    registry=REGISTRY,
)

SINK_NEWEST: Final = _Gauge(
    "pitwatch_sink_newest_fact_timestamp_seconds",
    "When the log got the newest record of the batch last inserted, by kind, in seconds since 1970.",
    ["kind"],
    registry=REGISTRY,
)

SINK_TROUBLED: Final = _Gauge(
    "pitwatch_sink_troubled",
    "1 while the sink waits for the log or the store to work again, else 0.",
    registry=REGISTRY,
)

# -- SQL over HTTP ---------------------------------------------------------------------------------------------------

SQL_QUERIES: Final = _Counter(
    "pitwatch_sql_queries_total",
    "Queries answered over HTTP, by user and by ClickHouse's error code, 0 for those that went well.",
    ["user", "code"],
    registry=REGISTRY,
)

SQL_SECONDS: Final = _Histogram(
    "pitwatch_sql_seconds",
    "Time from a query's turn to the end of its answer, by user.",
    ["user"],
    buckets=_QUERY_SECONDS,
    registry=REGISTRY,
)

SQL_RUNNING: Final = _Gauge("pitwatch_sql_running_queries", "Queries being answered over HTTP.", registry=REGISTRY)

# -- the Faust worker: round-level streams ---------------------------------------------------------------------------

STREAM_FACTS: Final = _Counter(
    "pitwatch_stream_facts_total",
    "Facts that the worker's streams took, by topic; those read again after a crash count twice.",
    ["topic"],
    registry=REGISTRY,
)

STREAM_DEAD_LETTERS: Final = _Counter(
    "pitwatch_stream_dead_letters_total",
    "Messages of the fact topics that are no facts and became dead letters, by topic. Each is a defect.",
    ["topic"],
    registry=REGISTRY,
)

LOOP_RETRIES: Final = _Counter(
    "pitwatch_loop_retries_total",
    "Steps broken off because the log, the store or the disk was away, and repeated, by the loop that takes them.",
    ["loop"],
    registry=REGISTRY,
)

STREAM_RETRIES: Final = _Counter(
    "pitwatch_stream_retries_total",
    "Attempts repeated because the log or the send queue was away, by topic.",
    ["topic"],
    registry=REGISTRY,
)

STREAM_NEWEST: Final = _Gauge(
    "pitwatch_stream_newest_fact_timestamp_seconds",
    "When the log took the newest fact that a stream worked off, by topic, in seconds since 1970.",
    ["topic"],
    registry=REGISTRY,
)

STREAM_BEHIND: Final = _Gauge(
    "pitwatch_stream_behind_records",
    "Offsets that a stream has not worked off yet, by topic and partition; marks of transactions count among them.",
    ["topic", "partition"],
    registry=REGISTRY,
)

WATCHED_TABLES: Final = _Gauge("pitwatch_watched_tables", "Tables watched for silence.", registry=REGISTRY)

WATCHED_BEHIND: Final = _Gauge(
    "pitwatch_watched_behind_records",
    "Events of the watched tables that are still to be read. Silence is judged only where it is 0.",
    registry=REGISTRY,
)

SILENCES: Final = _Counter(
    "pitwatch_silences_total", "Events written to the log that say a table fell silent.", registry=REGISTRY
)

_WINDOW_LABELS: Final = ("pit", "minutes")

WINDOW_TABLES: Final = _Gauge(
    "pitwatch_window_tables", "Tables that played in the last minutes, by pit.", _WINDOW_LABELS, registry=REGISTRY
)

WINDOW_ROUNDS: Final = _Gauge(
    "pitwatch_window_rounds",
    "Live rounds that began in the last minutes, void ones too, by pit.",
    _WINDOW_LABELS,
    registry=REGISTRY,
)

WINDOW_DECISIONS: Final = _Gauge(
    "pitwatch_window_decisions",
    "Live rounds of the last minutes that were not cancelled, by pit.",
    _WINDOW_LABELS,
    registry=REGISTRY,
)

WINDOW_PACE: Final = _Gauge(
    "pitwatch_window_decisions_per_table_hour",
    "Pace of the last minutes: decisions an hour and table, by pit; a table counts from its first round in them.",
    _WINDOW_LABELS,
    registry=REGISTRY,
)

WINDOW_ERRORS: Final = _Gauge(
    "pitwatch_window_dealer_errors",
    "Dealers' errors of the last minutes, by pit. Each dealer's rate is on the page /windows.",
    _WINDOW_LABELS,
    registry=REGISTRY,
)

WINDOW_HANDLE: Final = _Gauge(
    "pitwatch_window_handle_minor_units",
    "Stakes decided in the last minutes, by pit and currency.",
    [*_WINDOW_LABELS, "currency"],
    registry=REGISTRY,
)

WINDOW_WIN: Final = _Gauge(
    "pitwatch_window_house_win_minor_units",
    "What the rules gave the house in the last minutes, commission included, by pit and currency.",
    [*_WINDOW_LABELS, "currency"],
    registry=REGISTRY,
)

NOTIFY_WAITING: Final = _Gauge(
    "pitwatch_notify_waiting_messages", "Messages to people that are still to be sent.", registry=REGISTRY
)

NOTIFY_FAILED: Final = _Gauge(
    "pitwatch_notify_failed_messages",
    "Messages given up: nobody got them. `pitwatch notifications` lists them.",
    registry=REGISTRY,
)

NOTIFY_SENDS: Final = _Counter(
    "pitwatch_notify_attempted_messages_total",
    "Attempts to send a message, by route and by what came of it: `sent`, `retried` later, or given up as `failed`.",
    ("route", "outcome"),
    registry=REGISTRY,
)
