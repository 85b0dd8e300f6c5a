"""Refusals of a whole request, as problem documents (RFC 9457)."""

from collections.abc import Mapping
from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from producers.gateway.models import PROBLEM_JSON, Problem
from schemas.errors import PitwatchError


class Refusal(PitwatchError):
    """Raised to answer a request with a problem; `name` is the stable end of its type."""

    def __init__(self, status: HTTPStatus, name: str, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.name = name
        self.headers = headers


def body_too_large(limit: int) -> Refusal:
    """Refuse a body above `limit` bytes."""
    detail = f"A request has at most {limit} bytes: send fewer events at once."
    return Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "body-too-large", detail)


def too_many_events(limit: int) -> Refusal:
    """Refuse more than `limit` events."""
    detail = f"A request has at most {limit} events: send fewer at once."
    return Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too-many-events", detail)


def unavailable(detail: str, retry_after_seconds: int) -> Refusal:
    """Refuse because the log can't take events now."""
    headers = {"Retry-After": str(retry_after_seconds)}
    return Refusal(HTTPStatus.SERVICE_UNAVAILABLE, "log-unavailable", detail, headers)


def document(status: HTTPStatus, name: str, detail: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """Return the problem as a response."""
    problem = Problem(type=f"urn:pitwatch:problem:{name}", title=status.phrase, status=status, detail=detail)
    return JSONResponse(problem.model_dump(), status, headers, media_type=PROBLEM_JSON)


def answer_with_problems(app: FastAPI) -> None:
    """Make every error of `app` a problem document, unknown paths and defects of ours included."""

    @app.exception_handler(Refusal)
    def _refusal(request: Request, error: Refusal) -> JSONResponse:  # noqa: ARG001 (the framework's signature)
        return document(error.status, error.name, str(error), error.headers)

    @app.exception_handler(HTTPException)
    def _http(request: Request, error: HTTPException) -> JSONResponse:
        status = HTTPStatus(error.status_code)
        name = status.phrase.lower().replace(" ", "-")
        return document(status, name, f"{request.method} {request.url.path}: {error.detail}"[:300], error.headers)

    @app.exception_handler(Exception)
    def _defect(request: Request, error: Exception) -> JSONResponse:  # noqa: ARG001 (told to the log, not the device)
        detail = "The gateway failed on this request; nothing was acknowledged. Send it again, and tell its operator."
        return document(HTTPStatus.INTERNAL_SERVER_ERROR, "defect", detail)
