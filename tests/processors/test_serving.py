"""A web application in a thread: there from the beginning of the block, gone at its end."""

import socket
from urllib.parse import urlsplit

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from processors.serving import ServingFailed, serving


async def hello(_: Request) -> Response:
    return PlainTextResponse("hello")


APP = Starlette(routes=[Route("/", hello)])


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_it_serves_for_the_length_of_the_block(host: str) -> None:
    with serving(APP, host, 0, "test") as url:
        assert httpx.get(url).text == "hello"
    with pytest.raises(httpx.ConnectError):
        httpx.get(url)


def test_port_that_is_taken_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with (
            pytest.raises(ServingFailed, match=rf"test: can't listen on 127\.0\.0\.1 port {port}"),
            serving(APP, "127.0.0.1", port, "test"),
        ):
            raise AssertionError


def test_port_is_free_again_afterwards() -> None:
    with serving(APP, "127.0.0.1", 0, "test") as url:
        port = urlsplit(url).port
        assert port
    with serving(APP, "127.0.0.1", port, "test") as url:
        assert httpx.get(url).text == "hello"


def test_block_that_fails_ends_it_too() -> None:
    with pytest.raises(ZeroDivisionError), serving(APP, "127.0.0.1", 0, "test") as url:
        raise ZeroDivisionError
    with pytest.raises(httpx.ConnectError):
        httpx.get(url)
