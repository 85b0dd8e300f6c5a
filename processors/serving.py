"""Serving a web application from a thread of a larger process, for as long as a ``with`` block lasts."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import uvicorn
from starlette.types import ASGIApp

from schemas.errors import PitwatchError

STOP_SECONDS: Final = 10
"""How long a stop waits for requests under way."""

KEEP_ALIVE_SECONDS: Final = 75
"""How long an idle connection stays open: longer than clients keep theirs, so that none writes into a closing one."""


class ServingFailed(PitwatchError):
    """Raised where nothing can listen."""


@contextmanager
def serving(app: ASGIApp, host: str, port: int, name: str) -> Iterator[str]:
    """Serve `app`, whose thread gets this name; the block gets its URL. Port 0 takes a free one.

    Raises `ServingFailed`. The listener takes connections from the beginning of the block: those that come before the
    server does wait for it.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        raise ServingFailed(f"{name}: can't listen on {host} port {port}: {error.strerror or error}") from error
    with listener:
        address = f"[{host}]" if ":" in host else host
        config = uvicorn.Config(
            app,
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=STOP_SECONDS,
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, name=name, daemon=True)
        thread.start()
        try:
            yield f"http://{address}:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()
