"""What the extras of the distribution install, and how to get what is missing."""

import shlex
import sys
from collections.abc import Mapping
from typing import Final

EMBEDDED: Final = "embedded"
DISTRIBUTED: Final = "distributed"

EXTRAS: Final[Mapping[str, tuple[str, ...]]] = {
    "aiokafka": (DISTRIBUTED,),
    "backports.zstd": (EMBEDDED, DISTRIBUTED),
    "chdb": (EMBEDDED,),
    "clickhouse_connect": (EMBEDDED, DISTRIBUTED),
    "confluent_kafka": (DISTRIBUTED,),
    "cramjam": (DISTRIBUTED,),
    "faust": (DISTRIBUTED,),
    "grafana_api": (DISTRIBUTED,),
    "lz4": (EMBEDDED, DISTRIBUTED),
    "mode": (DISTRIBUTED,),
    "yarl": (DISTRIBUTED,),
}
"""The extras that bring a module along, by the module's name; one of them is enough."""

_SERVES: Final = {EMBEDDED: "for one machine", DISTRIBUTED: "for Kafka and servers"}


def how_to_install(failed: ImportError) -> str | None:
    """Return what to install where an import failed for want of an extra's module, or None."""
    missing = _missing(failed)
    extras = _extras_of(missing)
    if not extras:
        return None
    choices = " or ".join(f"'.[{extra}]' ({_SERVES[extra]})" for extra in extras)
    return (
        f"this needs the package {missing}, which is not installed. In Pitwatch's folder:"
        f" {shlex.quote(sys.executable)} -m pip install -c constraints.txt -e {choices}"
    )


def _missing(failed: ImportError) -> str:
    # Packages have words of their own for what they want of others: the reason stands behind those.
    cause: BaseException | None = failed
    while cause is not None and not isinstance(cause, ModuleNotFoundError):
        cause = cause.__cause__
    return cause.name or "" if cause is not None else ""


def _extras_of(module: str) -> tuple[str, ...]:
    # Where nothing else of a namespace is installed, the namespace itself is what is missed. What lies within a
    # package that is there is no business of an extra's.
    return next((extras for name, extras in EXTRAS.items() if module in {name, name.partition(".")[0]}), ())
