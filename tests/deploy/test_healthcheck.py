"""The health check of the containers, against the gateway itself and against servers that are not well."""

import http.server
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from deploy.healthcheck import fault, main
from processors.logs.sqlite import SqliteLog
from producers.gateway.app import create_app
from producers.gateway.server import run_gateway
from tests.conftest import REPOSITORY
from tests.deploy.compose import read
from tests.deploy.stack import checked

SCRIPT = REPOSITORY / "deploy" / "healthcheck.py"


@contextmanager
def answering(status: int, body: bytes = b"") -> Iterator[str]:
    """Give the URL of a server that has this answer to everything."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's own
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/healthz"
        server.shutdown()
        thread.join()


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the script as a container does."""
    return subprocess.run(
        [sys.executable, "-I", str(SCRIPT), *arguments], check=False, capture_output=True, text=True, timeout=60
    )


def test_gateway_with_its_log_is_well(tmp_path: Path) -> None:
    log = SqliteLog(tmp_path / "log.sqlite")
    with run_gateway(create_app(log, []), port=0) as url:
        assert run(f"{url}/healthz").returncode == 0
        log.close()
        unwell = run(f"{url}/healthz")
    assert unwell.returncode == 1
    assert "answered 503" in unwell.stderr


@pytest.mark.parametrize("status", [204, 301, 404, 500, 503])
def test_any_answer_but_200_is_a_fault_and_quoted(status: int) -> None:
    with answering(status, b"" if status == 204 else b"partition 3 stands still\n") as url:
        found = fault(url)
    assert f"answered {status}" in found
    assert status == 204 or "partition 3 stands still" in found


def test_200_is_well() -> None:
    with answering(200, b"{}") as url:
        assert fault(url) == ""


def test_nobody_there_is_a_fault() -> None:
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
    assert main([f"http://127.0.0.1:{port}/healthz"]) == 1


def test_nobody_who_speaks_is_a_fault() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        assert "no answer" in fault(f"http://127.0.0.1:{silent.getsockname()[1]}/", timeout_seconds=0.2)


def test_what_speaks_no_http_is_a_fault() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            connection, _ = server.accept()
            with connection:
                connection.sendall(b"SSH-2.0-nothing\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        assert "no answer" in fault(f"http://127.0.0.1:{server.getsockname()[1]}/")
        thread.join()


@pytest.mark.parametrize("url", ["https://127.0.0.1/", "127.0.0.1:8600", "file:///etc/passwd", ""])
def test_only_plain_http_is_asked(url: str) -> None:
    assert "no http://" in fault(url)


@pytest.mark.parametrize("arguments", [[], ["http://a/", "http://b/"]])
def test_call_without_one_url_is_explained(arguments: list[str]) -> None:
    ran = run(*arguments)
    assert ran.returncode == 2
    assert ran.stderr == "usage: healthcheck.py URL\n"


FOREIGN = {"clickhouse": 8123, "clickhouse-1": 8123, "keeper": 9182, "grafana": 3000}
"""Services whose health checks are commands of their images, and the ports that these ask."""


@pytest.mark.parametrize(("name", "port"), FOREIGN.items(), ids=FOREIGN)
@pytest.mark.parametrize(("status", "well"), [(200, True), (500, False), (503, False)])
def test_foreign_health_checks_ask_their_server(name: str, port: int, status: int, well: bool) -> None:
    service = read().services[name]
    with answering(status, b"Ok.\n") as url:
        here = urlsplit(url).port
        assert here
        assert (checked(service, {port: here}) == 0) == well
    assert checked(service, {port: here}) != 0


def test_every_health_check_is_tested() -> None:
    ours = {name for name, service in read().services.items() if service.image.startswith("pitwatch:")}
    brokers = {name for name in read().services if name.startswith("kafka")}
    assert read().services.keys() - ours - brokers == FOREIGN.keys() | {"clickhouse-2"}
    assert len({str(read().services[name].healthcheck) for name in ("clickhouse", "clickhouse-1", "clickhouse-2")}) == 1


def test_every_container_calls_it_as_it_is() -> None:
    image = (REPOSITORY / "Dockerfile").read_text()
    calls = [
        service.healthcheck.test
        for service in read().services.values()
        if service.healthcheck and "python" in service.healthcheck.test
    ]
    assert len(calls) == 4
    for call in calls:
        assert call[:3] == ["CMD", "python", "/opt/pitwatch/healthcheck.py"]
        assert fault(call[3]).startswith("no answer from http://127.0.0.1:860")
    assert "COPY deploy/healthcheck.py /opt/pitwatch/healthcheck.py" in image
