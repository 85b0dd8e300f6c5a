"""Whatever a device sends: no failure of ours, one result for every line, and every line in the log."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from producers.gateway.models import PostedEvents
from tests.producers.gateway.conftest import Gateway
from tests.producers.table import event

DEEP = b'{"a":' * 30_000
GOOD = event(1)

HOSTILE = {
    "nan": GOOD[:-1] + b', "x": NaN}',
    "infinite": GOOD[:-1] + b', "x": -Infinity}',
    "number without end": GOOD[:-1] + b', "x": ' + b"9" * 5_000 + b"}",
    "huge seq": GOOD.replace(b'"seq": 1', b'"seq": ' + b"9" * 400),
    "float seq": GOOD.replace(b'"seq": 1', b'"seq": 1.0'),
    "huge exponent": GOOD[:-1] + b', "x": 1e999999}',
    "deep": DEEP,
    "deep and closed": b"[" * 30_000 + b"]" * 30_000,
    "deep in an event": GOOD[:-1] + b', "x": ' + b"[" * 500 + b"]" * 500 + b"}",
    "bad utf-8": GOOD[:-1] + b', "x": "\xff\xfe"}',
    "overlong utf-8": b'{"type": "\xc0\x80"}',
    "lone surrogate": GOOD[:-1] + b', "x": "\\ud800"}',
    "surrogate type": GOOD.replace(b"heartbeat", b"\\udfff"),
    "surrogate identity": GOOD.replace(b"T01:1:1", b"\\ud83d"),
    "nul": b"\x00",
    "nul in a name": GOOD.replace(b"heartbeat", b"heart\\u0000beat"),
    "byte order mark": b"\xef\xbb\xbf" + GOOD,
    "utf-16": GOOD.decode().encode("utf-16"),
    "two in one line": GOOD + GOOD,
    "repeated field": GOOD[:-1] + b', "epoch": 0, "table_id": "T02"}',
    "list for text": GOOD.replace(b'"T01"', b'["T01"]'),
    "object for number": GOOD.replace(b'"epoch": 1', b'"epoch": {"$gt": 0}'),
    "script": GOOD.replace(b"heartbeat", b"<script>alert(1)</script>"),
    "long identity": GOOD.replace(b"T01:1:1", b"x" * 60_000),
    "correction of everything": event(
        1, type="correction", target_event_id="T01:1:1", action="replace", authorised_by="a", reason="r",
        changes={"x": 10**30},
    ),
}  # fmt: skip


def check(gateway: Gateway, body: bytes) -> None:
    """Post `body`; each line that isn't blank must have one result, and each result's bytes must be in the log."""
    before = len(gateway.log.kept())
    response = gateway.post(body)
    assert response.status_code == 200, response.text
    answer = PostedEvents.model_validate_json(response.content)
    lines = {number: line.strip(b" \t\r") for number, line in enumerate(body.split(b"\n"), start=1)}
    assert [result.line for result in answer.results] == [number for number, line in lines.items() if line]
    assert len(answer.results) == answer.accepted + answer.duplicate + answer.rejected
    records = [record for _, record in gateway.log.kept()[before:]]
    assert len(records) == answer.accepted + answer.rejected
    appended = [lines[result.line] for result in answer.results if result.status != "duplicate"]
    for record, line in zip(records, appended, strict=True):
        assert record == line or (record.startswith(b"rejected by the gateway, ") and line[:65_536] in record)


@pytest.mark.parametrize("line", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_line_disturbs_only_itself(gateway: Gateway, line: bytes) -> None:
    before, after = event(2), event(3)
    body = b"\n".join((before, line.replace(b"\n", b""), after))
    check(gateway, body)
    assert gateway.statuses(before, after) == ["duplicate", "duplicate"]


VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.sampled_from(["T01", "T02", 0, 1])),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)),
    max_leaves=6,
)
FIELDS = ["type", "event_id", "table_id", "epoch", "seq", "occurred_at", "follows", "schema_version", "shoe", "extra"]
EVENTS = st.builds(
    lambda seq, changes: json.dumps(json.loads(event(seq)) | changes).encode(),
    st.integers(1, 5),
    st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=2),
)
LINES = st.one_of(st.binary(max_size=60), st.binary(max_size=60).map(lambda raw: raw.replace(b"\n", b"{")), EVENTS)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=st.lists(LINES, max_size=6))
def test_any_bytes_get_one_result_for_each_line(gateway: Gateway, lines: list[bytes]) -> None:
    check(gateway, b"\n".join(lines).removesuffix(b"\n"))


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(body=st.one_of(st.binary(max_size=80), st.lists(VALUES, max_size=4).map(lambda body: json.dumps(body).encode())))
def test_any_json_body_is_taken_or_refused_whole(gateway: Gateway, body: bytes) -> None:
    headers = gateway.authorization("T01") | {"Content-Type": "application/json"}
    before = len(gateway.log.kept())
    response = gateway.client.post("/v1/events", content=body, headers=headers)
    if response.status_code == 200:
        answer = PostedEvents.model_validate_json(response.content)
        assert [result.line for result in answer.results] == list(range(1, len(json.loads(body)) + 1))
        assert len(gateway.log.kept()) - before == answer.accepted + answer.rejected
    else:
        assert response.status_code in (400, 422)
        assert len(gateway.log.kept()) == before


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(token=st.binary(max_size=40).filter(lambda raw: not set(raw) & set(b"\r\n\0")))
def test_any_credentials_are_refused(gateway: Gateway, token: bytes) -> None:
    headers = [(b"authorization", b"Bearer " + token), (b"content-type", b"application/x-ndjson")]
    assert gateway.client.post("/v1/events", content=event(1), headers=headers).status_code == 401
