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
