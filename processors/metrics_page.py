"""Makes docs/metrics.md from the metrics themselves: ``python -m processors.metrics_page > docs/metrics.md``."""

import sys
from typing import Final

from processors.metrics import REGISTRY

OURS: Final = "pitwatch_"

_INTRODUCTION: Final = """\
# Metrics

A process with a `monitoring.port` ([settings.md](settings.md)) answers `GET /metrics` in Prometheus' format, and
`GET /healthz` with 200, or with 503 and what troubles it. The metrics of the interpreter and the process itself
(`python_…`, `process_…`) are there too.

<!-- Made by `python -m processors.metrics_page > docs/metrics.md`; change processors/metrics.py instead. -->

| metric | kind | labels | meaning |
|---|---|---|---|
"""


def metrics_page() -> str:
    """Return the page: a row for every metric, by name."""
    rows = [
        f"| `{family.name}{'_total' if family.type == 'counter' else ''}` | {family.type} | {_labels(family.name)}"
        f" | {family.documentation} |"
        for family in sorted(REGISTRY.collect(), key=lambda family: family.name)
        if family.name.startswith(OURS)
    ]
    return _INTRODUCTION + "\n".join(rows) + "\n"


def _labels(name: str) -> str:
    collector = REGISTRY._names_to_collectors[name]
    return ", ".join(f"`{label}`" for label in getattr(collector, "_labelnames", ()))


if __name__ == "__main__":
    sys.stdout.write(metrics_page())
