"""What `kafka.properties` say, in Faust's words: Faust reaches the brokers through aiokafka, not through librdkafka.

What has no counterpart there and matters to who may read what is refused; what only tunes librdkafka's own clients is
left to them.
"""

import ssl
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from faust.auth import SASLCredentials, SSLCredentials
from faust.types.auth import CredentialsT

from processors.logs.kafka_properties import Properties
from schemas.errors import PitwatchError

MECHANISMS: Final = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
PROTOCOLS: Final = ("plaintext", "ssl", "sasl_plaintext", "sasl_ssl")

TRANSLATED: Final = frozenset({
    "security.protocol", "sasl.mechanism", "sasl.mechanisms", "sasl.username", "sasl.password", "ssl.ca.location",
    "ssl.ca.pem", "ssl.certificate.location", "ssl.key.location", "ssl.key.password",
    "enable.ssl.certificate.verification", "ssl.endpoint.identification.algorithm",
    "session.timeout.ms", "heartbeat.interval.ms", "max.poll.interval.ms",
})  # fmt: skip
"""Properties that Faust's consumer gets too."""

TUNING: Final = (
    "linger.ms", "batch.", "queue.buffering.", "queued.", "compression.", "fetch.", "receive.message.", "retry.",
    "retries", "message.send.", "reconnect.", "socket.", "connections.", "metadata.", "topic.metadata.", "statistics.",
    "debug", "log_level", "log.", "enable.metrics.push", "max.in.flight", "max.partition.fetch.bytes", "check.crcs",
    "max.poll.records", "sticky.partitioning.",
)  # fmt: skip
"""Properties, or beginnings of them, that tune librdkafka's own clients and change nothing in what is read."""

_TRUE: Final = frozenset({"true", "t", "1"})


class NotForFaust(PitwatchError, ValueError):
    """Raised for a property of `kafka.properties` that the worker's Faust consumer can't be given."""


def check(properties: Iterable[str]) -> None:
    """Raise `NotForFaust` for the first property that can be neither translated nor left out."""
    for name in sorted(properties):
        if name not in TRANSLATED and not name.startswith(TUNING):
            raise NotForFaust(
                f"kafka.properties: {name!r} has no counterpart in the worker's Faust consumer, which would go on"
                f" without it. It takes {', '.join(sorted(TRANSLATED))}; leave the others to a configuration of the"
                " other services"
            )


def credentials(properties: Properties) -> CredentialsT | None:
    """Return how Faust is to log in; None where nothing is asked for. Raises `NotForFaust`, and reads certificates."""
    protocol = properties.get("security.protocol", "plaintext").lower()
    if protocol not in PROTOCOLS:
        raise NotForFaust(f"kafka.properties: security.protocol is {protocol!r}; write one of {', '.join(PROTOCOLS)}")
    context = _context(properties) if protocol.endswith("ssl") else None
    if protocol.startswith("sasl_"):
        return _sasl(properties, context)
    return None if context is None else SSLCredentials(context)


def timings(properties: Properties) -> dict[str, float]:
    """Return Faust's settings, in seconds, for the timings that are set; the others are those of every other worker."""
    return {
        "broker_session_timeout": _seconds(properties, "session.timeout.ms", 10_000),
        "broker_heartbeat_interval": _seconds(properties, "heartbeat.interval.ms", 1_000),
        "broker_max_poll_interval": _seconds(properties, "max.poll.interval.ms", 300_000),
    }


def _seconds(properties: Mapping[str, str], name: str, default_ms: int) -> float:
    try:
        return int(properties.get(name, default_ms)) / 1000
    except ValueError as error:
        raise NotForFaust(f"kafka.properties: {name} is {properties[name]!r}; write whole milliseconds") from error


def _sasl(properties: Properties, context: ssl.SSLContext | None) -> SASLCredentials:
    # librdkafka itself takes GSSAPI where nothing else is said.
    mechanism = properties.get("sasl.mechanism", properties.get("sasl.mechanisms", "GSSAPI"))
    if mechanism not in MECHANISMS:
        raise NotForFaust(
            f"kafka.properties: sasl.mechanism is {mechanism!r}; the worker's Faust consumer takes"
            f" {', '.join(MECHANISMS)}, or certificates with security.protocol = SSL"
        )
    username, password = properties.get("sasl.username"), properties.get("sasl.password")
    if not username or not password:
        raise NotForFaust(f"kafka.properties: {mechanism} takes a sasl.username and a sasl.password")
    return SASLCredentials(username=username, password=password, mechanism=mechanism, ssl_context=context)


def _context(properties: Properties) -> ssl.SSLContext:
    place = properties.get("ssl.ca.location")
    try:
        context = ssl.create_default_context(
            cafile=place if place and not Path(place).is_dir() else None,
            capath=place if place and Path(place).is_dir() else None,
            cadata=properties.get("ssl.ca.pem"),
        )
        if certificate := properties.get("ssl.certificate.location"):
            context.load_cert_chain(
                certificate, properties.get("ssl.key.location"), properties.get("ssl.key.password", "")
            )
    except (OSError, ValueError) as error:
        raise NotForFaust(f"kafka.properties: the certificates under ssl. can't be used: {error}") from error
    if properties.get("ssl.endpoint.identification.algorithm", "https") == "none":
        context.check_hostname = False
    if properties.get("enable.ssl.certificate.verification", "true").lower() not in _TRUE:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context
