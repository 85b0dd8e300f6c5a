"""Posting events: one result for each, in order, and an answer only when the log has them."""

import base64

import pytest

from schemas.wire import MAX_EVENT_BYTES, InvalidEvent, decode_event
from tests.producers.gateway.conftest import NDJSON, Floor, Gateway
from tests.producers.table import event


def test_events_are_appended_as_they_came_in_one_go(gateway: Gateway) -> None:
    lines = [event(1, follows=[0, 0]), event(2, note="fields from a later version stay"), b"  " + event(3) + b" \r"]
    response = gateway.post(*lines)
    assert response.status_code == 200
    assert response.json() == {
        "accepted": 3,
        "duplicate": 0,
        "rejected": 0,
        "results": [
            {"line": line, "status": "accepted", "event_id": f"T01:1:{line}", "reason": None, "detail": None}
            for line in (1, 2, 3)
        ],
    }
    assert gateway.log.kept() == [("T01", lines[0]), ("T01", lines[1]), ("T01", event(3))]
    assert gateway.log.appends == 1


def test_repeats_are_told_and_not_appended_again(gateway: Gateway) -> None:
    assert gateway.statuses(event(1), event(2), event(1)) == ["accepted", "accepted", "duplicate"]
    assert gateway.statuses(event(2), event(3), event(1)) == ["duplicate", "accepted", "duplicate"]
    assert gateway.log.identities() == ["T01:1:1", "T01:1:2", "T01:1:3"]


def test_each_line_has_its_result_and_rejected_ones_reach_the_log_too(gateway: Gateway) -> None:
    lines = [event(1), b"{", b"", event(2, type="card_eaten"), b'"text"', event(3, schema_version=7), event(4)]
    results = gateway.post(*lines).json()["results"]
    assert [(result["line"], result["status"], result["reason"]) for result in results] == [
        (1, "accepted", None),
        (2, "rejected", "not_json"),
        (4, "rejected", "unknown_type"),
        (5, "rejected", "not_json"),
        (6, "rejected", "unknown_version"),
        (7, "accepted", None),
    ]
    assert results[2]["event_id"] == "T01:1:2"
    assert "card_eaten" in results[2]["detail"]
    assert gateway.log.kept() == [("T01", line) for line in lines if line]


def test_rejected_event_can_be_sent_again_mended(gateway: Gateway) -> None:
    assert gateway.statuses(event(1, occurred_at="noon")) == ["rejected"]
    assert gateway.statuses(event(1)) == ["accepted"]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (event(1, table_id="T02"), "wrong_table"),
        (event(1, epoch=0), "system_type"),
        (event(1, type="table_silent", silent_since="2026-01-15T12:00:00Z", last_event_id="T01:1:1"), "system_type"),
        (event(1, epoch=0, type="not_yet_known"), "unknown_type"),
        (event(1, table_id="T02", type="not_yet_known"), "unknown_type"),
        (event(1, epoch=0, type="gap_expired"), "invalid"),
        (event(1, epoch=0, pad="x" * MAX_EVENT_BYTES), "too_long"),
    ],
    ids=[
        "other table",
        "epoch 0",
        "system type",
        "later type of epoch 0",
        "later type of another",
        "invalid",
        "too long",
    ],
)
def test_what_only_others_may_write_is_kept_sealed(gateway: Gateway, line: bytes, reason: str) -> None:
    (result,) = gateway.post(line).json()["results"]
    assert (result["status"], result["reason"]) == ("rejected", reason)
    ((key, record),) = gateway.log.kept()
    assert key == "T01"
    assert record.startswith(f"rejected by the gateway, {reason}: ".encode())
    assert line[:MAX_EVENT_BYTES] in record
    with pytest.raises(InvalidEvent):
        decode_event(record)


def test_nobody_else_speaks_in_the_gateways_name(gateway: Gateway) -> None:
    line = b"rejected by the gateway, wrong_table: " + event(1)
    (result,) = gateway.post(line).json()["results"]
    assert (result["status"], result["reason"]) == ("rejected", "not_json")
    assert gateway.log.kept() == [("T01", b"rejected by the gateway, not_json: " + line)]


def test_longest_line_is_cut_in_the_log_and_still_too_long(gateway: Gateway) -> None:
    (result,) = gateway.post(b"A" * 1_000_000).json()["results"]
    assert result["reason"] == "too_long"
    ((_, record),) = gateway.log.kept()
    assert MAX_EVENT_BYTES < len(record) < MAX_EVENT_BYTES + 100


def test_one_number_for_two_events_is_a_conflict(gateway: Gateway) -> None:
    other = event(1, occurred_at="2026-01-15T13:00:00Z")
    assert gateway.statuses(event(1), event(2), event(3)) == ["accepted"] * 3
    # A controller that forgot its boots starts over at the first number; a stuttering one repeats its latest.
    (first,) = gateway.post(other).json()["results"]
    assert (first["status"], first["reason"]) == ("rejected", "conflicting")
    assert gateway.statuses(event(3, occurred_at="2026-01-15T13:00:00Z")) == ["rejected"]
    assert gateway.statuses(event(9), event(9, note="unknown fields say nothing")) == ["accepted", "duplicate"]
    assert gateway.statuses(event(10), event(10, occurred_at="2026-01-15T13:00:00Z")) == ["accepted", "rejected"]
    assert ("T01", b"rejected by the gateway, conflicting: " + other) in gateway.log.kept()


def test_tables_have_their_own_numbers(gateway: Gateway) -> None:
    assert gateway.statuses(event(1)) == ["accepted"]
    assert gateway.statuses(event(1, "T02"), table_id="T02") == ["accepted"]
    assert gateway.log.identities() == ["T01:1:1", "T02:1:1"]


def test_array_of_events(gateway: Gateway) -> None:
    pretty = event(2).replace(b", ", b",\r\n  ")
    body = b"[\n" + event(1) + b",\n" + pretty + b", 7, " + event(2, note="\u2028") + b"]"
    headers = gateway.authorization("T01") | {"Content-Type": "application/json; charset=utf-8"}
    response = gateway.client.post("/v1/events", content=body, headers=headers)
    assert [result["status"] for result in response.json()["results"]] == [
        "accepted",
        "accepted",
        "rejected",
        "duplicate",
    ]
    records = [record for _, record in gateway.log.kept()]
    assert all(b"\n" not in record and b"\r" not in record for record in records), "a record is one line"
    assert decode_event(records[1]) == decode_event(event(2))


@pytest.mark.parametrize(
    ("content_type", "body", "status", "name"),
    [
        ("application/json", b"{}", 422, "no-array"),
        ("application/json", b"[1", 400, "not-json"),
        ("application/json", b"[NaN]", 400, "not-json"),
        ("application/json", b"", 400, "not-json"),
        ("application/json", b"[" * 200_000, 400, "not-json"),
        ("text/plain", b"", 415, "unsupported-media-type"),
        ("", b"", 415, "unsupported-media-type"),
    ],
    ids=["object", "half", "nan", "empty", "deep", "text", "no type"],
)
def test_a_body_that_is_none_is_a_problem(
    gateway: Gateway, content_type: str, body: bytes, status: int, name: str
) -> None:
    headers = gateway.authorization("T01") | {"Content-Type": content_type}
    response = gateway.client.post("/v1/events", content=body, headers=headers)
    problem = response.json()
    assert (response.status_code, problem["status"], problem["type"]) == (
        status,
        status,
        f"urn:pitwatch:problem:{name}",
    )
    assert response.headers["Content-Type"] == "application/problem+json"
    assert gateway.log.kept() == []


def test_compressed_body_is_refused(gateway: Gateway) -> None:
    headers = gateway.authorization("T01") | NDJSON | {"Content-Encoding": "gzip"}
    response = gateway.client.post("/v1/events", content=b"\x1f\x8b", headers=headers)
    assert response.status_code == 415
    assert response.headers["Accept-Post"] == "application/x-ndjson, application/json"


def test_no_events_are_no_problem(gateway: Gateway) -> None:
    for body in (b"", b"\n", b" \r\n\n"):
        assert gateway.post(body).json()["results"] == []
    assert gateway.log.appends == 0


@pytest.mark.parametrize(
    ("authorization", "status", "challenge"),
    [
        (None, 401, 'Bearer realm="pitwatch"'),
        ("Bearer", 401, 'Bearer realm="pitwatch"'),
        ("Basic " + base64.b64encode(b"T01:x").decode(), 401, 'Bearer realm="pitwatch"'),
        ("Bearer wrong", 401, 'Bearer realm="pitwatch", error="invalid_token"'),
        ("Bearer \xe4\xf6", 401, 'Bearer realm="pitwatch", error="invalid_token"'),
    ],
    ids=["nothing", "no token", "other scheme", "unknown", "not ASCII"],
)
def test_without_a_known_token_nothing_is_read(
    gateway: Gateway, authorization: str | None, status: int, challenge: str
) -> None:
    headers = NDJSON | ({} if authorization is None else {"Authorization": authorization})
    response = gateway.client.post(
        "/v1/events",
        content=event(1),
        headers=[(name.encode(), value.encode("latin-1")) for name, value in headers.items()],
    )
    assert response.status_code == status
    assert response.headers["WWW-Authenticate"] == challenge
    assert response.json()["title"] == "Unauthorized"
    assert gateway.log.kept() == []


def test_revoked_token_is_told_so(floor: Floor) -> None:
    revoked = floor.tokens["T02"]
    floor.tokens["T02"] = revoked._replace(entry=revoked.entry.model_copy(update={"revoked": True}))
    with floor.gateway() as gateway:
        response = gateway.post(event(1, "T02"), table_id="T02")
        assert response.status_code == 403
        assert "table T02 was revoked" in response.json()["detail"]
        assert gateway.statuses(event(1)) == ["accepted"]


def test_log_that_is_away_acknowledges_nothing(gateway: Gateway) -> None:
    assert gateway.statuses(event(1)) == ["accepted"]
    gateway.log.down = True
    response = gateway.post(event(1), event(2))
    assert response.status_code == 503
    assert response.headers["Retry-After"] == "5"
    assert "the disk is full" in response.json()["detail"]
    assert gateway.client.get("/healthz").status_code == 503
    gateway.log.down = False
    assert gateway.statuses(event(1), event(2)) == ["duplicate", "accepted"]
    assert gateway.client.get("/healthz").json() == {"status": "ok"}


def test_closed_log_is_away_too(gateway: Gateway) -> None:
    assert gateway.statuses(event(1)) == ["accepted"]
    gateway.log.close()
    assert gateway.post(event(2)).status_code == 503
    assert gateway.client.get("/healthz").status_code == 503


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_every_error_is_a_problem_document(gateway: Gateway, method: str) -> None:
    response = gateway.client.request(method, "/v1/events")
    assert response.status_code == 405
    assert response.headers["Content-Type"] == "application/problem+json"
    response = gateway.client.request(method, "/v2/<nothing>")
    assert response.json() == {
        "type": "urn:pitwatch:problem:not-found",
        "title": "Not Found",
        "status": 404,
        "detail": f"{method} /v2/<nothing>: Not Found",
    }


def test_a_defect_is_a_problem_that_tells_nothing(floor: Floor, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("secret")

    with floor.gateway(raise_defects=False) as gateway:
        monkeypatch.setattr("producers.gateway.app.judge", fail)
        response = gateway.post(event(1))
    assert response.status_code == 500
    assert response.json()["type"] == "urn:pitwatch:problem:defect"
    assert "secret" not in response.text
