"""The way through the gateway: what its answers mean to a table."""

import json

import httpx
import pytest

from producers.transports import HttpTransport, Receipt, TooLarge, Undelivered

EVENTS = [b'{"a":1}', b'{"b":2}']


def transport(answer: httpx.Response | Exception, seen: list[httpx.Request] | None = None) -> HttpTransport:
    def handle(request: httpx.Request) -> httpx.Response:
        if seen is not None:
            seen.append(request)
        if isinstance(answer, Exception):
            raise answer
        return answer

    client = httpx.Client(transport=httpx.MockTransport(handle))
    return HttpTransport("http://gateway:8600/", "secret", client=client)


def results(*statuses: str, **fields: str) -> httpx.Response:
    lines = [{"line": line, "status": status, **fields} for line, status in enumerate(statuses, start=1)]
    return httpx.Response(200, json={"accepted": 0, "duplicate": 0, "rejected": 0, "results": lines})


def test_events_go_out_as_lines_with_the_token() -> None:
    seen: list[httpx.Request] = []
    way = transport(results("accepted", "rejected", reason="invalid", detail="no card", later_field="kept out"), seen)
    receipts = way.send(EVENTS)
    assert receipts == [Receipt("accepted", "invalid", "no card"), Receipt("rejected", "invalid", "no card")]
    (request,) = seen
    assert str(request.url) == "http://gateway:8600/v1/events"
    assert request.headers["Authorization"] == "Bearer secret"
    assert request.headers["Content-Type"] == "application/x-ndjson"
    assert request.content == b'{"a":1}\n{"b":2}\n'
    way.close()


@pytest.mark.parametrize(
    "answer",
    [
        httpx.ConnectError("refused"),
        httpx.ReadTimeout(""),
        httpx.Response(401, text="no"),
        httpx.Response(422, text="no"),
        httpx.Response(500, text="oops"),
        httpx.Response(302, headers={"Location": "http://elsewhere/"}),
        httpx.Response(200, text="<html>a captive portal</html>"),
        httpx.Response(200, content=b"\xff"),
        results("accepted"),
        results("accepted", "accepted", "accepted"),
        results("accepted", "eaten"),
    ],
    ids=["refused", "slow", "401", "422", "500", "302", "html", "bytes", "fewer", "more", "unknown"],
)
def test_anything_but_one_result_for_each_event_proves_nothing(answer: httpx.Response | Exception) -> None:
    with pytest.raises(Undelivered) as caught:
        transport(answer).send(EVENTS)
    assert caught.value.retry_after_seconds == 0
    assert "http://gateway:8600/v1/events" in str(caught.value)


def test_results_out_of_order_prove_nothing() -> None:
    body = json.loads(results("accepted", "accepted").content)
    body["results"].reverse()
    with pytest.raises(Undelivered, match="2 results to 2 events"):
        transport(httpx.Response(200, json=body)).send(EVENTS)


@pytest.mark.parametrize(("header", "seconds"), [("7", 7), ("-1", 0), ("soon", 0), ("٣", 0), ("", 0)])
def test_the_gateway_may_ask_for_time(header: str, seconds: float) -> None:
    answer = httpx.Response(503, headers=[(b"Retry-After", header.encode())], text="log away")
    with pytest.raises(Undelivered, match="503: log away") as caught:
        transport(answer).send(EVENTS)
    assert caught.value.retry_after_seconds == seconds


def test_a_problem_is_told_in_its_own_words() -> None:
    problem = {"type": "about:blank", "title": "Forbidden", "status": 403, "detail": "This token was revoked."}
    with pytest.raises(Undelivered, match=r"answered 403: This token was revoked\.$"):
        transport(httpx.Response(403, json=problem)).send(EVENTS)


def test_too_large_is_told_apart() -> None:
    with pytest.raises(TooLarge):
        transport(httpx.Response(413, text="less")).send(EVENTS)
