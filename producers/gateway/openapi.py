"""The parts of the gateway's OpenAPI document that its code can't show: the body it reads by hand, and its problems."""

from http import HTTPStatus
from typing import Any, Final

from producers.gateway.bodies import JSON, NDJSON
from producers.gateway.models import PROBLEM_JSON, Problem
from schemas.events import EVENT_ADAPTER

Document = dict[str, Any]
"""A piece of an OpenAPI document: JSON, as FastAPI takes and gives it."""

_REFERENCE: Final = "#/components/schemas/{model}"
_EVENT: Final = {"$ref": _REFERENCE.format(model="TableEvent")}

_EXAMPLE: Final = {
    "schema_version": 1,
    "type": "card_drawn",
    "event_id": "T01:3:17",
    "table_id": "T01",
    "epoch": 3,
    "seq": 17,
    "occurred_at": "2026-01-15T12:00:00.250000Z",
    "shoe": 5,
    "round": 12,
    "hand": "player",
    "position": 1,
    "card": "8H",
}

EVENTS_BODY: Final[Document] = {
    "requestBody": {
        "required": True,
        "description": "Events of the token's table, in the order in which they happened.",
        "content": {
            NDJSON: {
                "schema": {
                    "type": "string",
                    "description": "One event (`TableEvent`) on each line; blank lines are skipped.",
                },
                "example": '{"type":"heartbeat","event_id":"T01:3:18","table_id":"T01","epoch":3,"seq":18,'
                '"occurred_at":"2026-01-15T12:00:30Z"}\n',
            },
            JSON: {"schema": {"type": "array", "items": _EVENT}, "example": [_EXAMPLE]},
        },
    }
}


def _problems(meanings: dict[HTTPStatus, str]) -> dict[int | str, Document]:
    content = {PROBLEM_JSON: {"schema": {"$ref": _REFERENCE.format(model=Problem.__name__)}}}
    return {int(status): {"description": meaning, "content": content} for status, meaning in meanings.items()}


_RETRY_AFTER: Final = {"Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer"}}}

EVENTS_PROBLEMS: Final = _problems(
    {
        HTTPStatus.BAD_REQUEST: "The body is no JSON, or its connection ended early.",
        HTTPStatus.UNAUTHORIZED: "No token, or an unknown one.",
        HTTPStatus.FORBIDDEN: "The token was revoked.",
        HTTPStatus.REQUEST_TIMEOUT: "The body came too slowly.",
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "Too many bytes or events for one request.",
        HTTPStatus.UNSUPPORTED_MEDIA_TYPE: "Neither NDJSON nor JSON, or compressed.",
        HTTPStatus.UNPROCESSABLE_ENTITY: "The body is JSON, but no array of events.",
        HTTPStatus.SERVICE_UNAVAILABLE: "The log takes no events now; nothing was acknowledged.",
    }
)
EVENTS_PROBLEMS[503]["headers"] = _RETRY_AFTER

HEALTH_PROBLEMS: Final = _problems({HTTPStatus.SERVICE_UNAVAILABLE: "The log doesn't answer."})
HEALTH_PROBLEMS[503]["headers"] = _RETRY_AFTER


def document_events(document: Document) -> Document:
    """Add the schemas of the events and of problems to an OpenAPI document, and return it."""
    events = EVENT_ADAPTER.json_schema(ref_template=_REFERENCE)
    schemas = document["components"]["schemas"]
    schemas.update(events.pop("$defs"))
    schemas["TableEvent"] = events
    schemas[Problem.__name__] = Problem.model_json_schema(ref_template=_REFERENCE)
    return document
