"""What the gateway answers: a result for each event, or a problem (RFC 9457)."""

from typing import Annotated, Final, Literal

from pydantic import BaseModel, Field, JsonValue

PROBLEM_JSON: Final = "application/problem+json"

_ACCEPTED: Final[dict[str, JsonValue]] = {"line": 1, "status": "accepted", "event_id": "T01:3:17"}
_REJECTED: Final[dict[str, JsonValue]] = {
    "line": 2,
    "status": "rejected",
    "event_id": "T01:3:18",
    "reason": "invalid",
    "detail": "bet_placed.stake: Input should be greater than or equal to 1",
}


class EventResult(BaseModel):
    """What became of one event. `line` is its place in the request, from one."""

    line: Annotated[int, Field(ge=1)]
    status: Annotated[
        Literal["accepted", "duplicate", "rejected"],
        Field(
            description="`accepted`: the log has it, durably. `duplicate`: the log had it already. `rejected`: it is "
            "no event of this table; its bytes went to the dead letters, and sending it again changes nothing."
        ),
    ]
    event_id: Annotated[str | None, Field(description="The event's identity, where it could be read.")] = None
    reason: Annotated[
        str | None,
        Field(
            description="Why it was rejected: `not_json`, `too_long`, `unknown_type`, `unknown_version`, `invalid`, "
            "`wrong_table` (another table's), `system_type` (only Pitwatch writes it) or `conflicting` (the log "
            "holds another event under this identity)."
        ),
    ] = None
    detail: Annotated[str | None, Field(description="The same in words.")] = None

    model_config = {"json_schema_extra": {"examples": [_ACCEPTED, _REJECTED]}}


class PostedEvents(BaseModel):
    """The answer to a request: how many events were accepted, known already and rejected, and each one's result."""

    accepted: Annotated[int, Field(ge=0)]
    duplicate: Annotated[int, Field(ge=0)]
    rejected: Annotated[int, Field(ge=0)]
    results: list[EventResult]

    model_config = {
        "json_schema_extra": {
            "examples": [{"accepted": 1, "duplicate": 0, "rejected": 1, "results": [_ACCEPTED, _REJECTED]}]
        }
    }


class Problem(BaseModel):
    """Why a request as a whole was not taken (RFC 9457). None of its events is acknowledged."""

    type: Annotated[str, Field(description="A stable name of the kind of problem.")] = "about:blank"
    title: str
    status: Annotated[int, Field(ge=400, le=599)]
    detail: Annotated[str, Field(description="What was wrong and what to do.")]

    model_config = {
        "json_schema_extra": {
            "examples": [
                {
                    "type": "urn:pitwatch:problem:unauthorized",
                    "title": "Unauthorized",
                    "status": 401,
                    "detail": "Send the table's token: Authorization: Bearer <token>.",
                }
            ]
        }
    }


class Health(BaseModel):
    """The gateway is up and its log takes events."""

    status: Literal["ok"] = "ok"
