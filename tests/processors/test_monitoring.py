"""What a process shows of itself, and that every metric says what it means."""

import re
from pathlib import Path

import httpx
import pytest

from processors import metrics
from processors.metrics import REGISTRY, SINK_ROWS
from processors.metrics_page import metrics_page
from processors.monitoring import monitored
from processors.settings import MonitoringSettings

SHOWN = MonitoringSettings(port=0)


def test_process_without_troubles_is_well() -> None:
    with monitored(SHOWN, dict) as url:
        answer = httpx.get(f"{url}/healthz")
    assert (answer.status_code, answer.json()) == (200, {"status": "well", "troubles": {}})


def test_troubles_are_told_and_the_status_says_so() -> None:
    troubles = {"sink": "the store is away"}
    with monitored(SHOWN, lambda: troubles) as url:
        assert httpx.get(f"{url}/healthz").status_code == 503
        assert httpx.get(f"{url}/healthz").json()["troubles"] == troubles
        troubles.clear()
        assert httpx.get(f"{url}/healthz").status_code == 200


def test_metrics_are_as_prometheus_reads_them() -> None:
    SINK_ROWS.labels(kind="round").inc(3)
    with monitored(SHOWN, dict) as url:
        answer = httpx.get(f"{url}/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=")
    assert re.search(r'^pitwatch_sink_rows_total\{kind="round"\} [3-9]', answer.text, re.MULTILINE)
    assert "process_resident_memory_bytes" in answer.text


def test_nothing_is_shown_where_nobody_asked_for_it() -> None:
    with monitored(MonitoringSettings(), dict) as url:
        assert url == ""


def ours() -> list[str]:
    return [family.name for family in REGISTRY.collect() if family.name.startswith("pitwatch_")]


UNITS = (
    *("_rows", "_records", "_seconds", "_queries", "_troubled"),
    *("_events", "_repeats", "_facts", "_dead_letters", "_partitions", "_tables", "_snapshots", "_folded_again"),
    *("_gaps_given_up", "_fenced", "_retries", "_silences", "_rounds", "_decisions", "_errors", "_messages"),
    *("_minor_units", "_per_table_hour"),
)


@pytest.mark.parametrize("name", ours())
def test_every_metric_has_a_unit_and_a_meaning(name: str) -> None:
    (family,) = (family for family in REGISTRY.collect() if family.name == name)
    assert family.documentation.endswith(".")
    assert name.endswith(UNITS), "name what is counted, last"


def test_page_is_current(repository: Path) -> None:
    written = (repository / "docs" / "metrics.md").read_text(encoding="utf-8")
    assert written == metrics_page(), "run: python -m processors.metrics_page > docs/metrics.md"


def test_every_metric_is_on_the_page() -> None:
    assert all(f"`{name}" in metrics_page() for name in ours())


def test_list_holds_every_metric() -> None:
    named = [name for name in vars(metrics) if name.isupper() and name != "REGISTRY" and not name.startswith("_")]
    collectors = [name for name in named if not name.endswith("_COLLECTOR")]
    assert len(collectors) == len(ours())


def test_further_pages_are_shown_as_they_are_now() -> None:
    rounds = [1]
    with monitored(SHOWN, dict, {"/windows": lambda: {"rounds": [*rounds]}}) as url:
        assert httpx.get(f"{url}/windows").json() == {"rounds": [1]}
        rounds.append(2)
        assert httpx.get(f"{url}/windows").json() == {"rounds": [1, 2]}
        assert httpx.get(f"{url}/nothing").status_code == 404
