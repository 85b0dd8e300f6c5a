"""What Kafka's error codes mean to whoever runs the floor."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from confluent_kafka import KafkaError, KafkaException

from schemas.log import LogError, LogUnavailable

# What happened, and what to do.
_AWAY: Final = ("no broker answers", "Check kafka.bootstrap, the network and the brokers; the log goes on by itself")
_REFUSED: Final = ("this user may not do that", "Grant the role's rights: pitwatch topics acls")
_FEW_COPIES: Final = ("too few replicas are in sync", "Bring the missing brokers back; the log goes on by itself")
_CHANGING: Final = ("the cluster is changing over", "Wait; the log goes on by itself")
_NOT_DECLARED: Final = ("the topic isn't there as declared", "Run pitwatch topics check")
_LOGIN: Final = (
    "the login failed",
    "Check security.protocol, the certificates, the names in them and the password in kafka.properties",
)

_MEANINGS: Final[dict[int, tuple[str, str]]] = {
    KafkaError._TRANSPORT: _AWAY,
    KafkaError._ALL_BROKERS_DOWN: _AWAY,
    KafkaError._TIMED_OUT: _AWAY,
    KafkaError._TIMED_OUT_QUEUE: _AWAY,
    KafkaError._MSG_TIMED_OUT: _AWAY,
    KafkaError._RESOLVE: _AWAY,
    KafkaError._WAIT_COORD: _AWAY,
    KafkaError.REQUEST_TIMED_OUT: _AWAY,
    KafkaError.BROKER_NOT_AVAILABLE: _AWAY,
    KafkaError._AUTHENTICATION: _LOGIN,
    KafkaError._SSL: _LOGIN,
    KafkaError.SASL_AUTHENTICATION_FAILED: _LOGIN,
    KafkaError.TOPIC_AUTHORIZATION_FAILED: _REFUSED,
    KafkaError.GROUP_AUTHORIZATION_FAILED: _REFUSED,
    KafkaError.CLUSTER_AUTHORIZATION_FAILED: _REFUSED,
    KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: _REFUSED,
    KafkaError.NOT_ENOUGH_REPLICAS: _FEW_COPIES,
    KafkaError.NOT_ENOUGH_REPLICAS_AFTER_APPEND: _FEW_COPIES,
    KafkaError.NOT_LEADER_FOR_PARTITION: _CHANGING,
    KafkaError.LEADER_NOT_AVAILABLE: _CHANGING,
    KafkaError.COORDINATOR_NOT_AVAILABLE: _CHANGING,
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS: _CHANGING,
    KafkaError.NOT_COORDINATOR: _CHANGING,
    KafkaError.REBALANCE_IN_PROGRESS: _CHANGING,
    KafkaError.CONCURRENT_TRANSACTIONS: _CHANGING,
    KafkaError.UNSTABLE_OFFSET_COMMIT: _CHANGING,
    KafkaError._UNKNOWN_TOPIC: _NOT_DECLARED,
    KafkaError._UNKNOWN_PARTITION: _NOT_DECLARED,
    KafkaError.UNKNOWN_TOPIC_OR_PART: _NOT_DECLARED,
    KafkaError.MSG_SIZE_TOO_LARGE: _NOT_DECLARED,
    KafkaError.RECORD_LIST_TOO_LARGE: _NOT_DECLARED,
    KafkaError.KAFKA_STORAGE_ERROR: ("a broker's disk refused", "Look at the broker's log; the log goes on by itself"),
}

_OTHER: Final = ("Kafka refused", "Look at the brokers' logs")

# Kafka is asked for something that makes no sense: by a property that doesn't exist, or by a defect of ours.
_MISUSED: Final = frozenset({KafkaError._INVALID_ARG, KafkaError._NOT_IMPLEMENTED, KafkaError._UNSUPPORTED_FEATURE})

FENCED: Final = frozenset({
    KafkaError._FENCED,
    KafkaError.PRODUCER_FENCED,
    KafkaError.INVALID_PRODUCER_EPOCH,
    KafkaError.ILLEGAL_GENERATION,
    KafkaError.UNKNOWN_MEMBER_ID,
    KafkaError.FENCED_INSTANCE_ID,
    KafkaError._ASSIGNMENT_LOST,
})  # fmt: skip
"""Codes that say: the work belongs to another worker now."""


def error_of(exception: KafkaException) -> KafkaError:
    """Return the error that an exception of Kafka's carries."""
    error = exception.args[0]
    assert isinstance(error, KafkaError)
    return error


def explained(doing: str, error: KafkaError, trouble: KafkaError | None = None) -> LogError:
    """Return the exception that tells what was being done, what was wrong and the way out.

    `trouble` is what the client last said of its connections: behind a time-out there is often a failed login.
    """
    if error.code() in _MISUSED:
        return LogError(f"could not {doing}: {error.str()}. Check kafka.properties")
    meaning = _MEANINGS.get(error.code(), _OTHER)
    what, remedy = _LOGIN if meaning == _AWAY and trouble is not None and _is_login(trouble) else meaning
    said = f"{error.name()}: {error.str()}" + (f"; {trouble.str()}" if trouble is not None else "")
    return LogUnavailable(f"could not {doing}: {what} ({said}). {remedy}")


def _is_login(trouble: KafkaError) -> bool:
    # Where it is a broker that refuses, by closing the connection or by an alert, it comes as trouble of the transport.
    refused = any(words in trouble.str() for words in ("SSL handshake failed", "SSL alert"))
    return refused or _MEANINGS.get(trouble.code()) == _LOGIN


@contextmanager
def told(doing: str) -> Iterator[None]:
    """Turn Kafka's exceptions into the log's."""
    try:
        yield
    except KafkaException as exception:
        raise explained(doing, error_of(exception)) from exception
