"""What a process shows of itself: ``/healthz`` for whoever keeps it running, ``/metrics`` for Prometheus."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Final

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from pydantic import JsonValue
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from processors.metrics import REGISTRY
from processors.serving import serving
from processors.settings import MonitoringSettings

Troubles = Callable[[], Mapping[str, str]]
"""Returns what each part of the process that can't work now says is wrong; nothing where all is well."""

Pages = Mapping[str, Callable[[], JsonValue]]
"""Further pages of a process: path → what returns the page, as JSON."""

_NO_PAGES: Final[Pages] = MappingProxyType({})

_WELL: Final = 200
_TROUBLED: Final = 503


@contextmanager
def monitored(settings: MonitoringSettings, troubles: Troubles, pages: Pages = _NO_PAGES) -> Iterator[str]:
    """Show this process for the length of a ``with`` block, which gets the URL, empty where no port is set.

    Raises `ServingFailed`.
    """
    if settings.port is None:
        yield ""
        return
    with serving(monitoring_app(troubles, pages), settings.host, settings.port, "monitoring") as url:
        yield url


def monitoring_app(troubles: Troubles, pages: Pages = _NO_PAGES) -> Starlette:
    """Return the pages as a web application."""

    def health(_: Request) -> Response:
        found = dict(troubles())
        return JSONResponse(
            {"status": "troubled" if found else "well", "troubles": found}, _TROUBLED if found else _WELL
        )

    def metrics(_: Request) -> Response:
        return Response(generate_latest(REGISTRY), media_type=CONTENT_TYPE_LATEST)

    routes = [Route("/healthz", health), Route("/metrics", metrics)]
    return Starlette(routes=[*routes, *(_page(path, content) for path, content in pages.items())])


def _page(path: str, content: Callable[[], JsonValue]) -> Route:
    def page(_: Request) -> Response:
        return JSONResponse(content())

    return Route(path, page)
