"""A small HTTP service that takes messages as a real one does: accepts, refuses, or lets its caller wait."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple


class Received(NamedTuple):
    """A request as it came."""

    path: str
    authorization: str
    title: str
    message: str
    kind: str


class HttpService:
    """Answers on loopback: the next of `statuses`, then 200s; while `open` is unset it does not answer at all."""

    def __init__(self, port: int = 0) -> None:
        self.received: list[Received] = []
        self.statuses: list[int] = []
        self.open = threading.Event()
        self.open.set()
        self._taken = threading.Condition()
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                service.open.wait()
                try:
                    self.send_response(service.take(self.path, self.headers.get("Authorization", ""), body))
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                except ConnectionError:
                    pass  # the sender had given up waiting; that is the test's point

            def log_message(self, *args: object) -> None:
                """Print nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})

    def take(self, path: str, authorization: str, body: dict[str, str]) -> int:
        with self._taken:
            status = self.statuses.pop(0) if self.statuses else 200
            if status == 200:
                self.received.append(Received(path, authorization, body["title"], body["message"], body["type"]))
                self._taken.notify_all()
            return status

    def wait_for(self, count: int, timeout_seconds: float) -> bool:
        """Block until `count` messages came or the time is over; tell whether they came."""
        with self._taken:
            return self._taken.wait_for(lambda: len(self.received) >= count, timeout_seconds)

    @property
    def port(self) -> int:
        return self._server.server_address[1]

    @contextmanager
    def serving(self) -> Iterator["HttpService"]:
        self._thread.start()
        try:
            yield self
        finally:
            self.open.set()
            self._server.shutdown()
            self._thread.join()
            self._server.server_close()
