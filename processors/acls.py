"""Who may do what in a cluster: the rights of each role of Pitwatch, and nothing beyond them."""

from collections.abc import Iterator, Mapping
from typing import Final, Literal, NamedTuple

from confluent_kafka.admin import AclBinding, AclOperation, AclPermissionType, ResourcePatternType, ResourceType

from processors.logs.kafka_clients import Clients
from processors.logs.kafka_reader import GROUP as READERS
from schemas.topics import FACT_TOPICS, TABLE_EVENTS, TABLE_STATES

Resource = Literal["topic", "group", "transactional_id"]
Operation = Literal["read", "write"]

ALERTS: Final = FACT_TOPICS["alert"]


class Right(NamedTuple):
    """An operation on a resource, or on all whose names begin with `name`. Whoever may read or write may describe."""

    operation: Operation
    resource: Resource
    name: str
    prefix: bool = False


class Grant(NamedTuple):
    """A right of somebody."""

    principal: str
    right: Right


def _topics(operation: Operation, *names: str) -> tuple[Right, ...]:
    return tuple(Right(operation, "topic", name) for name in names)


_READER: Final = Right("read", "group", READERS)

RIGHTS: Final[dict[str, tuple[Right, ...]]] = {
    # Appends what tables send, and reads it back to know what it has.
    "gateway": (*_topics("read", TABLE_EVENTS), *_topics("write", TABLE_EVENTS), _READER),
    # Folds events into facts. Its own events are decisions that need a clock.
    "reconstruct": (
        *_topics("read", TABLE_EVENTS, TABLE_STATES),
        *_topics("write", TABLE_EVENTS, TABLE_STATES, *FACT_TOPICS.values()),
        Right("read", "group", "reconstruct"),
        Right("write", "transactional_id", "reconstruct", prefix=True),
        _READER,
    ),
    # Fills a store; its group carries the store's identity.
    "sink": (
        *_topics("read", TABLE_EVENTS, *FACT_TOPICS.values()),
        Right("read", "group", "sink", prefix=True),
        _READER,
    ),
    # Follows facts, buries what is none, and writes down which tables fell silent. The worker is the notifier too.
    "faust": (
        *_topics("read", TABLE_EVENTS, TABLE_STATES, *FACT_TOPICS.values()),
        *_topics("write", TABLE_EVENTS, TABLE_STATES, FACT_TOPICS["dead_letter"]),
        Right("read", "group", "faust", prefix=True),
        Right("write", "transactional_id", "faust", prefix=True),
        _READER,
    ),
    # Tells people about alerts, and hears of their acknowledgements.
    "notifier": (*_topics("read", ALERTS, TABLE_EVENTS), Right("read", "group", "notifier"), _READER),
}
"""Role → its rights."""

_OPERATIONS: Final = {"read": AclOperation.READ, "write": AclOperation.WRITE}
_RESOURCES: Final = {
    "topic": ResourceType.TOPIC,
    "group": ResourceType.GROUP,
    "transactional_id": ResourceType.TRANSACTIONAL_ID,
}


def grants(principals: Mapping[str, str]) -> Iterator[Grant]:
    """Yield the rights of each role in `principals` (role → principal), such as ``gateway`` → ``User:gateway``."""
    for role, principal in principals.items():
        for right in RIGHTS[role]:
            yield Grant(principal, right)


def create_acls(clients: Clients, wanted: list[Grant]) -> None:
    """Grant everything in `wanted`; what was granted already stays granted. Raises `LogUnavailable`."""
    admin = clients.admin()
    with clients.told("grant the roles' rights", admin):
        bindings = [_binding(grant) for grant in wanted]
        for future in admin.create_acls(bindings, request_timeout=clients.timeout_seconds).values():
            future.result()


def _binding(grant: Grant) -> AclBinding:
    right = grant.right
    return AclBinding(
        _RESOURCES[right.resource],
        right.name,
        ResourcePatternType.PREFIXED if right.prefix else ResourcePatternType.LITERAL,
        grant.principal,
        "*",
        _OPERATIONS[right.operation],
        AclPermissionType.ALLOW,
    )
