"""Serving the gateway from a thread of a larger process, with a clean start and stop."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import uvicorn
from fastapi import FastAPI

from schemas.errors import PitwatchError

STOP_SECONDS: Final = 10
"""How long a stop waits for requests under way."""


KEEP_ALIVE_SECONDS: Final = 75
"""How long an idle connection stays open: longer than clients keep theirs, so that none writes into a closing one."""


class GatewayFailed(PitwatchError):
    """Raised when the gateway can't listen, or ends while it starts."""


class _Server(uvicorn.Server):
    """uvicorn's server, which also says when it serves."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.decided = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.decided.set()

    def serve_and_tell(self, listener: socket.socket) -> None:
        try:
            self.run(sockets=[listener])
        except SystemExit:
            # How uvicorn ends where the application didn't start; `started` tells, and its log says why.
            return
        finally:
            self.decided.set()


@contextmanager
def run_gateway(app: FastAPI, host: str = "127.0.0.1", port: int = 8600) -> Iterator[str]:
    """Serve `app` for the length of a ``with`` block, which gets its URL; port 0 takes a free one.

    Only this machine reaches it unless another `host` is named; tokens travel in the clear, so put TLS in front of it
    then. Raises `GatewayFailed`.
    """
    try:
        listener = socket.create_server((host, port), backlog=2048)
    except OSError as error:
        raise GatewayFailed(f"can't listen on {host} port {port}: {error.strerror or error}") from error
    with listener:
        url = f"http://{host}:{listener.getsockname()[1]}"
        config = uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=STOP_SECONDS,
        )
        server = _Server(config)
        thread = threading.Thread(target=server.serve_and_tell, args=[listener], name="gateway", daemon=True)
        thread.start()
        server.decided.wait()
        if not server.started:
            thread.join()
            raise GatewayFailed(f"the gateway ended while it started on {url}")
        try:
            yield url
        finally:
            server.should_exit = True
            thread.join()
