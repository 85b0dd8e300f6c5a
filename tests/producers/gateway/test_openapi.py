"""The OpenAPI document says what the gateway does: its paths, bodies, answers, problems and who may post."""

from typing import Any

import jsonschema
import pytest

from schemas.events import EVENT_TYPES
from tests.producers.gateway.conftest import Gateway
from tests.producers.table import event

METHODS = ("get", "post")


@pytest.fixture
def document(gateway: Gateway) -> dict[str, Any]:
    response = gateway.client.get("/openapi.json")
    assert response.status_code == 200
    document: dict[str, Any] = response.json()
    return document


def schema(document: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a schema of the document that a validator can follow."""
    return {"$ref": f"#/components/schemas/{name}", "components": document["components"]}


def references(node: object) -> set[str]:
    if isinstance(node, dict):
        own = {node["$ref"]} if isinstance(node.get("$ref"), str) else set()
        return own.union(*(references(value) for value in node.values()))
    return set().union(*(references(value) for value in node)) if isinstance(node, list) else set()


def test_every_path_is_there_and_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
    assert document["openapi"].startswith("3.1")
    assert {path: sorted(operations) for path, operations in document["paths"].items()} == {
        "/v1/events": ["post"],
        "/healthz": ["get"],
    }
    schemas = document["components"]["schemas"]
    assert {reference.removeprefix("#/components/schemas/") for reference in references(document)} <= schemas.keys()


def test_only_posting_needs_a_tables_token(document: dict[str, Any]) -> None:
    scheme = document["components"]["securitySchemes"]["TableToken"]
    assert (scheme["type"], scheme["scheme"]) == ("http", "bearer")
    assert document["paths"]["/v1/events"]["post"]["security"] == [{"TableToken": []}]
    assert "security" not in document["paths"]["/healthz"]["get"]


def test_answers_and_problems_are_typed(document: dict[str, Any], gateway: Gateway) -> None:
    responses = document["paths"]["/v1/events"]["post"]["responses"]
    assert sorted(responses) == ["200", "400", "401", "403", "408", "413", "415", "422", "503"]
    assert responses["200"]["content"]["application/json"]["schema"]["$ref"].endswith("/PostedEvents")
    for status, response in responses.items():
        if status != "200":
            assert response["content"]["application/problem+json"]["schema"]["$ref"].endswith("/Problem"), status
    assert "Retry-After" in responses["503"]["headers"]
    answer = gateway.post(event(1), b"no event").json()
    jsonschema.validate(answer, schema(document, "PostedEvents"), jsonschema.Draft202012Validator)
    refusal = gateway.client.post("/v1/events").json()
    jsonschema.validate(refusal, schema(document, "Problem"), jsonschema.Draft202012Validator)


def test_body_takes_lines_or_an_array_of_the_contracts_events(document: dict[str, Any]) -> None:
    body = document["paths"]["/v1/events"]["post"]["requestBody"]
    assert body["required"] is True
    assert sorted(body["content"]) == ["application/json", "application/x-ndjson"]
    kinds = {mapped.rpartition("/")[2] for mapped in schema_of_events(document)["discriminator"]["mapping"].values()}
    assert kinds == {model.__name__ for model in EVENT_TYPES.values()}


def schema_of_events(document: dict[str, Any]) -> dict[str, Any]:
    events: dict[str, Any] = document["components"]["schemas"]["TableEvent"]
    return events


def test_examples_are_what_the_gateway_takes(document: dict[str, Any], gateway: Gateway) -> None:
    content = document["paths"]["/v1/events"]["post"]["requestBody"]["content"]
    (card,) = content["application/json"]["example"]
    jsonschema.validate(card, schema(document, "TableEvent"), jsonschema.Draft202012Validator)
    headers = gateway.authorization("T01")
    posted = [
        gateway.client.post("/v1/events", json=[card], headers=headers),
        gateway.post(content["application/x-ndjson"]["example"].encode()),
    ]
    assert [response.json()["accepted"] for response in posted] == [1, 1]
    for name in ("PostedEvents", "EventResult", "Problem"):
        for example in document["components"]["schemas"][name]["examples"]:
            jsonschema.validate(example, schema(document, name), jsonschema.Draft202012Validator)


def test_document_is_made_once(gateway: Gateway) -> None:
    assert gateway.client.get("/openapi.json").content == gateway.client.get("/openapi.json").content
